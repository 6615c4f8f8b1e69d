//! Errors of run files, and their remedies.

use std::io;
use std::path::{Path, PathBuf};

use rusqlite::ErrorCode;
use thiserror::Error;

/// A reason why a run file cannot be written or read.
#[derive(Debug, Error)]
pub enum RunFileError {
    /// There is a file of this name, and runs are never overwritten.
    #[error("`{}` already exists", .path.display())]
    Exists {
        /// The run file.
        path: PathBuf,
    },
    /// The operating system refused.
    #[error("{doing} `{}`: {source}", .path.display())]
    Io {
        /// The run file.
        path: PathBuf,
        /// The attempt: `opening`, `creating`.
        doing: &'static str,
        /// The system's reason.
        source: io::Error,
    },
    /// The file is something else.
    #[error("`{}` is not a run file: {found}", .path.display())]
    NotARunFile {
        /// The file.
        path: PathBuf,
        /// The kind of file found instead.
        found: String,
    },
    /// The file has another format, from before the first release or from a newer build.
    #[error("`{}` has run file format {found}, this build reads {known}", .path.display())]
    OtherFormat {
        /// The run file.
        path: PathBuf,
        /// Format of the file.
        found: u32,
        /// The format that this build knows.
        known: u32,
    },
    /// The plan in the file has another format, from before the first release or from a newer build.
    #[error("`{}` has plan format {found}, this build reads {known}", .path.display())]
    OtherPlan {
        /// The run file.
        path: PathBuf,
        /// Format of the plan.
        found: u32,
        /// The format that this build knows.
        known: u32,
    },
    /// The disk that holds the run file is full.
    #[error("the disk that holds `{}` is full", .path.display())]
    DiskFull {
        /// The run file.
        path: PathBuf,
    },
    /// An earlier error ended the recording; no further record is accepted, so that no second is missing in between.
    #[error("`{}` accepts no more records after an earlier error", .path.display())]
    Closed {
        /// The run file.
        path: PathBuf,
    },
    /// A run is currently being recorded into the file.
    #[error("`{}` changes too fast to read", .path.display())]
    Busy {
        /// The run file.
        path: PathBuf,
    },
    /// A file that is damaged: a part of it cannot be read.
    #[error("`{}` is damaged: {place}: {why}", .path.display())]
    Damaged {
        /// The run file.
        path: PathBuf,
        /// The place: the table, and the row if known.
        place: String,
        /// The damage.
        why: String,
    },
    /// The database library failed for another reason.
    #[error("{doing} `{}`: {source}", .path.display())]
    Database {
        /// The run file.
        path: PathBuf,
        /// The attempt: `recording an interval in`.
        doing: &'static str,
        /// The library's reason.
        source: rusqlite::Error,
    },
}

impl RunFileError {
    /// Returns whether the file seems to have been a run file and is no longer whole: detecting that is the purpose
    /// of an audit.
    pub fn is_damage(&self) -> bool {
        let is_named_so = |path: &Path| path.is_file() && path.extension().is_some_and(|one| one == "plim");
        match self {
            RunFileError::Damaged { .. } => true,
            RunFileError::Database { path, doing, .. } => *doing == "opening" && is_named_so(path),
            _ => false,
        }
    }

    /// Returns the remedy, a clause without a full stop; `None` if there is none.
    pub fn hint(&self) -> Option<String> {
        let hint = match self {
            RunFileError::Exists { .. } => "choose another name, or move the file away".to_owned(),
            RunFileError::NotARunFile { .. } => {
                "run files end in `.plim`; `plimsoll runs` lists them".to_owned()
            }
            RunFileError::OtherFormat { found, known, .. } | RunFileError::OtherPlan { found, known, .. }
                if known < found =>
            {
                "install the newest Plimsoll".to_owned()
            }
            RunFileError::OtherFormat { .. } | RunFileError::OtherPlan { .. } => {
                "open it with the build that recorded it".to_owned()
            }
            RunFileError::DiskFull { path } if path.exists() => {
                "free some space; the seconds recorded so far are kept and the run counts as incomplete"
                    .to_owned()
            }
            RunFileError::DiskFull { .. } => "free some space; nothing was recorded".to_owned(),
            RunFileError::Busy { .. } => "try again, or wait until the run has ended".to_owned(),
            RunFileError::Damaged { path, .. } => {
                format!("`plimsoll audit {}` lists what can still be read", path.display())
            }
            RunFileError::Io { doing: "opening", source, .. }
                if source.kind() == io::ErrorKind::NotFound =>
            {
                "`plimsoll runs` lists the run files in `runs`, `plimsoll runs DIR` those in another directory".to_owned()
            }
            RunFileError::Io { .. } | RunFileError::Closed { .. } | RunFileError::Database { .. } => {
                return None;
            }
        };
        Some(hint)
    }

    /// Makes the error for a failed call of the database library.
    pub(crate) fn database(path: &Path, doing: &'static str, source: rusqlite::Error) -> RunFileError {
        let path = path.to_owned();
        match source.sqlite_error_code() {
            Some(ErrorCode::DiskFull) => RunFileError::DiskFull { path },
            Some(ErrorCode::DatabaseCorrupt) => {
                RunFileError::Damaged { path, place: "its pages".to_owned(), why: source.to_string() }
            }
            _ => RunFileError::Database { path, doing, source },
        }
    }

    /// Makes the error for a failed call of the operating system.
    pub(crate) fn io(path: &Path, doing: &'static str, source: io::Error) -> RunFileError {
        let path = path.to_owned();
        match source.kind() {
            io::ErrorKind::StorageFull => RunFileError::DiskFull { path },
            io::ErrorKind::AlreadyExists => RunFileError::Exists { path },
            _ => RunFileError::Io { path, doing, source },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A disk that is full from the start leaves no file.
    #[test]
    fn a_full_disk_promises_no_file_that_is_not_there() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run.plim");
        let hint = |path: &Path| RunFileError::DiskFull { path: path.to_owned() }.hint().unwrap();
        assert_eq!(hint(&path), "free some space; nothing was recorded");
        std::fs::write(&path, "").unwrap();
        assert!(hint(&path).contains("recorded so far are kept"), "{}", hint(&path));
    }
}
