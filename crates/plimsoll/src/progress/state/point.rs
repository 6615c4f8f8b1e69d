//! The running load point, and the summary of finished ones.

use model::{Flow, IntervalRecord, Load, Phase, Plan};
use units::{Nanos, Ratio};

use super::State;
use super::history::PointKey;
use super::indicators::{Indicator, IndicatorInput, IndicatorStatus, problem};
use super::totals::Totals;

/// The running load point, or the last one.
#[derive(Debug)]
pub struct Point {
    /// Its index in the plan.
    pub index: u32,
    /// Its identity among the load points of all runs.
    pub key: PointKey,
    /// The phase of the last second.
    pub phase: Phase,
    /// The end of the last second, since the load point began.
    pub at: Nanos,
    /// Failed operations in all phases, including timeouts.
    pub errors: u64,
    /// The steady phase so far.
    pub totals: Totals,
    /// The validity indicators.
    pub indicators: Vec<Indicator>,
    /// Whether it has ended.
    pub is_over: bool,
    /// The first flaw found in its records.
    flaw: Option<&'static str>,
    last_flow: Option<Flow>,
}

/// The summary of a finished load point.
#[derive(Debug, Clone, PartialEq)]
pub struct FinishedPoint {
    /// Its index in the plan.
    pub index: u32,
    /// The offered load.
    pub load: Load,
    /// Index of its run.
    pub run: usize,
    /// Successful operations per second.
    pub rate: f64,
    /// Mean response time.
    pub mean: Option<Nanos>,
    /// 99th percentile of the response time; `None` if there are too few operations.
    pub p99: Option<Nanos>,
    /// Recorded length of the steady phase.
    pub length: Nanos,
    /// Failed operations in all phases.
    pub errors: u64,
    /// The indicator that makes it invalid, with its status; `None` if there is none.
    pub problem: Option<(IndicatorStatus, &'static str)>,
}

impl Point {
    /// Makes a load point that is about to begin.
    pub fn new(index: u32, key: PointKey, plan: &Plan) -> Point {
        let totals = Totals::default();
        Point {
            index,
            key,
            phase: plan.phases.at(Nanos::ZERO),
            at: Nanos::ZERO,
            errors: 0,
            indicators: IndicatorInput::new(plan, key.load, &totals, None).indicators(),
            totals,
            is_over: false,
            flaw: None,
            last_flow: None,
        }
    }

    /// Adds the record of a second.
    pub fn add(&mut self, record: &IntervalRecord, plan: &Plan) {
        let is_contiguous = record.start == self.at;
        self.flaw = self.flaw.or_else(|| (!is_contiguous).then_some("a second is missing"));
        self.flaw = self.flaw.or_else(|| flaw(record, self.last_flow.unwrap_or_default()));
        self.errors = self.errors.saturating_add(record.flow.failed).saturating_add(record.flow.timed_out);
        self.totals.add(self.key.load, record, self.last_flow.as_ref());
        self.indicators = IndicatorInput::new(plan, self.key.load, &self.totals, self.flaw).indicators();
        self.last_flow = Some(record.flow);
        self.phase = record.phase;
        self.at = record.end;
    }

    /// Returns the elapsed fraction of the time in which operations are started, from 0 to 1.
    pub fn fraction_done(&self, state: &State) -> Ratio {
        let length = state.runs[self.key.run].plan.phases.issuing().as_secs_f64();
        let done = self.at.as_secs_f64() / length.max(1e-9);
        Ratio(if self.is_over { 1.0 } else { done.min(1.0) })
    }
}

/// Returns a description of the inconsistency if the counts of a record do not add up.
fn flaw(record: &IntervalRecord, last: Flow) -> Option<&'static str> {
    let flow = &record.flow;
    let sums_agree = [
        (flow.waiting_at_start + flow.due, flow.started + flow.skipped + flow.waiting_at_end),
        (
            flow.in_flight_at_start + flow.started,
            flow.ok + flow.failed + flow.timed_out + flow.abandoned + flow.in_flight_at_end,
        ),
        (last.waiting_at_end, flow.waiting_at_start),
        (last.in_flight_at_end, flow.in_flight_at_start),
        (flow.ok, record.response.n()),
    ];
    sums_agree.iter().any(|(one, other)| one != other).then_some("operations were lost or counted twice")
}

impl FinishedPoint {
    /// Summarizes a load point.
    pub fn new(point: &Point, plan: &Plan) -> FinishedPoint {
        let totals = &point.totals;
        let is_complete = plan.phases.steady <= totals.length;
        let problem = problem(&point.indicators);
        FinishedPoint {
            index: point.index,
            load: point.key.load,
            run: point.key.run,
            rate: totals.per_second(totals.ok as f64),
            mean: totals.response.mean(),
            p99: totals.p99,
            length: totals.length,
            errors: point.errors,
            problem: if is_complete { problem } else { Some((IndicatorStatus::Bad, "cut short")) },
        }
    }
}
