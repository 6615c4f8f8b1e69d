//! Real and simulated time. The one place in the project that reads a clock.

use std::cell::Cell;
use std::rc::Rc;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use crate::Nanos;

/// A source of time, counted from an origin that all users of one clock share.
pub trait Clock: Clone {
    /// Returns the time since the clock's origin; never less than an earlier answer.
    fn now(&self) -> Nanos;
}

/// The machine's monotonic clock, counted from the moment that this clock was made.
///
/// Copies share the origin, so that threads given copies agree on the time.
#[derive(Debug, Clone, Copy)]
pub struct RealClock {
    origin: Instant,
}

impl RealClock {
    /// Makes a clock that reads zero now.
    #[expect(clippy::disallowed_methods, reason = "this is the clock")]
    pub fn start() -> RealClock {
        RealClock { origin: Instant::now() }
    }
}

impl Clock for RealClock {
    #[inline]
    #[expect(clippy::disallowed_methods, reason = "this is the clock")]
    fn now(&self) -> Nanos {
        let elapsed = Instant::now().duration_since(self.origin);
        Nanos(elapsed.as_secs() * 1_000_000_000 + u64::from(elapsed.subsec_nanos()))
    }
}

/// A clock that stands still until it is moved: the clock of simulated runs.
///
/// Clones share the time. Not for more than one thread.
#[derive(Debug, Clone, Default)]
pub struct SimClock {
    now: Rc<Cell<u64>>,
}

impl SimClock {
    /// Makes a clock that reads zero.
    pub fn new() -> SimClock {
        SimClock::default()
    }

    /// Moves the clock forward to `time`; a time in the past leaves it where it is.
    pub fn advance_to(&self, time: Nanos) {
        self.now.set(self.now.get().max(time.0));
    }
}

impl Clock for SimClock {
    fn now(&self) -> Nanos {
        Nanos(self.now.get())
    }
}

/// A point in civil time, in milliseconds since 1970-01-01 00:00 UTC.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct WallTime(pub i64);

/// Returns the civil time, for records that people read; never used to measure.
#[expect(clippy::disallowed_methods, reason = "this is the clock")]
pub fn wall() -> WallTime {
    let millis = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map(|since| i64::try_from(since.as_millis()).unwrap_or(i64::MAX));
    WallTime(millis.unwrap_or(0))
}

/// Returns the processor time that the calling thread has used so far.
///
/// Costs a kernel call: not for the hot loop.
pub fn thread_cpu() -> Nanos {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Nanos(time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn simulated_time_moves_only_forward_and_is_shared() {
        let clock = SimClock::new();
        let other = clock.clone();
        clock.advance_to(Nanos(50));
        clock.advance_to(Nanos(20));
        assert_eq!(other.now(), Nanos(50));
    }

    #[test]
    fn copies_of_the_real_clock_agree() {
        let clock = RealClock::start();
        let copy = clock;
        let first = clock.now();
        let second = copy.now();
        assert!(first <= second, "{first:?} {second:?}");
        assert!(second - first < Nanos::from_secs(1));
    }
}
