//! The bookkeeping of the time axis: seconds follow each other without gap, overlap or idle span, phases as planned.

use std::collections::{BTreeMap, BTreeSet};

use model::{Flow, IntervalRecord, Phase, Phases, Plan};
use units::Nanos;

use crate::first_occurrence::FirstOccurrence;

/// The longest that one interval may be.
const INTERVAL_MAX: Nanos = Nanos::from_secs(1);

/// The end of an agent's last interval.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LastInterval {
    index: u32,
    end: Nanos,
    /// The flow of its last interval.
    pub(crate) flow: Flow,
}

/// Checks of the time axis of a load point, record by record.
#[derive(Debug)]
pub(crate) struct TimeAxis {
    phases: Phases,
    load_threads: u32,
    last: BTreeMap<u32, LastInterval>,
    /// Index, agents and load threads of the current steady second.
    current: Option<(u32, BTreeSet<u32>, u32)>,
    agents: Option<BTreeSet<u32>>,
    /// Intervals that do not follow the one before them, or are not in the phase of the plan.
    pub(crate) order: FirstOccurrence,
    /// Steady seconds in which an agent or a load thread is missing.
    pub(crate) absent: FirstOccurrence,
}

impl TimeAxis {
    pub(crate) fn new(plan: &Plan) -> TimeAxis {
        TimeAxis {
            phases: plan.phases,
            load_threads: plan.load_threads,
            last: BTreeMap::new(),
            current: None,
            agents: None,
            order: FirstOccurrence::default(),
            absent: FirstOccurrence::default(),
        }
    }

    /// Returns the end of an agent's record; `None` before its first interval.
    pub(crate) fn last_of(&self, agent: u32) -> Option<LastInterval> {
        self.last.get(&agent).copied()
    }

    pub(crate) fn interval(&mut self, record: &IntervalRecord) {
        if let Some(broken) = self.broken(record) {
            let (index, agent) = (record.index, record.agent);
            self.order.note(|| format!("interval {index} of agent {agent} {broken}"));
        }
        self.last
            .insert(record.agent, LastInterval { index: record.index, end: record.end, flow: record.flow });
        self.attend(record);
    }

    /// Ends the last second.
    pub(crate) fn close(&mut self) {
        let Some((index, agents, threads)) = self.current.take() else { return };
        let expected = self.agents.get_or_insert_with(|| agents.clone());
        let (found, known) = (agents.len(), expected.len());
        self.absent.expect(agents == *expected, || {
            format!("interval {index} has records of {found} load agents, the first one of {known}")
        });
        let planned = self.load_threads;
        self.absent.expect(threads == planned, || {
            format!("interval {index} has {threads} load threads, the plan {planned}")
        });
    }

    /// Returns the end of the record: that of the agent that ends first.
    pub(crate) fn end(&self) -> Nanos {
        self.last.values().map(|last| last.end).min().unwrap_or_default()
    }

    /// Returns the fault in the index, time or phase of an interval.
    fn broken(&self, record: &IntervalRecord) -> Option<String> {
        let (index, start) = match self.last.get(&record.agent) {
            Some(last) => (last.index.saturating_add(1), last.end),
            None => (0, Nanos::ZERO),
        };
        if record.index != index {
            return Some(format!("is in the place of interval {index}"));
        }
        if record.start != start {
            return Some(format!("begins at {}, but the one before it ends at {start}", record.start));
        }
        let length = record.end.saturating_sub(record.start);
        if length == Nanos::ZERO || INTERVAL_MAX < length {
            return Some(format!("is {length} long, more than {INTERVAL_MAX}"));
        }
        let planned = self.phases.at(record.start);
        let fits =
            record.phase == planned && (planned == Phase::Drain || record.end <= self.phases.end_of(planned));
        (!fits).then(|| {
            let (from, to, phase) = (record.start, record.end, record.phase.name());
            format!("from {from} to {to} has phase {phase}; by the plan it begins in {}", planned.name())
        })
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
