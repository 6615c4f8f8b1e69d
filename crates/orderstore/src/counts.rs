//! Counts of what connections met in SQLite.

use std::sync::atomic::{AtomicU64, Ordering};

use orders::wire::sqlite_counts;

/// The counts of connections to the same data.
#[derive(Debug, Default)]
pub struct StoreCounts {
    lock_waits: AtomicU64,
    checkpoints: AtomicU64,
    checkpoint_pages: AtomicU64,
}

impl StoreCounts {
    /// Returns the number of waits of transactions because SQLite was busy: another connection held the lock.
    pub fn lock_waits(&self) -> u64 {
        self.lock_waits.load(Ordering::Relaxed)
    }

    /// Returns the number of checkpoints of the write-ahead log that have written pages.
    pub fn checkpoints(&self) -> u64 {
        self.checkpoints.load(Ordering::Relaxed)
    }

    /// Returns the number of pages that they have written into the file.
    pub fn checkpoint_pages(&self) -> u64 {
        self.checkpoint_pages.load(Ordering::Relaxed)
    }

    /// Returns all of them with their names.
    pub fn named(&self) -> [(&'static str, u64); 3] {
        sqlite_counts(self.lock_waits(), self.checkpoints(), self.checkpoint_pages())
    }

    pub(crate) fn add_lock_wait(&self) {
        self.lock_waits.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn add_checkpoint(&self, n_pages: u64) {
        if 0 < n_pages {
            self.checkpoints.fetch_add(1, Ordering::Relaxed);
            self.checkpoint_pages.fetch_add(n_pages, Ordering::Relaxed);
        }
    }
}
