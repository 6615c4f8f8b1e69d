//! Pauses of pages: pages that take long without using the processor, as if they queried a database.
//!
//! Experiments use them to throttle a program: it is then limited by the number of pages it serves at once,
//! or by its lock.

use std::time::Duration;

use tokio::sync::Mutex;
use units::Nanos;

/// The pause of a page before it is generated; zero unless its query asks for one.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PageDelay {
    /// Time it waits independently of other pages.
    pub wait: Nanos,
    /// Time it then waits while holding the program's lock.
    ///
    /// With many pages queued for the lock, waiting can exceed the idle timeout of the server's connections,
    /// which then close.
    pub lock: Nanos,
}

/// The one lock of a program, granted to pages in the order in which they ask for it.
#[derive(Debug, Default)]
pub(crate) struct PageLock(Mutex<()>);

impl PageLock {
    /// Pauses the calling thread, which must not run an event loop.
    pub(crate) fn pause_thread(&self, PageDelay { wait, lock }: PageDelay) {
        std::thread::sleep(Duration::from_nanos(wait.0));
        if lock != Nanos::ZERO {
            let _held = self.0.blocking_lock();
            std::thread::sleep(Duration::from_nanos(lock.0));
        }
    }

    /// Pauses the calling task only; the rest of its event loop goes on.
    pub(crate) async fn pause_task(&self, PageDelay { wait, lock }: PageDelay) {
        if wait != Nanos::ZERO {
            tokio::time::sleep(Duration::from_nanos(wait.0)).await;
        }
        if lock != Nanos::ZERO {
            let _held = self.0.lock().await;
            tokio::time::sleep(Duration::from_nanos(lock.0)).await;
        }
    }
}
