//! The files of users on the disk of a server that a run starts.

use std::path::PathBuf;

use observe::{free_bytes, is_in_memory, share_file_system};

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
        if is_in_memory(&self.directory) {
            Err(FleetError::FilesInMemory { directory: self.directory.clone() })
        } else {
            Ok(())
        }
    }

    /// Checks that the files leave a tenth of the free disk, together with those of other runs, of which none is made yet.
    ///
    /// Runs take turns load point by load point, and a server keeps the files of its users until its run ends: in the last
    /// round all of them are there.
    ///
    /// # Errors
    /// They do not.
    pub(crate) fn require_room<'a>(
        &self,
        others: impl Iterator<Item = &'a DiskUse>,
    ) -> Result<(), FleetError> {
        let beside = others.filter(|other| share_file_system(&self.directory, &other.directory));
        let others = beside.map(DiskUse::bytes).fold(0, u64::saturating_add);
        match free_bytes(&self.directory) {
            Some(free) if free / 10 * 9 < self.bytes().saturating_add(others) => Err(FleetError::NoRoom {
                clients: self.users,
                each: self.each,
                others,
                free,
                directory: self.directory.clone(),
            }),
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
        assert!(files(1, 20 << 20).require_room([].iter()).is_ok());
        let error = files(4, 2 << 40).require_room([].iter()).unwrap_err().to_string();
        let expected = "the files of 4 clients take 8.0 TiB (2.0 TiB each), more than nine tenths of the ";
        assert!(error.starts_with(expected) && error.ends_with("/of/a/server`"), "{error}");
    }

    /// Two times 60 % of what is free, each of which has room alone. By hand: 2 · 2 · 4 TiB of others.
    #[test]
    fn files_of_other_runs_on_the_same_disk_count() {
        let parent = tempfile::tempdir_in("/var/tmp").unwrap();
        let large = free_bytes(parent.path()).unwrap() / 10 * 3;
        let of = |each, directory: &str| DiskUse { users: 2, each, directory: directory.into() };
        let [here, elsewhere] = [parent.path().to_str().unwrap(), "/proc"];
        let own = of(large, here);
        assert!(own.require_room([].iter()).is_ok());
        assert!(own.require_room([of(large, elsewhere)].iter()).is_ok(), "it is on another file system");
        assert!(own.require_room([of(large, here)].iter()).is_err());
        let others = [of(4 << 40, here), of(4 << 40, here), of(4 << 40, elsewhere)];
        let error = of(1 << 30, here).require_room(others.iter()).unwrap_err().to_string();
        let expected = "the files of 2 clients take 2.0 GiB (1.0 GiB each), and those of other runs at the same time \
                        16.0 TiB, together more than nine tenths of the ";
        assert!(error.starts_with(expected), "{error}");
    }

    #[test]
    fn files_in_memory_are_refused() {
        let files =
            |parent: &str| DiskUse { users: 1, each: 1, directory: format!("{parent}/of/a/server").into() };
        assert!(files("/var/tmp").require_disk().is_ok());
        let error = files("/dev/shm").require_disk().unwrap_err().to_string();
        assert_eq!(error, "`/dev/shm/of/a/server` is on tmpfs; client files must be on a disk");
    }
}
