//! The CPU allowance: a share of one CPU, or of several, that a server does not exceed, by its own measurement.
//!
//! The server behaves like an unlimited one on a slower processor. It reads the CPU time of its thread every
//! few requests and keeps a balance in a token bucket, which the threads of a server with several of them share:
//!
//! | state | event | next | note |
//! |---|---|---|---|
//! | idle | connection or request | running | balance grows by share × wall time, up to share × [`CARRY`] |
//! | running | check, balance not negative | running | balance += share × wall time − CPU time since the last check; what passed without CPU time counts as idle |
//! | running | no work | idle | |
//! | running | check, balance negative | paused | until the balance is share × [`PAUSE_MIN`] |
//! | paused | pause ends | running | oversleeping is credited, up to the carry |
//!
//! The pause is a plain sleep of the thread, and so of everything on its event loop: the effect of a kernel
//! quota on a process, with shorter pauses. Meanwhile connections queue in the listener's backlog and
//! requests in socket buffers. Of several threads each pauses when it next comes to the bucket, so that the debt
//! can grow by what the others have in hand; they pause for it, too. While they have something in hand, what is earned
//! is saved beyond the carry, because they are still to be charged for it.
//!
//! **Guarantee.** In any window of length w the server uses at most share × (w + [`CARRY`]) plus the CPU time
//! between two checks (some 0.1 ms): 105 % of its share over 100 ms, 100.5 % over a second. With several threads, the
//! time for which the longest request in progress has been served is added to the carry.
//!
//! **Effect on response times.** A server with share s saturates at s times the rate of a whole CPU. Below
//! that, bursts of up to share × carry of work run at full speed; beyond, a request may meet a pause and wait
//! up to [`PAUSE_MIN`] plus debt ÷ s, some 2 to 3 ms. At saturation the pauses merely determine where
//! requests queue: N users and rate X give N ÷ X whatever their length.

use std::sync::{Arc, Mutex};
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
pub(crate) const WORK_PER_CHECK: u32 = 16;

/// A throttle that pauses the thread when it has used more than its share.
#[derive(Debug)]
pub(crate) struct Throttle {
    clock: RealClock,
    bucket: Bucket,
    cpu: Nanos,
    work: u32,
    paused: Nanos,
}

impl Throttle {
    /// Creates a throttle for the calling thread; accounting starts now.
    pub(crate) fn new(share: Ratio, clock: RealClock) -> Throttle {
        let bucket = Bucket::new(share, clock.now());
        Throttle { clock, bucket, cpu: thread_cpu(), work: 0, paused: Nanos::ZERO }
    }

    /// Records work, one unit per kernel call for a small request, and pauses if the balance is negative.
    #[inline]
    pub(crate) fn spend(&mut self, work: u32) {
        self.work = self.work.saturating_add(work);
        if WORK_PER_CHECK <= self.work {
            self.check();
        }
    }

    /// Returns the total time that the server was paused.
    pub(crate) fn paused(&self) -> Nanos {
        self.paused
    }

    fn check(&mut self) {
        self.work = 0;
        let before = self.clock.now();
        if let Some(pause) = self.bucket.settle(before, used_since(&mut self.cpu)) {
            std::thread::sleep(Duration::from_nanos(pause.0));
            self.paused += self.clock.now().saturating_sub(before);
        }
    }
}

/// Returns the CPU time of the calling thread since the reading before, which the new one replaces.
fn used_since(before: &mut Nanos) -> Nanos {
    let now = thread_cpu();
    now.saturating_sub(std::mem::replace(before, now))
}

/// A throttle that the threads of a server share: together they use no more than their share.
#[derive(Debug)]
pub(crate) struct SharedThrottle {
    clock: RealClock,
    bucket: Mutex<Bucket>,
}

/// The part of one thread in a shared throttle.
#[derive(Debug)]
pub(crate) struct ThreadThrottle {
    shared: Arc<SharedThrottle>,
    cpu: Nanos,
    /// The begin of the work that the thread has in hand.
    since: Option<Nanos>,
}

impl SharedThrottle {
    /// Creates a throttle; accounting starts now, and for each thread with [`SharedThrottle::thread`].
    pub(crate) fn new(share: Ratio, clock: RealClock) -> SharedThrottle {
        SharedThrottle { clock, bucket: Mutex::new(Bucket::new(share, clock.now())) }
    }

    /// Returns the part of the calling thread.
    pub(crate) fn thread(self: &Arc<Self>) -> ThreadThrottle {
        ThreadThrottle { shared: Arc::clone(self), cpu: thread_cpu(), since: None }
    }
}

impl ThreadThrottle {
    /// Charges what the thread has used since the last call, and pauses it while all of them have used too much.
    pub(crate) fn settle(&mut self) {
        self.charge(false);
    }

