//! The cost of sampling a server with many threads. A binary of its own, because its threads would be counted by the
//! tests of others.

use std::sync::{Arc, Barrier};

use model::{Counter, Reading};
use observe::{LocalMachine, MonitoredSut, ResourceMonitor};
use units::{Nanos, thread_cpu};

const THREADS: usize = 2_000;
const READINGS: u64 = 10;

/// The limit for a release build, per second, which is per reading; a build without optimization takes twice as long.
const COST_MAX: Nanos = Nanos::from_millis(if cfg!(debug_assertions) { 10 } else { 5 });

/// The limit on a slow machine: this part of what it takes to open and read a file of the kernel for each thread.
const COST_PART_MAX: f64 = 0.6;

/// Returns the CPU time of opening and reading a file of each thread of this process.
fn plain_reading() -> Nanos {
    let before = thread_cpu();
    let tasks = std::fs::read_dir("/proc/self/task").unwrap();
    let n_read =
        tasks.filter(|task| std::fs::read(task.as_ref().unwrap().path().join("schedstat")).is_ok()).count();
    assert!(THREADS <= n_read);
    thread_cpu() - before
}

/// Goal: sampling takes at most 5 ms of CPU a second at 2,000 threads, and misses none of them. Measured in CPU time of
/// the sampling thread, so that other work on the machine matters little; the least of several rounds counts.
#[test]
fn two_thousand_threads_are_sampled_within_five_milliseconds() {
    let barrier = Arc::new(Barrier::new(THREADS + 1));
    let waiting = |_| {
        let barrier = Arc::clone(&barrier);
        let builder = std::thread::Builder::new().stack_size(64 << 10);
        builder.spawn(move || barrier.wait().is_leader()).unwrap()
    };
    let threads: Vec<_> = (0..THREADS).map(waiting).collect();
    let sut = MonitoredSut { leaders: vec![std::process::id()], ..MonitoredSut::default() };
    let mut machine = LocalMachine::new(Some(sut));
    let mut readings = Vec::new();
    machine.read(&mut readings).unwrap();
    let mut round = || {
        let before = thread_cpu();
        for _ in 0..READINGS {
            readings.clear();
            machine.read(&mut readings).unwrap();
        }
        Nanos((thread_cpu() - before).0 / READINGS)
    };
    let each = (0..5).map(|_| round()).min().unwrap();
    let plain = (0..5).map(|_| plain_reading()).min().unwrap();
    println!("{THREADS} threads: {each} of CPU per reading, {plain} by files");
    let of = |counter| readings.iter().find(|one: &&Reading| one.counter == counter).unwrap().value;
    assert!(THREADS as u64 <= of(Counter::SutThreads));
    // Every thread has had its turn after fifty readings.
    let states = [Counter::SutThreadsRunning, Counter::SutThreadsWaiting, Counter::SutThreadsBlocked];
    assert!(THREADS as u64 <= states.map(of).into_iter().sum::<u64>());
    barrier.wait();
    assert!(threads.into_iter().all(|thread| thread.join().is_ok()));
    let limit = COST_MAX.max(Nanos::from_secs_f64(COST_PART_MAX * plain.as_secs_f64()));
    assert!(each < limit, "{each} per reading, {limit} at most");
}
