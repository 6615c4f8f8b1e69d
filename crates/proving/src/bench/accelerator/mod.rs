//! `bench-accelerator`: CPU cost per request of Plimsoll's accelerator and others, measured in turns;
//! response times; hit ratio with little memory; behavior under a thundering herd.
//!
//! The accelerator has CPU 0, the load generator and the origin CPU 1. Every accelerator is started by its
//! recipe, anew for each turn, and every file is requested twice in advance. CPU time is that of all its
//! processes.
//!
//! - `fixture`: the file set, the origin, accelerators in front of it
//! - `cases`: the cases, and their pass criteria
//! - `loads`: the load generators
//! - `thundering_herd`: many clients that wait for one slow page
//! - `page`: the tables

mod cases;
mod fixture;
mod loads;
mod page;
mod thundering_herd;

use std::path::Path;

use anyhow::Result;

use self::cases::{AcceleratorLoad, CASES, Values};
use self::fixture::Fixture;
use super::figures::Column;
use super::harness::{Case, Facts, Measurement};
use super::machine::{NGINX, Program};
use super::options::BenchOptions;
use super::require_open_files;
use super::rounds::{Contender, MeasuredRounds, OURS};
use crate::packages::RequiredPackage;

/// Accelerators in turns.
pub(super) struct AcceleratorMeasurement {
    fixture: Fixture,
    seconds: u32,
}

impl Measurement for AcceleratorMeasurement {
    type Load = AcceleratorLoad;
    type Costs = Values;

    const NAME: &'static str = "bench-accelerator";
    const PAGE: &'static str = "docs/bench-accelerator.md";
    const NEEDED: &'static [RequiredPackage] = &[
        ("nginx", "nginx-light"),
        ("varnishd", "varnish"),
        ("traffic_server", "trafficserver"),
        ("haproxy", "haproxy"),
        ("squid", "squid"),
        ("wrk", "wrk"),
        ("taskset", "util-linux"),
    ];
    const PROGRAMS: &'static [Program] = &[NGINX];
    const ROUNDS: usize = 5;
    const SECONDS: u32 = 5;
    const CASES: &'static [Case<AcceleratorLoad>] = &CASES;
    /// Names of recipes.
    const PEERS: &'static [&'static str] = &[OURS, "nginx", "varnish", "trafficserver", "haproxy", "squid"];
    const GOES_ON: bool = true;

    fn prepare(options: &BenchOptions, plimsoll: &Path) -> Result<AcceleratorMeasurement> {
        require_open_files()?;
        Ok(AcceleratorMeasurement { fixture: Fixture::new(plimsoll)?, seconds: options.seconds })
    }

    fn peers(&self, _: &AcceleratorLoad) -> Vec<&'static str> {
        Self::PEERS[1..].to_vec()
    }

    fn take(&mut self, load: &AcceleratorLoad, contender: &Contender) -> Result<Values> {
        (load.run)(&self.fixture, contender, self.seconds)
    }

    fn columns(load: &'static AcceleratorLoad) -> &'static [Column<Values>] {
        load.columns
    }

    fn compared(load: &'static AcceleratorLoad) -> &'static [Column<Values>] {
        if load.is_cost() { &load.columns[..1] } else { &[] }
    }

    fn page(&mut self, facts: &Facts, measured: &MeasuredRounds<Values>) -> Result<String> {
        let versions = page::versions(facts, &self.fixture)?;
        Ok(page::head(facts, &self.fixture) + &versions + &page::tables(measured))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::harness::tests::{check_titles, selected};

    #[test]
    fn all_cases_are_measured_unless_one_is_named() {
        check_titles::<AcceleratorMeasurement>(&[]);
        assert_eq!(selected::<AcceleratorMeasurement>(&[]).len(), CASES.len());
        let some = selected::<AcceleratorMeasurement>(&["--case", "herd", "--peer", "squid"]);
        assert_eq!(some, ["100 connections that ask for one slow page, for 4 s"]);
    }

    #[test]
    fn builds_are_compared_by_cpu_time_alone() {
        let compared = CASES.iter().filter(|case| !AcceleratorMeasurement::compared(&case.load).is_empty());
        let names: Vec<&str> = compared.flat_map(|case| case.names).copied().collect();
        assert_eq!(names, ["mix", "mix-close", "small", "large"]);
    }
}
