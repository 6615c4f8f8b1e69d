//! The files of users on the disk of a server that a run starts.

use std::path::PathBuf;

use observe::{free_bytes, is_in_memory};

use crate::error::FleetError;

/// The files that a run's users can have there at its highest load.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct DiskUse {
    /// The number of users.
    pub(crate) users: u64,
    /// The most bytes that the files of each take.
    pub(crate) each: u64,
    /// The directory below which the server makes them.
    pub(crate) directory: PathBuf,
}

impl DiskUse {
    /// Checks that the directory is on a disk.
    ///
    /// # Errors
    /// It is in memory: what is said about the disk would be about none.
    pub(crate) fn require_disk(&self) -> Result<(), FleetError> {
        match is_in_memory(&self.directory) {
            true => Err(FleetError::FilesInMemory { directory: self.directory.clone() }),
            false => Ok(()),
        }
    }

    /// Checks that the files leave a tenth of the free disk.
    ///
    /// # Errors
    /// They do not.
    pub(crate) fn require_room(&self) -> Result<(), FleetError> {
        let (clients, each) = (self.users, self.each);
        match free_bytes(&self.directory) {
            Some(free) if free / 10 * 9 < self.bytes() => {
                Err(FleetError::NoRoom { clients, each, free, directory: self.directory.clone() })
            }
            _ => Ok(()),
        }
    }

    /// Returns the most bytes that all files together take.
    fn bytes(&self) -> u64 {
        self.users.saturating_mul(self.each)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand: 4 files of 2 TiB.
    #[test]
    fn files_that_fill_the_disk_are_refused_with_their_sizes() {
        let parent = tempfile::tempdir_in("/var/tmp").unwrap();
        let files = |users, each| DiskUse { users, each, directory: parent.path().join("of/a/server") };
        assert!(files(1, 20 << 20).require_room().is_ok());
        let error = files(4, 2 << 40).require_room().unwrap_err().to_string();
        let expected = "the files of 4 clients take 8.0 TiB (2.0 TiB each), more than nine tenths of the ";
        assert!(error.starts_with(expected) && error.ends_with("/of/a/server`"), "{error}");
    }

    #[test]
    fn files_in_memory_are_refused() {
        let files =
            |parent: &str| DiskUse { users: 1, each: 1, directory: format!("{parent}/of/a/server").into() };
        assert!(files("/var/tmp").require_disk().is_ok());
        let error = files("/dev/shm").require_disk().unwrap_err().to_string();
        assert_eq!(error, "`/dev/shm/of/a/server` is in memory, and the files of clients belong on a disk");
    }
}
