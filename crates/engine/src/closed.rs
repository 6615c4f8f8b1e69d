//! A virtual user of a closed loop.
//!
//! | state | next step | then |
//! |---|---|---|
//! | entering | – | wait for the user's own time in the ramp-up, then ask |
//! | asking | `Think` | wait until the end of the pause, unless that has passed; that moment is *due* ([`UserTimes`]) |
//! | asking | `Perform` | due (and without a think time sent) the moment the last operation was done |
//! | asking | `Unit` | count it, ask again |
//! | asking | `Leave`, or the time to leave has come | gone |
//!
//! An operation that follows at once takes the end of the one before as its own *due* and *sent*:
//! between the two there is only our own bookkeeping, which thus counts against the generator and
//! saves a clock reading.

use model::{Step, User};
use units::{Clock, Nanos, Rng};

use crate::driver::Driver;
use crate::point_context::{PointContext, UserContext};
use crate::user_times::UserTimes;

/// The times at which a user arrives and leaves, on the run's clock.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Lifetime {
    /// The time from which the user performs operations.
    pub(crate) from: Nanos,
    /// The time from which the user starts nothing new.
    pub(crate) until: Nanos,
}

/// Runs one user from its arrival until it leaves.
#[expect(clippy::manual_async_fn, reason = "an async fn would hold each argument twice")]
pub(crate) fn user<C: Clock, D: Driver, U: User<Operation = D::Operation>>(
    point: UserContext<C>,
    mut driver: D,
    mut user: U,
    mut rng: Rng,
    lifetime: Lifetime,
) -> impl Future<Output = ()> {
    async move {
        let index = point.deadlines.register();
        if point.clock.now() < lifetime.from {
            point.timers.sleep_until(lifetime.from).await;
        }
        let mut times = UserTimes::arriving(point.clock.now().max(lifetime.from));
        let mut last = None;
        while times.now() < lifetime.until {
            match user.next(last.take(), &mut rng) {
                Step::Perform(operation) => {
                    let (answer, done) = point.perform(&mut driver, index, &operation, times.start()).await;
                    times.done(done);
                    last = Some(answer);
                }
                Step::Think { kind, time, from } => {
                    point.recorder.borrow_mut().paused(times.now(), kind, time);
                    if let Some(due) = times.pause(time, from) {
                        times.back(think(&point, times.now(), due).await);
                    }
                }
                Step::Unit { kind, ok } => point.recorder.borrow_mut().unit(kind, ok),
                Step::Leave => break,
            }
        }
    }
}

/// Thinks from `began` until `due`, and returns the time at which the user was really back.
async fn think<C: Clock>(point: &PointContext<C>, began: Nanos, due: Nanos) -> Nanos {
    point.recorder.borrow_mut().think_begins(began);
    if point.clock.now() < due {
        point.timers.sleep_until(due).await;
    }
    let back = point.clock.now();
    point.recorder.borrow_mut().think_ends(began, back);
    back
}
