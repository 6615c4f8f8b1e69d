//! The cases, and their pass criteria.

use anyhow::{Context, Result};
use testbed::RunningSut;

use super::fixture::{Fixture, LARGE, OTHER_SCRIPT, SCRIPT, SMALL};
use super::{loads, thundering_herd};
use crate::bench::figures::{Bar, Column};
use crate::bench::harness::Case;
use crate::bench::load_tools::WrkConnections::{self, Close, Keep};
use crate::bench::load_tools::WrkRequests::{self, File, Script};
use crate::bench::rounds::Contender;

use PassCriterion::{OfBest, Within};

/// Cache size of the case with little memory, in bytes.
const LITTLE: u64 = 100_000_000;

/// Time for a cache to settle, in s: nginx checks every 10 s whether it is above its limit.
pub(super) const SETTLE_S: u32 = 12;

/// Connections.
pub(super) const CONNECTIONS: u32 = 100;

/// The values of a turn, one per column of its case.
pub(in crate::bench) type Values = Vec<f64>;

type Columns = &'static [Column<Values>];

/// Runs a turn of this many seconds.
type RunTurn = fn(&Fixture, &Contender, u32) -> Result<Values>;

/// The load of a case.
pub(in crate::bench) struct AcceleratorLoad {
    /// The columns of the values; the first one is compared.
    pub(super) columns: Columns,
    /// The criterion that Plimsoll has to meet.
    pub(super) bar: PassCriterion,
    pub(super) run: RunTurn,
}

impl AcceleratorLoad {
    /// Returns whether its first value is the CPU time per request.
    pub(super) fn is_cost(&self) -> bool {
        self.columns[0].title == COST[0].title
    }
}

/// A pass criterion.
pub(in crate::bench) enum PassCriterion {
    /// The first value is at most this multiple of the best competitor's.
    OfBest(f64),
    /// These values are within bars, by column number.
    Within(&'static [(usize, Bar)]),
}

const COST: Columns =
    &[column::<0>("CPU s per million", 2), column::<1>("requests per s", 0), column::<2>("CPU busy", 2)];
const RESPONSE_TIMES: Columns = &[
    column::<0>("p99, ms", 3),
    column::<1>("p50, ms", 3),
    column::<2>("late p99, ms", 3),
    column::<3>("CPU s per million", 2),
];
const HITS: Columns =
    &[column::<0>("hit ratio", 4), column::<1>("resident, MB", 1), column::<2>("requests per s", 0)];
const WAITS: Columns = &[
    column::<0>("calls of the page", 0),
    column::<1>("longest wait after it, ms", 2),
    column::<2>("median wait, ms", 2),
];

/// Returns the column of a value by its number.
const fn column<const N: usize>(title: &'static str, decimals: usize) -> Column<Values> {
    Column::new(title, decimals, |values| values.get(N).copied().unwrap_or(f64::NAN))
}

/// All cases.
pub(super) const CASES: [Case<AcceleratorLoad>; 7] = [
    Case::new(
        &["mix"],
        "the mix, connections kept",
        load(COST, OfBest(0.75), |fixture, one, seconds| cost(fixture, one, seconds, Script(SCRIPT), Keep)),
    ),
    Case::new(
        &["mix-close"],
        "the mix, a connection for each request",
        load(COST, OfBest(0.85), |fixture, one, seconds| cost(fixture, one, seconds, Script(SCRIPT), Close)),
    ),
    Case::new(
        &["small"],
        "one object of 510 bytes, connections kept",
        load(COST, OfBest(0.85), |fixture, one, seconds| cost(fixture, one, seconds, File(SMALL.0), Keep)),
    ),
    Case::new(
        &["large"],
        "one object of 512,000 bytes, connections kept",
        load(COST, OfBest(1.0), |fixture, one, seconds| cost(fixture, one, seconds, File(LARGE.0), Keep)),
    ),
    Case::new(
        &["rate"],
        "the mix at 5,000 requests per second, connections kept",
        load(RESPONSE_TIMES, OfBest(1.0), rate),
    ),
    Case::new(
        &["hits"],
        "hits of the mix with 100 MB for copies",
        load(HITS, Within(&[(0, Bar::AtLeast(0.975)), (1, Bar::AtMost(110.0))]), hits),
    ),
    Case::new(
        &["herd"],
        "100 connections that ask for one slow page, for 4 s",
        load(WAITS, Within(&[(0, Bar::AtMost(1.0)), (1, Bar::AtMost(5.0))]), thundering_herd::perform),
    ),
];

const fn load(columns: Columns, bar: PassCriterion, run: RunTurn) -> AcceleratorLoad {
    AcceleratorLoad { columns, bar, run }
}

/// Loads an accelerator with a warm cache by wrk, and measures the CPU cost.
fn cost(
    fixture: &Fixture,
    contender: &Contender,
    seconds: u32,
    requests: WrkRequests,
    connections: WrkConnections,
) -> Result<Values> {
    let accelerator = fixture.warm(contender, fixture.roomy())?;
    let before = cpu_seconds(&accelerator)?;
    let done = loads::wrk(fixture, &accelerator, seconds, requests, connections)?;
    let used = cpu_seconds(&accelerator)? - before;
    Ok(vec![used * 1e6 / done as f64, done as f64 / f64::from(seconds), used / f64::from(seconds)])
}

/// Sends requests at a rate that all accelerators can serve, and compares every byte.
fn rate(fixture: &Fixture, contender: &Contender, seconds: u32) -> Result<Values> {
    let accelerator = fixture.warm(contender, fixture.roomy())?;
    let before = cpu_seconds(&accelerator)?;
    let [p99, p50, late, done] = loads::at_rate(fixture, &accelerator, seconds)?;
    let used = cpu_seconds(&accelerator)? - before;
    Ok(vec![p99 * 1e3, p50 * 1e3, late * 1e3, used * 1e6 / done])
}

/// Loads an accelerator whose cache is too small by wrk until the cache has settled, then counts the requests
/// at the origin.
fn hits(fixture: &Fixture, contender: &Contender, seconds: u32) -> Result<Values> {
    let accelerator = fixture.warm(contender, LITTLE)?;
    loads::wrk(fixture, &accelerator, SETTLE_S.max(seconds), Script(SCRIPT), Keep)?;
    let before = fixture.requests_behind()?;
    let done = loads::wrk(fixture, &accelerator, seconds, Script(OTHER_SCRIPT), Keep)?;
    // The second query counts itself.
    let misses = fixture.requests_behind()? - before - 1;
    let resident = accelerator.resident_bytes().context("cannot read its memory")?;
    let ratio = 1.0 - misses as f64 / done as f64;
    Ok(vec![ratio, resident as f64 / 1e6, done as f64 / f64::from(seconds)])
}

fn cpu_seconds(accelerator: &RunningSut) -> Result<f64> {
    Ok(accelerator.usage().context("cannot read its CPU time")?.cpu.as_secs_f64())
}
