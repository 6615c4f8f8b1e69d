//! Seconds of a load point, put together from the records of all load threads.
//!
//! | state of a second | event | next | note |
//! |---|---|---|---|
//! | – | its first record | open | of any source |
//! | open | a record of another source | open | merged |
//! | open | the last record | closed | handed on after the seconds before it |
//! | open | a record of another second that ends `WATERMARK` later | closed | who has not sent is named, unless operations are no longer started: then threads leave when their last one has ended |
//! | open | the end of the load point | closed | likewise, unless it was asked to stop |
//! | closed | a record | – | too late: it is dropped |
//!
//! Where the plan limits the number of operations, the load of a source ends when it has none left to start: its steady phase
//! then ends within a second, and its drain follows. The steady phase of all ends with the first of them. What others do after
//! it, in a second in which it ended for one and not for another or later, is a ramp-down.
//!
//! Nothing here reads a clock: a watermark is a time of the load point, by its records.

use std::collections::{BTreeMap, BTreeSet};

use model::{IntervalRecord, MergeError, Phase, RecordSource};
use thiserror::Error;
use units::Nanos;

/// The time by which a source may be behind others until their seconds are closed without it.
///
/// It is the longest silence after an interruption of the network of 3 s, and one interval, rounded up. TCP sends a lost segment
/// again after its timeout r, then after 2 r, 4 r, …, so after (2ⁿ − 1) r in all: the first time behind an interruption of d is
/// before 2 d + r. With r = 1 s, the greatest before a round trip is known, that is 7 s.
///
/// Source: RFC 6298, sections 2 and 5.
pub(crate) const WATERMARK: Nanos = Nanos::from_secs(10);

/// A reason why records of a load point cannot be put together.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum CollectError {
    /// A record contradicts itself, or those of others.
    #[error(transparent)]
    Merge(#[from] MergeError),
    /// A record of another load point, or of nobody who takes part in this one.
    #[error(
        "expected records of the load threads of load point {load_point}, found one of load point {found} from {of}"
    )]
    Unexpected {
        /// The sender.
        of: RecordSource,
        /// The load point that runs.
        load_point: u32,
        /// The load point of the record.
        found: u32,
    },
    /// A record that does not follow the one before it.
    #[error("{of} has sent interval {found} of load point {load_point} in place of interval {expected}")]
    OutOfOrder {
        /// The sender.
        of: RecordSource,
        /// The load point.
        load_point: u32,
        /// The interval that was to come.
        expected: u32,
        /// The interval that came.
        found: u32,
    },
}

/// A record that had not come when its second was closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct MissingRecord {
    pub(crate) of: RecordSource,
    /// Index of the interval.
    pub(crate) index: u32,
    /// The start of the interval.
    pub(crate) start: Nanos,
}

/// A second of all sources.
#[derive(Debug)]
pub(crate) struct ClosedSecond {
    /// The load thread whose record it was in the beginning.
    pub(crate) thread: Option<u32>,
    pub(crate) record: IntervalRecord,
}

/// The least time, and the least part of the time since the start of the load point, by which the steady phases of two sources
/// end apart. Threads of one process end together, up to what their last operation before it takes to be recorded.
const APART_MIN: Nanos = Nanos::from_millis(1);
const APART_MIN_PARTS: u64 = 1000;

/// The seconds of a load point for which records are still to come.
#[derive(Debug)]
pub(crate) struct OpenSeconds {
    load_point: u32,
    /// The agent that seconds are said to be of: the first of all.
    agent: u32,
    /// The interval that comes next from each source.
    next: BTreeMap<RecordSource, u32>,
    open: BTreeMap<u32, ClosedSecond>,
    /// The interval that is closed next.
    first_open: u32,
    /// The latest end of an interval.
    latest: Nanos,
    missing: Vec<MissingRecord>,
    /// The early end of the load; `None` where the plan does not limit the number of operations.
    early_end: Option<EarlyEnd>,
}

/// The early end of a load whose operations are limited.
#[derive(Debug, Default)]
struct EarlyEnd {
    /// The sources that have nothing left to start.
    over: BTreeSet<RecordSource>,
    /// The first interval in which the load of some goes on, and that of others has ended.
    ramp_down_from: Option<u32>,
    /// The end of the interval that was closed last.
    closed_until: Nanos,
}

impl OpenSeconds {
    /// Waits for the records of some sources at a load point.
    pub(crate) fn new(load_point: u32, sources: impl IntoIterator<Item = RecordSource>) -> OpenSeconds {
        let next: BTreeMap<RecordSource, u32> = sources.into_iter().map(|source| (source, 0)).collect();
        OpenSeconds {
            load_point,
            agent: next.first_key_value().map_or(0, |(source, _)| source.agent),
            next,
            open: BTreeMap::new(),
            first_open: 0,
            latest: Nanos::ZERO,
            missing: Vec::new(),
            early_end: None,
        }
    }

