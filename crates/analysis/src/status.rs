//! The status of a load point at any moment: its figures so far, and the standing of each group of rules.

use stats::Histogram;
use units::{Nanos, Ratio};

use crate::BrokenLimit;
use crate::fold::UntilFold;
use crate::metrics::rate_interval_so_far;
use crate::percentiles::values_needed;
use crate::rules::{Evidence, RecordProgress};
use crate::standing::{GroupStanding, standings};

/// The status of a load point while its records come in, and when they are complete. Its figures are those of the
/// steady phase so far, or of the stage that runs.
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
    /// 95 % interval for that rate; `None` before it has five seconds, and of a load that changes.
    pub rate_interval: Option<(f64, f64)>,
    /// The benchmark's score; `None` if a kind that it needs had no success, and of a load that changes.
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
    /// The stage that runs, or ran last, of a load point with a shape; the figures above are then those of this stage.
    pub stage: Option<StageStatus>,
    /// The limit that has broken and ends the load point; `None` if none has.
    pub broken: Option<BrokenLimit>,
}

/// The stage of a load point that runs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StageStatus {
    /// Index in the shape.
    pub index: u32,
    /// Number of stages of the shape.
    pub n_stages: u32,
    /// The level of load at the end of the records so far: users, or operations per second.
    pub level: f64,
}

impl LoadPointStatus {
    /// Makes the status of a load point, from the evidence on it as a whole and on its stages that have begun.
    pub(crate) fn of(whole: &Evidence, stages: &[Evidence]) -> LoadPointStatus {
        // Figures of stages with different loads are never merged.
        let evidence = stages.last().unwrap_or(whole);
        let totals = &evidence.fold.steady;
        let figures = evidence.figures;
        let quantile = |q| quantile(&totals.response, q);
        LoadPointStatus {
            index: whole.fold.point.index,
            is_over: whole.progress != RecordProgress::Running,
            length: figures.length,
            ok: figures.n,
            ok_needed: evidence.operations_needed(),
            errors: figures.errors,
            rate: figures.rate,
            rate_interval: rate_interval_so_far(&evidence.fold.seconds).filter(|_| stages.is_empty()),
            score: figures.score.filter(|_| stages.is_empty()),
            due_rate: totals.per_second(totals.due as f64),
            in_flight_mean: totals.per_second(totals.in_flight_ns as f64 / 1e9),
            response_mean: totals.response.mean(),
            p50: quantile(0.5),
            p95: quantile(0.95),
            p99: quantile(0.99),
            standings: standings(whole, stages),
            stage: stage(whole),
            broken: whole.fold.until.as_ref().and_then(UntilFold::broken_so_far),
        }
    }
}

/// Returns the stage of a load point that has begun last.
fn stage(whole: &Evidence) -> Option<StageStatus> {
    let stages = &whole.fold.stages;
    let last = stages.iter().rfind(|stage| stage.has_begun())?;
    let since = last.fold.steady.end.saturating_sub(last.span.start);
    let n_stages = u32::try_from(stages.len()).unwrap_or(u32::MAX);
    Some(StageStatus { index: last.index, n_stages, level: last.stage.level_at(since) })
}

/// Returns a quantile; `None` if there are too few values for it.
fn quantile(times: &Histogram, q: f64) -> Option<Nanos> {
    let has_enough = values_needed(Ratio(q)) <= times.n();
    has_enough.then(|| times.quantile(Ratio(q))).flatten()
}
