//! Limits on slow clients.

use units::Nanos;

/// The time that a client has left to send a body, or to receive a response.
///
/// A single wait takes at most `timeout`; all waits together at most that plus the time that the bytes so far take at
/// `rate_min`: a client that sends or receives a byte now and then does not last. Only waiting counts.
#[derive(Debug, Clone, Copy)]
pub(super) struct MinRateDeadline {
    timeout: Nanos,
    /// Bytes per second; 0 for no minimum.
    rate_min: u64,
    waited: Nanos,
    bytes: u64,
}

impl MinRateDeadline {
    /// Starts a deadline; `rate_min` is in bytes per second, 0 for none.
    pub(super) fn new(timeout: Nanos, rate_min: u64) -> MinRateDeadline {
        MinRateDeadline { timeout, rate_min, waited: Nanos::ZERO, bytes: 0 }
    }

    /// Adds bytes that were sent or received.
    #[inline]
    pub(super) fn add_bytes(&mut self, bytes: usize) {
        self.bytes += bytes as u64;
    }

    /// Adds a wait.
    #[inline]
    pub(super) fn add_wait(&mut self, time: Nanos) {
        self.waited = self.waited.saturating_add(time);
    }

    /// Returns the longest time that the next wait may take.
    #[inline]
    pub(super) fn remaining(&self) -> Nanos {
        let Some(of_bytes) = self.bytes.saturating_mul(1_000_000_000).checked_div(self.rate_min) else {
            return self.timeout;
        };
        let in_all = self.timeout.saturating_add(Nanos(of_bytes));
        in_all.saturating_sub(self.waited).min(self.timeout)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn remaining_time_grows_with_bytes_and_shrinks_with_waits() {
        let mut min_rate = MinRateDeadline::new(Nanos::from_secs(10), 500);
        assert_eq!(min_rate.remaining(), Nanos::from_secs(10));
        min_rate.add_wait(Nanos::from_secs(7));
        assert_eq!(min_rate.remaining(), Nanos::from_secs(3));
        min_rate.add_bytes(1_000);
        assert_eq!(min_rate.remaining(), Nanos::from_secs(5), "1,000 bytes at 500/s are worth 2 s");
        min_rate.add_bytes(1_000_000);
        assert_eq!(min_rate.remaining(), Nanos::from_secs(10), "a single wait is not longer");
        min_rate.add_wait(Nanos::MAX);
        assert_eq!(min_rate.remaining(), Nanos::ZERO);
        let mut any = MinRateDeadline::new(Nanos::from_secs(10), 0);
        any.add_wait(Nanos::MAX);
        assert_eq!(any.remaining(), Nanos::from_secs(10), "no minimum rate");
    }

    /// Goal: neither silence nor a drip of bytes exceeds the time limit.
    #[test]
    fn a_drip_of_bytes_ends_below_the_minimum_rate() {
        let mut min_rate = MinRateDeadline::new(Nanos::from_secs(2), 400);
        let (wait, mut waits) = (Nanos::from_millis(1_250), 0);
        // After k waits with 100 bytes each, 2 + k / 4 - 5 k / 4 = 2 - k seconds are left: too few after the first.
        while wait < min_rate.remaining() {
            min_rate.add_wait(wait);
            min_rate.add_bytes(100);
            waits += 1;
        }
        assert_eq!(waits, 1);
    }

    #[test]
    fn a_peer_at_the_minimum_rate_never_times_out() {
        let mut min_rate = MinRateDeadline::new(Nanos::from_secs(1), 400);
        for _ in 0..100 {
            assert!(Nanos::from_millis(750) < min_rate.remaining());
            min_rate.add_wait(Nanos::from_millis(750));
            min_rate.add_bytes(300);
        }
    }
}
