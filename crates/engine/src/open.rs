//! A slot for one operation in flight of an open loop.

use std::rc::Rc;

use units::Clock;

use crate::dispatcher::Dispatcher;
use crate::point_context::UserContext;
use model::Mix;

use crate::driver::Driver;

/// Performs scheduled operations one after another, as they come.
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
            point.perform(&mut driver, user, &operation, point.origin + due, sent).await;
        }
    }
}
