//! Eviction of files from the page cache.

use std::fs::File;
use std::io;
use std::path::PathBuf;

use rustix::fs::{Advice, fadvise, sync};
use rustix::process::geteuid;

/// The file by which the kernel drops its caches.
const DROP_CACHES: &str = "/proc/sys/vm/drop_caches";

/// The number that has it drop pages, names and inodes.
const PAGES_AND_NAMES: &str = "3";

/// Writes files to disk and evicts their pages from the page cache.
///
/// A page is charged to the control group that read it first. Pages already in memory cost a server nothing,
/// so a limit on its memory would not bind. Pages mapped by a process stay, and so does everything on a
/// memory file system. Source: posix_fadvise(2), `POSIX_FADV_DONTNEED`.
///
/// # Errors
/// The first file that cannot be opened or written to disk.
pub fn evict(files: impl IntoIterator<Item = PathBuf>) -> Result<(), (PathBuf, io::Error)> {
    for path in files {
        let evicted = File::open(&path).and_then(|file| {
            // Dirty pages would stay.
            file.sync_data()?;
            Ok(fadvise(&file, 0, None, Advice::DontNeed)?)
        });
        evicted.map_err(|error| (path, error))?;
    }
    Ok(())
}

/// Returns whether the user may drop the caches of this machine: only root may.
pub fn can_drop_caches() -> bool {
    geteuid().is_root()
}

/// Writes all dirty pages of this machine to its disks, and drops its caches: pages, names and inodes, of all programs.
/// Source: proc(5), `/proc/sys/vm/drop_caches`.
///
/// # Errors
/// The kernel refuses, as it does within most containers.
pub fn drop_caches() -> io::Result<()> {
    sync();
    std::fs::write(DROP_CACHES, PAGES_AND_NAMES)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contents_are_kept_and_a_missing_file_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        std::fs::write(&path, vec![b'x'; 100_000]).unwrap();
        evict([path.clone()]).unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), vec![b'x'; 100_000]);
        let missing = folder.path().join("none");
        let (named, error) = evict([path, missing.clone()]).unwrap_err();
        assert_eq!((named, error.kind()), (missing, io::ErrorKind::NotFound));
    }
}
