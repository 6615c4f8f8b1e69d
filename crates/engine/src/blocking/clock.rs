//! Time as threads that block see it.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use units::{Clock, Nanos, RealClock, thread_cpu};

/// Size of a user's stack: its loop and a driver's calls, which keep data on the heap.
const STACK_BYTES: usize = 256 << 10;

/// The clock of threads that block, and the threads: in real time or in simulated time.
pub trait BlockingClock: Clock + Send + Sync + 'static {
    /// Returns the CPU time that the calling thread has used.
    fn thread_cpu(&self) -> Nanos;

    /// Blocks the calling thread until `at`, or until it is unparked with `is_over` set.
    fn sleep_until(&self, at: Nanos, is_over: &AtomicBool);

    /// Starts a thread of a user.
    ///
    /// # Errors
    ///
    /// The system refuses another thread.
    fn spawn(&self, name: String, body: impl FnOnce() + Send + 'static) -> io::Result<JoinHandle<()>>;
}

impl BlockingClock for RealClock {
    fn thread_cpu(&self) -> Nanos {
        thread_cpu()
    }

    fn sleep_until(&self, at: Nanos, is_over: &AtomicBool) {
        loop {
            let now = self.now();
            if at <= now || is_over.load(Ordering::Relaxed) {
                return;
            }
            thread::park_timeout(Duration::from_nanos((at - now).0));
        }
    }

    fn spawn(&self, name: String, body: impl FnOnce() + Send + 'static) -> io::Result<JoinHandle<()>> {
        thread::Builder::new().name(name).stack_size(STACK_BYTES).spawn(body)
    }
}
