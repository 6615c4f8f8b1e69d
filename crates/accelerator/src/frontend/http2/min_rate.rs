//! Waits on a client within its minimum rate.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

use units::{Clock, Nanos, RealClock};

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

    /// Waits for the client to take something; `None` if it is too slow. Now and then `left` says how far the bytes
    /// that have left this machine have come; it is `None` if the client takes nothing of what is waited for.
    pub(super) async fn wait_sending<T>(
        &mut self,
        clock: &RealClock,
        what: impl Future<Output = T>,
        mut left: impl FnMut() -> Option<i64>,
    ) -> Option<T> {
        let mut what = pin!(what);
        if let Poll::Ready(output) = poll_fn(|context| Poll::Ready(what.as_mut().poll(context))).await {
            return Some(output);
        }
        loop {
            let start = clock.now();
            let look = Duration::from_nanos(self.until_look().0);
            let output = tokio::time::timeout(look, what.as_mut()).await;
            self.add_wait(clock.now().saturating_sub(start));
            if let Ok(output) = output {
                return Some(output);
            }
            if let Some(left) = left() {
                self.note_left(left);
            }
            if self.remaining() == Nanos::ZERO {
                return None;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ready_futures_do_not_wait_and_stalled_ones_time_out() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        runtime.block_on(async {
            let clock = RealClock::start();
            let time = Nanos::from_millis(20);
            let mut min_rate = MinRateDeadline::new(time, 1);
            assert_eq!(min_rate.wait(&clock, async { 7 }).await, Some(7));
            assert_eq!(min_rate.remaining(), time);
            assert_eq!(min_rate.wait(&clock, std::future::pending::<()>()).await, None);
            assert_eq!(min_rate.remaining(), Nanos::ZERO);
        });
    }

    /// Goal: a connection that takes bytes lasts, one that does not ends. Method: bytes leave, then no more.
    #[test]
    fn sending_ends_once_nothing_leaves_the_machine_any_more() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        runtime.block_on(async {
            let clock = RealClock::start();
            let time = Nanos::from_millis(40);
            for (last, least) in [(20, 20), (0, 1)] {
                let mut min_rate = MinRateDeadline::new(time, 1);
                let mut looks = 0;
                let left = || {
                    looks += 1;
                    Some(i64::from(looks.min(last)))
                };
                assert_eq!(min_rate.wait_sending(&clock, std::future::pending::<()>(), left).await, None);
                assert!(least <= looks, "{looks}");
            }
        });
    }
}
