//! The CPU allowance: a share of one CPU that the server does not exceed, by its own measurement.
//!
//! The server behaves like an unlimited one on a slower processor. It reads the CPU time of its thread every
//! few requests and keeps a balance in a token bucket:
//!
//! | state | event | next | note |
//! |---|---|---|---|
//! | idle | connection or request | running | balance grows by share × wall time, up to share × [`CARRY`] |
//! | running | check, balance not negative | running | balance += share × wall time − CPU time since the last check |
//! | running | no work | idle | |
//! | running | check, balance negative | paused | until the balance is share × [`PAUSE_MIN`] |
//! | paused | pause ends | running | oversleeping is credited, up to the carry |
//!
//! The pause is a plain sleep of the thread, and so of everything on its event loop: the effect of a kernel
//! quota on a process, with shorter pauses. Meanwhile connections queue in the listener's backlog and
//! requests in socket buffers.
//!
//! **Guarantee.** In any window of length w the server uses at most share × (w + [`CARRY`]) plus the CPU time
//! between two checks (some 0.1 ms): 105 % of its share over 100 ms, 100.5 % over a second.
//!
//! **Effect on response times.** A server with share s saturates at s times the rate of a whole CPU. Below
//! that, bursts of up to share × carry of work run at full speed; beyond, a request may meet a pause and wait
//! up to [`PAUSE_MIN`] plus debt ÷ s, some 2 to 3 ms. At saturation the pauses merely determine where
//! requests queue: N users and rate X give N ÷ X whatever their length.

use std::time::Duration;

use units::{Clock, Nanos, Ratio, RealClock, thread_cpu};

/// The maximum unused time that is credited: at most share × 5 ms of work is saved up.
pub const CARRY: Nanos = Nanos::from_millis(5);

/// The shortest pause: long compared with the cost of a sleep, short compared with response times that people
/// notice.
pub const PAUSE_MIN: Nanos = Nanos::from_millis(2);

/// Units of work between two readings of the CPU time.
///
/// The unit is one kernel call of a small request: accept, read or write, some 5 µs each (a request of 1 KB
/// on a kept connection takes 8 to 10 µs of CPU). That is short compared with [`PAUSE_MIN`], and the cost of
/// the reading, a kernel call that moves no data, is negligible beside 16 that do.
pub(super) const WORK_PER_CHECK: u32 = 16;

/// A throttle that pauses the thread when it has used more than its share.
#[derive(Debug)]
pub(super) struct Throttle {
    clock: RealClock,
    bucket: Bucket,
    work: u32,
    paused: Nanos,
}

impl Throttle {
    /// Creates a throttle for the calling thread; accounting starts now.
    pub(super) fn new(share: Ratio, clock: RealClock) -> Throttle {
        let bucket = Bucket::new(share, clock.now(), thread_cpu());
        Throttle { clock, bucket, work: 0, paused: Nanos::ZERO }
    }

    /// Records work, one unit per kernel call for a small request, and pauses if the balance is negative.
    #[inline]
    pub(super) fn spend(&mut self, work: u32) {
        self.work = self.work.saturating_add(work);
        if WORK_PER_CHECK <= self.work {
            self.check();
        }
    }

    /// Returns the total time that the server was paused.
    pub(super) fn paused(&self) -> Nanos {
        self.paused
    }

    fn check(&mut self) {
        self.work = 0;
        let before = self.clock.now();
        if let Some(pause) = self.bucket.settle(before, thread_cpu()) {
            std::thread::sleep(Duration::from_nanos(pause.0));
            self.paused += self.clock.now().saturating_sub(before);
        }
    }
}

/// A token bucket: the balance between elapsed time and CPU time used.
#[derive(Debug)]
struct Bucket {
    /// Above 0, at most 1.
    share: f64,
    /// CPU time that may be used, in nanoseconds; negative is debt.
    balance: f64,
    wall: Nanos,
    cpu: Nanos,
}

