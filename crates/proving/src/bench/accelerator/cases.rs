//! The cases, and their pass criteria.

use anyhow::{Context, Result};
use testbed::RunningSut;

use super::fixture::{Fixture, LARGE, OTHER_SCRIPT, SCRIPT, SMALL};
use super::load::{self, WrkConnections, WrkRequests};
use super::thundering_herd;

/// Cache size of the case with little memory, in bytes.
const LITTLE: u64 = 100_000_000;

/// Time for a cache to settle, in s: nginx checks every 10 s whether it is above its limit.
pub(super) const SETTLE_S: u32 = 12;

/// Connections.
pub(super) const CONNECTIONS: u32 = 100;

/// A case.
pub(super) struct AcceleratorCase {
    /// The name for `--case`.
    pub name: &'static str,
    /// The title in the page.
    pub title: &'static str,
    /// Names and decimals of the values; the first one is compared.
    pub columns: &'static [(&'static str, usize)],
    /// The criterion that Plimsoll has to meet.
    pub bar: PassCriterion,
    /// Runs a turn of this many seconds; returns a value per column.
    pub run: fn(&Fixture, &str, u32) -> Result<Vec<f64>>,
}

impl AcceleratorCase {
    /// Returns whether its first value is the CPU time per request.
    pub(super) fn is_cost(&self) -> bool {
        self.columns == COST
    }
}

/// A pass criterion.
pub(super) enum PassCriterion {
    /// The first value is at most this multiple of the best competitor's.
    OfBest(f64),
    /// These values are within limits, by column number.
    Within(&'static [(usize, ValueLimit)]),
}

/// A limit of a value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum ValueLimit {
    /// A minimum.
    AtLeast(f64),
    /// A maximum.
    AtMost(f64),
}

impl ValueLimit {
    /// Returns whether a value is within the limit.
    pub(super) fn is_met(self, value: f64) -> bool {
        match self {
            ValueLimit::AtLeast(least) => least <= value,
            ValueLimit::AtMost(most) => value <= most,
        }
    }
}

const COST: &[(&str, usize)] = &[("CPU s per million", 2), ("requests per s", 0), ("CPU busy", 2)];

/// All cases.
pub(super) const CASES: [AcceleratorCase; 7] = [
    AcceleratorCase {
        name: "mix",
        title: "the mix, connections kept",
        columns: COST,
        bar: PassCriterion::OfBest(0.75),
        run: |fixture, peer, seconds| {
            cost(fixture, peer, seconds, WrkRequests::Mix(SCRIPT), WrkConnections::Keep)
        },
    },
    AcceleratorCase {
        name: "mix-close",
        title: "the mix, a connection for each request",
        columns: COST,
        bar: PassCriterion::OfBest(0.85),
        run: |fixture, peer, seconds| {
            cost(fixture, peer, seconds, WrkRequests::Mix(SCRIPT), WrkConnections::Close)
        },
    },
    AcceleratorCase {
        name: "small",
        title: "one object of 510 bytes, connections kept",
        columns: COST,
        bar: PassCriterion::OfBest(0.85),
        run: |fixture, peer, seconds| {
            cost(fixture, peer, seconds, WrkRequests::One(SMALL.0), WrkConnections::Keep)
        },
    },
    AcceleratorCase {
        name: "large",
        title: "one object of 512,000 bytes, connections kept",
        columns: COST,
        bar: PassCriterion::OfBest(1.0),
        run: |fixture, peer, seconds| {
            cost(fixture, peer, seconds, WrkRequests::One(LARGE.0), WrkConnections::Keep)
        },
    },
    AcceleratorCase {
        name: "rate",
        title: "the mix at 5,000 requests per second, connections kept",
        columns: &[("p99, ms", 3), ("p50, ms", 3), ("late p99, ms", 3), ("CPU s per million", 2)],
        bar: PassCriterion::OfBest(1.0),
        run: rate,
    },
    AcceleratorCase {
        name: "hits",
        title: "hits of the mix with 100 MB for copies",
        columns: &[("hit ratio", 4), ("resident, MB", 1), ("requests per s", 0)],
        bar: PassCriterion::Within(&[(0, ValueLimit::AtLeast(0.975)), (1, ValueLimit::AtMost(110.0))]),
        run: hits,
    },
    AcceleratorCase {
        name: "herd",
        title: "100 connections that ask for one slow page, for 4 s",
        columns: &[("calls of the page", 0), ("longest wait after it, ms", 2), ("median wait, ms", 2)],
        bar: PassCriterion::Within(&[(0, ValueLimit::AtMost(1.0)), (1, ValueLimit::AtMost(5.0))]),
        run: |fixture, peer, _| thundering_herd::perform(fixture, peer),
    },
];

/// Loads an accelerator with a warm cache by wrk, and measures the CPU cost.
fn cost(
    fixture: &Fixture,
    peer: &str,
    seconds: u32,
    asked: WrkRequests,
    how: WrkConnections,
) -> Result<Vec<f64>> {
    let accelerator = fixture.warm(peer, fixture.roomy())?;
    let before = cpu_seconds(&accelerator)?;
    let done = load::wrk(fixture, &accelerator, seconds, asked, how)?;
    let used = cpu_seconds(&accelerator)? - before;
    Ok(vec![used * 1e6 / done as f64, done as f64 / f64::from(seconds), used / f64::from(seconds)])
}

/// Sends requests at a rate that all accelerators can serve, and compares every byte.
fn rate(fixture: &Fixture, peer: &str, seconds: u32) -> Result<Vec<f64>> {
    let accelerator = fixture.warm(peer, fixture.roomy())?;
    let before = cpu_seconds(&accelerator)?;
    let [p99, p50, late, done] = load::at_rate(fixture, &accelerator, seconds)?;
    let used = cpu_seconds(&accelerator)? - before;
    Ok(vec![p99 * 1e3, p50 * 1e3, late * 1e3, used * 1e6 / done])
}

/// Loads an accelerator whose cache is too small by wrk until the cache has settled, then counts the requests
/// at the origin.
fn hits(fixture: &Fixture, peer: &str, seconds: u32) -> Result<Vec<f64>> {
    let accelerator = fixture.warm(peer, LITTLE)?;
    load::wrk(fixture, &accelerator, SETTLE_S.max(seconds), WrkRequests::Mix(SCRIPT), WrkConnections::Keep)?;
    let before = fixture.requests_behind()?;
    let done =
        load::wrk(fixture, &accelerator, seconds, WrkRequests::Mix(OTHER_SCRIPT), WrkConnections::Keep)?;
    // The second query counts itself.
    let misses = fixture.requests_behind()? - before - 1;
    let resident = accelerator.resident_bytes().context("cannot read its memory")?;
    let ratio = 1.0 - misses as f64 / done as f64;
    Ok(vec![ratio, resident as f64 / 1e6, done as f64 / f64::from(seconds)])
}

fn cpu_seconds(accelerator: &RunningSut) -> Result<f64> {
    Ok(accelerator.usage().context("cannot read its CPU time")?.cpu.as_secs_f64())
}
