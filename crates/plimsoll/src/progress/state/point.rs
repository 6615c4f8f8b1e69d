//! The running load point, and the summary of finished ones.

use analysis::{BrokenLimit, LoadPointStatus, OverallTotals};
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
    /// Failed operations in all phases; of a stage, in it.
    pub errors: u64,
    /// The problem that makes it invalid, in a word or two; `None` if there is none.
    pub problem: Option<&'static str>,
    /// The stage of its shape that all figures are of, by index; `None` of a load that stays the same.
    pub stage: Option<u32>,
    /// The limit that broke and ended it.
    pub broken: Option<BrokenLimit>,
}

/// The stage in which a load point is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct CurrentStage {
    /// Its number, from 1.
    pub number: usize,
    /// The number of stages.
    pub n_stages: usize,
    /// The load now.
    pub load: Load,
    /// The time since its beginning.
    pub elapsed: Nanos,
    /// Its length.
    pub length: Nanos,
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

    /// Returns the stage in which it is; `None` where the load stays the same, and when the shape is over.
    pub(crate) fn stage(&self, state: &State) -> Option<CurrentStage> {
        let plan = &state.runs[self.key.run].plan;
        let shape = plan.shape.as_ref().filter(|_| !self.is_over)?;
        let at = self.at.saturating_sub(plan.phases.start_of(Phase::Steady));
        let index = shape.stage_at(at)?;
        let (span, stage) = shape.spans().nth(index)?;
        let elapsed = at.saturating_sub(span.start);
        let load = self.key.load.at_level(stage.level_at(elapsed).round());
        let n_stages = shape.stages.len();
        Some(CurrentStage { number: index + 1, n_stages, load, elapsed, length: stage.length })
    }

    /// Returns the summary of its stage that was under way, if this status is of a later one.
    pub(crate) fn ended_stage(&self, status: &LoadPointStatus) -> Option<FinishedPoint> {
        let before = self.status.as_ref()?.stage?;
        (before.index < status.stage?.index).then(|| FinishedPoint::new(self))
    }

    /// Returns the elapsed fraction of the time in which operations are started, from 0 to 1, or of the operations that users
    /// start in all, if there are fewer left of these.
    pub(crate) fn fraction_done(&self, state: &State) -> Ratio {
        let length = state.runs[self.key.run].plan.phases.issuing().as_secs_f64();
        let done = self.at.as_secs_f64() / length.max(1e-9);
        let of_operations = self.operations_done(state).map_or(0.0, |ratio| ratio.0);
        Ratio(if self.is_over { 1.0 } else { done.max(of_operations).min(1.0) })
    }

    /// Returns the time that is left of it: by its phases, or by the rate at which users start those operations so far.
    pub(crate) fn remaining(&self, state: &State) -> Nanos {
        let length = state.runs[self.key.run].plan.phases.issuing().as_secs_f64();
        let left = (1.0 - self.fraction_done(state).0) * length;
        let of_operations = self.operations_done(state).filter(|done| 0.0 < done.0 && !self.is_over);
        let by_rate = of_operations.map(|done| self.at.as_secs_f64() * (1.0 - done.0).max(0.0) / done.0);
        Nanos::from_secs_f64(by_rate.map_or(left, |by_rate| by_rate.min(left)))
    }

    /// Returns the part of the operations in all that users have started; `None` where their number is not limited.
    fn operations_done(&self, state: &State) -> Option<Ratio> {
        let operations = state.runs[self.key.run].plan.operations.filter(|_| self.key.load.is_closed())?;
        Some(Ratio(self.totals.due as f64 / operations.max(1) as f64))
    }
}

impl FinishedPoint {
    /// Summarizes a load point.
    pub(crate) fn new(point: &Point) -> FinishedPoint {
        let status = point.status.as_ref();
        let stage = status.and_then(|status| status.stage);
        FinishedPoint {
            index: point.index,
            load: point.key.load,
            run: point.key.run,
            rate: status.map_or(0.0, |status| status.rate),
            score: status.and_then(|status| status.score),
            mean: status.and_then(|status| status.response_mean),
            p99: status.and_then(|status| status.p99),
            length: status.map_or(Nanos::ZERO, |status| status.length),
            errors: status.filter(|_| stage.is_some()).map_or(point.totals.errors(), |status| status.errors),
            problem: problem(status),
            stage: stage.map(|stage| stage.index),
            broken: status.and_then(|status| status.broken),
        }
    }
}
