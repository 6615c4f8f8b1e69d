//! A virtual user of a closed loop.
//!
//! | state | next step | then |
//! |---|---|---|
//! | entering | – | wait for the own place in the ramp-up, then ask |
//! | asking | `Think(t)` | wait until the end of the think time; that moment is *due* |
//! | asking | `Perform` | due (and without a think time sent) the moment the last operation was done |
//! | asking | `Unit` | count it, ask again |
//! | asking | `Leave`, or the time to leave has come | gone |
//!
//! An operation that follows at once takes the end of the one before as its own *due* and *sent*:
//! between the two there is only our own bookkeeping, which so counts against us and saves a clock
//! reading.

use std::rc::Rc;

use model::{Step, User};
use units::{Clock, Nanos, Rng};

use crate::core::Core;
use crate::driver::Driver;

/// The times at which a user arrives and leaves, on the run's clock.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Stay {
    /// The time from which the user performs operations.
    pub(crate) from: Nanos,
    /// The time from which the user starts nothing new.
    pub(crate) until: Nanos,
}

/// Lives the life of one user.
#[expect(clippy::manual_async_fn, reason = "an async fn would hold each argument twice")]
pub(crate) fn user<C: Clock, D: Driver, U: User<Operation = D::Operation>>(
    core: Rc<Core<C>>,
    mut driver: D,
    mut user: U,
    mut rng: Rng,
    stay: Stay,
) -> impl Future<Output = ()> {
    async move {
        let watch = core.time_limits.watch();
        if core.clock.now() < stay.from {
            core.timers.sleep_until(stay.from).await;
        }
        let mut due = core.clock.now().max(stay.from);
        let mut sent = due;
        let mut last = None;
        while sent < stay.until {
            match user.next(last.take(), &mut rng) {
                Step::Perform(operation) => {
                    let (outcome, done) = core.perform(&mut driver, &watch, &operation, due, sent).await;
                    (due, sent, last) = (done, done, Some(outcome));
                }
                Step::Think(time) => {
                    due = due.saturating_add(time);
                    sent = think(&core, sent, due).await;
                }
                Step::Unit { kind, ok } => core.recorder.borrow_mut().unit(kind, ok),
                Step::Leave => break,
            }
        }
    }
}

/// Thinks from `began` until `due`, and returns when the user was really back.
async fn think<C: Clock>(core: &Core<C>, began: Nanos, due: Nanos) -> Nanos {
    core.recorder.borrow_mut().think_begins(began);
    if core.clock.now() < due {
        core.timers.sleep_until(due).await;
    }
    let back = core.clock.now();
    core.recorder.borrow_mut().think_ends(began, back);
    back
}
