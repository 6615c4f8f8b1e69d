//! Errors of the store.

use std::io;
use std::path::{Path, PathBuf};

use orders::wire::OrderEntryStatus;
use rusqlite::ErrorCode;
use thiserror::Error;

/// A reason why data cannot be loaded, opened, or changed.
#[derive(Debug, Error)]
pub enum StoreError {
    /// There is a file of this name.
    #[error("`{}` already exists", .path.display())]
    Exists {
        /// The file.
        path: PathBuf,
    },
    /// The operating system refused.
    #[error("{doing} `{}`: {source}", .path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The attempt: `creating`.
        doing: &'static str,
        /// The system's reason.
        source: io::Error,
    },
    /// The file is something else, or its loading was interrupted.
    #[error("`{}` has no order-entry data: {found}", .path.display())]
    NoData {
        /// The file.
        path: PathBuf,
        /// The content found instead.
        found: String,
    },
    /// The caller has stopped the loading; the file has been removed.
    #[error("the loading has been stopped")]
    Stopped,
    /// Another connection has held the lock for the whole of the time that a transaction waits.
    #[error("the data are locked by another connection after {n_waits} waits")]
    Busy {
        /// The number of waits.
        n_waits: u32,
    },
    /// The data lack a row that a transaction names.
    #[error("no {row} in the data")]
    Missing {
        /// The row: `customer 7 of district 3 of warehouse 1`.
        row: String,
    },
    /// SQLite refused.
    #[error("{doing}: {source}")]
    Database {
        /// The attempt: `loading`, `a transaction`.
        doing: &'static str,
        /// SQLite's reason.
        source: rusqlite::Error,
    },
}

impl StoreError {
    pub(crate) fn io(path: &Path, doing: &'static str, source: io::Error) -> StoreError {
        let path = path.to_owned();
        match source.kind() {
            io::ErrorKind::AlreadyExists => StoreError::Exists { path },
            _ => StoreError::Io { path, doing, source },
        }
    }

    pub(crate) fn database(doing: &'static str) -> impl Fn(rusqlite::Error) -> StoreError {
        move |source| StoreError::Database { doing, source }
    }

    /// Returns the status by which a server tells a client of it.
    pub fn status(&self) -> OrderEntryStatus {
        match self {
            StoreError::Busy { .. } => OrderEntryStatus::Locked,
            StoreError::Missing { .. } => OrderEntryStatus::MissingRow,
            StoreError::NoData { .. } => OrderEntryStatus::NoData,
            other if other.is_full_disk() => OrderEntryStatus::StorageFull,
            _ => OrderEntryStatus::StorageFailed,
        }
    }

    /// Returns whether the disk was full.
    pub fn is_full_disk(&self) -> bool {
        match self {
            StoreError::Io { source, .. } => source.kind() == io::ErrorKind::StorageFull,
            StoreError::Database { source, .. } => source.sqlite_error_code() == Some(ErrorCode::DiskFull),
            _ => false,
        }
    }

    /// Returns whether another connection had the lock.
    pub(crate) fn is_lock(&self) -> bool {
        let StoreError::Database { source, .. } = self else { return false };
        matches!(source.sqlite_error_code(), Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked))
    }
}
