//! The fold over the records of one load point.

use std::collections::BTreeMap;

use model::{
    ConsistencyCheck, Example, IntervalRecord, KindHistograms, LoadPoint, NamedCount, Outcome, Phase, Plan,
};
use units::Nanos;

use super::ledger::Ledger;
use super::time_axis::TimeAxis;
use super::{Notices, ScoreSeconds, Seconds, StageFold, SteadyTotals, UntilFold, stages};

/// The fold of one load point.
#[derive(Debug)]
pub(crate) struct PointFold {
    /// The load point as planned.
    pub(crate) point: LoadPoint,
    /// The operations that were started, in all phases.
    pub(crate) started: u64,
    /// Totals of the steady phase.
    pub(crate) steady: SteadyTotals,
    /// One line per second, all phases.
    pub(crate) seconds: Seconds,
    /// The sums of the score, per second of the steady phase.
    pub(crate) score_seconds: ScoreSeconds,
    /// The notices of all phases.
    pub(crate) notices: Notices,
    /// The earliest example of each outcome.
    pub(crate) examples: BTreeMap<Outcome, Example>,
    /// In the order in which they were made.
    pub(crate) checks: Vec<ConsistencyCheck>,
    pub(crate) counts: Vec<NamedCount>,
    /// Checks of conservation, done record by record.
    pub(crate) ledger: Ledger,
    /// Checks of the time axis, done record by record.
    pub(crate) axis: TimeAxis,
    /// The stages of its shape; none where the load stays the same.
    pub(crate) stages: Vec<StageFold>,
    /// The limits that end it early; `None` where none does.
    pub(crate) until: Option<UntilFold>,
}

impl PointFold {
    pub(crate) fn new(plan: &Plan, point: LoadPoint) -> PointFold {
        let uniform = PointFold::uniform(plan, point);
        PointFold { stages: stages::stages(plan, point), until: UntilFold::new(plan), ..uniform }
    }

    /// Makes the fold of a load point, or of a part of one, without stages.
    pub(super) fn uniform(plan: &Plan, point: LoadPoint) -> PointFold {
        PointFold {
            point,
            started: 0,
            steady: SteadyTotals::new(plan),
            seconds: Seconds::default(),
            score_seconds: ScoreSeconds::new(&plan.catalog.score),
            notices: Notices::new(plan.catalog.notices.len()),
            examples: BTreeMap::new(),
            checks: Vec::new(),
            counts: Vec::new(),
            ledger: Ledger::new(plan, point),
            axis: TimeAxis::new(plan),
            stages: Vec::new(),
            until: None,
        }
    }

    pub(crate) fn interval(&mut self, record: &IntervalRecord) {
        let before = self.axis.last_of(record.agent);
        self.ledger.interval(record, before.map(|last| last.flow));
        self.notices.interval(record);
        self.started = self.started.saturating_add(record.flow.started);
        let steady = if record.phase == Phase::Steady {
            let full = self.places_full(record);
            self.score_seconds.interval(record);
            let of_stage = stages::add(&mut self.stages, record, before, full);
            self.steady.interval(record, before, full).and(of_stage)
        } else {
            Ok(())
        };
        if let Some(until) = &mut self.until {
            until.interval(record);
        }
        self.axis.interval(record);
        if self.seconds.interval(record).and(steady).is_err() {
            self.ledger.overflow(record);
        }
        if let Some(detail) = &record.detail {
            self.detail(record.agent, record.phase, record.start, detail);
        }
    }

    pub(crate) fn detail(&mut self, agent: u32, phase: Phase, start: Nanos, detail: &KindHistograms) {
        self.ledger.detail(phase, detail);
        let notices = self.notices.detail(detail);
        let steady = if phase == Phase::Steady { self.steady.detail(detail) } else { Ok(()) };
        if notices.and(steady).is_err() {
            self.ledger.overflow_of_detail(agent, start);
        }
    }

    pub(crate) fn example(&mut self, example: Example) {
        let kept = self.examples.entry(example.outcome).or_insert_with(|| example.clone());
        if example.at < kept.at {
            *kept = example;
        }
    }

    /// Ends the fold: no record follows.
    pub(crate) fn close(&mut self) {
        self.seconds.close();
        self.axis.close();
        self.stages.iter_mut().for_each(StageFold::close);
        if let Some(until) = &mut self.until {
            until.close();
        }
    }

    /// Returns whether nearly all slots of an open loop were taken at an end of the interval.
    ///
    /// Slots are divided over load threads, so that one thread may have none left while another has.
    fn places_full(&self, record: &IntervalRecord) -> bool {
        const NEARLY_ALL: f64 = 0.9;
        let places = f64::from(self.point.load.in_flight_max()) * self.steady.share_of(record);
        let taken = record.flow.in_flight_at_start.max(record.flow.in_flight_at_end);
        !self.point.load.is_closed() && NEARLY_ALL * places <= taken as f64
    }
}
