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

use std::path::Path;

use anyhow::Result;
use tempfile::TempDir;

use self::pairs::{CASES, Pair, PairKind, PairSetup};
use self::server::Work;
use super::harness::{Case, Facts, Measurement};
use super::machine::Program;
use super::options::BenchOptions;
use super::process::free_ports;
use super::rounds::{Contender, MeasuredRounds};
use crate::packages::RequiredPackage;

/// Pairs of runs; a round has one of each case.
pub(super) struct FailIfMeasurement {
    setup: PairSetup,
    work: Work,
    _folder: TempDir,
}

impl Measurement for FailIfMeasurement {
    type Load = PairKind;
    type Costs = Pair;

    const NAME: &'static str = "bench-fail-if";
    const PAGE: &'static str = page::PAGE;
    const NEEDED: &'static [RequiredPackage] = &[("node", "nodejs")];
    const PROGRAMS: &'static [Program] = &[("Node", "node", "--version")];
    const ROUNDS: usize = 20;
    const SECONDS: u32 = 10;
    const CASES: &'static [Case<PairKind>] = &CASES;

    fn prepare(options: &BenchOptions, plimsoll: &Path) -> Result<FailIfMeasurement> {
        let folder = tempfile::tempdir()?;
        let [port] = free_ports()?;
        let setup = PairSetup {
            plimsoll: plimsoll.to_owned(),
            folder: folder.path().to_owned(),
            seconds: options.seconds,
            port,
        };
        let work = Work::measured(&setup)?;
        Ok(FailIfMeasurement { setup, work, _folder: folder })
    }

    fn take(&mut self, load: &PairKind, _: &Contender) -> Result<Pair> {
        self.setup.pair(load, &self.work)
    }

    fn text(_: &'static PairKind, pair: &Pair) -> String {
        pair.to_string()
    }

    fn page(&mut self, facts: &Facts, measured: &MeasuredRounds<Pair>) -> Result<String> {
        Ok(page::text(facts, measured))
    }

    fn write(text: &str) -> Result<()> {
        page::write(text)
    }
}