impl Bucket {
    fn new(share: Ratio, wall: Nanos, cpu: Nanos) -> Bucket {
        Bucket { share: share.0, balance: 0.0, wall, cpu }
    }

    /// Updates the balance and returns how long to pause, if at all.
    ///
    /// balance = min(balance + share × Δwall, share × carry) − Δcpu; pause = minimum + debt ÷ share, after
    /// which the balance is share × minimum.
    fn settle(&mut self, wall: Nanos, cpu: Nanos) -> Option<Nanos> {
        let earned = self.share * wall.saturating_sub(self.wall).0 as f64;
        let used = cpu.saturating_sub(self.cpu).0 as f64;
        (self.wall, self.cpu) = (wall, cpu);
        self.balance = (self.balance + earned).min(self.share * CARRY.0 as f64) - used;
        (self.balance < 0.0).then(|| PAUSE_MIN.saturating_add(Nanos((-self.balance / self.share) as u64)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Simulates a server that is always busy, with `overslept` added to each pause; returns (wall, CPU) at
    /// each check.
    fn busy(share: f64, until: Nanos, overslept: Nanos) -> Vec<(Nanos, Nanos)> {
        let check = Nanos::from_micros(80);
        let mut bucket = Bucket::new(Ratio(share), Nanos::ZERO, Nanos::ZERO);
        let (mut wall, mut cpu, mut trace) = (Nanos::ZERO, Nanos::ZERO, Vec::new());
        while wall < until {
            wall += check;
            cpu += check;
            trace.push((wall, cpu));
            if let Some(pause) = bucket.settle(wall, cpu) {
                wall += pause + overslept;
                trace.push((wall, cpu));
            }
        }
        trace
    }

    #[test]
    fn a_busy_server_uses_exactly_its_share() {
        for share in [0.05, 0.2, 0.3, 0.5, 0.9] {
            for overslept in [Nanos::ZERO, Nanos::from_millis(1)] {
                let (wall, cpu) = *busy(share, Nanos::from_secs(2), overslept).last().unwrap();
                let used = cpu.as_secs_f64() / wall.as_secs_f64();
                assert!((used / share - 1.0).abs() < 0.01, "share {share}: used {used}");
            }
        }
    }

    #[test]
    fn no_window_of_100_ms_exceeds_the_share_by_more_than_the_carry() {
        let (window, share) = (Nanos::from_millis(100), 0.2);
        let trace = busy(share, Nanos::from_secs(1), Nanos::from_millis(1));
        for (index, (start, used_before)) in trace.iter().enumerate() {
            let inside = trace[index..].iter().take_while(|(wall, _)| *wall <= *start + window);
            let used = inside.last().unwrap().1 - *used_before;
            let most = share * (window + CARRY).0 as f64 + Nanos::from_micros(80).0 as f64;
            assert!(used.0 as f64 <= most, "{used} from {start}");
        }
    }

    #[test]
    fn idle_time_is_saved_up_to_the_carry_only() {
        let mut bucket = Bucket::new(Ratio(0.5), Nanos::ZERO, Nanos::ZERO);
        let idle = Nanos::from_secs(10);
        assert_eq!(bucket.settle(idle, Nanos::ZERO), None);
        // 0.5 × 5 ms have been saved: a burst of 2.5 ms is free, 1 ms more is debt.
        let work = Nanos::from_micros(3_500);
        assert_eq!(bucket.settle(idle, work), Some(Nanos::from_millis(4)));
    }

    #[test]
    fn work_below_the_share_never_causes_a_pause() {
        let mut bucket = Bucket::new(Ratio(0.3), Nanos::ZERO, Nanos::ZERO);
        for step in 1..10_000 {
            assert_eq!(bucket.settle(Nanos::from_micros(100 * step), Nanos::from_micros(29 * step)), None);
        }
    }
}
