//! `bench-application`: the CPU time of a small transaction with the built-in application server, at both ends,
//! compared with HTTP requests of the same size to nginx; and the load generator's memory per session.
//!
//! The server has CPU 0, the generator CPU 1. All load is Plimsoll's own, and the CPU times of both ends are those
//! that it reports for the steady phase.
//!
//! - `loads`: the definitions of the loads
//! - `servers`: starting the servers
//! - `turns`: the loads on their servers, and their costs
//! - `page`: the tables

mod loads;
mod page;
mod servers;
mod turns;

use std::path::PathBuf;

use anyhow::{Context, Result, bail, ensure};

use self::page::Round;
use self::turns::{CASES, TURNS, Turn};
use super::site::Site;
use super::{against, machine};
use crate::build::release_binary;
use crate::options::{known, number};
use crate::packages::install;
use crate::shell::write_page;

/// Options of the command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApplicationBenchOptions {
    /// Number of rounds, in each of which every turn is taken once.
    rounds: usize,
    /// Length of a turn in s.
    seconds: u32,
    /// Write the result to `docs/`.
    write: bool,
    /// Names of the cases to measure; empty: all.
    cases: Vec<String>,
    /// The program to measure; `None`: this checkout, built for release.
    binary: Option<PathBuf>,
}

impl ApplicationBenchOptions {
    /// Parses the command line.
    ///
    /// # Errors
    /// Unknown options, missing or invalid values, and options that exclude each other.
    pub fn parse(arguments: &[&str]) -> Result<ApplicationBenchOptions> {
        let mut options =
            ApplicationBenchOptions { rounds: 9, seconds: 4, write: false, cases: Vec::new(), binary: None };
        let mut rest = arguments.iter();
        while let Some(name) = rest.next() {
            let mut value = || rest.next().with_context(|| format!("expected a value after `{name}`"));
            match *name {
                "--rounds" => options.rounds = number(name, value()?)? as usize,
                "--seconds" => options.seconds = number(name, value()?)?,
                "--write" => options.write = true,
                "--case" => options.cases.push(known("case", value()?, &CASES)?),
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

    /// Returns the turns that the cases need.
    fn turns(&self) -> Vec<&'static Turn> {
        let wants = |case: &&str| self.cases.is_empty() || self.cases.iter().any(|name| name == case);
        TURNS.iter().filter(|turn| turn.cases.iter().any(wants)).collect()
    }
}

/// Runs the selected cases, prints the result as Markdown, and writes it to `docs/` on request.
///
/// # Errors
/// A program is missing and cannot be installed, or a measurement fails.
pub fn perform(options: &ApplicationBenchOptions) -> Result<()> {
    install(&[("nginx", "nginx-light"), ("taskset", "util-linux")])?;
    super::require_open_files()?;
    let plimsoll = options.binary.clone().map_or_else(release_binary, Ok)?;
    let site = Site::empty(&plimsoll)?;
    loads::write_files(&site)?;
    let head = page::head(options, &machine::table()?)?;
    let rounds = measure(options, &site)?;
    let text = head + &page::tables(&rounds);
    println!("\n{text}");
    if options.write {
        write_page("docs/bench-application.md", &text)?;
    }
    Ok(())
}

/// Takes the turns round by round, in the opposite order every other time.
fn measure(options: &ApplicationBenchOptions, site: &Site) -> Result<Vec<Round>> {
    let (mut turns, mut rounds) = (options.turns(), Vec::new());
    for n in 1..=options.rounds {
        let mut round = Round::default();
        for turn in &turns {
            let costs = turn.take(site, options.seconds).with_context(|| turn.title)?;
            println!("round {n}: {}: {costs}", turn.title);
            round.add(turn.name, costs);
        }
        rounds.push(round);
        turns.reverse();
    }
    Ok(rounds)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_have_defaults_and_unknown_ones_are_refused() {
        let usual = ApplicationBenchOptions::parse(&[]).unwrap();
        assert_eq!((usual.rounds, usual.seconds, usual.turns().len()), (9, 4, TURNS.len()));
        let this = std::env::current_exe().unwrap();
        let some = ["--case", "memory", "--rounds", "2", "--binary", this.to_str().unwrap()];
        let some = ApplicationBenchOptions::parse(&some).unwrap();
        let titles: Vec<&str> = some.turns().iter().map(|turn| turn.title).collect();
        assert_eq!(titles, ["NET, 100 clients", "NET, 10,000 clients"]);
        assert_eq!((some.rounds, some.binary), (2, Some(this.clone())));
        for wrong in [
            &["--rounds"][..],
            &["--rounds", "0"],
            &["--case", "memmory"],
            &["--case", "memory", "--write"],
            &["--binary", this.to_str().unwrap(), "--write"],
            &["--binary", "/nowhere"],
            &["--fast"],
        ] {
            assert!(ApplicationBenchOptions::parse(wrong).is_err(), "{wrong:?}");
        }
    }
}
