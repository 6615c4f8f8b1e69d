//! Options of a measurement.

use std::path::PathBuf;

use anyhow::{Context, Result, bail, ensure};

use super::against::{self, OtherBuild};
use crate::build::packaged_binary;
use crate::options::{known, number};

/// The names and defaults of a measurement's options.
#[derive(Debug)]
pub(super) struct OptionDefaults<'a> {
    /// Names for `--case`.
    pub cases: &'a [&'static str],
    /// Names for `--peer`; empty where nobody can be left out.
    pub peers: &'a [&'static str],
    pub rounds: usize,
    pub seconds: u32,
}

/// Options of a measurement.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct BenchOptions {
    /// Number of rounds, in each of which every turn is taken once.
    pub rounds: usize,
    /// Length of a turn in s.
    pub seconds: u32,
    /// Write the result to `docs/`.
    pub write: bool,
    /// Names of the cases to measure; empty: all.
    cases: Vec<String>,
    /// Names of those who take turns; empty: all.
    peers: Vec<String>,
    /// The program to measure; `None`: this checkout, built like a package.
    binary: Option<PathBuf>,
    /// Another build of Plimsoll, in place of other programs.
    pub against: Option<OtherBuild>,
}

impl BenchOptions {
    /// Parses a command line.
    ///
    /// # Errors
    /// Unknown options, missing or invalid values, and options that exclude each other.
    pub(super) fn parse(arguments: &[&str], defaults: &OptionDefaults) -> Result<BenchOptions> {
        let OptionDefaults { cases, peers, .. } = *defaults;
        let mut rounds = None;
        let mut options = BenchOptions { seconds: defaults.seconds, ..BenchOptions::default() };
        let mut rest = arguments.iter();
        while let Some(name) = rest.next() {
            let mut value = || rest.next().with_context(|| format!("expected a value after `{name}`"));
            match *name {
                "--rounds" => rounds = Some(number(name, value()?)? as usize),
                "--seconds" => options.seconds = number(name, value()?)?,
                "--case" => options.cases.push(known("case", value()?, cases)?),
                "--peer" if !peers.is_empty() => options.peers.push(known("peer", value()?, peers)?),
                "--binary" => options.binary = Some(against::binary(name, value()?)?),
                "--against" => options.against = Some(OtherBuild::parse(name, value()?)?),
                "--write" => options.write = true,
                other => bail!("unknown option `{other}`"),
            }
        }
        let usual = if options.against.is_some() { against::ROUNDS } else { defaults.rounds };
        options.rounds = rounds.unwrap_or(usual);
        options.check()?;
        Ok(options)
    }

    fn check(&self) -> Result<()> {
        let is_other = self.binary.is_some() || self.against.is_some();
        let is_part = !self.cases.is_empty() || !self.peers.is_empty();
        ensure!(
            !(self.write && (is_part || is_other)),
            "`--write` writes the whole page about this checkout: not with `--case`, `--peer`, `--binary` or `--against`"
        );
        ensure!(
            self.against.is_none() || self.peers.is_empty(),
            "`--against` has two builds take turns: not with `--peer`"
        );
        Ok(())
    }

    /// Returns whether a case is to be measured.
    pub(super) fn wants(&self, case: &str) -> bool {
        self.cases.is_empty() || self.cases.iter().any(|name| name == case)
    }

    /// Returns whether a program takes turns.
    pub(super) fn wants_peer(&self, peer: &str) -> bool {
        self.peers.is_empty() || self.peers.iter().any(|name| name == peer)
    }

    /// Returns the program to measure, which is built if none is named.
    ///
    /// # Errors
    /// The build fails.
    pub(super) fn program(&self) -> Result<PathBuf> {
        self.binary.clone().map_or_else(packaged_binary, Ok)
    }

    /// Returns the options that decide what is measured, as they are typed.
    pub(super) fn line(&self) -> String {
        let cases = self.cases.iter().map(|name| format!(" --case {name}"));
        let parts: String = cases.chain(self.peers.iter().map(|name| format!(" --peer {name}"))).collect();
        format!("--rounds {} --seconds {}{parts}", self.rounds, self.seconds)
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

    fn parse_with(arguments: &[&str], peers: &[&'static str]) -> Result<BenchOptions> {
        let defaults = OptionDefaults { cases: &["client", "memory"], peers, rounds: 5, seconds: 4 };
        BenchOptions::parse(arguments, &defaults)
    }

    fn parse(arguments: &[&str]) -> Result<BenchOptions> {
        parse_with(arguments, &["nginx", "squid"])
    }

    #[test]
    fn options_have_defaults_and_unknown_ones_are_refused() {
        let usual = parse(&[]).unwrap();
        assert_eq!(usual.line(), "--rounds 5 --seconds 4");
        assert!(usual.wants("client") && usual.wants_peer("squid") && !usual.write);
        assert!(usual.binary_row().is_empty());
        let this = std::env::current_exe().unwrap();
        let this = this.to_str().unwrap();
        let some =
            parse(&["--case", "memory", "--rounds", "2", "--binary", this, "--peer", "squid"]).unwrap();
        assert_eq!(some.line(), "--rounds 2 --seconds 4 --case memory --peer squid");
        assert!(some.wants("memory") && !some.wants("client") && !some.wants_peer("nginx"));
        assert_eq!(some.binary_row(), format!("| measured program | `{this}` |\n"));
        for wrong in [
            &["--rounds"][..],
            &["--rounds", "0"],
            &["--seconds", "x"],
            &["--case"],
            &["--case", "memmory"],
            &["--peer", "iis"],
            &["--binary", "/nowhere"],
            &["--against", "/nowhere"],
            &["--fast"],
        ] {
            assert!(parse(wrong).is_err(), "{wrong:?}");
        }
        assert!(parse_with(&["--peer", "squid"], &[]).is_err());
    }

    #[test]
    fn a_page_is_written_about_all_of_this_checkout_alone() {
        let this = std::env::current_exe().unwrap();
        let this = this.to_str().unwrap();
        assert!(parse(&["--write", "--rounds", "7", "--seconds", "2"]).unwrap().write);
        for part in [["--case", "memory"], ["--peer", "squid"], ["--binary", this], ["--against", this]] {
            assert!(parse(&[&part[..], &["--write"]].concat()).is_err(), "{part:?}");
        }
    }

    #[test]
    fn two_builds_take_more_rounds_unless_their_number_is_given() {
        let this = std::env::current_exe().unwrap();
        let against = ["--against", this.to_str().unwrap()];
        let other = parse(&against).unwrap();
        assert_eq!(other.rounds, against::ROUNDS);
        assert_eq!(other.against, Some(OtherBuild::Program(this.clone())));
        assert_eq!(parse(&[&["--rounds", "3"], &against[..]].concat()).unwrap().rounds, 3);
        assert!(parse(&[&["--peer", "squid"], &against[..]].concat()).is_err());
    }
}
