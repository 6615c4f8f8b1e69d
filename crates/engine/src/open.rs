//! Operations of an open loop: by slots, where users have no state, and else by the users to whom they belong.

use std::rc::Rc;

use model::{Mix, SliceSchedule};
use units::Clock;

use crate::dispatcher::Dispatcher;
use crate::driver::Driver;
use crate::point_context::UserContext;
use crate::scheduled_user::ScheduledUser;
use crate::user_times::StartTimes;

/// Performs scheduled operations one after another, as they come, in a slot for one operation in flight.
#[expect(clippy::manual_async_fn, reason = "an async fn would hold each argument twice")]
pub(crate) fn slot<C: Clock, D: Driver, M: Mix<Operation = D::Operation>>(
    point: UserContext<C>,
    dispatcher: Rc<Dispatcher>,
    mut driver: D,
    mix: Rc<M>,
) -> impl Future<Output = ()> {
    async move {
        let user = point.deadlines.register();
        loop {
            let (k, due, sent) = dispatcher.take(&point).await;
            let operation = mix.scheduled(k);
            let times = StartTimes::of(point.origin + due, sent);
            point.perform(&mut driver, user, &operation, times).await;
        }
    }
}

/// Performs the scheduled operations of one user with state, each when it is due and the one before it is done.
#[expect(clippy::manual_async_fn, reason = "an async fn would hold each argument twice")]
pub(crate) fn user<C: Clock, D: Driver, M: Mix<Operation = D::Operation>>(
    point: UserContext<C>,
    schedule: SliceSchedule,
    mut driver: D,
    mut user: ScheduledUser<M::User>,
    mix: Rc<M>,
) -> impl Future<Output = ()> {
    async move {
        let index = point.deadlines.register();
        let mut free = point.origin;
        let mut last = None;
        for (_, due) in schedule {
            let count = |kind, ok| point.recorder.borrow_mut().unit(kind, ok);
            let operation = user.next_operation(last.take(), &*mix, count);
            let due = point.origin + due;
            let sent = if due <= free {
                free
            } else {
                if point.clock.now() < due {
                    point.timers.sleep_until(due).await;
                }
                point.clock.now()
            };
            let times = StartTimes { free, ..StartTimes::of(due, sent) };
            let (answer, done) = point.perform(&mut driver, index, &operation, times).await;
            (free, last) = (done, Some(answer));
        }
    }
}