    /// The same before work that may take longer than the carry; the next call ends it.
    pub(crate) fn begin(&mut self) {
        self.charge(true);
    }

    fn charge(&mut self, begins: bool) {
        let mut used = used_since(&mut self.cpu);
        while let Some(pause) = self.settle_once(used, begins) {
            std::thread::sleep(Duration::from_nanos(pause.0));
            used = Nanos::ZERO;
        }
    }

    /// Returns how long to pause, if at all; otherwise the work begins.
    fn settle_once(&mut self, used: Nanos, begins: bool) -> Option<Nanos> {
        let now = self.shared.clock.now();
        let mut bucket = self.shared.bucket.lock().expect("no thread panics with it");
        let pause = bucket.settle(now, used);
        if let Some(since) = self.since.take() {
            bucket.end(since);
        }
        if begins && pause.is_none() {
            bucket.begin(now);
            self.since = Some(now);
        }
        pause
    }
}

impl Drop for ThreadThrottle {
    fn drop(&mut self) {
        if let (Some(since), Ok(mut bucket)) = (self.since, self.shared.bucket.lock()) {
            bucket.end(since);
        }
    }
}

/// A token bucket: the balance between elapsed time and CPU time used.
#[derive(Debug)]
struct Bucket {
    /// CPUs; above 0.
    share: f64,
    /// CPU time that may be used, in nanoseconds; negative is debt.
    balance: f64,
    wall: Nanos,
    /// The works that threads have in hand, and the sum of their begins in nanoseconds.
    n_works: u64,
    begins: u64,
}

impl Bucket {
    fn new(share: Ratio, wall: Nanos) -> Bucket {
        Bucket { share: share.0, balance: 0.0, wall, n_works: 0, begins: 0 }
    }

    /// Updates the balance by the CPU time used since the last update, and returns how long to pause, if at all.
    ///
    /// With r = min(Δwall, Δcpu), the time for which a thread certainly ran: balance = min(balance + share × (Δwall − r),
    /// most) + share × r − Δcpu, because only what is earned without work is capped. Pause = minimum + debt ÷ share,
    /// after which the balance is share × minimum.
    fn settle(&mut self, wall: Nanos, used: Nanos) -> Option<Nanos> {
        let elapsed = wall.saturating_sub(self.wall);
        let running = elapsed.min(used);
        self.wall = self.wall.max(wall);
        let saved = (self.balance + self.earned(elapsed - running)).min(self.most());
        self.balance = saved + self.earned(running) - used.0 as f64;
        (self.balance < 0.0).then(|| PAUSE_MIN.saturating_add(Nanos((-self.balance / self.share) as u64)))
    }

    /// Takes note of work that a thread begins, and will be charged for at its end.
    fn begin(&mut self, at: Nanos) {
        self.n_works += 1;
        self.begins += at.0;
    }

    /// Takes note of the end of work that began then; what it was not charged for is not saved.
    fn end(&mut self, began: Nanos) {
        self.n_works -= 1;
        self.begins -= began.0;
        self.balance = self.balance.min(self.most());
    }

    /// Returns the greatest balance: the carry, and what threads may have used without being charged for it so far.
    fn most(&self) -> f64 {
        let in_hand = (self.n_works * self.wall.0).saturating_sub(self.begins);
        self.earned(CARRY) + in_hand as f64
    }

