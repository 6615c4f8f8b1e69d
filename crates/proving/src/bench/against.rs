//! `--against COMMIT` or `--against BINARY`: this build in turns with another of the same program, from before a change.

use std::fmt::Write as _;
use std::path::PathBuf;

use anyhow::{Context, Result, ensure};

use super::figures::{Bar, ContenderComparison};
use crate::build::Commit;

/// The most CPU time per operation of this build, as a multiple of the other's.
const RATIO_MAX: f64 = 1.03;

/// Number of rounds unless `--rounds` says otherwise: the median of nine survives four that something else disturbed.
pub(super) const ROUNDS: usize = 9;

/// The name of the other build among those who take turns.
pub(super) const BEFORE: &str = "before";

/// A build from before a change, the value of `--against`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum OtherBuild {
    /// A commit, which is built like a package of this checkout.
    Commit(Commit),
    /// A program, which has to have been built so: `cargo xtask packaged-binary COMMIT`.
    Program(PathBuf),
}

impl OtherBuild {
    /// Parses the value of an option.
    ///
    /// # Errors
    /// It is neither a file nor a commit.
    pub(super) fn parse(option: &str, value: &str) -> Result<OtherBuild> {
        if let Ok(program) = binary(option, value) {
            return Ok(OtherBuild::Program(program));
        }
        let commit = Commit::find(value);
        commit.map(OtherBuild::Commit).with_context(|| {
            format!("`{option} {value}`: expected a commit, or the program of another build, found neither")
        })
    }

    /// Returns the path of its program, which is built if need be.
    ///
    /// # Errors
    /// The build fails.
    pub(super) fn program(&self) -> Result<PathBuf> {
        match self {
            OtherBuild::Commit(commit) => commit.packaged_binary(),
            OtherBuild::Program(program) => Ok(program.clone()),
        }
    }
}

/// Parses the path of another build, the value of an option.
///
/// # Errors
/// If there is no such file.
pub(super) fn binary(option: &str, path: &str) -> Result<PathBuf> {
    let absolute = std::path::absolute(path).with_context(|| format!("`{option} {path}`"))?;
    ensure!(absolute.is_file(), "`{option} {path}`: expected the program of another build, found no file");
    Ok(absolute)
}

/// The CPU time of a case in both builds.
#[derive(Debug)]
pub(super) struct BuildComparison {
    /// The case, and what is compared.
    pub title: String,
    /// This build and the other, in CPU seconds per million operations; `None` if no round succeeded with both.
    pub figures: Option<ContenderComparison>,
}

/// Returns the comparison as a Markdown table.
pub(super) fn table(rows: &[BuildComparison]) -> String {
    let mut text = format!(
        "| case | before, CPU s per million | now | ratio, median of rounds | at most {RATIO_MAX} |\n|---|--:|--:|--:|---|\n"
    );
    for BuildComparison { title, figures } in rows {
        let cells = figures.as_ref().map(|ContenderComparison { ours: now, theirs: before, ratio }| {
            format!("{before} | {now} | {ratio:.3} | {}", Bar::AtMost(RATIO_MAX).judge(*ratio))
        });
        let cells = cells.unwrap_or_else(|| " | | | no round succeeded".to_owned());
        let _ = writeln!(text, "| {title} | {cells} |");
    }
    text
}

/// Checks that this build is not slower than the other.
///
/// # Errors
/// The cases in which it is, and those without a round.
pub(super) fn require_no_slowdown(rows: &[BuildComparison]) -> Result<()> {
    let is_slow =
        |row: &&BuildComparison| row.figures.as_ref().is_none_or(|figures| RATIO_MAX < figures.ratio);
    let slow: Vec<&str> = rows.iter().filter(is_slow).map(|row| row.title.as_str()).collect();
    ensure!(slow.is_empty(), "slower than the other build, or not measured: {}", slow.join(", "));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::figures::{Column, compare};

    fn comparison(title: &str, rounds: &[(f64, f64)]) -> BuildComparison {
        let before: Vec<Option<f64>> = rounds.iter().map(|(before, _)| Some(*before)).collect();
        let now: Vec<Option<f64>> = rounds.iter().map(|(_, now)| Some(*now)).collect();
        let figures = compare(&Column::new("", 2, |value| *value), &now, &before);
        BuildComparison { title: title.to_owned(), figures }
    }

    /// By hand: ratios 1.02, 1.50 and 0.90 have the median 1.02; 1.10 alone is above the bar.
    #[test]
    fn the_median_of_the_rounds_decides() {
        let even = comparison("mix", &[(10.0, 10.2), (10.0, 15.0), (10.0, 9.0)]);
        let slow = comparison("510", &[(10.0, 11.0)]);
        let text = table(&[even, slow, comparison("tls", &[])]);
        assert!(text.contains("| mix | 10.00 | 10.20 | 1.020 | met |"), "{text}");
        assert!(text.contains("| 510 | 10.00 | 11.00 | 1.100 | **missed** |"), "{text}");
        assert!(text.contains("| tls |  | | | no round succeeded |"), "{text}");
    }

    #[test]
    fn a_slower_build_and_a_case_without_rounds_are_errors() {
        assert!(require_no_slowdown(&[comparison("mix", &[(10.0, 10.3)])]).is_ok());
        let slow =
            [comparison("mix", &[(10.0, 10.4)]), comparison("510", &[]), comparison("tls", &[(1.0, 1.0)])];
        let error = require_no_slowdown(&slow).unwrap_err().to_string();
        assert_eq!(error, "slower than the other build, or not measured: mix, 510");
    }

    #[test]
    fn another_build_has_to_exist() {
        assert!(binary("--binary", "/nowhere/plimsoll").unwrap_err().to_string().contains("found no file"));
        let error = OtherBuild::parse("--against", "/nowhere/plimsoll").unwrap_err().to_string();
        let expected = "expected a commit, or the program of another build, found neither";
        assert_eq!(error, format!("`--against /nowhere/plimsoll`: {expected}"));
    }
}
