//! The status of a load point at any moment: its figures so far, and the standing of each group of rules.

use stats::Histogram;
use units::{Nanos, Ratio};

use crate::percentiles::values_needed;
use crate::rules::{Evidence, Stage};
use crate::standing::{GroupStanding, standings};

/// The status of a load point while its records come in, and when they are complete. Its figures are those of the
/// steady phase so far.
#[derive(Debug, Clone, PartialEq)]
pub struct LoadPointStatus {
    /// Index in the load plan.
    pub index: u32,
    /// Whether the load point is over: then every rule has been applied.
    pub is_over: bool,
    /// Recorded length of the steady phase; zero before it begins, and the figures are then zero or `None`.
    pub length: Nanos,
    /// Successful operations.
    pub ok: u64,
    /// The fewest of them that a sample needs.
    pub ok_needed: u64,
    /// Failed operations, timed out ones included.
    pub errors: u64,
    /// Successful operations per second.
    pub rate: f64,
    /// The benchmark's score; `None` if a kind that it needs had no success.
    pub score: Option<f64>,
    /// Operations that fell due per second.
    pub due_rate: f64,
    /// Mean number of operations in flight.
    pub in_flight_mean: f64,
    /// Mean response time; `None` if nothing succeeded.
    pub response_mean: Option<Nanos>,
    /// Median response time; `None` if there are too few operations.
    pub p50: Option<Nanos>,
    /// 95th percentile of the response time, likewise.
    pub p95: Option<Nanos>,
    /// 99th percentile of the response time, likewise.
    pub p99: Option<Nanos>,
    /// The standing of every group of rules that applies to the load, in the order of [`RuleGroup::ALL`](crate::RuleGroup::ALL).
    pub standings: Vec<GroupStanding>,
}

impl LoadPointStatus {
    pub(crate) fn of(evidence: &Evidence) -> LoadPointStatus {
        let totals = &evidence.fold.steady;
        let figures = evidence.figures;
        let quantile = |q| quantile(&totals.response, q);
        LoadPointStatus {
            index: evidence.fold.point.index,
            is_over: evidence.stage != Stage::Running,
            length: figures.length,
            ok: figures.n,
            ok_needed: evidence.operations_needed(),
            errors: figures.errors,
            rate: figures.rate,
            score: figures.score,
            due_rate: totals.per_second(totals.due as f64),
            in_flight_mean: totals.per_second(totals.in_flight_ns as f64 / 1e9),
            response_mean: totals.response.mean(),
            p50: quantile(0.5),
            p95: quantile(0.95),
            p99: quantile(0.99),
            standings: standings(evidence),
        }
    }
}

/// Returns a quantile; `None` if there are too few values for it.
fn quantile(times: &Histogram, q: f64) -> Option<Nanos> {
    let has_enough = values_needed(Ratio(q)) <= times.n();
    has_enough.then(|| times.quantile(Ratio(q))).flatten()
}