    fn earned(&self, time: Nanos) -> f64 {
        self.share * time.0 as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The CPU time between two checks of small requests.
    const CHECK: Nanos = Nanos::from_micros(80);

    /// Simulates a server that is always busy and uses so much CPU time between two checks, with `overslept` added to each
    /// pause; returns (wall, CPU) at each check.
    fn busy(share: f64, until: Nanos, check: Nanos, overslept: Nanos) -> Vec<(Nanos, Nanos)> {
        let mut bucket = Bucket::new(Ratio(share), Nanos::ZERO);
        let mut wall = Nanos::ZERO;
        let mut cpu = Nanos::ZERO;
        let mut trace = Vec::new();
        while wall < until {
            wall += check;
            cpu += check;
            trace.push((wall, cpu));
            if let Some(pause) = bucket.settle(wall, check) {
                wall += pause + overslept;
                trace.push((wall, cpu));
            }
        }
        trace
    }

    /// Transactions of 12 ms, longer than the carry, are the reported case: such a server had four fifths of its share.
    #[test]
    fn a_busy_server_uses_exactly_its_share() {
        for share in [0.05, 0.2, 0.3, 0.5, 0.9] {
            for overslept in [Nanos::ZERO, Nanos::from_millis(1)] {
                for check in [CHECK, Nanos::from_millis(12)] {
                    let (wall, cpu) = *busy(share, Nanos::from_secs(20), check, overslept).last().unwrap();
                    let used = cpu.as_secs_f64() / wall.as_secs_f64();
                    assert!((used / share - 1.0).abs() < 0.01, "share {share}, {check}: used {used}");
                }
            }
        }
    }

    /// The reported case: four threads take turns on one CPU, so that when the first is charged for its part, the others
    /// are not yet.
    #[test]
    fn threads_that_work_at_the_same_time_use_exactly_their_share() {
        let used = Nanos::from_micros(3_600);
        for share in [0.1, 0.3, 0.8] {
            let mut bucket = Bucket::new(Ratio(share), Nanos::ZERO);
            let mut wall = Nanos::ZERO;
            let mut cpu = Nanos::ZERO;
            while wall < Nanos::from_secs(20) {
                let began = wall;
                (0..4).for_each(|_| bucket.begin(began));
                for _ in 0..4 {
                    wall += used;
                    cpu += used;
                }
                let mut pause = None;
                for _ in 0..4 {
                    pause = bucket.settle(wall, used);
                    bucket.end(began);
                }
                while let Some(rest) = pause {
                    wall += rest;
                    pause = bucket.settle(wall, Nanos::ZERO);
                }
            }
            let used = cpu.as_secs_f64() / wall.as_secs_f64();
            assert!((used / share - 1.0).abs() < 0.01, "share {share}: used {used}");
        }
    }

    /// By hand, half a CPU: of 100 ms in which a thread waited for a disk, 0.5 × 5 ms are saved.
    #[test]
    fn work_that_mostly_waits_saves_no_more_than_the_carry() {
        let mut bucket = Bucket::new(Ratio(0.5), Nanos::ZERO);
        bucket.begin(Nanos::ZERO);
        let end = Nanos::from_millis(100);
        assert_eq!(bucket.settle(end, Nanos::from_millis(1)), None);
        bucket.end(Nanos::ZERO);
        assert_eq!(bucket.settle(end, Nanos::from_micros(3_500)), Some(Nanos::from_millis(4)));
    }

    #[test]
    fn no_window_of_100_ms_exceeds_the_share_by_more_than_the_carry() {
        let window = Nanos::from_millis(100);
        let share = 0.2;
        let trace = busy(share, Nanos::from_secs(1), CHECK, Nanos::from_millis(1));
        for (index, (start, used_before)) in trace.iter().enumerate() {
            let inside = trace[index..].iter().take_while(|(wall, _)| *wall <= *start + window);
            let used = inside.last().unwrap().1 - *used_before;
            let most = share * (window + CARRY).0 as f64 + CHECK.0 as f64;
            assert!(used.0 as f64 <= most, "{used} from {start}");
        }
    }

    #[test]
    fn idle_time_is_saved_up_to_the_carry_only() {
        let mut bucket = Bucket::new(Ratio(0.5), Nanos::ZERO);
        let idle = Nanos::from_secs(10);
        assert_eq!(bucket.settle(idle, Nanos::ZERO), None);
        // 0.5 × 5 ms have been saved: a burst of 2.5 ms is free, 1 ms more is debt.
        let work = Nanos::from_micros(3_500);
        assert_eq!(bucket.settle(idle, work), Some(Nanos::from_millis(4)));
    }

    #[test]
    fn work_below_the_share_never_causes_a_pause() {
        let mut bucket = Bucket::new(Ratio(0.3), Nanos::ZERO);
        for step in 1..10_000 {
            assert_eq!(bucket.settle(Nanos::from_micros(100 * step), Nanos::from_micros(29)), None);
        }
    }

    /// Four threads that compute without a pause use half a CPU together, not each.
    #[test]
    fn threads_share_an_allowance() {
        let clock = RealClock::start();
        let share = Ratio(0.5);
        let length = Nanos::from_millis(400);
        let throttle = Arc::new(SharedThrottle::new(share, clock));
        let work = || {
            let mut own = throttle.thread();
            let before = thread_cpu();
            while clock.now() < length {
                let start = thread_cpu();
                while thread_cpu().saturating_sub(start) < Nanos::from_micros(200) {}
                own.settle();
            }
            thread_cpu().saturating_sub(before)
        };
        let used: u64 = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..4).map(|_| scope.spawn(work)).collect();
            threads.into_iter().map(|thread| thread.join().unwrap().0).sum()
        });
        // What all threads have in hand when the debt begins, and what is saved up at the start.
        let spare = Nanos::from_micros(4 * 200 + 2_500 + 1_000).0 as f64;
        assert!((used as f64) < share.0 * clock.now().0 as f64 + spare, "{used} ns used");
    }
}
