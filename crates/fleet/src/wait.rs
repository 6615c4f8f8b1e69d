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
