//! Usage of the disk tier, for the admin page and metrics.

use std::sync::atomic::{AtomicU64, Ordering};

/// The usage of the disk tier. Counts run from its start.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct DiskUsage {
    /// Objects in the index.
    pub objects: u64,
    /// Bytes of disk used.
    pub bytes: u64,
    /// The limit of that.
    pub bytes_max: u64,
    /// Bytes of memory of the index; part of the store's limit.
    pub index_bytes: u64,
    /// Objects written.
    pub written: u64,
    /// Objects read.
    pub read: u64,
    /// Objects that were not written because the disk could not keep up.
    pub dropped: u64,
    /// Reads that were skipped because the disk could not keep up, or because there was no room in memory.
    pub skipped: u64,
    /// Records that were found torn or changed, and not used.
    pub torn: u64,
    /// Writes that failed.
    pub failed: u64,
}

/// The counters behind [`DiskUsage`].
#[derive(Debug, Default)]
pub(super) struct Counters {
    pub(super) written: AtomicU64,
    pub(super) read: AtomicU64,
    pub(super) dropped: AtomicU64,
    pub(super) skipped: AtomicU64,
    pub(super) torn: AtomicU64,
    pub(super) failed: AtomicU64,
}

/// Adds one.
pub(super) fn count(counter: &AtomicU64) {
    counter.fetch_add(1, Ordering::Relaxed);
}

impl Counters {
    /// Returns the current counts, the rest empty.
    pub(super) fn usage(&self) -> DiskUsage {
        let of = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        DiskUsage {
            written: of(&self.written),
            read: of(&self.read),
            dropped: of(&self.dropped),
            skipped: of(&self.skipped),
            torn: of(&self.torn),
            failed: of(&self.failed),
            ..DiskUsage::default()
        }
    }
}