    /// Lets the load of sources end at different times, before the plan says so.
    pub(crate) fn may_end_early(self) -> OpenSeconds {
        OpenSeconds { early_end: Some(EarlyEnd::default()), ..self }
    }

    /// Adds a record. Returns it if its values are now in another one, or come too late.
    ///
    /// # Errors
    /// The record does not belong to those of others.
    pub(crate) fn add(&mut self, mut record: IntervalRecord) -> Result<Option<IntervalRecord>, CollectError> {
        self.expect(&record)?;
        self.latest = self.latest.max(record.end);
        if record.index < self.first_open {
            return Ok(Some(record));
        }
        if let Some(early_end) = &mut self.early_end
            && record.phase == Phase::Drain
        {
            early_end.over.insert(record.source());
        }
        if let Some(second) = self.open.get_mut(&record.index) {
            if let Some(early_end) = &mut self.early_end {
                early_end.align(&mut second.record, &mut record);
            }
            second.record.merge(&record)?;
            return Ok(Some(record));
        }
        record.check_counts()?;
        let (thread, agent) = (record.thread, self.agent);
        let second = ClosedSecond { thread, record: IntervalRecord { agent, thread: None, ..record } };
        self.open.insert(second.record.index, second);
        Ok(None)
    }

    /// Checks that a record is the one that comes next from its source.
    fn expect(&mut self, record: &IntervalRecord) -> Result<(), CollectError> {
        let of = record.source();
        let load_point = self.load_point;
        let next = self.next.get_mut(&of).filter(|_| record.load_point == load_point);
        let next = next.ok_or(CollectError::Unexpected { of, load_point, found: record.load_point })?;
        if *next != record.index {
            let expected = *next;
            return Err(CollectError::OutOfOrder { of, load_point, expected, found: record.index });
        }
        *next = next.saturating_add(1);
        Ok(())
    }

    /// Closes the next second, if all records are there or the watermark has passed; in the order of time.
    pub(crate) fn close_next(&mut self) -> Option<ClosedSecond> {
        let (index, second) = self.open.first_key_value()?;
        let is_waiting = self.latest.saturating_sub(second.record.end) < WATERMARK;
        // Who is over may still drain, but ahead of those whose seconds are whole.
        let all_are_over = self.next.keys().all(|of| self.is_over(of));
        let is_awaited = |of| all_are_over || !self.is_over(of);
        if is_waiting && self.next.iter().any(|(of, next)| next <= index && is_awaited(of)) {
            return None;
        }
        self.close_first(true)
    }

    /// Closes the next second when nothing comes any more; who has not sent is named unless the load was `stopped`.
    pub(crate) fn close_rest(&mut self, stopped: bool) -> Option<ClosedSecond> {
        self.close_first(!stopped)
    }

    fn close_first(&mut self, names_missing: bool) -> Option<ClosedSecond> {
        let (index, mut second) = self.open.pop_first()?;
        self.first_open = index + 1;
        if let Some(early_end) = &mut self.early_end {
            early_end.close(&mut second.record);
        }
        if names_missing && second.record.phase != Phase::Drain {
            let start = second.record.start;
            let late = self.next.iter().filter(|(of, next)| **next <= index && !self.is_over(of));
            let missing = late.map(|(of, _)| MissingRecord { of: *of, index, start });
            self.missing.extend(missing.collect::<Vec<_>>());
        }
        Some(second)
    }

    /// Returns whether the load of a source has ended.
    fn is_over(&self, of: &RecordSource) -> bool {
        self.early_end.as_ref().is_some_and(|early_end| early_end.over.contains(of))
    }

    /// Returns the records that were missing when their seconds were closed, in the order of time.
    pub(crate) fn missing(&self) -> &[MissingRecord] {
        &self.missing
    }
}

impl EarlyEnd {
    /// Makes two records of one index those of one interval: where the load of one has ended and that of the other goes on, of a
    /// ramp-down that lasts as long as the longer.
    fn align(&mut self, open: &mut IntervalRecord, other: &mut IntervalRecord) {
        let apart = open.end.saturating_sub(other.end).max(other.end.saturating_sub(open.end));
        let end = open.end.max(other.end);
        let is_one_end = apart <= APART_MIN.max(Nanos(end.0 / APART_MIN_PARTS));
        let is_alike = open.phase == other.phase && (is_one_end || open.phase == Phase::Drain);
        if !is_alike {
            let index = open.index;
            self.ramp_down_from = Some(self.ramp_down_from.map_or(index, |first| first.min(index)));
            (open.phase, other.phase) = (Phase::RampDown, Phase::RampDown);
        }
        let start = if is_alike { open.start.max(other.start) } else { open.start.min(other.start) };
        (open.start, other.start) = (start, start);
        // One may have been empty when the other began.
        (open.end, other.end) = (open.end.max(start), other.end.max(start));
    }

