//! Waiting for a client, as long as patience with it reaches.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

use units::{Clock, RealClock};

use crate::front::patience::Patience;

impl Patience {
    /// Waits for the other side; `None` if it is too slow.
    pub(super) async fn wait<T>(&mut self, clock: &RealClock, what: impl Future<Output = T>) -> Option<T> {
        let mut what = pin!(what);
        // Mostly there is nothing to wait for.
        if let Poll::Ready(output) = poll_fn(|context| Poll::Ready(what.as_mut().poll(context))).await {
            return Some(output);
        }
        let start = clock.now();
        let output = tokio::time::timeout(Duration::from_nanos(self.left().0), what).await.ok();
        self.waited(clock.now().saturating_sub(start));
        output
    }
}

#[cfg(test)]
mod tests {
    use units::Nanos;

    use super::*;

    #[test]
    fn what_is_there_is_taken_at_once_and_what_never_comes_is_given_up() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        runtime.block_on(async {
            let (clock, time) = (RealClock::start(), Nanos::from_millis(20));
            let mut patience = Patience::new(time, 1);
            assert_eq!(patience.wait(&clock, async { 7 }).await, Some(7));
            assert_eq!(patience.left(), time);
            assert_eq!(patience.wait(&clock, std::future::pending::<()>()).await, None);
            assert_eq!(patience.left(), Nanos::ZERO);
        });
    }
}
