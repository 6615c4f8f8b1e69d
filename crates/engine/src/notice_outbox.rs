//! Notices from beside the tasks of users: from observers on threads of their own, and from within operations.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use model::UserNotice;

/// An outbox of notices for one load thread at one load point, besides those of users who rest ([`Driver::rest`]): any
/// thread may send, and users who never think, threads and open loops are no exception.
///
/// The end of a wait is sent to the outbox to which its beginning was, and after it; one without a beginning is not
/// recorded. What an operation begins is sent before the operation ends, so that the drain waits for it. Senders bound
/// the memory: at most one end for each beginning, all taken once a second.
///
/// [`Driver::rest`]: crate::Driver::rest
#[derive(Debug, Clone, Default)]
pub struct NoticeOutbox(Arc<Mutex<Vec<UserNotice>>>);

impl NoticeOutbox {
    /// Sends a notice, which is recorded in the interval that the load thread closes next. After the last one of the load
    /// point it is not.
    pub fn send(&self, notice: UserNotice) {
        self.sent().push(notice);
    }

    /// Exchanges all that has been sent, in order, for an empty list.
    pub(crate) fn exchange(&self, emptied: &mut Vec<UserNotice>) {
        std::mem::swap(&mut *self.sent(), emptied);
    }

    fn sent(&self) -> MutexGuard<'_, Vec<UserNotice>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;
    use std::sync::mpsc::{Sender, channel};

    use model::{
        Catalog, Example, HasKind, IntervalRecord, Load, LoadPoint, MeasuredValues, Mix, NoticeKind, Outcome,
        Phases, Reply, Step, User, UserReply, partition,
    };
    use units::{Clock, Nanos, RealClock, Rng};

    use super::*;
    use crate::budget::OperationBudget;
    use crate::driver::Driver;
    use crate::point_context::RecordSink;
    use crate::setup::{LoadThreadUse, PointSetup};
    use crate::thread::{ThreadMeters, run_point_on_this_thread, sleep_on_descriptor};

    const MS: fn(u64) -> Nanos = Nanos::from_millis;

    /// Of so many deliveries one never comes.
    const LOST_OF: u64 = 10;

    /// The number of operations.
    const OPERATIONS: u64 = 100;

    struct Submission;

    impl HasKind for Submission {
        fn kind(&self) -> u16 {
            0
        }
    }

    /// Users who never think.
    struct Senders;

    impl Mix for Senders {
        type Operation = Submission;
        type User = Senders;

        fn user(&self, _: u32) -> Senders {
            Senders
        }

        fn scheduled(&self, _: u64) -> Submission {
            Submission
        }

        fn n_kinds(&self) -> usize {
            1
        }

        fn n_units(&self) -> usize {
            0
        }
    }

    impl User for Senders {
        type Operation = Submission;

        fn next(&mut self, _: Option<UserReply>, _: &mut Rng) -> Step<Submission> {
            Step::Perform(Submission)
        }
    }

    /// Operations of a millisecond, whose deliveries somebody else sees.
    struct Submitter {
        clock: RealClock,
        outbox: NoticeOutbox,
        submitted: Sender<Nanos>,
    }

    impl Driver for Submitter {
        type Operation = Submission;

        async fn perform(&mut self, _: &Submission, sent: Nanos) -> Reply {
            sleep_on_descriptor(MS(1)).await.expect("a timer");
            let done = self.clock.now();
            self.outbox.send(UserNotice { measure: 0, begun: done, value: None });
            self.submitted.send(done).expect("the observer listens");
            let measured = MeasuredValues::default();
            Reply { outcome: Outcome::Ok, sent, done, measured, answer: 0, code: 0, detail: 0 }
        }

        fn give_up(&mut self) {}

        fn describe(&self, _: &Submission, _: &Reply) -> String {
            String::new()
        }
    }

    #[derive(Default)]
    struct Intervals(Vec<IntervalRecord>);

    impl RecordSink for Intervals {
        fn interval(&mut self, record: IntervalRecord) {
            self.0.push(record);
        }

        // Of an operation that a busy machine held up beyond the time limit.
        fn example(&mut self, _: Example) {}
    }

    /// The setup of two users who never think, until no operation is left; the drain goes on until what never comes is lost.
    fn setup() -> PointSetup {
        let zero = Nanos::ZERO;
        let point = LoadPoint { index: 0, load: Load::Users(2) };
        let phases = Phases {
            quiet: zero,
            ramp_up: zero,
            settle: zero,
            steady: MS(60_000),
            ramp_down: zero,
            drain: MS(20_000),
        };
        let notices = vec![NoticeKind { name: "delivery".to_owned() }];
        PointSetup {
            point,
            agent: 0,
            assignment: partition(0, point.load, 1).remove(0),
            schedule: None,
            budget: Some(Arc::new(OperationBudget::new(OPERATIONS))),
            phases,
            shape: None,
            catalog: Catalog { notices, ..Catalog::default() },
            seed: 1,
            time_limit: MS(2_000),
            notices: NoticeOutbox::default(),
        }
    }

    /// Goal: what an observer on a thread of its own sees is recorded, and every delivery that was begun has ended or is lost.
    #[test]
    fn an_observer_on_another_thread_ends_what_operations_begin() {
        let setup = setup();
        let clock = RealClock::start();
        let (submitted, deliveries) = channel::<Nanos>();
        let outbox = setup.notices.clone();
        let observer = std::thread::spawn(move || {
            let mut n_submitted = 0;
            for begun in deliveries {
                n_submitted += 1;
                if n_submitted % LOST_OF != 0 {
                    outbox.send(UserNotice { measure: 0, begun, value: Some((clock.now() - begun).0) });
                }
            }
            n_submitted
        });
        let outbox = setup.notices.clone();
        let driver = move |_| Submitter { clock, outbox: outbox.clone(), submitted: submitted.clone() };
        let meters = ThreadMeters { clock, probe: Box::new(LoadThreadUse::default) };
        let mut intervals = Intervals::default();
        let stop = AtomicBool::new(false);
        let start = clock.now() + MS(20);
        run_point_on_this_thread(&setup, meters, Senders, driver, start, &mut intervals, &stop).unwrap();
        let n_submitted: u64 = observer.join().unwrap();

        let sum = |of: fn(&model::NoticeTotals) -> u64| -> u64 {
            intervals.0.iter().map(|record| of(&record.notices[0])).sum()
        };
        let (begun, ended, lost) = (sum(|one| one.begun), sum(|one| one.ended), sum(|one| one.lost));
        assert_eq!((begun, ended + lost), (n_submitted, begun));
        // More are lost where the machine held the observer up for as long as the time limit.
        assert!(LOST_OF <= begun && begun / LOST_OF <= lost && 0 < ended, "{begun}, {lost} lost");
        assert_eq!(intervals.0.last().unwrap().notices[0].awaited_at_end, 0);
    }
}
