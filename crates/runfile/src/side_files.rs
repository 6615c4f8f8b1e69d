//! The files of the database beside a run file: there while a run is recorded, and left where it was killed.

use std::path::{Path, PathBuf};

/// The ending of the file with what is not in the run file yet.
pub(crate) const WAL: &str = "-wal";

/// Returns the path of a file beside a run file, by its ending.
pub(crate) fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut file = path.as_os_str().to_owned();
    file.push(ending);
    file.into()
}

/// Returns the paths of a run file and of all files that may be beside it.
pub(crate) fn with_side_files(path: &Path) -> [PathBuf; 4] {
    ["", WAL, "-shm", "-journal"].map(|ending| beside(path, ending))
}
