//! Waiting that can be broken off.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use units::{Clock, Nanos, RealClock};

/// How often it is looked whether the wait is to end.
const STEP: Nanos = Nanos::from_millis(50);

/// Waits until `due`, or until `stop` is set; returns whether it is.
pub(crate) fn wait_until(due: Nanos, clock: RealClock, stop: &AtomicBool) -> bool {
    while !stop.load(Ordering::Relaxed) {
        let left = due.saturating_sub(clock.now());
        if left == Nanos::ZERO {
            return false;
        }
        std::thread::sleep(Duration::from_nanos(left.min(STEP).0));
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_ends_when_it_is_due_or_broken_off() {
        let clock = RealClock::start();
        assert!(!wait_until(Nanos::from_millis(60), clock, &AtomicBool::new(false)));
        assert!(Nanos::from_millis(60) <= clock.now());
        let far = clock.now() + Nanos::from_secs(3600);
        assert!(wait_until(far, clock, &AtomicBool::new(true)));
        let stop = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| wait_until(far, clock, &stop));
            stop.store(true, Ordering::Relaxed);
            assert!(waiting.join().unwrap());
        });
    }
}
