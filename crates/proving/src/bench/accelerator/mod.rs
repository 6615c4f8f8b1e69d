//! `bench-accelerator`: CPU cost per request of Plimsoll's accelerator and others, measured in turns;
//! response times; hit ratio with little memory; behavior under a thundering herd.
//!
//! The accelerator has CPU 0, the load generator and the origin CPU 1. Every accelerator is started by its
//! recipe, anew for each turn, and every file is requested twice in advance. CPU time is that of all its
//! processes.
//!
//! - `fixture`: the file set, the origin, accelerators in front of it
//! - `cases`: the cases, and their pass criteria
//! - `load`: the load generators
//! - `thundering_herd`: many clients that wait for one slow page
//! - `page`: the tables

mod cases;
mod fixture;
mod load;
mod page;
mod thundering_herd;

use anyhow::{Context, Result, bail, ensure};

use self::cases::{AcceleratorCase, CASES};
use self::fixture::Fixture;
use super::against::{self, BuildComparison, BuildRound, OtherBuild};
use super::{machine, require_open_files};
use crate::build::packaged_binary;
use crate::options::{known, number};
use crate::packages::{Needed, install};
use crate::shell::write_page;

/// The accelerators compared: names of recipes, Plimsoll's own first.
pub const PEERS: [&str; 6] = [OURS, "nginx", "varnish", "trafficserver", "haproxy", "squid"];

/// The accelerator that has to meet the criteria.
pub const OURS: &str = "plimsoll";

/// Another build of it, in place of the others.
pub const BEFORE: &str = "before";

/// Required Debian packages.
const NEEDED: [Needed; 7] = [
    ("nginx", "nginx-light"),
    ("varnishd", "varnish"),
    ("traffic_server", "trafficserver"),
    ("haproxy", "haproxy"),
    ("squid", "squid"),
    ("wrk", "wrk"),
    ("taskset", "util-linux"),
];

/// Options of the command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AcceleratorBenchOptions {
    /// Number of turns of each accelerator.
    rounds: usize,
    /// Length of a turn in s.
    seconds: u32,
    /// Write the result to `docs/`.
    write: bool,
    /// Names of the cases to measure; empty: all.
    cases: Vec<String>,
    /// Names of the accelerators; empty: all.
    peers: Vec<String>,
    /// Another build of Plimsoll, in place of other accelerators.
    against: Option<OtherBuild>,
}

impl AcceleratorBenchOptions {
    /// Parses the command line.
    ///
    /// # Errors
    /// Unknown options, missing or invalid values, and options that exclude each other.
    pub fn parse(arguments: &[&str]) -> Result<AcceleratorBenchOptions> {
        let mut options = AcceleratorBenchOptions {
            rounds: 5,
            seconds: 5,
            write: false,
            cases: Vec::new(),
            peers: Vec::new(),
            against: None,
        };
        let mut rounds = None;
        let mut rest = arguments.iter();
        while let Some(name) = rest.next() {
            let mut value = || rest.next().with_context(|| format!("expected a value after `{name}`"));
            match *name {
                "--rounds" => rounds = Some(number(name, value()?)? as usize),
                "--seconds" => options.seconds = number(name, value()?)?,
                "--write" => options.write = true,
                "--case" => options.cases.push(known("case", value()?, &CASES.map(|case| case.name))?),
                "--peer" => options.peers.push(known("peer", value()?, &PEERS)?),
                "--against" => options.against = Some(OtherBuild::parse(name, value()?)?),
                other => bail!("unknown option `{other}`"),
            }
        }
        let is_part = !options.cases.is_empty() || !options.peers.is_empty() || options.against.is_some();
        ensure!(
            !(options.write && is_part),
            "`--write` writes the whole page: not with `--case`, `--peer` or `--against`"
        );
        ensure!(
            options.against.is_none() || options.peers.is_empty(),
            "`--against` has two builds take turns: not with `--peer`"
        );
        let usual = if options.against.is_some() { against::ROUNDS } else { options.rounds };
        options.rounds = rounds.unwrap_or(usual);
        Ok(options)
    }

