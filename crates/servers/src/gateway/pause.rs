//! Pages that take long without making the processor work, as if they asked a database.
//!
//! They are for throttles on purpose: what limits such a program is how many pages it makes at once, or its lock.

use std::time::Duration;

use tokio::sync::Mutex;
use units::Nanos;

/// How long a page takes before it is made; no time at all unless its query says so.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Pause {
    /// How long it waits, whatever other pages do.
    pub wait: Nanos,
    /// How long it waits after that as the only page of its program.
    ///
    /// With many before it that can take longer than a server lets its connections be idle, which then close.
    pub lock: Nanos,
}

/// The one lock of a program, which pages hold one after another, in the order in which they ask for it.
#[derive(Debug, Default)]
pub(crate) struct PageLock(Mutex<()>);

impl PageLock {
    /// Pauses the calling thread, which must be none of an event loop.
    pub(crate) fn pause_thread(&self, Pause { wait, lock }: Pause) {
        std::thread::sleep(Duration::from_nanos(wait.0));
        if lock != Nanos::ZERO {
            let _held = self.0.blocking_lock();
            std::thread::sleep(Duration::from_nanos(lock.0));
        }
    }

    /// Pauses the calling task, and nothing else on its event loop.
    pub(crate) async fn pause_task(&self, Pause { wait, lock }: Pause) {
        if wait != Nanos::ZERO {
            tokio::time::sleep(Duration::from_nanos(wait.0)).await;
        }
        if lock != Nanos::ZERO {
            let _held = self.0.lock().await;
            tokio::time::sleep(Duration::from_nanos(lock.0)).await;
        }
    }
}
