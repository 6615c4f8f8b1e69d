//! The part of one load agent in a run, as the controller knows it: what it has answered, its clock, and sums of its records.

use std::fmt;
use std::net::SocketAddr;

use engine::OpenedSessions;
use languages::foreign_text;
use model::{AgentFigure, IntervalRecord};
use units::Nanos;

use super::clock::{ClockOffset, Exchange};
use super::part_check::PartCheck;
use crate::agent_error::AgentError;
use crate::checked::CheckedRow;
use crate::family_counts::FamilyCounts;

/// The most exchanges with an agent that are kept, and pings that it has not answered: the latest.
const KEPT_MAX: usize = 128;

/// The largest difference between the starts of load agents that is no finding.
pub(super) const START_SKEW_MAX: Nanos = Nanos::from_millis(5);

/// An answer to a request.
#[derive(Debug)]
pub(super) enum Answer {
    Done,
    Reached(Option<SocketAddr>),
    Ready(OpenedSessions),
}

/// Returns what may be recorded of the counts and findings of an agent: as foreign text, and said to be its own.
pub(super) fn believed(agent: usize, counts: &FamilyCounts) -> FamilyCounts {
    let mut own = FamilyCounts::default();
    for (name, n) in counts.iter().filter(|(name, _)| AgentFigure::of_count(name).is_none()) {
        own.add_named(foreign_text(name).into(), n);
    }
    for (kind, change) in counts.changes.iter() {
        own.changes.add_one(&foreign_text(kind), *change);
    }
    let row = |(name, holds, found): &CheckedRow| {
        (foreign_text(name), *holds, format!("load agent {agent}: {}", foreign_text(found)))
    };
    own.of_load = counts.of_load.iter().map(row).collect();
    own
}

/// Adds an item to a list that keeps the latest.
pub(super) fn keep<T>(list: &mut Vec<T>, item: T) {
    if KEPT_MAX <= list.len() {
        list.remove(0);
    }
    list.push(item);
}

/// What the controller knows of an agent in this run.
#[derive(Debug, Default)]
pub(super) struct Part {
    pub(super) answer: Option<Answer>,
    /// Exchanges of messages since the clock was last read.
    pub(super) exchanges: Vec<Exchange>,
    /// Pings that were not answered, with their times.
    pub(super) pings: Vec<(u32, Nanos)>,
    pub(super) heard: Nanos,
    /// The time of the last message that was no answer to a ping.
    pub(super) progressed: Nanos,
    pub(super) check: Option<PartCheck>,
    /// Records of the load point that were taken, which the next ping says.
    pub(super) acknowledged: u64,
    /// The offset of its clock when it was told to go.
    pub(super) offset: Option<ClockOffset>,
    /// The time by which the start had passed when it was told of it.
    pub(super) late: Option<Nanos>,
    pub(super) over: Option<FamilyCounts>,
    pub(super) totals: PartTotals,
    pub(super) failure: Option<AgentError>,
}

/// Sums of the records of an agent at a load point.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct PartTotals {
    started: u64,
    cpu: Nanos,
    thread_time: Nanos,
    run_queue: Nanos,
    lateness: Nanos,
}

impl PartTotals {
    pub(super) fn add(&mut self, record: &IntervalRecord) {
        self.started = self.started.saturating_add(record.flow.started);
        self.cpu = self.cpu.saturating_add(record.health.cpu);
        self.run_queue = self.run_queue.saturating_add(record.health.run_queue);
        let length = record.end.saturating_sub(record.start);
        let thread_time = Nanos(length.0.saturating_mul(record.health.threads.into()));
        self.thread_time = self.thread_time.saturating_add(thread_time);
        self.lateness = self.lateness.max(record.lateness.max().unwrap_or_default());
    }

    /// Returns the figures of the agent.
    pub(super) fn figures(&self) -> [(AgentFigure, u64); 5] {
        [
            (AgentFigure::Started, self.started),
            (AgentFigure::Cpu, micros(self.cpu)),
            (AgentFigure::ThreadTime, micros(self.thread_time)),
            (AgentFigure::RunQueue, micros(self.run_queue)),
            (AgentFigure::Lateness, micros(self.lateness)),
        ]
    }
}

/// The start of an agent at a load point.
#[derive(Debug, Clone, Copy)]
pub(super) struct AgentStart {
    /// The time by which it had passed when the agent was told of it.
    late: Nanos,
    /// The offset of its clock then.
    offset: ClockOffset,
    /// That after the load point; `None` if it could not be read.
    later: Option<ClockOffset>,
}

impl AgentStart {
    pub(super) fn of(part: &Part) -> Option<AgentStart> {
        Some(AgentStart { late: part.late?, offset: part.offset?, later: ClockOffset::of(&part.exchanges) })
    }

    /// Returns the time by which its clock moved, as far as that is certain.
    pub(super) fn drift(&self) -> Option<Nanos> {
        let later = self.later?;
        let bounds = self.offset.bound.saturating_add(later.bound);
        Some(self.offset.moved_to(&later).saturating_sub(bounds))
    }

    /// Returns the time by which its seconds may differ from those of the controller.
    pub(super) fn skew(&self) -> Nanos {
        self.late.saturating_add(self.offset.bound).saturating_add(self.drift().unwrap_or_default())
    }

    pub(super) fn figures(&self) -> impl Iterator<Item = (AgentFigure, Nanos)> {
        let drift = self.drift().map(|drift| (AgentFigure::ClockDrift, drift));
        let known = [(AgentFigure::StartDelay, self.late), (AgentFigure::ClockBound, self.offset.bound)];
        known.into_iter().chain(drift)
    }
}

impl fmt::Display for AgentStart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let AgentStart { late, offset, later } = self;
        write!(f, "began {late} late, its clock known to ± {}; ", offset.bound)?;
        match later {
            None => f.write_str("its clock could not be read afterwards"),
            Some(later) => {
                let bounds = offset.bound.saturating_add(later.bound);
                write!(f, "its clock moved by {} ± {bounds} meanwhile", offset.moved_to(later))
            }
        }
    }
}

/// Returns a time in microseconds, rounded up, so that none which passed is zero.
pub(super) fn micros(time: Nanos) -> u64 {
    time.0.div_ceil(1_000)
}
