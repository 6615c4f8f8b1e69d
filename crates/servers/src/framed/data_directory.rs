//! The directory of a server's data files: its own, on a disk, removed at the end, or by the next server of its kind after
//! a kill.

use std::fs::{self, DirBuilder, File};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::process;

use rustix::fs::{FlockOperation, flock, statfs, statvfs};
use thiserror::Error;

/// Name of the file in a directory that its server has locked as long as it runs.
const LOCK: &str = "lock";

/// Types of file systems that are in memory: tmpfs and ramfs (statfs(2)).
const IN_MEMORY: [u64; 2] = [0x0102_1994, 0x8584_58F6];

/// The directory of one server.
#[derive(Debug)]
pub(crate) struct DataDirectory {
    path: PathBuf,
    /// The lock, held as long as the file is open.
    _lock: File,
}

/// A reason why data files cannot be made in a directory.
#[derive(Debug, Error)]
pub enum DataDirectoryError {
    /// The directory is in memory.
    #[error(
        "`{}` is on tmpfs; the data files of this server must be on a disk\n\
         hint: choose a directory on a disk, such as `/var/tmp`", .0.display()
    )]
    InMemory(PathBuf),
    /// The system's error.
    #[error("cannot {action} `{}`: {source}", .path.display())]
    System {
        /// The action that failed.
        action: &'static str,
        /// The path.
        path: PathBuf,
        /// The error.
        source: io::Error,
    },
}

impl DataDirectory {
    /// Removes the directories of servers of a kind that do not run any more, and makes a new one. Names of directories of
    /// the kind begin with `prefix`.
    ///
    /// # Errors
    /// The parent is in memory, or a directory cannot be made.
    pub(crate) fn create(parent: &Path, prefix: &str) -> Result<DataDirectory, DataDirectoryError> {
        let failed = |action, path: &Path| {
            let path = path.to_owned();
            move |source: io::Error| DataDirectoryError::System { action, path, source }
        };
        fs::create_dir_all(parent).map_err(failed("create", parent))?;
        let kind = statfs(parent).map_err(|error| failed("inspect", parent)(error.into()))?.f_type;
        if IN_MEMORY.contains(&(kind as u64 & 0xFFFF_FFFF)) {
            return Err(DataDirectoryError::InMemory(parent.to_owned()));
        }
        // Two servers that start at once: neither sees a directory of the other before it is locked.
        let guard = File::open(parent).map_err(failed("open", parent))?;
        flock(&guard, FlockOperation::LockExclusive).map_err(|error| failed("lock", parent)(error.into()))?;
        remove_left_over(parent, prefix);
        let path = unused(parent, prefix);
        DirBuilder::new().mode(0o700).create(&path).map_err(failed("create", &path))?;
        let lock = File::create(path.join(LOCK)).map_err(failed("create", &path.join(LOCK)))?;
        flock(&lock, FlockOperation::NonBlockingLockExclusive)
            .map_err(|error| failed("lock", &path.join(LOCK))(error.into()))?;
        Ok(DataDirectory { path, _lock: lock })
    }

    /// Returns the path of a file in it.
    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// Returns whether a file of so many bytes leaves a tenth of the free space.
    pub(crate) fn has_room(&self, bytes: u64) -> io::Result<bool> {
        let found = statvfs(&self.path)?;
        let free = found.f_bavail.saturating_mul(found.f_frsize);
        Ok(bytes <= free / 10 * 9)
    }
}

impl Drop for DataDirectory {
    fn drop(&mut self) {
        // If it fails, the next server removes it.
        let _ = fs::remove_dir_all(&self.path);
    }
}

/// Removes the directories whose lock nobody holds.
fn remove_left_over(parent: &Path, prefix: &str) {
    let entries = fs::read_dir(parent).into_iter().flatten().flatten();
    let ours = entries.filter(|entry| entry.file_name().to_string_lossy().starts_with(prefix));
    for path in ours.map(|entry| entry.path()) {
        let is_held = File::open(path.join(LOCK))
            .is_ok_and(|lock| flock(&lock, FlockOperation::NonBlockingLockExclusive).is_err());
        if !is_held {
            let _ = fs::remove_dir_all(&path);
        }
    }
}

fn unused(parent: &Path, prefix: &str) -> PathBuf {
    let name = |number: u32| parent.join(format!("{prefix}{}-{number}", process::id()));
    (0..).map(name).find(|path| !path.exists()).expect("one of 2³² names is unused")
}

#[cfg(test)]
mod tests {
    use super::*;

    const PREFIX: &str = "app-server-";

    fn names(parent: &Path) -> Vec<String> {
        let mut names: Vec<String> = fs::read_dir(parent)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    /// The next server removes files of a killed one, and no files of a running one or of somebody else.
    #[test]
    fn directories_without_a_server_are_removed() {
        let parent = tempfile::tempdir_in("/var/tmp").unwrap();
        let first = DataDirectory::create(parent.path(), PREFIX).unwrap();
        fs::write(first.file("client_0.dat"), "data").unwrap();
        for left in ["app-server-1-0", "notes"] {
            fs::create_dir(parent.path().join(left)).unwrap();
            fs::write(parent.path().join(left).join(LOCK), "").unwrap();
        }
        let second = DataDirectory::create(parent.path(), PREFIX).unwrap();
        let [one, other] = [0, 1].map(|number| format!("{PREFIX}{}-{number}", process::id()));
        assert_eq!(names(parent.path()), [one.as_str(), other.as_str(), "notes"]);
        drop(first);
        assert_eq!(names(parent.path()), [other.as_str(), "notes"]);
        drop(second);
        assert_eq!(names(parent.path()), ["notes"]);
    }

    #[test]
    fn a_directory_in_memory_is_refused() {
        let memory = tempfile::tempdir_in("/dev/shm").unwrap();
        let error = DataDirectory::create(memory.path(), PREFIX).unwrap_err().to_string();
        assert!(
            error.contains("is on tmpfs") && error.contains("hint: choose a directory on a disk"),
            "{error}"
        );
        assert_eq!(names(memory.path()), [""; 0]);
    }

    #[test]
    fn a_tenth_of_the_disk_stays_free() {
        let parent = tempfile::tempdir_in("/var/tmp").unwrap();
        let directory = DataDirectory::create(parent.path(), PREFIX).unwrap();
        assert!(directory.has_room(1).unwrap() && !directory.has_room(u64::MAX).unwrap());
    }
}
