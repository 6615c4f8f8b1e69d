//! The running load point, and the summary of finished ones.

use analysis::{LoadPointStatus, OverallTotals};
use model::{IntervalRecord, Load, Phase, Plan};
use units::{Nanos, Ratio};

use super::State;
use super::history::PointKey;
use super::indicators::problem;

/// The running load point, or the last one.
#[derive(Debug)]
pub(crate) struct Point {
    /// Its index in the plan.
    pub index: u32,
    /// Its identity among the load points of all runs.
    pub key: PointKey,
    /// The phase of the last second.
    pub phase: Phase,
    /// The end of the last second, since the load point began.
    pub at: Nanos,
    /// The sums over all phases.
    pub totals: OverallTotals,
    /// The steady phase so far, as judged; `None` before the first judgment.
    pub status: Option<LoadPointStatus>,
    /// Whether it has ended.
    pub is_over: bool,
}

/// The summary of a finished load point.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct FinishedPoint {
    /// Its index in the plan.
    pub index: u32,
    /// The offered load.
    pub load: Load,
    /// Index of its run.
    pub run: usize,
    /// Successful operations per second.
    pub rate: f64,
    /// The benchmark's score; `None` without one.
    pub score: Option<f64>,
    /// Mean response time.
    pub mean: Option<Nanos>,
    /// 99th percentile of the response time; `None` if there are too few operations.
    pub p99: Option<Nanos>,
    /// Recorded length of the steady phase.
    pub length: Nanos,
    /// Failed operations in all phases.
    pub errors: u64,
    /// The problem that makes it invalid, in a word or two; `None` if there is none.
    pub problem: Option<&'static str>,
}

impl Point {
    /// Makes a load point that is about to begin.
    pub(crate) fn new(index: u32, key: PointKey, plan: &Plan) -> Point {
        let phase = plan.phases.at(Nanos::ZERO);
        let totals = OverallTotals::default();
        Point { index, key, phase, at: Nanos::ZERO, totals, status: None, is_over: false }
    }

    /// Adds the record of a second.
    pub(crate) fn add(&mut self, record: &IntervalRecord) {
        self.totals.interval(record);
        self.phase = record.phase;
        self.at = record.end;
    }

    /// Returns its status if the steady phase has begun.
    pub(crate) fn measured(&self) -> Option<&LoadPointStatus> {
        self.status.as_ref().filter(|status| Nanos::ZERO < status.length)
    }

    /// Returns the elapsed fraction of the time in which operations are started, from 0 to 1.
    pub(crate) fn fraction_done(&self, state: &State) -> Ratio {
        let length = state.runs[self.key.run].plan.phases.issuing().as_secs_f64();
        let done = self.at.as_secs_f64() / length.max(1e-9);
        Ratio(if self.is_over { 1.0 } else { done.min(1.0) })
    }
}

impl FinishedPoint {
    /// Summarizes a load point.
    pub(crate) fn new(point: &Point) -> FinishedPoint {
        let status = point.status.as_ref();
        FinishedPoint {
            index: point.index,
            load: point.key.load,
            run: point.key.run,
            rate: status.map_or(0.0, |status| status.rate),
            score: status.and_then(|status| status.score),
            mean: status.and_then(|status| status.response_mean),
            p99: status.and_then(|status| status.p99),
            length: status.map_or(Nanos::ZERO, |status| status.length),
            errors: point.totals.errors(),
            problem: problem(status),
        }
    }
}
