//! `bench-generator`: CPU cost per request of Plimsoll compared with wrk and h2load; punctuality; speed of
//! creating file sets.
//!
//! nginx with one worker has CPU 0, the generators take turns on CPU 1. Requests are counted at the server;
//! CPU time is that of the whole process: start, load, recording with all checks, and the report at the end.
//!
//! - `cases`: the cases, and the commands of both generators
//! - `page`: the tables
//! - `open_loop`, `floor`: punctuality, and that of the machine; `stall`: a server that stops; `populate`: file sets

mod cases;
mod floor;
mod open_loop;
mod page;
mod populate;
mod stall;

use std::path::Path;

use anyhow::Result;

use self::cases::{CASES, GeneratorLoad, OtherGenerator};
use super::figures::Column;
use super::harness::{Case, Facts, Measurement};
use super::load_tools::{PlimsollRun, WrkLoad, h2load};
use super::machine::{NGINX, Program};
use super::nginx::Nginx;
use super::options::BenchOptions;
use super::process::FinishedProcess;
use super::require_open_files;
use super::rounds::{Contender, MeasuredRounds};
use super::site::Site;
use crate::packages::RequiredPackage;

/// A measurement that is not made of turns.
type Other = fn(&Site, &BenchOptions) -> Result<String>;

/// Those measurements, by their names for `--case`.
const OTHERS: [(&str, Other); 3] =
    [("open-loop", open_loop::perform), ("stall", stall::perform), ("populate", populate::perform)];

/// Plimsoll and other load generators in turns.
pub(super) struct GeneratorMeasurement {
    site: Site,
    seconds: u32,
}

/// The costs of a generator's turn.
#[derive(Debug, Clone, Copy)]
pub(super) struct GeneratorCosts {
    /// CPU seconds per million requests.
    cost: f64,
    /// As counted by the server.
    requests: u64,
    /// Maximum resident memory, in KiB.
    rss_kib: f64,
}

/// CPU time per request.
const COST: Column<GeneratorCosts> = Column::new("s per million", 2, |costs| costs.cost);

/// The columns of every turn.
const COLUMNS: [Column<GeneratorCosts>; 2] =
    [COST, Column::new("requests", 0, |costs| costs.requests as f64)];

impl GeneratorCosts {
    fn new(ended: &FinishedProcess, requests: u64) -> GeneratorCosts {
        GeneratorCosts { cost: ended.cpu_s * 1e6 / requests as f64, requests, rss_kib: ended.rss_kib }
    }
}

impl Measurement for GeneratorMeasurement {
    type Load = GeneratorLoad;
    type Costs = GeneratorCosts;

    const NAME: &'static str = "bench-generator";
    const PAGE: &'static str = "docs/bench-generator.md";
    const NEEDED: &'static [RequiredPackage] = &[
        ("nginx", "nginx-light"),
        ("wrk", "wrk"),
        ("h2load", "nghttp2-client"),
        ("openssl", "openssl"),
        ("taskset", "util-linux"),
    ];
    const PROGRAMS: &'static [Program] = &[NGINX, ("wrk", "wrk", "-v"), ("h2load", "h2load", "--version")];
    const ROUNDS: usize = 5;
    const SECONDS: u32 = 5;
    const CASES: &'static [Case<GeneratorLoad>] = &CASES;
    const OTHERS: &'static [&'static str] = &[OTHERS[0].0, OTHERS[1].0, OTHERS[2].0];

    fn prepare(options: &BenchOptions, plimsoll: &Path) -> Result<GeneratorMeasurement> {
        require_open_files()?;
        Ok(GeneratorMeasurement { site: Site::new(plimsoll)?, seconds: options.seconds })
    }

    fn peers(&self, load: &GeneratorLoad) -> Vec<&'static str> {
        vec![load.other.name()]
    }

    /// Starts a new server, which counts the requests.
    fn take(&mut self, load: &GeneratorLoad, contender: &Contender) -> Result<GeneratorCosts> {
        let nginx = Nginx::start(&self.site, load.benchmark, load.listen)?;
        let (requests, ended) = nginx.count(|| match &contender.program {
            Some(program) => self.plimsoll(program, load, &nginx.url()),
            None => self.other(load, &nginx.url()),
        })?;
        Ok(GeneratorCosts::new(&ended, requests))
    }

    fn columns(_: &'static GeneratorLoad) -> &'static [Column<GeneratorCosts>] {
        &COLUMNS
    }

    fn compared(_: &'static GeneratorLoad) -> &'static [Column<GeneratorCosts>] {
        &[COST]
    }

    fn page(&mut self, facts: &Facts, measured: &MeasuredRounds<GeneratorCosts>) -> Result<String> {
        let mut text = page::head(facts) + &page::tables(measured);
        for (_, other) in OTHERS.iter().filter(|(name, _)| facts.options.wants(name)) {
            text += &other(&self.site, facts.options)?;
        }
        Ok(text)
    }
}

impl GeneratorMeasurement {
    fn plimsoll(&self, program: &Path, load: &GeneratorLoad, url: &str) -> Result<FinishedProcess> {
        let GeneratorLoad { benchmark, overrides, users, .. } = load;
        let arguments = format!("{benchmark} --load {users} --duration {}s {overrides}", self.seconds);
        let look_after = 0.8 * f64::from(self.seconds);
        let run = PlimsollRun { program, look_after, ..self.site.run(arguments.trim_end(), url) };
        Ok(run.perform()?.0)
    }

    fn other(&self, load: &GeneratorLoad, url: &str) -> Result<FinishedProcess> {
        let folder = self.site.folder();
        let users = load.users;
        match load.other {
            OtherGenerator::Wrk(requests, connections) => {
                WrkLoad { requests, connections, users }.perform(folder, url, self.seconds)
            }
            OtherGenerator::H2load(streams) => {
                h2load(folder, users / streams, streams, self.seconds, &format!("{url}one.html"))
            }
        }
    }
}
