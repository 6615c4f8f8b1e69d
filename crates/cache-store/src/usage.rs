//! Usage of the store, for the admin page and metrics.

use crate::stored_response::StoredResponse;

/// The usage of the store. Counts run from its start.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StoreUsage {
    /// Objects in memory.
    pub objects: u64,
    /// Bytes of memory taken, everything counted, also what is stored no longer but still held.
    pub bytes: u64,
    /// The limit of that.
    pub bytes_max: u64,
    /// Bytes of bodies among it.
    pub body_bytes: u64,
    /// Objects that were stored.
    pub inserted: u64,
    /// Objects that were updated.
    pub replaced: u64,
    /// Objects that were superseded by another one.
    pub superseded: u64,
    /// Objects that were evicted.
    pub evicted: u64,
    /// Objects that were purged or invalidated, softly or not.
    pub purged: u64,
    /// Objects that were too large, or for which others that are held left no room.
    pub refused: u64,
    /// The disk tier, if there is one.
    pub disk: Option<DiskUsage>,
}

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

impl StoreUsage {
    /// Adds the usage of another shard, except limit and disk.
    pub(crate) fn add(&mut self, other: &StoreUsage) {
        self.objects += other.objects;
        self.bytes += other.bytes;
        self.body_bytes += other.body_bytes;
        self.inserted += other.inserted;
        self.replaced += other.replaced;
        self.superseded += other.superseded;
        self.evicted += other.evicted;
        self.purged += other.purged;
        self.refused += other.refused;
    }
}

/// One of the most used objects.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HotObject {
    /// Its key.
    pub key: String,
    /// Its status.
    pub status: u16,
    /// The length of its body in bytes.
    pub body_bytes: u64,
    /// The number of hits.
    pub hits: u32,
}

impl HotObject {
    pub(crate) fn of(object: &StoredResponse) -> HotObject {
        HotObject {
            key: object.key.as_str().to_owned(),
            status: object.status(),
            body_bytes: object.body.len() as u64,
            hits: object.hits(),
        }
    }
}
