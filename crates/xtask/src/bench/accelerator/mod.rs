//! `bench-accelerator`: what a request costs Plimsoll's accelerator and others, measured in turns; how long replies
//! take; how many requests are hits with little memory; what becomes of many that wait for the same.
//!
//! The accelerator has CPU 0, the load generator and the server behind it CPU 1. Every accelerator is started by its
//! recipe, anew for each turn, and asked twice for every file before. CPU time is that of all its processes.
//!
//! - `lab`: the file set, the server behind, accelerators in front of it
//! - `cases`: what is measured, and the bars
//! - `load`: the generators
//! - `herd`: many that wait for one slow page
//! - `page`: the tables

mod cases;
mod herd;
mod lab;
mod load;
mod page;

use anyhow::{Context, Result, bail, ensure};

use self::cases::{CASES, Case};
use self::lab::Lab;
use super::{known, machine, number, raise_open_files};
use crate::packages::{Needed, install};
use crate::shell::root;
use crate::test::release_binary;

/// What is compared: names of recipes, Plimsoll's own first.
pub const PEERS: [&str; 6] = [OURS, "nginx", "varnish", "trafficserver", "haproxy", "squid"];

/// The one that has to reach the bars.
pub const OURS: &str = "plimsoll";

/// What Debian brings.
const NEEDED: [Needed; 7] = [
    ("nginx", "nginx-light"),
    ("varnishd", "varnish"),
    ("traffic_server", "trafficserver"),
    ("haproxy", "haproxy"),
    ("squid", "squid"),
    ("wrk", "wrk"),
    ("taskset", "util-linux"),
];

/// What, how often, how long, and whom.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    /// How often each takes its turn.
    rounds: usize,
    /// Length of a turn in s.
    seconds: u32,
    /// Write the result to `docs/`.
    write: bool,
    /// Names of the cases to measure; empty: all.
    cases: Vec<String>,
    /// Names of the accelerators; empty: all.
    peers: Vec<String>,
}

impl Options {
    /// Reads the command line.
    pub fn parse(arguments: &[&str]) -> Result<Options> {
        let mut options =
            Options { rounds: 5, seconds: 5, write: false, cases: Vec::new(), peers: Vec::new() };
        let mut rest = arguments.iter();
        while let Some(name) = rest.next() {
            let mut value = || rest.next().with_context(|| format!("expected a value after `{name}`"));
            match *name {
                "--rounds" => options.rounds = number(name, value()?)? as usize,
                "--seconds" => options.seconds = number(name, value()?)?,
                "--write" => options.write = true,
                "--case" => options.cases.push(known("case", value()?, &CASES.map(|case| case.name))?),
                "--peer" => options.peers.push(known("peer", value()?, &PEERS)?),
                other => bail!("unknown option `{other}`"),
            }
        }
        let is_part = !options.cases.is_empty() || !options.peers.is_empty();
        ensure!(
            !(options.write && is_part),
            "`--write` writes the whole page: not with `--case` or `--peer`"
        );
        Ok(options)
    }

    fn cases(&self) -> impl Iterator<Item = &'static Case> {
        CASES
            .iter()
            .filter(move |case| self.cases.is_empty() || self.cases.iter().any(|name| name == case.name))
    }

    fn peers(&self) -> Vec<&'static str> {
        let wanted = |peer: &&str| self.peers.is_empty() || self.peers.iter().any(|name| name == peer);
        PEERS.into_iter().filter(wanted).collect()
    }
}

/// What a case came to: for each peer the values of each round; none where it failed.
pub struct Measured {
    case: &'static Case,
    peers: Vec<(&'static str, Vec<Option<Vec<f64>>>)>,
}

/// Measures what is asked for, prints the result as Markdown, and writes it to `docs/` if asked to.
pub fn perform(options: &Options) -> Result<()> {
    install(&NEEDED)?;
    raise_open_files()?;
    let lab = Lab::new(&release_binary()?)?;
    let mut text = page::head(options, &lab, &machine::table()?);
    let measured = measure(options, &lab);
    text += &page::versions(&lab, &options.peers())?;
    text += &page::tables(&measured);
    println!("\n{text}");
    if options.write {
        let path = root().join("docs/bench-accelerator.md");
        std::fs::write(&path, text)?;
        println!("{}", path.display());
    }
    Ok(())
}

/// Lets all take their turns, round by round and case by case, another one first each time.
fn measure(options: &Options, lab: &Lab) -> Vec<Measured> {
    let peers = options.peers();
    let empty = |case| Measured { case, peers: peers.iter().map(|peer| (*peer, Vec::new())).collect() };
    let mut measured: Vec<Measured> = options.cases().map(empty).collect();
    for round in 0..options.rounds {
        for Measured { case, peers } in &mut measured {
            let first = round % peers.len();
            let turns = (0..peers.len()).map(|step| (first + step) % peers.len());
            for turn in turns.collect::<Vec<_>>() {
                let (peer, rounds) = &mut peers[turn];
                // One that fails does not end the turns of the others.
                let values = (case.run)(lab, peer, options.seconds);
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
    fn options_have_defaults_and_refuse_what_they_do_not_know() {
        let usual = Options::parse(&[]).unwrap();
        assert_eq!((usual.rounds, usual.seconds, usual.cases().count()), (5, 5, CASES.len()));
        assert_eq!(usual.peers(), PEERS);
        let some = Options::parse(&["--peer", "squid", "--case", "herd", "--rounds", "2"]).unwrap();
        assert_eq!((some.peers(), some.cases().count(), some.rounds), (vec!["squid"], 1, 2));
        for wrong in
            [&["--peer", "iis"][..], &["--case"], &["--rounds", "0"], &["--write", "--peer", "squid"]]
        {
            assert!(Options::parse(wrong).is_err(), "{wrong:?}");
        }
    }
}
