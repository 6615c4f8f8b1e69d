//! Simulated time of threads that block: one thread runs at a time, until it sleeps, and then the one that wakes first.

use std::cell::Cell;
use std::collections::BTreeSet;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};

use engine::BlockingClock;
use units::{Clock, Nanos};

thread_local! {
    /// The number of the calling thread.
    static NUMBER: Cell<u64> = const { Cell::new(0) };
    /// The CPU time that it has used.
    static CPU: Cell<Nanos> = const { Cell::new(Nanos::ZERO) };
}

/// A clock of simulated threads.
#[derive(Clone)]
pub(crate) struct SimThreads(Arc<SimScheduler>);

/// The scheduler of simulated threads.
struct SimScheduler {
    state: Mutex<State>,
    changed: Condvar,
}

struct State {
    now: Nanos,
    n_threads: u64,
    /// The thread that runs.
    running: Option<u64>,
    /// The others, by the time at which they wake, and by number among those of the same time.
    sleeping: BTreeSet<(Nanos, u64)>,
}

impl SimThreads {
    /// Makes a clock that stands at `start` until a thread that it spawned sleeps.
    pub(crate) fn new(start: Nanos) -> SimThreads {
        let state = State { now: start, n_threads: 0, running: None, sleeping: BTreeSet::new() };
        SimThreads(Arc::new(SimScheduler { state: Mutex::new(state), changed: Condvar::new() }))
    }

    /// Has the calling thread use the CPU; takes no time of the clock.
    pub(crate) fn use_cpu(time: Nanos) {
        CPU.set(CPU.get() + time);
    }

    /// Lets the first thread run, and waits for all that were spawned until now.
    pub(crate) fn run(&self, threads: Vec<JoinHandle<()>>) {
        self.pass_on();
        for thread in threads {
            thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Has the thread run that wakes next.
    fn pass_on(&self) {
        let mut state = self.state();
        let next = state.sleeping.pop_first();
        state.running = next.map(|(_, number)| number);
        if let Some((at, _)) = next {
            state.now = state.now.max(at);
        }
        self.0.changed.notify_all();
    }

    fn wait_for_turn(&self) {
        let number = NUMBER.get();
        let not_yet = |state: &mut State| state.running != Some(number);
        drop(self.0.changed.wait_while(self.state(), not_yet).unwrap_or_else(PoisonError::into_inner));
    }
}

impl Clock for SimThreads {
    fn now(&self) -> Nanos {
        self.state().now
    }
}

impl BlockingClock for SimThreads {
    fn thread_cpu(&self) -> Nanos {
        CPU.get()
    }

    fn sleep_until(&self, at: Nanos, is_over: &AtomicBool) {
        // It looks every second, in place of being unparked.
        while self.now() < at && !is_over.load(Ordering::Relaxed) {
            let until = at.min(self.now() + Nanos::from_secs(1));
            self.state().sleeping.insert((until, NUMBER.get()));
            self.pass_on();
            self.wait_for_turn();
        }
    }

    fn spawn(&self, name: String, body: impl FnOnce() + Send + 'static) -> io::Result<JoinHandle<()>> {
        let number = {
            let mut state = self.state();
            let now = state.now;
            let number = state.n_threads;
            state.sleeping.insert((now, number));
            state.n_threads += 1;
            number
        };
        let turn = TurnGuard(self.clone());
        thread::Builder::new().name(name).spawn(move || {
            NUMBER.set(number);
            turn.0.wait_for_turn();
            let _turn = turn;
            body();
        })
    }
}

/// The turn of a thread, which ends with the thread.
struct TurnGuard(SimThreads);

impl Drop for TurnGuard {
    fn drop(&mut self) {
        self.0.pass_on();
    }
}
