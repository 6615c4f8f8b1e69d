//! A virtual user of a closed loop.
//!
//! | state | next step | then |
//! |---|---|---|
//! | entering | – | wait for the user's own time, in the ramp-up or by the shape, then ask |
//! | asking | `Think` | wait until the end of the pause, unless that has passed; that moment is *due* ([`UserTimes`]). Notices that come meanwhile are recorded |
//! | asking | `Perform` | due (and without a think time sent) the moment the last operation was done |
//! | asking | `Unit` | count it, ask again |
//! | asking | `Leave`, or the time to leave has come, or no operation is left ([`OperationBudget`](crate::OperationBudget)) | gone; where there are notices, they are recorded until the load point ends |
//! | asking, in a pause of a shape | the time to leave has come, and there is one to come back | absent: with its session and its place in its loop, neither thinking nor in flight |
//! | absent | the time to come back | make the rest of the pause that was interrupted, if any, then ask |
//!
//! An operation that follows at once takes the end of the one before as its own *due* and *sent*:
//! between the two there is only our own bookkeeping, which thus counts against the generator and
//! saves a clock reading.

use std::future::poll_fn;
use std::pin::pin;
use std::task::Poll;

use model::{Step, User};
use units::{Clock, Nanos, Rng};

use crate::driver::Driver;
use crate::lifetime::Lifetime;
use crate::point_context::{PointContext, UserContext};
use crate::user_times::UserTimes;

/// The next wait of a user.
enum Next<O> {
    /// For the end of an operation.
    Operation(O),
    /// Until a time.
    Pause(Nanos),
}

/// Runs one user from its arrival until it leaves.
#[expect(clippy::manual_async_fn, reason = "an async fn would hold each argument twice")]
pub(crate) fn user<C: Clock, D: Driver, U: User<Operation = D::Operation>>(
    point: UserContext<C>,
    mut driver: D,
    mut user: U,
    mut rng: Rng,
    mut lifetime: Lifetime,
) -> impl Future<Output = ()> {
    async move {
        let index = point.deadlines.register();
        if point.clock.now() < lifetime.from {
            point.timers.sleep_until(lifetime.from).await;
        }
        let mut times = UserTimes::arriving(point.clock.now().max(lifetime.from));
        let mut last = None;
        loop {
            if lifetime.until <= times.now() {
                if !lifetime.go_on() {
                    break;
                }
                // One that was in flight until then was never absent.
                if times.now() < lifetime.from {
                    wait(&point, &mut driver, lifetime.from).await;
                    times.absent_until(point.clock.now());
                }
                continue;
            }
            // Decided first, so that nothing of the step is part of the task while it waits.
            let next = match times.rest_of_pause() {
                Some(due) => Next::Pause(due),
                None => match user.next(last.take(), &mut rng) {
                    Step::Perform(operation) if point.recorder.borrow_mut().may_start(times.now()) => {
                        Next::Operation(operation)
                    }
                    Step::Think { kind, time, from } => {
                        point.recorder.borrow_mut().paused(times.now(), kind, time);
                        match times.pause(time, from) {
                            Some(due) => Next::Pause(due),
                            None => continue,
                        }
                    }
                    Step::Unit { kind, ok } => {
                        point.recorder.borrow_mut().unit(kind, ok);
                        continue;
                    }
                    // With one operation in flight there is none to await.
                    Step::Perform(_) | Step::Await | Step::Leave => break,
                },
            };
            match &next {
                Next::Operation(operation) => {
                    let (answer, done) = point.perform(&mut driver, index, operation, times.start()).await;
                    times.done(done);
                    last = Some(answer);
                }
                Next::Pause(due) => {
                    let until = lifetime.end_of_pause(*due);
                    times.back(think(&point, &mut driver, times.now(), until).await);
                }
            }
        }
        if D::RESTS {
            // The load point drops the task at its end.
            rest(&point, &mut driver, Nanos(u64::MAX)).await;
        }
    }
}

