//! The settings of the disk tier.

use std::path::PathBuf;

/// The settings of the disk tier.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DiskSettings {
    /// A directory for this tier alone; it is created if needed.
    pub directory: PathBuf,
    /// The most bytes of disk to use.
    pub bytes: u64,
}

impl DiskSettings {
    /// The smallest useful limit, in bytes: a few segments.
    pub const BYTES_MIN: u64 = 16 << 20;
}
