//! The cost of sampling a server with many threads. A binary of its own, because its threads would be counted by the
//! tests of others.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Barrier, Mutex, PoisonError};
use std::time::Duration;

use model::{Counter, Reading};
use observe::{LocalMachine, MonitoredSut, ResourceMonitor};
use units::{Nanos, thread_cpu};

const THREADS: usize = 2_000;
const READINGS: u64 = 10;

/// The limit for a release build, per second, which is per reading; a build without optimization takes longer.
const COST_MAX: Nanos = Nanos::from_millis(if cfg!(debug_assertions) { 10 } else { 5 });

/// The limit on a slow machine: this part of what it takes to open and read a file of the kernel for each thread.
const COST_PART_MAX: f64 = 0.35;

/// One test at a time: threads of the other would be read, too.
static ALONE: Mutex<()> = Mutex::new(());

/// Returns the least CPU time of a reading over several rounds, with so much time between two readings, and the last
/// readings. It is that of the sampling thread, so that other work on the machine matters little.
fn cost(machine: &mut LocalMachine, pause: Duration) -> (Nanos, Vec<Reading>) {
    let mut readings = Vec::new();
    machine.read(&mut readings).unwrap();
    let mut round = || {
        let mut used = Nanos::ZERO;
        for _ in 0..READINGS {
            std::thread::sleep(pause);
            readings.clear();
            let before = thread_cpu();
            machine.read(&mut readings).unwrap();
            used += thread_cpu() - before;
        }
        Nanos(used.0 / READINGS)
    };
    let least = (0..5).map(|_| round()).min().unwrap();
    (least, readings)
}

/// Returns the CPU time of opening and reading a file of each thread of this process.
fn plain_reading() -> Nanos {
    let before = thread_cpu();
    let tasks = std::fs::read_dir("/proc/self/task").unwrap();
    let n_read =
        tasks.filter(|task| std::fs::read(task.as_ref().unwrap().path().join("schedstat")).is_ok()).count();
    assert!(THREADS <= n_read);
    thread_cpu() - before
}

/// Starts threads that call this again and again until it returns `false`, and samples them.
fn sample(what: &str, pause: Duration, work: impl Fn() -> bool + Send + Sync + 'static, end: impl FnOnce()) {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let work = Arc::new(work);
    let started = Arc::new(Barrier::new(THREADS + 1));
    let thread = |_| {
        let work = Arc::clone(&work);
        let started = Arc::clone(&started);
        let run = move || {
            started.wait();
            while work() {}
        };
        std::thread::Builder::new().stack_size(64 << 10).spawn(run).unwrap()
    };
    let threads: Vec<_> = (0..THREADS).map(thread).collect();
    started.wait();
    let sut = MonitoredSut { leaders: vec![std::process::id()], ..MonitoredSut::default() };
    let (each, readings) = cost(&mut LocalMachine::new(Some(sut)), pause);
    let plain = (0..5).map(|_| plain_reading()).min().unwrap();
    end();
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    println!("{THREADS} threads that {what}: {each} of CPU per reading, {plain} by files");
    let of = |counter| readings.iter().find(|one| one.counter == counter).unwrap().value;
    assert!(THREADS as u64 <= of(Counter::SutThreads));
    let states = [Counter::SutThreadsRunning, Counter::SutThreadsWaiting, Counter::SutThreadsBlocked];
    assert!(THREADS as u64 <= states.map(of).into_iter().sum::<u64>());
    let limit = COST_MAX.max(Nanos::from_secs_f64(COST_PART_MAX * plain.as_secs_f64()));
    assert!(each < limit, "{each} per reading, {limit} at most");
}

/// Goal: sampling takes at most 5 ms of CPU a second at 2,000 threads, and misses none of them.
#[test]
fn two_thousand_idle_threads_are_sampled_within_five_milliseconds() {
    let end = Arc::new(Barrier::new(THREADS + 1));
    let waiting = Arc::clone(&end);
    let work = move || {
        waiting.wait();
        false
    };
    sample("sleep", Duration::ZERO, work, move || {
        end.wait();
    });
}

/// The same where each thread runs between two readings, so that none is known to sleep where it slept.
#[test]
fn two_thousand_busy_threads_are_sampled_within_the_limit() {
    let is_over = Arc::new(AtomicBool::new(false));
    let seen = Arc::clone(&is_over);
    let work = move || {
        std::thread::sleep(Duration::from_millis(50));
        !seen.load(Ordering::Relaxed)
    };
    sample("run", Duration::from_millis(60), work, move || is_over.store(true, Ordering::Relaxed));
}
