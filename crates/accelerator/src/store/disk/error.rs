//! Why the tier on disk cannot be used.

use std::io;
use std::path::PathBuf;

use thiserror::Error;

/// Why the tier on disk cannot be opened.
#[derive(Debug, Error)]
pub enum DiskError {
    /// Something cannot be read or written.
    #[error("`{}` cannot be used for the cache: {source}", .path.display())]
    Unusable {
        /// The directory, or the file in it.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// Another process has the directory.
    #[error("`{}` is in use by another process\nhint: give each accelerator a directory of its own", .0.display())]
    InUse(PathBuf),
    /// The limit is too small to be of use.
    #[error("{found} bytes of disk are too few, at least {least} are needed")]
    TooSmall {
        /// The limit as set.
        found: u64,
        /// The least that is of use.
        least: u64,
    },
}

impl DiskError {
    /// Makes what turns an error of the system into one that says where it happened.
    pub(super) fn at(path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> DiskError {
        let path = path.into();
        move |source| DiskError::Unusable { path, source }
    }
}
