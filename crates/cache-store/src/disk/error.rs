//! Errors of the disk tier.

use std::io;
use std::path::PathBuf;

use thiserror::Error;

/// The reason for which the disk tier cannot be opened.
#[derive(Debug, Error)]
pub enum DiskError {
    /// A file or directory cannot be read or written.
    #[error("`{}` cannot be used for the cache: {source}", .path.display())]
    Unusable {
        /// The directory, or the file in it.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// Another process holds the directory.
    #[error("`{}` is in use by another process\nhint: give each accelerator a directory of its own", .0.display())]
    InUse(PathBuf),
    /// The limit is too small to be useful.
    #[error("{found} bytes of disk are too few; at least {least} are needed")]
    TooSmall {
        /// The limit as configured.
        found: u64,
        /// The smallest useful limit.
        least: u64,
    },
}

impl DiskError {
    /// Makes a conversion of system errors that adds the path.
    pub(super) fn at(path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> DiskError {
        let path = path.into();
        move |source| DiskError::Unusable { path, source }
    }
}
