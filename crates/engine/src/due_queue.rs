//! The operations of a schedule on one load thread, walked once: counted as they fall due, and taken as they start.
//!
//! Between the two an operation is in one of two queues: of those that are due and wait, or of those that a slot that blocks
//! has taken before they are due. The second is no longer than there are slots. The first is as long as the backlog, which
//! has no limit; beyond [`WAITING_MAX`] it is not kept, but walked a second time when its turn comes.

use std::collections::VecDeque;

use model::SliceSchedule;
use units::Nanos;

/// The most operations that wait in memory, 64 KB: more than wait where a server keeps up.
const WAITING_MAX: usize = 4096;

/// The operations of a slice of a schedule that have not been taken.
#[derive(Debug)]
pub(crate) struct DueQueue {
    /// Those that have neither fallen due nor been taken.
    upcoming: SliceSchedule,
    /// The due times of those that were taken before they fell due, ascending; earlier than all that are upcoming.
    taken_early: VecDeque<Nanos>,
    /// Those that have fallen due and were not taken, in order; the first of them if there is an `overflow`.
    waiting: VecDeque<(u64, Nanos)>,
    /// The further ones.
    overflow: Option<Overflow>,
}

/// Operations that have fallen due and are not in memory: the first `n` of a schedule.
#[derive(Debug)]
struct Overflow {
    schedule: SliceSchedule,
    n: u64,
}

impl DueQueue {
    pub(crate) fn new(upcoming: SliceSchedule) -> DueQueue {
        DueQueue { upcoming, taken_early: VecDeque::new(), waiting: VecDeque::new(), overflow: None }
    }

    /// Returns the due time of the next operation that has neither fallen due nor been taken; `None` if there is none.
    pub(crate) fn next_due(&self) -> Option<Nanos> {
        self.upcoming.next_due()
    }

    /// Has the operations fall due that are due before `time`; returns their number.
    #[inline]
    pub(crate) fn pass_before(&mut self, time: Nanos) -> u64 {
        let mut n = 0;
        while self.taken_early.front().is_some_and(|due| *due < time) {
            self.taken_early.pop_front();
            n += 1;
        }
        while self.next_due().is_some_and(|due| due < time) {
            self.pass();
            n += 1;
        }
        n
    }

    /// Has the next operation fall due.
    fn pass(&mut self) {
        if self.overflow.is_none() && self.waiting.len() == WAITING_MAX {
            self.overflow = Some(Overflow { schedule: self.upcoming.clone(), n: 0 });
        }
        let next = self.upcoming.next();
        match &mut self.overflow {
            Some(overflow) => overflow.n += 1,
            None => self.waiting.extend(next),
        }
    }

    /// Returns the number of operations that have fallen due and were not taken.
    pub(crate) fn n_waiting(&self) -> u64 {
        self.waiting.len() as u64 + self.overflow.as_ref().map_or(0, |overflow| overflow.n)
    }

    /// Takes the next operation that has fallen due; returns its number and due time.
    #[inline]
    pub(crate) fn take_due(&mut self) -> Option<(u64, Nanos)> {
        self.waiting.pop_front().or_else(|| self.take_overflow())
    }

    /// Takes the next operation, whether or not it has fallen due.
    pub(crate) fn take_next(&mut self) -> Option<(u64, Nanos)> {
        self.take_due().or_else(|| {
            let (k, due) = self.upcoming.next()?;
            self.taken_early.push_back(due);
            Some((k, due))
        })
    }

    #[cold]
    fn take_overflow(&mut self) -> Option<(u64, Nanos)> {
        let overflow = self.overflow.as_mut()?;
        let next = overflow.schedule.next();
        overflow.n -= 1;
        if overflow.n == 0 {
            self.overflow = None;
        }
        next
    }
}

#[cfg(test)]
mod tests {
    use model::{Arrivals, Load, LoadPoint, POISSON_LANES, Phases, Schedule};
    use proptest::prelude::*;

    use super::*;

    fn slice(arrivals: Arrivals) -> SliceSchedule {
        let zero = Nanos::ZERO;
        let steady = Nanos::from_secs(10);
        let phases =
            Phases { quiet: zero, ramp_up: zero, settle: zero, steady, ramp_down: zero, drain: zero };
        let load = Load::Rate { per_second: 1_000.0, arrivals, in_flight_max: 1 };
        let point = LoadPoint { index: 0, load };
        Schedule::new(point, &phases, 1, POISSON_LANES).expect("an open loop").whole()
    }

    proptest! {
        /// Each step lets some time pass and then takes some operations, due ones only or the next ones; up to 10 s pass, in
        /// which 10,000 operations fall due.
        #[test]
        fn each_operation_falls_due_once_and_is_taken_once_in_order(
            is_poisson in any::<bool>(),
            steps in prop::collection::vec((0u64..2_000, 0usize..1_500, any::<bool>()), 1..20),
        ) {
            let arrivals = if is_poisson { Arrivals::Poisson } else { Arrivals::Constant };
            let mut queue = DueQueue::new(slice(arrivals));
            let all = slice(arrivals).collect::<Vec<_>>();
            let mut taken = Vec::new();
            let mut now = Nanos::ZERO;
            let mut n_due = 0;
            for (milliseconds, n, is_early) in steps {
                now += Nanos::from_millis(milliseconds);
                n_due += queue.pass_before(now);
                let passed = all.partition_point(|(_, due)| *due < now);
                prop_assert_eq!(n_due, passed as u64);
                prop_assert_eq!(queue.n_waiting(), passed.saturating_sub(taken.len()) as u64);
                prop_assert!(queue.waiting.len() <= WAITING_MAX);
                for _ in 0..n {
                    taken.extend(if is_early { queue.take_next() } else { queue.take_due() });
                }
            }
            prop_assert_eq!(&taken[..], &all[..taken.len()]);
        }
    }
}
