//! Limits on slow clients.
//!
//! What a client sends is progress when it arrives. What is sent to a client is no progress yet when the kernel takes it,
//! which may be megabytes at once; it is when the client's machine acknowledges it. The kernel is asked for that only
//! when a wait has become long: [`MinRateDeadline::until_look`], then [`MinRateDeadline::note_left`].

use units::Nanos;

/// The looks at what has left this machine in one time limit.
const LOOKS: u64 = 4;

/// The time that a client has left to send a body, or to receive a response.
///
/// It ends after `timeout` without a byte, and also if all waits together exceed that plus the time that the bytes so
/// far take at `rate_min`: a client that sends or receives a byte now and then does not last. Only waiting counts.
#[derive(Debug, Clone, Copy)]
pub(super) struct MinRateDeadline {
    timeout: Nanos,
    /// Bytes per second; 0 for no minimum.
    rate_min: u64,
    waited: Nanos,
    /// The time waited since the last progress.
    silent: Nanos,
    bytes: u64,
    /// The position of the bytes to the client at the first look.
    first_left: Option<i64>,
}

impl MinRateDeadline {
    /// Starts a deadline; `rate_min` is in bytes per second, 0 for none.
    pub(super) fn new(timeout: Nanos, rate_min: u64) -> MinRateDeadline {
        let waited = Nanos::ZERO;
        let silent = Nanos::ZERO;
        MinRateDeadline { timeout, rate_min, waited, silent, bytes: 0, first_left: None }
    }

    /// Notes bytes that the client has sent.
    #[inline]
    pub(super) fn note_received(&mut self, bytes: usize) {
        self.note_progress(self.bytes + bytes as u64);
    }

    /// Notes how far the bytes to the client have come that have left this machine for good, from any start.
    ///
    /// The first look begins the measurement, because how much of what the kernel had was of an earlier response is
    /// not known.
    pub(super) fn note_left(&mut self, left: i64) {
        match self.first_left {
            Some(first) => self.note_progress(u64::try_from(left.saturating_sub(first)).unwrap_or(0)),
            None => {
                let begun = MinRateDeadline::new(self.timeout, self.rate_min);
                *self = MinRateDeadline { first_left: Some(left), ..begun };
            }
        }
    }

    fn note_progress(&mut self, bytes: u64) {
        if self.bytes < bytes {
            (self.bytes, self.silent) = (bytes, Nanos::ZERO);
        }
    }

    /// Adds a wait.
    #[inline]
    pub(super) fn add_wait(&mut self, time: Nanos) {
        self.waited = self.waited.saturating_add(time);
        self.silent = self.silent.saturating_add(time);
    }

    /// Returns the longest time that the next wait may take without progress; zero if the client is too slow.
    #[inline]
    pub(super) fn remaining(&self) -> Nanos {
        let without_a_byte = self.timeout.saturating_sub(self.silent);
        let Some(of_bytes) = self.bytes.saturating_mul(1_000_000_000).checked_div(self.rate_min) else {
            return without_a_byte;
        };
        let in_all = self.timeout.saturating_add(Nanos(of_bytes));
        in_all.saturating_sub(self.waited).min(without_a_byte)
    }

    /// Returns the time after which to look what has left this machine.
    #[inline]
    pub(super) fn until_look(&self) -> Nanos {
        self.remaining().min(Nanos(self.timeout.0 / LOOKS))
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
        min_rate.note_received(1_000);
        assert_eq!(min_rate.remaining(), Nanos::from_secs(5), "1,000 bytes at 500/s are worth 2 s");
        min_rate.note_received(1_000_000);
        assert_eq!(min_rate.remaining(), Nanos::from_secs(10), "a single wait is not longer");
        min_rate.add_wait(Nanos::MAX);
        assert_eq!(min_rate.remaining(), Nanos::ZERO);
        let mut any = MinRateDeadline::new(Nanos::from_secs(10), 0);
        any.add_wait(Nanos::from_secs(9));
        any.note_received(1);
        assert_eq!(any.remaining(), Nanos::from_secs(10), "no minimum rate");
    }

    /// Goal: neither silence nor a drip of bytes exceeds the time limit.
    #[test]
    fn a_drip_of_bytes_ends_below_the_minimum_rate() {
        let mut min_rate = MinRateDeadline::new(Nanos::from_secs(2), 400);
        let wait = Nanos::from_millis(1_250);
        let mut waits = 0;
        // After k waits with 100 bytes each, 2 + k / 4 - 5 k / 4 = 2 - k seconds are left: too few after the first.
        while wait < min_rate.remaining() {
            min_rate.add_wait(wait);
            min_rate.note_received(100);
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
            min_rate.note_received(300);
        }
    }

    /// Waits for a client of whose response `left` bytes have left for good after each second; returns the seconds
    /// after which it counts as too slow, at most 1,000.
    fn seconds(min_rate: &mut MinRateDeadline, left: impl Fn(i64) -> i64) -> i64 {
        for second in 1..1_000 {
            min_rate.add_wait(Nanos::from_secs(1));
            min_rate.note_left(left(second));
            if min_rate.remaining() == Nanos::ZERO {
                return second;
            }
        }
        1_000
    }

    /// Goal: what the kernel has taken, here 3 MB, is no progress, whether of this response or of one before it.
    #[test]
    fn a_client_is_judged_by_what_has_left_the_machine() {
        let deadline = || MinRateDeadline::new(Nanos::from_secs(8), 500);
        assert_eq!(seconds(&mut deadline(), |_| -3_000_000), 9, "reads nothing: the first look, then 8 s");
        // After s seconds, 8 + (s - 1) / 5 s are granted, and s - 1 waited.
        assert_eq!(seconds(&mut deadline(), |second| 100 * second), 11, "100 bytes a second");
        assert_eq!(seconds(&mut deadline(), |second| 600 * second - 3_000_000), 1_000, "600 bytes a second");
        assert_eq!(seconds(&mut deadline(), |second| 40_000 * (second / 5)), 1_000, "every five seconds");
    }

    #[test]
    fn many_short_waits_of_a_fast_client_do_not_add_up() {
        let mut min_rate = MinRateDeadline::new(Nanos::from_secs(8), 500);
        assert_eq!(min_rate.until_look(), Nanos::from_secs(2));
        (0..100).for_each(|_| min_rate.add_wait(Nanos::from_secs(1)));
        assert_eq!(min_rate.until_look(), Nanos::ZERO, "time to look");
        min_rate.note_left(1_000_000_000);
        assert_eq!(min_rate.remaining(), Nanos::from_secs(8));
    }
}
