//! The timer floor of the machine: the lateness of a thread that only sleeps until due times.
//!
//! On a virtual machine the host decides when a CPU runs. No load generator can be more punctual than this
//! thread, so its lateness is printed beside Plimsoll's.

use anyhow::{Context, Result};
use rustix::thread::{CpuSet, clock_nanosleep_absolute, sched_setaffinity};
use rustix::time::{ClockId, Timespec, clock_gettime};
use stats::Histogram;
use units::Nanos;

/// Sleeps `rate` times a second for `seconds` on a CPU, without any work. Returns the lateness of each
/// wake-up.
pub(super) fn lateness(rate: u64, seconds: u64, cpu: usize) -> Result<Histogram> {
    let sleeper = std::thread::spawn(move || {
        let mut set = CpuSet::new();
        set.set(cpu);
        sched_setaffinity(None, &set)?;
        let mut lateness = Histogram::new();
        let start = now();
        for k in 1..=rate * seconds {
            let due = start + Nanos(k * 1_000_000_000 / rate);
            clock_nanosleep_absolute(ClockId::Monotonic, &timespec(due))?;
            lateness.record(now().saturating_sub(due));
        }
        Ok::<_, rustix::io::Errno>(lateness)
    });
    let result = sleeper.join().expect("the sleeper does not panic");
    result.context("a thread cannot be pinned and sleep")
}

fn now() -> Nanos {
    let time = clock_gettime(ClockId::Monotonic);
    Nanos(time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64)
}

fn timespec(time: Nanos) -> Timespec {
    Timespec { tv_sec: (time.0 / 1_000_000_000) as i64, tv_nsec: (time.0 % 1_000_000_000) as i64 }
}
