//! Waits on a client within its minimum rate.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

use units::{Clock, RealClock};

use crate::frontend::min_rate::MinRateDeadline;

impl MinRateDeadline {
    /// Waits for the client; `None` if it is too slow.
    pub(super) async fn wait<T>(&mut self, clock: &RealClock, what: impl Future<Output = T>) -> Option<T> {
        let mut what = pin!(what);
        // Mostly there is nothing to wait for.
        if let Poll::Ready(output) = poll_fn(|context| Poll::Ready(what.as_mut().poll(context))).await {
            return Some(output);
        }
        let start = clock.now();
        let output = tokio::time::timeout(Duration::from_nanos(self.remaining().0), what).await.ok();
        self.add_wait(clock.now().saturating_sub(start));
        output
    }
}

#[cfg(test)]
mod tests {
    use units::Nanos;

    use super::*;

    #[test]
    fn ready_futures_do_not_wait_and_stalled_ones_time_out() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        runtime.block_on(async {
            let (clock, time) = (RealClock::start(), Nanos::from_millis(20));
            let mut min_rate = MinRateDeadline::new(time, 1);
            assert_eq!(min_rate.wait(&clock, async { 7 }).await, Some(7));
            assert_eq!(min_rate.remaining(), time);
            assert_eq!(min_rate.wait(&clock, std::future::pending::<()>()).await, None);
            assert_eq!(min_rate.remaining(), Nanos::ZERO);
        });
    }
}