/// Thinks from `began` until `due`, and returns the time at which the user was really back.
async fn think<C: Clock, D: Driver>(
    point: &PointContext<C>,
    driver: &mut D,
    began: Nanos,
    due: Nanos,
) -> Nanos {
    point.recorder.borrow_mut().think_begins(began);
    wait(point, driver, due).await;
    let back = point.clock.now();
    point.recorder.borrow_mut().think_ends(began, back);
    back
}

/// Waits until `due`; notices that come meanwhile are recorded.
async fn wait<C: Clock, D: Driver>(point: &PointContext<C>, driver: &mut D, due: Nanos) {
    if point.clock.now() < due {
        if D::RESTS {
            rest(point, driver, due).await;
        } else {
            point.timers.sleep_until(due).await;
        }
    }
}

/// Records the notices that come until `due`.
async fn rest<C: Clock, D: Driver>(point: &PointContext<C>, driver: &mut D, due: Nanos) {
    let mut sleep = pin!(point.timers.sleep_until(due));
    loop {
        let next = {
            let mut work = pin!(driver.rest());
            // Notices that have come are recorded before the user is back.
            poll_fn(|context| match work.as_mut().poll(context) {
                Poll::Ready(notice) => Poll::Ready(Some(notice)),
                Poll::Pending => sleep.as_mut().poll(context).map(|()| None),
            })
            .await
        };
        let Some(notice) = next else { return };
        point.recorder.borrow_mut().notice(point.clock.now(), notice);
    }
}

#[cfg(test)]
mod tests {
    use std::rc::Rc;

    use model::{
        Assignment, Catalog, HasKind, Load, LoadPoint, MeasuredValues, Outcome, Phases, Reply, UserReply,
    };
    use units::{SimClock, StreamPurpose};

    use super::*;
    use crate::notice_outbox::NoticeOutbox;
    use crate::recorder::Recorder;
    use crate::setup::{LoadThreadUse, PointSetup};
    use crate::timers::Timers;

    struct Nothing;

    impl HasKind for Nothing {
        fn kind(&self) -> u16 {
            0
        }
    }

    impl User for Nothing {
        type Operation = Nothing;

        fn next(&mut self, _: Option<UserReply>, _: &mut Rng) -> Step<Nothing> {
            Step::Leave
        }
    }

    impl Driver for Nothing {
        type Operation = Nothing;

        async fn perform(&mut self, _: &Nothing, sent: Nanos) -> Reply {
            let measured = MeasuredValues::default();
            Reply { outcome: Outcome::Ok, sent, done: sent, measured, answer: 0, code: 0, detail: 0 }
        }

        fn give_up(&mut self) {}

        fn describe(&self, _: &Nothing, _: &Reply) -> String {
            String::new()
        }
    }

    /// Goal: a user takes little memory, of which the driver's future and state are the greater part. 392 bytes were measured
    /// with a driver that does nothing, 32 of them in its future.
    #[test]
    fn the_task_of_a_user_is_small() {
        let zero = Nanos::ZERO;
        let phases =
            Phases { quiet: zero, ramp_up: zero, settle: zero, steady: zero, ramp_down: zero, drain: zero };
        let setup = PointSetup {
            point: LoadPoint { index: 0, load: Load::Users(1) },
            agent: 0,
            assignment: Assignment { load_point: 0, share: 0, n_shares: 1, users: 0..1 },
            schedule: None,
            budget: None,
            phases,
            shape: None,
            catalog: Catalog::default(),
            seed: 1,
            time_limit: zero,
            notices: NoticeOutbox::default(),
        };
        let recorder = Recorder::new(&setup, zero, 1, 0, Box::new(LoadThreadUse::default));
        let point = PointContext::new(SimClock::new(), Timers::new(), recorder, &setup, zero);
        let lifetime = Lifetime::new(zero, zero);
        let rng = Rng::new(1, StreamPurpose::User, 0);
        let task = user(UserContext::new(Rc::clone(&point)), Nothing, Nothing, rng, lifetime);
        assert!(size_of_val(&task) <= 400, "{} bytes", size_of_val(&task));
    }
}
