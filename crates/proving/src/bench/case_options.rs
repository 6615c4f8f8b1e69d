//! Options of measurements that consist of cases, each with turns of its own.

use std::path::PathBuf;

use anyhow::{Context, Result, bail, ensure};

use super::against;
use crate::options::{known, number};

/// Options of such a measurement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CaseOptions {
    /// Number of rounds, in each of which every turn is taken once.
    pub(super) rounds: usize,
    /// Length of a turn in s.
    pub(super) seconds: u32,
    /// Write the result to `docs/`.
    pub(super) write: bool,
    /// Names of the cases to measure; empty: all.
    cases: Vec<String>,
    /// The program to measure; `None`: this checkout, built for release.
    pub(super) binary: Option<PathBuf>,
}

impl CaseOptions {
    /// Parses a command line, whose cases are among `names`; without options, so many rounds and seconds.
    ///
    /// # Errors
    /// Unknown options, missing or invalid values, and options that exclude each other.
    pub(super) fn parse(
        arguments: &[&str],
        names: &[&str],
        (rounds, seconds): (usize, u32),
    ) -> Result<CaseOptions> {
        let mut options = CaseOptions { rounds, seconds, write: false, cases: Vec::new(), binary: None };
        let mut rest = arguments.iter();
        while let Some(name) = rest.next() {
            let mut value = || rest.next().with_context(|| format!("expected a value after `{name}`"));
            match *name {
                "--rounds" => options.rounds = number(name, value()?)? as usize,
                "--seconds" => options.seconds = number(name, value()?)?,
                "--write" => options.write = true,
                "--case" => options.cases.push(known("case", value()?, names)?),
                "--binary" => options.binary = Some(against::binary(name, value()?)?),
                other => bail!("unknown option `{other}`"),
            }
        }
        let is_part = !options.cases.is_empty() || options.binary.is_some();
        ensure!(
            !(options.write && is_part),
            "`--write` writes the whole page about this checkout: not with `--case` or `--binary`"
        );
        Ok(options)
    }

    /// Returns whether a case is to be measured.
    pub(super) fn wants(&self, case: &str) -> bool {
        self.cases.is_empty() || self.cases.iter().any(|name| name == case)
    }

    /// Returns the options that decide what is measured, as they are typed.
    pub(super) fn line(&self) -> String {
        let CaseOptions { rounds, seconds, cases, .. } = self;
        let cases: String = cases.iter().map(|name| format!(" --case {name}")).collect();
        format!("--rounds {rounds} --seconds {seconds}{cases}")
    }

    /// Returns the row of the table of programs that names another program than this checkout's; empty without one.
    pub(super) fn binary_row(&self) -> String {
        let row = |path: &PathBuf| format!("| measured program | `{}` |\n", path.display());
        self.binary.as_ref().map(row).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(arguments: &[&str]) -> Result<CaseOptions> {
        CaseOptions::parse(arguments, &["client", "memory"], (9, 4))
    }

    #[test]
    fn options_have_defaults_and_unknown_ones_are_refused() {
        let usual = parse(&[]).unwrap();
        assert_eq!(usual.line(), "--rounds 9 --seconds 4");
        assert!(usual.wants("client") && usual.wants("memory") && usual.binary_row().is_empty());
        let this = std::env::current_exe().unwrap();
        let this = this.to_str().unwrap();
        let some = parse(&["--case", "memory", "--rounds", "2", "--binary", this]).unwrap();
        assert_eq!(some.line(), "--rounds 2 --seconds 4 --case memory");
        assert!(some.wants("memory") && !some.wants("client"));
        assert_eq!(some.binary_row(), format!("| measured program | `{this}` |\n"));
        for wrong in [
            &["--rounds"][..],
            &["--rounds", "0"],
            &["--case", "memmory"],
            &["--case", "memory", "--write"],
            &["--binary", this, "--write"],
            &["--binary", "/nowhere"],
            &["--fast"],
        ] {
            assert!(parse(wrong).is_err(), "{wrong:?}");
        }
    }
}
