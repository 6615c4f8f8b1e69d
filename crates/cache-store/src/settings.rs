//! The settings of the store.

use crate::disk::DiskSettings;

/// The settings of the store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoreSettings {
    /// The memory limit in bytes, everything counted; by default 256 MiB.
    pub bytes: u64,
    /// The largest object that is stored, in bytes with all that belongs to it; by default 16 MiB.
    ///
    /// At most a quarter of a shard's limit counts, so that a single object never empties the store.
    pub object_bytes_max: u64,
    /// The disk tier; none by default.
    pub disk: Option<DiskSettings>,
}

impl Default for StoreSettings {
    fn default() -> StoreSettings {
        StoreSettings { bytes: 256 << 20, object_bytes_max: 16 << 20, disk: None }
    }
}