    /// Gives a second that is closed its place behind the one before it.
    fn close(&mut self, second: &mut IntervalRecord) {
        let is_late = self.ramp_down_from.is_some_and(|first| first <= second.index);
        if is_late && second.phase < Phase::RampDown {
            second.phase = Phase::RampDown;
        }
        second.start = self.closed_until;
        second.end = second.end.max(second.start + Nanos(1));
        self.closed_until = second.end;
    }
}

#[cfg(test)]
mod tests {
    use model::{Flow, MergeFault};

    use super::*;

    const S: fn(u64) -> Nanos = Nanos::from_secs;

    fn source(thread: u32) -> RecordSource {
        RecordSource { agent: 0, thread: Some(thread) }
    }

    /// Makes a record of a whole second in which nothing happened.
    fn record(thread: u32, index: u32) -> IntervalRecord {
        let start = S(index.into());
        IntervalRecord {
            thread: Some(thread),
            index,
            phase: Phase::Steady,
            start,
            end: start + S(1),
            ..IntervalRecord::empty(7, 0)
        }
    }

    fn seconds(n_threads: u32) -> OpenSeconds {
        OpenSeconds::new(7, (0..n_threads).map(source))
    }

    /// Closes all seconds that can be closed; returns their indexes.
    fn closed(seconds: &mut OpenSeconds) -> Vec<u32> {
        std::iter::from_fn(|| seconds.close_next()).map(|second| second.record.index).collect()
    }

    #[test]
    fn a_second_is_closed_when_all_records_are_there() {
        let mut seconds = seconds(2);
        for index in 0..2 {
            assert_eq!(seconds.add(record(1, index)), Ok(None), "it is kept");
            assert_eq!(closed(&mut seconds), [0; 0]);
        }
        assert_eq!(seconds.add(record(0, 0)), Ok(Some(record(0, 0))), "it was read");
        let second = seconds.close_next().unwrap();
        assert_eq!(
            (second.thread, second.record),
            (Some(1), IntervalRecord { thread: None, ..record(1, 0) })
        );
        assert!(seconds.close_next().is_none());
        assert_eq!(seconds.missing(), []);
    }

    /// By hand: thread 0 has sent all until second 10, which ends at 11 s; second 0 ended at 1 s, 10 s before.
    #[test]
    fn the_watermark_names_who_has_not_sent_which_second() {
        let mut seconds = seconds(3);
        for index in 0..11 {
            for thread in [0, 2] {
                seconds.add(record(thread, index)).unwrap();
            }
            assert_eq!(closed(&mut seconds), if index < 10 { vec![] } else { vec![0] });
        }
        assert_eq!(seconds.missing(), [MissingRecord { of: source(1), index: 0, start: S(0) }]);
        let late = record(1, 0);
        assert_eq!(seconds.add(late.clone()), Ok(Some(late)), "dropped");
        seconds.add(record(1, 1)).unwrap();
        assert_eq!(closed(&mut seconds), [1], "which is whole");
        assert_eq!(seconds.missing().len(), 1);
    }

    /// Threads leave a drain at different times: their last seconds are not recorded by all.
    #[test]
    fn whoever_has_left_a_drain_is_not_missing() {
        let drain = |thread, index| IntervalRecord { phase: Phase::Drain, ..record(thread, index) };
        let mut seconds = seconds(2);
        seconds.add(drain(0, 0)).unwrap();
        for index in 0..11 {
            seconds.add(drain(1, index)).unwrap();
        }
        assert_eq!(closed(&mut seconds), [0], "second 1 ended at 2 s, 9 s before");
        let rest: Vec<_> = std::iter::from_fn(|| seconds.close_rest(false)).collect();
        assert_eq!(rest.len(), 10);
        assert_eq!(seconds.missing(), []);
    }

    /// A part of a second, or all of it, at these times in ms.
    fn span(thread: u32, index: u32, phase: Phase, (start, end): (u64, u64)) -> IntervalRecord {
        let [start, end] = [start, end].map(Nanos::from_millis);
        IntervalRecord { phase, start, end, ..record(thread, index) }
    }

    /// Returns the phases and times, in ms, of all seconds that can be closed now, or of the rest.
    fn spans(seconds: &mut OpenSeconds, are_all: bool) -> Vec<(Phase, u64, u64)> {
        let next = |seconds: &mut OpenSeconds| {
            if are_all { seconds.close_rest(false) } else { seconds.close_next() }
        };
        std::iter::from_fn(|| next(seconds))
            .map(|second| {
                (second.record.phase, second.record.start.0 / 1_000_000, second.record.end.0 / 1_000_000)
            })
            .collect()
    }

