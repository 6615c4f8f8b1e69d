//! Counters of the disk tier.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::usage::DiskUsage;

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
