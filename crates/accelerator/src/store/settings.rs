//! What an operator may set about the store.

use super::disk::DiskSettings;

/// How much is kept, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoreSettings {
    /// How many bytes of memory the store takes, everything counted; by default 256 MiB.
    pub bytes: u64,
    /// The largest object that is kept, in bytes with all that belongs to it; by default 16 MiB.
    ///
    /// At most a quarter of what one shard may hold counts, so that a single object never empties the store.
    pub object_bytes_max: u64,
    /// The tier on disk; none by default.
    pub disk: Option<DiskSettings>,
}

impl Default for StoreSettings {
    fn default() -> StoreSettings {
        StoreSettings { bytes: 256 << 20, object_bytes_max: 16 << 20, disk: None }
    }
}