    /// Threads of a process find their last operation gone at nearly the same time: the steady phase ends with the later.
    #[test]
    fn threads_that_run_out_together_end_the_steady_phase_within_a_second() {
        let mut seconds = seconds(2).may_end_early();
        for thread in [0, 1] {
            seconds.add(record(thread, 0)).unwrap();
        }
        assert_eq!(spans(&mut seconds, false), [(Phase::Steady, 0, 1000)]);
        seconds.add(span(0, 1, Phase::Steady, (1000, 1500))).unwrap();
        seconds.add(span(1, 1, Phase::Steady, (1000, 1501))).unwrap();
        seconds.add(span(0, 2, Phase::Drain, (1500, 1520))).unwrap();
        seconds.add(span(1, 2, Phase::Drain, (1501, 1510))).unwrap();
        assert_eq!(spans(&mut seconds, false), [(Phase::Steady, 1000, 1501), (Phase::Drain, 1501, 1520)]);
        assert_eq!(seconds.missing(), []);
    }

    /// Agents end at different times: of the second in which the first does, and of later ones, nothing is measured, and nobody
    /// waits for it. The steady phase that ends for the other much later is none, either.
    #[test]
    fn what_an_agent_does_after_another_has_ended_is_a_ramp_down() {
        let mut seconds = seconds(2).may_end_early();
        for thread in [0, 1] {
            seconds.add(record(thread, 0)).unwrap();
        }
        seconds.add(span(0, 1, Phase::Steady, (1000, 1400))).unwrap();
        seconds.add(span(0, 2, Phase::Drain, (1400, 1410))).unwrap();
        seconds.add(record(1, 1)).unwrap();
        seconds.add(record(1, 2)).unwrap();
        seconds.add(span(1, 3, Phase::Steady, (3000, 3250))).unwrap();
        seconds.add(span(1, 4, Phase::Drain, (3250, 3300))).unwrap();
        let expected = [
            (Phase::Steady, 0, 1000),
            (Phase::RampDown, 1000, 2000),
            (Phase::RampDown, 2000, 3000),
            (Phase::RampDown, 3000, 3250),
        ];
        let mut found = spans(&mut seconds, false);
        found.extend(spans(&mut seconds, true));
        assert_eq!(found[..4], expected);
        assert_eq!(found[4..], [(Phase::Drain, 3250, 3300)]);
        assert_eq!(seconds.missing(), []);
    }

    #[test]
    fn an_agent_that_falls_silent_before_the_end_is_named_unless_the_load_was_stopped() {
        for stopped in [false, true] {
            let mut seconds = seconds(2);
            seconds.add(record(1, 0)).unwrap();
            assert!(seconds.close_next().is_none());
            assert!(seconds.close_rest(stopped).is_some() && seconds.close_rest(stopped).is_none());
            let named = [MissingRecord { of: source(0), index: 0, start: S(0) }];
            assert_eq!(seconds.missing(), if stopped { &[][..] } else { &named });
        }
    }

    #[test]
    fn records_that_belong_to_no_second_are_refused_by_name() {
        let mut seconds = seconds(2);
        seconds.add(record(0, 0)).unwrap();
        let refused = |seconds: &mut OpenSeconds, record| seconds.add(record).unwrap_err().to_string();
        assert_eq!(
            refused(&mut seconds, record(0, 0)),
            "load agent 0, load thread 0 has sent interval 0 of load point 7 in place of interval 1"
        );
        assert_eq!(
            refused(&mut seconds, record(0, 2)),
            "load agent 0, load thread 0 has sent interval 2 of load point 7 in place of interval 1"
        );
        for other in [
            IntervalRecord { agent: 1, ..record(1, 0) },
            IntervalRecord { load_point: 6, ..record(1, 0) },
            IntervalRecord { thread: None, ..record(1, 0) },
        ] {
            let of = other.source();
            let found = other.load_point;
            let expected = CollectError::Unexpected { of, load_point: 7, found };
            assert_eq!(seconds.add(other), Err(expected));
        }
    }

    /// The first record of a second is not merged with others, and is checked all the same.
    #[test]
    fn every_record_is_checked_whoever_comes_first() {
        let contradictory = |thread| {
            let flow = Flow { started: 3, ..Flow::default() };
            IntervalRecord { flow, ..record(thread, 0) }
        };
        for first in [0, 1] {
            let mut seconds = seconds(2);
            let mut add = |thread| match thread {
                0 => seconds.add(contradictory(0)),
                _ => seconds.add(record(thread, 0)),
            };
            let results = [first, 1 - first].map(&mut add);
            let CollectError::Merge(error) = results[first as usize].clone().unwrap_err() else { panic!() };
            assert_eq!(error.of, source(0));
            assert!(matches!(error.fault, MergeFault::Contradiction { .. }));
        }
    }
}
