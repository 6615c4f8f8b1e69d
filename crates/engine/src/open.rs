//! A place for one operation in flight of an open loop.

use std::rc::Rc;

use units::Clock;

use crate::core::Core;
use crate::dispatcher::Dispatcher;
use model::Mix;

use crate::driver::Driver;

/// Performs scheduled operations one after another, as they come.
#[expect(clippy::manual_async_fn, reason = "an async fn would hold each argument twice")]
pub(crate) fn place<C: Clock, D: Driver, M: Mix<Operation = D::Operation>>(
    core: Rc<Core<C>>,
    dispatcher: Rc<Dispatcher>,
    mut driver: D,
    mix: Rc<M>,
) -> impl Future<Output = ()> {
    async move {
        let watch = core.time_limits.watch();
        loop {
            let (k, due, sent) = dispatcher.take(&core).await;
            let operation = mix.scheduled(k);
            core.perform(&mut driver, &watch, &operation, core.origin + due, sent).await;
        }
    }
}
