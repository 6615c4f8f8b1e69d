//! The pace of readings that cost CPU time.

use std::io;

use units::{Clock, Nanos, RealClock, thread_cpu};

/// The pause after a reading, in multiples of its CPU time: together they take a four hundredth of a core. A house rule.
const PAUSE_FACTOR: u64 = 400;

/// The longest pause: a steady phase of 10 s, the usual one, has three readings.
const PAUSE_MAX: Nanos = Nanos::from_secs(3);

/// A pace of readings: the more CPU time one costs, the longer is the pause after it.
#[derive(Debug)]
pub(super) struct ReadingInterval {
    clock: RealClock,
    due: Nanos,
}

impl Default for ReadingInterval {
    fn default() -> ReadingInterval {
        ReadingInterval { clock: RealClock::start(), due: Nanos::ZERO }
    }
}

impl ReadingInterval {
    /// Returns whether the next reading is due.
    pub(super) fn is_due(&self) -> bool {
        self.due <= self.clock.now()
    }

    /// Performs a reading and a pause begins; after an error the next one is due at once.
    pub(super) fn measure<T>(&mut self, read: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
        let before = thread_cpu();
        let found = read()?;
        let cost = thread_cpu().saturating_sub(before);
        self.due = self.clock.now() + Nanos(cost.0.saturating_mul(PAUSE_FACTOR)).min(PAUSE_MAX);
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A reading of 5 ms is followed by a pause of 2 s, one of 50 ms by 3 s.
    #[test]
    fn a_pause_follows_a_reading_that_succeeds() {
        let mut pace = ReadingInterval::default();
        assert!(pace.measure(|| Err::<(), _>(io::Error::other("lost"))).is_err() && pace.is_due());
        let read = |millis| {
            let start = thread_cpu();
            while thread_cpu() - start < Nanos::from_millis(millis) {
                std::hint::black_box(0);
            }
            Ok(7)
        };
        assert_eq!(pace.measure(|| read(5)).unwrap(), 7);
        assert!(!pace.is_due() && Nanos::from_secs(2) <= pace.due);
        pace.measure(|| read(50)).unwrap();
        assert!(pace.due <= pace.clock.now() + Nanos::from_secs(3));
    }
}
