//! Operations of drivers that keep a session.

use std::time::Duration;

use engine::Driver;
use model::Reply;
use tokio::runtime::{Builder, LocalOptions};
use units::{Clock, RealClock};

/// Time limit of a test for a single transaction, which must never hang.
pub(crate) const TRANSACTION_MAX: Duration = Duration::from_secs(20);

/// Runs a future in a runtime like that of a load thread.
pub(crate) fn block_on<T>(future: impl Future<Output = T>) -> T {
    Builder::new_current_thread().enable_all().build_local(LocalOptions::default()).unwrap().block_on(future)
}

/// Opens the session of a driver and performs these operations; `None` is one that takes longer than `limit`. Each reply has
/// its description.
pub(crate) fn perform_all<D: Driver>(
    mut driver: D,
    clock: RealClock,
    operations: &[D::Operation],
    limit: Duration,
) -> Result<Vec<Option<(Reply, String)>>, String> {
    block_on(async move {
        driver.open().await.map_err(|error| error.to_string())?;
        let mut replies = Vec::new();
        for operation in operations {
            let reply = tokio::time::timeout(limit, driver.perform(operation, clock.now())).await.ok();
            if reply.is_none() {
                driver.give_up();
            }
            replies.push(reply.map(|reply| (reply, driver.describe(operation, &reply))));
        }
        Ok(replies)
    })
}