    fn cases(&self) -> impl Iterator<Item = &'static AcceleratorCase> {
        CASES
            .iter()
            .filter(move |case| self.cases.is_empty() || self.cases.iter().any(|name| name == case.name))
            .filter(move |case| self.against.is_none() || case.is_cost())
    }

    fn peers(&self) -> Vec<&'static str> {
        if self.against.is_some() {
            return vec![OURS, BEFORE];
        }
        let wanted = |peer: &&str| self.peers.is_empty() || self.peers.iter().any(|name| name == peer);
        PEERS.into_iter().filter(wanted).collect()
    }
}

/// The results of a case: for each accelerator the values of each round; `None` where it failed.
pub struct CaseResult {
    case: &'static AcceleratorCase,
    peers: Vec<(&'static str, Vec<Option<Vec<f64>>>)>,
}

/// Runs the selected cases, prints the result as Markdown, and writes it to `docs/` on request.
///
/// # Errors
/// A program is missing and cannot be installed, a measurement fails, or this build is slower than the other.
pub fn perform(options: &AcceleratorBenchOptions) -> Result<()> {
    install(&NEEDED)?;
    require_open_files()?;
    let other = options.against.as_ref().map(OtherBuild::program).transpose()?;
    let fixture = Fixture::new(&packaged_binary()?, other)?;
    if options.against.is_some() {
        let compared: Vec<BuildComparison> = measure(options, &fixture).iter().map(builds).collect();
        println!("\n{}\n{}", machine::table()?, against::table(&compared));
        return against::require_no_slowdown(&compared);
    }
    let mut text = page::head(options, &fixture, &machine::table()?);
    let measured = measure(options, &fixture);
    text += &page::versions(&fixture, &options.peers())?;
    text += &page::tables(&measured);
    println!("\n{text}");
    if options.write {
        write_page("docs/bench-accelerator.md", &text)?;
    }
    Ok(())
}

/// Returns the CPU times of both builds, of the rounds in which both succeeded.
fn builds(measured: &CaseResult) -> BuildComparison {
    let costs = |name| {
        let rounds =
            measured.peers.iter().filter(move |(peer, _)| *peer == name).flat_map(|(_, rounds)| rounds);
        rounds.map(|values| Some(*values.as_ref()?.first()?))
    };
    let rounds = costs(BEFORE).zip(costs(OURS));
    let rounds = rounds.filter_map(|(before, now)| Some(BuildRound { before: before?, now: now? }));
    BuildComparison { case: measured.case.name, rounds: rounds.collect() }
}

/// Runs all turns, round by round and case by case, starting with another accelerator each time.
fn measure(options: &AcceleratorBenchOptions, fixture: &Fixture) -> Vec<CaseResult> {
    let peers = options.peers();
    let empty = |case| CaseResult { case, peers: peers.iter().map(|peer| (*peer, Vec::new())).collect() };
    let mut measured: Vec<CaseResult> = options.cases().map(empty).collect();
    for round in 0..options.rounds {
        for CaseResult { case, peers } in &mut measured {
            let first = round % peers.len();
            let turns = (0..peers.len()).map(|step| (first + step) % peers.len());
            for turn in turns.collect::<Vec<_>>() {
                let (peer, rounds) = &mut peers[turn];
                // A failure does not end the turns of the others.
                let values = (case.run)(fixture, peer, options.seconds);
                let told = match &values {
                    Ok(values) => page::row(case, values),
                    Err(error) => format!("failed: {error:#}"),
                };
                println!("round {}: {}: {peer}: {told}", round + 1, case.name);
                rounds.push(values.ok());
            }
        }
    }
    measured
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_have_defaults_and_unknown_ones_are_refused() {
        let usual = AcceleratorBenchOptions::parse(&[]).unwrap();
        assert_eq!((usual.rounds, usual.seconds, usual.cases().count()), (5, 5, CASES.len()));
        assert_eq!(usual.peers(), PEERS);
        let some =
            AcceleratorBenchOptions::parse(&["--peer", "squid", "--case", "herd", "--rounds", "2"]).unwrap();
        assert_eq!((some.peers(), some.cases().count(), some.rounds), (vec!["squid"], 1, 2));
        for wrong in
            [&["--peer", "iis"][..], &["--case"], &["--rounds", "0"], &["--write", "--peer", "squid"]]
        {
            assert!(AcceleratorBenchOptions::parse(wrong).is_err(), "{wrong:?}");
        }
    }
}
