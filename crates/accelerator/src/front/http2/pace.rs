//! How slow a client may be.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

use units::{Clock, Nanos, RealClock};

/// The time that one side of a stream has left.
///
/// A single wait takes at most `timeout`; all of them together at most that and what the bytes so far take at
/// `rate_min`: who sends or takes a byte every now and then does not get far.
#[derive(Debug)]
pub(super) struct Pace {
    timeout: Nanos,
    /// Bytes per second; 0 asks for none.
    rate_min: u64,
    waited: Nanos,
    bytes: u64,
}

impl Pace {
    /// Begins to count.
    pub(super) fn new(timeout: Nanos, rate_min: u64) -> Pace {
        Pace { timeout, rate_min, waited: Nanos::ZERO, bytes: 0 }
    }

    /// Counts bytes that were sent or taken.
    pub(super) fn moved(&mut self, bytes: usize) {
        self.bytes += bytes as u64;
    }

    /// Waits for the other side; `None` if it is too slow.
    pub(super) async fn wait<T>(&mut self, clock: &RealClock, what: impl Future<Output = T>) -> Option<T> {
        let mut what = pin!(what);
        // Mostly there is nothing to wait for.
        if let Poll::Ready(output) = poll_fn(|context| Poll::Ready(what.as_mut().poll(context))).await {
            return Some(output);
        }
        let start = clock.now();
        let output = tokio::time::timeout(Duration::from_nanos(self.left().0), what).await.ok();
        self.waited = self.waited.saturating_add(clock.now().saturating_sub(start));
        output
    }

    /// Returns how long the next wait may take.
    fn left(&self) -> Nanos {
        if self.rate_min == 0 {
            return self.timeout;
        }
        let of_bytes = u128::from(self.bytes) * 1_000_000_000 / u128::from(self.rate_min);
        let in_all = self.timeout.saturating_add(Nanos(u64::try_from(of_bytes).unwrap_or(u64::MAX)));
        in_all.saturating_sub(self.waited).min(self.timeout)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_left_grows_with_the_bytes_and_shrinks_with_the_waits() {
        let mut pace = Pace::new(Nanos::from_secs(10), 500);
        assert_eq!(pace.left(), Nanos::from_secs(10));
        pace.waited = Nanos::from_secs(7);
        assert_eq!(pace.left(), Nanos::from_secs(3));
        pace.moved(1_000);
        assert_eq!(pace.left(), Nanos::from_secs(5), "1,000 bytes at 500/s are worth 2 s");
        pace.moved(1_000_000);
        assert_eq!(pace.left(), Nanos::from_secs(10), "a single wait is not longer");
        pace.waited = Nanos::MAX;
        assert_eq!(pace.left(), Nanos::ZERO);
        let any = Pace { waited: Nanos::MAX, ..Pace::new(Nanos::from_secs(10), 0) };
        assert_eq!(any.left(), Nanos::from_secs(10), "no rate is asked for");
    }

    #[test]
    fn what_is_there_is_taken_at_once_and_what_never_comes_is_given_up() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        runtime.block_on(async {
            let (clock, mut pace) = (RealClock::start(), Pace::new(Nanos::from_millis(20), 1));
            assert_eq!(pace.wait(&clock, async { 7 }).await, Some(7));
            assert_eq!(pace.waited, Nanos::ZERO);
            assert_eq!(pace.wait(&clock, std::future::pending::<()>()).await, None);
            assert!(Nanos::from_millis(20) <= pace.waited);
        });
    }
}
