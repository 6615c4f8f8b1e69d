//! How slow a client may be.

use units::Nanos;

/// The time that a client has left to send a body, or to take a reply.
///
/// A single wait takes at most `timeout`; all of them together at most that and what the bytes so far take at
/// `rate_min`: who sends or takes a byte every now and then does not get far. Only waiting counts.
#[derive(Debug, Clone, Copy)]
pub(super) struct Patience {
    timeout: Nanos,
    /// Bytes per second; 0 asks for none.
    rate_min: u64,
    waited: Nanos,
    bytes: u64,
}

impl Patience {
    /// Begins to count; `rate_min` is in bytes per second, 0 for none.
    pub(super) fn new(timeout: Nanos, rate_min: u64) -> Patience {
        Patience { timeout, rate_min, waited: Nanos::ZERO, bytes: 0 }
    }

    /// Counts bytes that were sent or taken.
    #[inline]
    pub(super) fn moved(&mut self, bytes: usize) {
        self.bytes += bytes as u64;
    }

    /// Counts a wait.
    #[inline]
    pub(super) fn waited(&mut self, time: Nanos) {
        self.waited = self.waited.saturating_add(time);
    }

    /// Returns how long the next wait may take.
    #[inline]
    pub(super) fn left(&self) -> Nanos {
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
    fn the_time_left_grows_with_the_bytes_and_shrinks_with_the_waits() {
        let mut patience = Patience::new(Nanos::from_secs(10), 500);
        assert_eq!(patience.left(), Nanos::from_secs(10));
        patience.waited(Nanos::from_secs(7));
        assert_eq!(patience.left(), Nanos::from_secs(3));
        patience.moved(1_000);
        assert_eq!(patience.left(), Nanos::from_secs(5), "1,000 bytes at 500/s are worth 2 s");
        patience.moved(1_000_000);
        assert_eq!(patience.left(), Nanos::from_secs(10), "a single wait is not longer");
        patience.waited(Nanos::MAX);
        assert_eq!(patience.left(), Nanos::ZERO);
        let mut any = Patience::new(Nanos::from_secs(10), 0);
        any.waited(Nanos::MAX);
        assert_eq!(any.left(), Nanos::from_secs(10), "no rate is asked for");
    }

    /// Goal: neither silence nor a drip of bytes wears out more patience than was given.
    #[test]
    fn a_drip_of_bytes_ends_when_the_least_rate_is_missed() {
        let mut patience = Patience::new(Nanos::from_secs(2), 400);
        let (wait, mut waits) = (Nanos::from_millis(1_250), 0);
        // After k waits with 100 bytes each, 2 + k / 4 - 5 k / 4 = 2 - k seconds are left: too few after the first.
        while wait < patience.left() {
            patience.waited(wait);
            patience.moved(100);
            waits += 1;
        }
        assert_eq!(waits, 1);
    }

    #[test]
    fn a_peer_that_keeps_the_rate_is_waited_for_without_end() {
        let mut patience = Patience::new(Nanos::from_secs(1), 400);
        for _ in 0..100 {
            assert!(Nanos::from_millis(750) < patience.left());
            patience.waited(Nanos::from_millis(750));
            patience.moved(300);
        }
    }
}
