//! What is measured, and the bars.

use anyhow::{Context, Result};
use testbed::RunningSut;

use super::herd;
use super::lab::{LARGE, Lab, OTHER_SCRIPT, SCRIPT, SMALL};
use super::load::{self, Asked, Wrk};

/// Memory for copies where there is little, in bytes.
const LITTLE: u64 = 100_000_000;

/// How long a cache gets to settle in s: nginx looks every 10 s whether it has too much.
pub const SETTLE_S: u32 = 12;

/// Connections.
pub const CONNECTIONS: u32 = 100;

/// A case.
pub struct Case {
    /// For `--case`.
    pub name: &'static str,
    /// What the page calls it.
    pub title: &'static str,
    /// What the values are called, and their decimals; the first one is compared.
    pub columns: &'static [(&'static str, usize)],
    /// What Plimsoll has to reach.
    pub bar: Bar,
    /// Takes a turn of so many seconds; returns a value per column.
    pub run: fn(&Lab, &str, u32) -> Result<Vec<f64>>,
}

/// What has to be reached.
pub enum Bar {
    /// The first value is at most this multiple of the best other's.
    OfBest(f64),
    /// These values are within limits, by number of the column.
    Within(&'static [(usize, Limit)]),
}

/// A limit of a value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Limit {
    /// It is at least this.
    AtLeast(f64),
    /// It is at most this.
    AtMost(f64),
}

impl Limit {
    /// Returns whether a value keeps it.
    pub fn is_met(self, value: f64) -> bool {
        match self {
            Limit::AtLeast(least) => least <= value,
            Limit::AtMost(most) => value <= most,
        }
    }
}

const COST: &[(&str, usize)] = &[("CPU s per million", 2), ("requests per s", 0), ("CPU busy", 2)];

/// All cases.
pub const CASES: [Case; 7] = [
    Case {
        name: "mix",
        title: "the mix, connections kept",
        columns: COST,
        bar: Bar::OfBest(0.75),
        run: |lab, peer, seconds| cost(lab, peer, seconds, Asked::Mix(SCRIPT), Wrk::Keep),
    },
    Case {
        name: "mix-close",
        title: "the mix, a connection for each request",
        columns: COST,
        bar: Bar::OfBest(0.85),
        run: |lab, peer, seconds| cost(lab, peer, seconds, Asked::Mix(SCRIPT), Wrk::Close),
    },
    Case {
        name: "small",
        title: "one object of 510 bytes, connections kept",
        columns: COST,
        bar: Bar::OfBest(0.85),
        run: |lab, peer, seconds| cost(lab, peer, seconds, Asked::One(SMALL.0), Wrk::Keep),
    },
    Case {
        name: "large",
        title: "one object of 512,000 bytes, connections kept",
        columns: COST,
        bar: Bar::OfBest(1.0),
        run: |lab, peer, seconds| cost(lab, peer, seconds, Asked::One(LARGE.0), Wrk::Keep),
    },
    Case {
        name: "rate",
        title: "the mix at 5,000 requests per second, connections kept",
        columns: &[("p99, ms", 3), ("p50, ms", 3), ("late p99, ms", 3), ("CPU s per million", 2)],
        bar: Bar::OfBest(1.0),
        run: rate,
    },
    Case {
        name: "hits",
        title: "hits of the mix with 100 MB for copies",
        columns: &[("hit ratio", 4), ("resident, MB", 1), ("requests per s", 0)],
        bar: Bar::Within(&[(0, Limit::AtLeast(0.975)), (1, Limit::AtMost(110.0))]),
        run: hits,
    },
    Case {
        name: "herd",
        title: "100 connections that ask for one slow page, for 4 s",
        columns: &[("calls of the page", 0), ("longest wait after it, ms", 2), ("median wait, ms", 2)],
        bar: Bar::Within(&[(0, Limit::AtMost(1.0)), (1, Limit::AtMost(5.0))]),
        run: |lab, peer, _| herd::perform(lab, peer),
    },
];

/// Lets wrk load an accelerator that has everything, and looks what that cost.
fn cost(lab: &Lab, peer: &str, seconds: u32, asked: Asked, how: Wrk) -> Result<Vec<f64>> {
    let accelerator = lab.warm(peer, lab.roomy())?;
    let before = cpu_seconds(&accelerator)?;
    let done = load::wrk(lab, &accelerator, seconds, asked, how)?;
    let used = cpu_seconds(&accelerator)? - before;
    Ok(vec![used * 1e6 / done as f64, done as f64 / f64::from(seconds), used / f64::from(seconds)])
}

/// Lets Plimsoll ask at a rate that all can serve, and compares every byte.
fn rate(lab: &Lab, peer: &str, seconds: u32) -> Result<Vec<f64>> {
    let accelerator = lab.warm(peer, lab.roomy())?;
    let before = cpu_seconds(&accelerator)?;
    let [p99, p50, late, done] = load::at_rate(lab, &accelerator, seconds)?;
    let used = cpu_seconds(&accelerator)? - before;
    Ok(vec![p99 * 1e3, p50 * 1e3, late * 1e3, used * 1e6 / done])
}

/// Lets wrk load an accelerator that has too little room for everything, until its cache is as it stays, and then counts
/// what the server behind is asked for.
fn hits(lab: &Lab, peer: &str, seconds: u32) -> Result<Vec<f64>> {
    let accelerator = lab.warm(peer, LITTLE)?;
    load::wrk(lab, &accelerator, SETTLE_S.max(seconds), Asked::Mix(SCRIPT), Wrk::Keep)?;
    let before = lab.requests_behind()?;
    let done = load::wrk(lab, &accelerator, seconds, Asked::Mix(OTHER_SCRIPT), Wrk::Keep)?;
    // The second question counts itself.
    let misses = lab.requests_behind()? - before - 1;
    let resident = accelerator.resident_bytes().context("its memory cannot be read")?;
    let ratio = 1.0 - misses as f64 / done as f64;
    Ok(vec![ratio, resident as f64 / 1e6, done as f64 / f64::from(seconds)])
}

fn cpu_seconds(accelerator: &RunningSut) -> Result<f64> {
    Ok(accelerator.usage().context("its CPU time cannot be read")?.cpu.as_secs_f64())
}
