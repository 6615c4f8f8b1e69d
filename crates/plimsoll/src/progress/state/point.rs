//! The load point that runs, and what remains of those that are done.

use model::{Flow, IntervalRecord, Load, Phase, Plan};
use units::{Nanos, Ratio};

use super::State;
use super::history::Place;
use super::lights::{Color, Evidence, Light, objection};
use super::totals::Totals;

/// A load point that runs, or ran last.
#[derive(Debug)]
pub struct Point {
    /// Its index in the plan.
    pub index: u32,
    /// Which it is.
    pub place: Place,
    /// The phase of the last second.
    pub phase: Phase,
    /// Where the last second ended.
    pub at: Nanos,
    /// Failed operations in all phases, timed out ones included.
    pub errors: u64,
    /// The steady phase so far.
    pub totals: Totals,
    /// The signs of validity.
    pub lights: Vec<Light>,
    /// Whether it has ended.
    pub is_over: bool,
    /// The first flaw that was found in its records.
    flaw: Option<&'static str>,
    before: Option<Flow>,
}

/// What remains of a load point.
#[derive(Debug, Clone, PartialEq)]
pub struct Done {
    /// Its index in the plan.
    pub index: u32,
    /// What was offered.
    pub load: Load,
    /// Place of its run.
    pub run: usize,
    /// Successful operations per second.
    pub rate: f64,
    /// Mean response time.
    pub mean: Option<Nanos>,
    /// 99th percentile of the response time; `None` if too few.
    pub p99: Option<Nanos>,
    /// Length of the steady phase as recorded.
    pub length: Nanos,
    /// Failed operations in all phases.
    pub errors: u64,
    /// The gravest light that objects, and the family that it is of.
    pub objection: Option<(Color, &'static str)>,
}

impl Point {
    /// Makes a load point that begins.
    pub fn new(index: u32, place: Place, plan: &Plan) -> Point {
        let totals = Totals::default();
        Point {
            index,
            place,
            phase: plan.phases.at(Nanos::ZERO),
            at: Nanos::ZERO,
            errors: 0,
            lights: Evidence::new(plan, place.load, &totals, None).lights(),
            totals,
            is_over: false,
            flaw: None,
            before: None,
        }
    }

    /// Takes the record of a second.
    pub fn add(&mut self, record: &IntervalRecord, plan: &Plan) {
        let begins_right = record.start == self.at;
        self.flaw = self.flaw.or_else(|| (!begins_right).then_some("a second is missing"));
        self.flaw = self.flaw.or_else(|| flaw(record, self.before.unwrap_or_default()));
        self.errors = self.errors.saturating_add(record.flow.failed).saturating_add(record.flow.timed_out);
        self.totals.add(self.place.load, record, self.before.as_ref());
        self.lights = Evidence::new(plan, self.place.load, &self.totals, self.flaw).lights();
        self.before = Some(record.flow);
        self.phase = record.phase;
        self.at = record.end;
    }

    /// Returns which part of the time for which operations are started is over, from 0 to 1.
    pub fn part_done(&self, state: &State) -> Ratio {
        let length = state.runs[self.place.run].plan.phases.issuing().as_secs_f64();
        let part = self.at.as_secs_f64() / length.max(1e-9);
        Ratio(if self.is_over { 1.0 } else { part.min(1.0) })
    }
}

/// Returns what a record has lost.
fn flaw(record: &IntervalRecord, before: Flow) -> Option<&'static str> {
    let flow = &record.flow;
    let sums_agree = [
        (flow.waiting_at_start + flow.due, flow.started + flow.skipped + flow.waiting_at_end),
        (
            flow.in_flight_at_start + flow.started,
            flow.ok + flow.failed + flow.timed_out + flow.abandoned + flow.in_flight_at_end,
        ),
        (before.waiting_at_end, flow.waiting_at_start),
        (before.in_flight_at_end, flow.in_flight_at_start),
        (flow.ok, record.response.n()),
    ];
    sums_agree.iter().any(|(one, other)| one != other).then_some("operations were lost or counted twice")
}

impl Done {
    /// Makes what remains of a load point.
    pub fn new(point: &Point, plan: &Plan) -> Done {
        let totals = &point.totals;
        let is_whole = plan.phases.steady <= totals.length;
        let objection = objection(&point.lights);
        Done {
            index: point.index,
            load: point.place.load,
            run: point.place.run,
            rate: totals.per_second(totals.ok as f64),
            mean: totals.response.mean(),
            p99: totals.p99,
            length: totals.length,
            errors: point.errors,
            objection: if is_whole { objection } else { Some((Color::Red, "cut short")) },
        }
    }
}
