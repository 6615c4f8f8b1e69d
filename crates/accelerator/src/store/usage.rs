//! What the store holds, for people and metrics.

use super::disk::DiskUsage;
use super::object::Object;

/// What the store holds and what has become of the rest. Counts run from its start.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Usage {
    /// Objects in memory.
    pub objects: u64,
    /// Bytes of memory taken, everything counted.
    pub bytes: u64,
    /// The limit of that.
    pub bytes_max: u64,
    /// Bytes of bodies among it.
    pub body_bytes: u64,
    /// Objects that were kept.
    pub inserted: u64,
    /// Objects that were brought up to date.
    pub replaced: u64,
    /// Objects that another one has superseded.
    pub superseded: u64,
    /// Objects that made room.
    pub evicted: u64,
    /// Objects that were purged or invalidated, softly or not.
    pub purged: u64,
    /// Objects that were too large.
    pub refused: u64,
    /// The tier on disk, if there is one.
    pub disk: Option<DiskUsage>,
}

impl Usage {
    /// Adds what another shard holds; not its limit and disk.
    pub(super) fn add(&mut self, other: &Usage) {
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

/// One of the objects that are used most.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HotObject {
    /// Its key.
    pub key: String,
    /// Its status.
    pub status: u16,
    /// The length of its body in bytes.
    pub body_bytes: u64,
    /// How many requests were answered with it.
    pub hits: u32,
}

impl HotObject {
    pub(super) fn of(object: &Object) -> HotObject {
        HotObject {
            key: object.key.as_str().to_owned(),
            status: object.status(),
            body_bytes: object.body.len() as u64,
            hits: object.hits(),
        }
    }
}
