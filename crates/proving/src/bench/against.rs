//! `--against COMMIT` or `--against BINARY`: this build in turns with another of the same program, from before a change.

use std::fmt::Write as _;
use std::path::PathBuf;

use anyhow::{Context, Result, ensure};

use crate::build::Commit;

/// The most CPU time per request of this build, as a multiple of the other's.
const RATIO_MAX: f64 = 1.03;

/// Number of rounds unless `--rounds` says otherwise: the median of nine survives four that something else disturbed.
pub(super) const ROUNDS: usize = 9;

/// A build from before a change, the value of `--against`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum OtherBuild {
    /// A commit, which is built like a package of this checkout.
    Commit(Commit),
    /// A program, which has to have been built so: `cargo xtask package COMMIT`.
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

/// The CPU time of a case in both builds, in CPU seconds per million requests.
#[derive(Debug)]
pub(super) struct BuildComparison {
    /// Name of the case.
    pub case: &'static str,
    /// One for each round, in which both builds took a turn.
    pub rounds: Vec<BuildRound>,
}

/// The CPU times of one round.
#[derive(Debug, Clone, Copy)]
pub(super) struct BuildRound {
    /// Of the other build.
    pub before: f64,
    /// Of this one.
    pub now: f64,
}

impl BuildComparison {
    /// Returns the median of the rounds' ratios, this build's CPU time ÷ the other's; `None` without rounds.
    fn ratio(&self) -> Option<f64> {
        stats::median(&self.rounds.iter().map(|round| round.now / round.before).collect::<Vec<_>>())
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

/// Returns the comparison as a Markdown table.
pub(super) fn table(cases: &[BuildComparison]) -> String {
    let mut text = format!(
        "| case | before, CPU s per million | now | ratio, median of rounds | at most {RATIO_MAX} |\n|---|--:|--:|--:|---|\n"
    );
    for case in cases {
        let cost =
            |of: fn(&BuildRound) -> f64| stats::median(&case.rounds.iter().map(of).collect::<Vec<_>>());
        let figures = (cost(|round| round.before), cost(|round| round.now), case.ratio());
        let (Some(before), Some(now), Some(ratio)) = figures else {
            let _ = writeln!(text, "| {} | | | | no round succeeded |", case.case);
            continue;
        };
        let word = if ratio <= RATIO_MAX { "met" } else { "missed" };
        let _ = writeln!(text, "| {} | {before:.2} | {now:.2} | {ratio:.3} | {word} |", case.case);
    }
    text
}

/// Checks that this build is not slower than the other.
///
/// # Errors
/// The cases in which it is, and those without a round.
pub(super) fn require_no_slowdown(cases: &[BuildComparison]) -> Result<()> {
    let is_slow = |case: &&BuildComparison| case.ratio().is_none_or(|ratio| RATIO_MAX < ratio);
    let slow: Vec<&str> = cases.iter().filter(is_slow).map(|case| case.case).collect();
    ensure!(slow.is_empty(), "slower than the other build, or not measured: {}", slow.join(", "));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn comparison(case: &'static str, rounds: &[(f64, f64)]) -> BuildComparison {
        let rounds = rounds.iter().map(|(before, now)| BuildRound { before: *before, now: *now }).collect();
        BuildComparison { case, rounds }
    }

    /// By hand: ratios 1.02, 1.50 and 0.90 have the median 1.02; 1.10 alone is above the bar.
    #[test]
    fn the_median_of_the_rounds_decides() {
        let even = comparison("mix", &[(10.0, 10.2), (10.0, 15.0), (10.0, 9.0)]);
        let slow = comparison("510", &[(10.0, 11.0)]);
        let text = table(&[even, slow]);
        assert!(text.contains("| mix | 10.00 | 10.20 | 1.020 | met |"), "{text}");
        assert!(text.contains("| 510 | 10.00 | 11.00 | 1.100 | missed |"), "{text}");
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
