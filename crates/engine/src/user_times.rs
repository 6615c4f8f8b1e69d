//! The times of a user of a closed loop: when its next operation is due, and from when on it could be sent.
//!
//! Pauses between two operations follow each other: the first counts from the end of the operation before or from its due
//! time, as it says, and each further one from the end of the pause before. Whoever counts from due times may owe
//! operations: their due times have passed when the one before is done.

use model::PauseStart;
use units::Nanos;

/// The times of an operation that starts, on the run's clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct StartTimes {
    /// The time at which it was due.
    pub(crate) due: Nanos,
    /// The time from which its user could perform it, if that is later: it waited for its user until then.
    pub(crate) free: Nanos,
    /// The time at which it is sent.
    pub(crate) sent: Nanos,
    /// The time from the due time of the user's operation before, where pauses count from due times; else zero.
    pub(crate) due_span: Nanos,
}

impl StartTimes {
    /// Returns the times of an operation that did not wait for its user.
    pub(crate) fn of(due: Nanos, sent: Nanos) -> StartTimes {
        StartTimes { due, free: due, sent, due_span: Nanos::ZERO }
    }

    /// Returns the times of the same operation, recorded as sent at another time. One that was due at once is due then, too:
    /// the wait for the recorder is no response time.
    pub(crate) fn sent_at(self, sent: Nanos) -> StartTimes {
        let due = if self.due == self.sent { sent } else { self.due };
        StartTimes { due, sent, ..self }
    }
}

/// The times of a user between two operations.
#[derive(Debug, Clone, Copy)]
pub(crate) struct UserTimes {
    /// The due time of the next operation, as far as pauses are known.
    due: Nanos,
    /// The end of the operation before, or the time at which the user was really back from a pause.
    now: Nanos,
    /// The due time of the operation before.
    last_due: Nanos,
    /// The start of the first pause since then.
    first_pause: Option<PauseStart>,
    /// Whether the user has waited since then.
    has_waited: bool,
}

impl UserTimes {
    /// Returns the times of a user that arrives.
    pub(crate) fn arriving(at: Nanos) -> UserTimes {
        UserTimes { due: at, now: at, last_due: at, first_pause: None, has_waited: false }
    }

    /// Returns the time up to which the user has come.
    pub(crate) fn now(&self) -> Nanos {
        self.now
    }

    /// Adds a pause. Returns the time until which the user waits; `None` if that has passed, so that the user owes the
    /// operation.
    pub(crate) fn pause(&mut self, time: Nanos, from: PauseStart) -> Option<Nanos> {
        let first = *self.first_pause.get_or_insert_with(|| {
            if from == PauseStart::Due {
                self.due = self.last_due;
            }
            from
        });
        self.due = self.due.saturating_add(time);
        (first == PauseStart::Done || self.now < self.due).then_some(self.due)
    }

    /// Notes that the user is back from a pause.
    pub(crate) fn back(&mut self, at: Nanos) {
        (self.now, self.has_waited) = (at, true);
    }

    /// Returns the time until which a pause lasts that was interrupted; `None` if there is none.
    pub(crate) fn rest_of_pause(&self) -> Option<Nanos> {
        (self.now < self.due).then_some(self.due)
    }

    /// Notes that the user was absent until `at`: all its times go on from there as if no time had passed.
    pub(crate) fn absent_until(&mut self, at: Nanos) {
        let absence = at.saturating_sub(self.now);
        self.now += absence;
        self.due = self.due.saturating_add(absence);
        self.last_due = self.last_due.saturating_add(absence);
    }

    /// Returns the times of the next operation.
    pub(crate) fn start(&self) -> StartTimes {
        let due_span = match self.first_pause {
            Some(PauseStart::Due) => self.due - self.last_due,
            Some(PauseStart::Done) | None => Nanos::ZERO,
        };
        let free = if self.has_waited { self.due } else { self.now };
        StartTimes { due: self.due, free, sent: self.now, due_span }
    }

    /// Notes that the operation is done.
    pub(crate) fn done(&mut self, at: Nanos) {
        let last_due = self.due;
        *self = UserTimes { due: at, now: at, last_due, first_pause: None, has_waited: false };
    }
}

