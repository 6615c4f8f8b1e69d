//! What an operator may set about the tier on disk.

use std::path::PathBuf;

/// Where objects are kept on disk, and how much of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DiskSettings {
    /// A directory for this alone; it is made if it is not there.
    pub directory: PathBuf,
    /// How many bytes of disk are used at most.
    pub bytes: u64,
}

impl DiskSettings {
    /// The least disk that is of use, in bytes: a few segments.
    pub const BYTES_MIN: u64 = 16 << 20;
}
