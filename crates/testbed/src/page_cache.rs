//! Taking files out of the page cache.

use std::fs::File;
use std::io;
use std::path::PathBuf;

use rustix::fs::{Advice, fadvise};

/// Writes files to their disk and takes their pages out of the page cache.
///
/// A page is charged to the control group that read it first. What was in memory before costs a server nothing, so a
/// limit on its memory would not bind. Pages that some process has mapped stay, and so does everything on a file system
/// in memory. Source: posix_fadvise(2), `POSIX_FADV_DONTNEED`.
///
/// # Errors
/// The first file that cannot be opened or written to its disk.
pub fn evict(files: impl IntoIterator<Item = PathBuf>) -> Result<(), (PathBuf, io::Error)> {
    for path in files {
        let evicted = File::open(&path).and_then(|file| {
            // Pages that are yet to be written would stay.
            file.sync_data()?;
            Ok(fadvise(&file, 0, None, Advice::DontNeed)?)
        });
        evicted.map_err(|error| (path, error))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_stays_and_a_missing_file_is_named() {
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