#[cfg(test)]
mod tests {
    use PauseStart::{Done, Due};

    use super::*;

    fn start(due: u64, free: u64, sent: u64, due_span: u64) -> StartTimes {
        let [due, free, sent, due_span] = [due, free, sent, due_span].map(Nanos);
        StartTimes { due, free, sent, due_span }
    }

    /// By hand: due at once, and due 20 before it was sent.
    #[test]
    fn an_operation_that_is_recorded_late_is_due_late_only_if_it_was_due_at_once() {
        assert_eq!(start(100, 100, 100, 0).sent_at(Nanos(130)), start(130, 100, 130, 0));
        assert_eq!(start(80, 80, 100, 0).sent_at(Nanos(130)), start(80, 80, 130, 0));
    }

    #[test]
    fn an_operation_without_a_pause_follows_at_once() {
        let mut times = UserTimes::arriving(Nanos(100));
        assert_eq!(times.start(), start(100, 100, 100, 0));
        times.done(Nanos(130));
        assert_eq!(times.start(), start(130, 130, 130, 0));
    }

    /// Done at 130, 50 of one pause and 20 of another: due at 200, and 3 late.
    #[test]
    fn pauses_from_the_end_of_an_operation_add_up() {
        let mut times = UserTimes::arriving(Nanos(100));
        times.done(Nanos(130));
        assert_eq!(times.pause(Nanos(50), Done), Some(Nanos(180)));
        times.back(Nanos(181));
        assert_eq!(times.pause(Nanos(20), Done), Some(Nanos(200)));
        times.back(Nanos(203));
        assert_eq!(times.start(), start(200, 200, 203, 0));
    }

    /// Due at 100, 140 and 180, and done at 110, 200 and 210: the third is owed from 180 to 200.
    #[test]
    fn pauses_from_due_times_may_have_passed() {
        let mut times = UserTimes::arriving(Nanos(100));
        times.done(Nanos(110));
        assert_eq!(times.pause(Nanos(40), Due), Some(Nanos(140)));
        times.back(Nanos(141));
        assert_eq!(times.start(), start(140, 140, 141, 40));
        times.done(Nanos(200));
        assert_eq!(times.pause(Nanos(40), Due), None);
        assert_eq!(times.start(), start(180, 200, 200, 40));
        times.done(Nanos(210));
        assert_eq!(times.pause(Nanos(60), Due), Some(Nanos(240)));
    }

    /// Thinking from 130 to 180, absent from 150 to 1000: 30 of the pause are left, and an operation that was done at 1040
    /// shortly before another absence, until 2000, is followed by the next one at once.
    #[test]
    fn an_absence_interrupts_a_pause() {
        let mut times = UserTimes::arriving(Nanos(100));
        times.done(Nanos(130));
        assert_eq!(
            (times.pause(Nanos(50), Done), times.rest_of_pause()),
            (Some(Nanos(180)), Some(Nanos(180)))
        );
        times.back(Nanos(150));
        times.absent_until(Nanos(1000));
        assert_eq!(times.rest_of_pause(), Some(Nanos(1030)));
        times.back(Nanos(1030));
        assert_eq!((times.rest_of_pause(), times.start()), (None, start(1030, 1030, 1030, 0)));
        times.done(Nanos(1040));
        times.absent_until(Nanos(2000));
        assert_eq!((times.rest_of_pause(), times.start()), (None, start(2000, 2000, 2000, 0)));
        // Who is done after the time to come back was not absent.
        times.done(Nanos(2100));
        times.absent_until(Nanos(2050));
        assert_eq!(times.start(), start(2100, 2100, 2100, 0));
    }

    /// A pause of 30 that has passed and one of 50 behind it: due at 100 + 80.
    #[test]
    fn a_further_pause_counts_from_the_one_before() {
        let mut times = UserTimes::arriving(Nanos(100));
        times.done(Nanos(160));
        assert_eq!(times.pause(Nanos(30), Due), None);
        assert_eq!(times.pause(Nanos(50), Done), Some(Nanos(180)));
        times.back(Nanos(180));
        assert_eq!(times.start(), start(180, 180, 180, 80));
    }
}
