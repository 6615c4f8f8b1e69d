//! `bench-fail-if`: how often `plimsoll compare --fail-if` fails a build of identical code, and how often it finds a server
//! that was made slower.
//!
//! A small server on Node answers with a page that takes about half a millisecond of CPU time. Each side of a pair is a
//! process of its own, with 20 connections, one side after the other, as in a CI job.
//!
//! - `server`: the server, and the work that makes it slower by a given share
//! - `pairs`: the runs of a pair and their comparison
//! - `page`: the tables

mod page;
mod pairs;
mod server;

use anyhow::Result;

use self::pairs::{CASES, Pair};
use self::server::{Work, free_port};
use super::CaseOptions;
use super::machine;
use crate::build::packaged_binary;
use crate::packages::install;

/// Parses the command line: twenty pairs, with steady phases of ten seconds, unless it says otherwise.
///
/// # Errors
/// Unknown options, missing or invalid values, and options that exclude each other.
pub fn options(arguments: &[&str]) -> Result<CaseOptions> {
    let names: Vec<&str> = CASES.iter().map(|case| case.name).collect();
    CaseOptions::parse(arguments, &names, (20, 10))
}

/// Measures the selected cases, prints the result as Markdown, and writes it to `docs/ci.md` on request.
///
/// # Errors
/// A program is missing and cannot be installed, or a measurement fails.
pub fn perform(options: &CaseOptions) -> Result<()> {
    install(&[("node", "nodejs")])?;
    let plimsoll = options.binary.clone().map_or_else(packaged_binary, Ok)?;
    let folder = tempfile::tempdir()?;
    let setup = pairs::PairSetup {
        plimsoll,
        folder: folder.path().to_owned(),
        seconds: options.seconds,
        port: free_port()?,
    };
    let load = machine::load_average()?;
    let work = Work::measured(&setup)?;
    let mut measured = Vec::new();
    for case in CASES.iter().filter(|case| options.wants(case.name)) {
        let mut pairs: Vec<Pair> = Vec::new();
        for n in 1..=options.rounds {
            let pair = setup.pair(case, &work)?;
            println!("{}, pair {n}: {pair}", case.name);
            pairs.push(pair);
        }
        measured.push((case, pairs));
    }
    let text = page::text(options, &load, &measured)?;
    println!("\n{text}");
    if options.write { page::write(&text) } else { Ok(()) }
}
