//! The bookkeeping of the time axis: seconds follow each other without gap, overlap or idle span, phases as planned.

use std::collections::{BTreeMap, BTreeSet};

use model::{Flow, IntervalRecord, Phase, Phases, Plan};
use units::Nanos;

use crate::finding::{FaultCounter, IntervalFault, LocatedFault, MissingLoad};

/// The longest that one interval may be.
const INTERVAL_MAX: Nanos = Nanos::from_secs(1);

/// The end of an agent's last interval.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LastInterval {
    index: u32,
    phase: Phase,
    end: Nanos,
    /// The flow of its last interval.
    pub(crate) flow: Flow,
}

/// Checks of the time axis of a load point, record by record.
#[derive(Debug)]
pub(crate) struct TimeAxis {
    phases: Phases,
    /// Whether the load ends with its last operation, before its phases do.
    may_end_early: bool,
    load_threads: u32,
    last: BTreeMap<u32, LastInterval>,
    /// Index, agents and load threads of the current steady second.
    current: Option<(u32, BTreeSet<u32>, u32)>,
    agents: Option<BTreeSet<u32>>,
    /// Intervals that do not follow the one before them, or are not in the phase of the plan.
    pub(crate) order: FaultCounter<LocatedFault<IntervalFault>>,
    /// Steady seconds in which an agent or a load thread is missing.
    pub(crate) missing: FaultCounter<MissingLoad>,
}

impl TimeAxis {
    pub(crate) fn new(plan: &Plan) -> TimeAxis {
        TimeAxis {
            phases: plan.phases,
            may_end_early: plan.operations.is_some(),
            load_threads: plan.load_threads(),
            last: BTreeMap::new(),
            current: None,
            agents: None,
            order: FaultCounter::default(),
            missing: FaultCounter::default(),
        }
    }

    /// Returns the end of an agent's record; `None` before its first interval.
    pub(crate) fn last_of(&self, agent: u32) -> Option<LastInterval> {
        self.last.get(&agent).copied()
    }

    pub(crate) fn interval(&mut self, record: &IntervalRecord) {
        if let Some(fault) = self.fault(record) {
            self.order.note(LocatedFault { interval: record.index, agent: record.agent, fault });
        }
        let IntervalRecord { index, phase, end, flow, .. } = *record;
        self.last.insert(record.agent, LastInterval { index, phase, end, flow });
        self.attend(record);
    }

    /// Ends the last second.
    pub(crate) fn close(&mut self) {
        let Some((interval, agents, threads)) = self.current.take() else { return };
        let expected = self.agents.get_or_insert_with(|| agents.clone());
        if agents != *expected {
            let found = agents.len();
            let expected = expected.len();
            self.missing.note(MissingLoad::Agents { interval, found, expected });
        }
        let planned = self.load_threads;
        if threads != planned {
            self.missing.note(MissingLoad::Threads { interval, found: threads, planned });
        }
    }

    /// Returns the end of the record: that of the agent that ends first.
    pub(crate) fn end(&self) -> Nanos {
        self.last.values().map(|last| last.end).min().unwrap_or_default()
    }

    /// Returns the phase of an agent's last interval; the first of all before it.
    fn last_phase(&self, agent: u32) -> Phase {
        self.last.get(&agent).map_or(Phase::RampUp, |last| last.phase)
    }

    /// Returns the fault in the index, time or phase of an interval.
    fn fault(&self, record: &IntervalRecord) -> Option<IntervalFault> {
        let (expected, end_before) = match self.last.get(&record.agent) {
            Some(last) => (last.index.saturating_add(1), last.end),
            None => (0, Nanos::ZERO),
        };
        if record.index != expected {
            return Some(IntervalFault::Index { expected });
        }
        let start = record.start;
        let end = record.end;
        let phase = record.phase;
        if start != end_before {
            return Some(IntervalFault::Start { start, end_before });
        }
        let length = end.saturating_sub(start);
        if length == Nanos::ZERO || INTERVAL_MAX < length {
            return Some(IntervalFault::Length { length, limit: INTERVAL_MAX });
        }
        let planned = self.phases.at(start);
        // A load that has ended does not begin again.
        let is_early = self.may_end_early && planned < phase && self.last_phase(record.agent) <= phase;
        if is_early {
            return None;
        }
        let fits = phase == planned && (planned == Phase::Drain || end <= self.phases.end_of(planned));
        (!fits).then_some(IntervalFault::Phase { start, end, phase, planned })
    }

    /// Counts the agents and load threads in a second of the steady phase. Threads leave a drain one by one.
    fn attend(&mut self, record: &IntervalRecord) {
        if record.phase != Phase::Steady {
            return self.close();
        }
        if self.current.as_ref().is_some_and(|(index, ..)| *index != record.index) {
            self.close();
        }
        let (_, agents, threads) = self.current.get_or_insert_with(|| (record.index, BTreeSet::new(), 0));
        agents.insert(record.agent);
        *threads = threads.saturating_add(record.health.threads);
    }
}
