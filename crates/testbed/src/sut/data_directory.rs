//! The data of a server: their directory, and the golden copy that they are restored from.

use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::{PermissionsExt, chown};
use std::path::{Path, PathBuf};

use super::SutError;
use super::account::Account;
use super::file_tree::{files_below, tree_bytes};
use super::golden::{GoldenCopy, VacantGolden};
use super::work_dir::WorkDir;
use crate::evict;

/// The data directory of one server, with the folder that is made for it. Dropping it removes both; the golden copy
/// stays.
#[derive(Debug)]
pub(super) struct DataDirectory {
    path: PathBuf,
    golden: Option<GoldenCopy>,
    /// The place of the copy, until contents are loaded.
    vacant: Option<VacantGolden>,
    _folder: WorkDir,
}

impl DataDirectory {
    /// Creates an empty one that belongs to the server's account alone.
    pub(super) fn create(
        path: PathBuf,
        folder: WorkDir,
        owner: Option<&Account>,
    ) -> Result<DataDirectory, SutError> {
        let created = fs::create_dir_all(&path)
            .and_then(|()| fs::set_permissions(&path, Permissions::from_mode(0o700)))
            .and_then(|()| owner.map_or(Ok(()), |owner| chown(&path, Some(owner.uid), Some(owner.gid))));
        created.map_err(failed("data directory", &path))?;
        Ok(DataDirectory { path, golden: None, vacant: None, _folder: folder })
    }

    /// Returns the copy that the data are restored from; `None` if they never are.
    pub(super) fn golden(&self) -> Option<&GoldenCopy> {
        self.golden.as_ref()
    }

    /// Restores the data from this copy from now on.
    pub(super) fn set_golden(&mut self, golden: GoldenCopy) {
        self.golden = Some(golden);
    }

    /// Leaves the copy for later, when the data have their contents.
    pub(super) fn set_vacant(&mut self, vacant: VacantGolden) {
        self.vacant = Some(vacant);
    }

    /// Returns whether contents are still to be loaded.
    pub(super) fn lacks_contents(&self) -> bool {
        self.vacant.is_some()
    }

    /// Copies the data with their contents; to be called while the server does not run.
    ///
    /// # Errors
    /// The copy cannot be written.
    pub(super) fn keep(&mut self, password: &str) -> Result<(), SutError> {
        if let Some(vacant) = self.vacant.take() {
            self.golden = Some(vacant.fill(&self.path, password)?);
        }
        Ok(())
    }

    /// Replaces the data by the golden copy; to be called while the server does not run.
    ///
    /// # Errors
    /// The system's error.
    pub(super) fn restore(&self) -> Result<(), SutError> {
        let Some(golden) = &self.golden else { return Ok(()) };
        let restored = fs::remove_dir_all(&self.path).and_then(|()| golden.restore(&self.path));
        restored.map_err(failed("restored data", &self.path))
    }

    /// Writes the files to disk, and evicts their pages from the page cache.
    ///
    /// # Errors
    /// A file cannot be opened or written to disk.
    pub(super) fn evict(&self) -> Result<(), SutError> {
        evict(files_below(&self.path)).map_err(|(path, source)| failed("file of the data", &path)(source))
    }

    /// Returns the size of the data, in bytes.
    pub(super) fn bytes(&self) -> u64 {
        tree_bytes(&self.path)
    }
}

fn failed(what: &'static str, path: &Path) -> impl FnOnce(io::Error) -> SutError {
    let path = path.to_owned();
    move |source| SutError::File { what, path, source }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{MetadataExt, symlink};

    use super::super::golden::{GoldenKey, GoldenLookUp, look_up};
    use super::*;

    #[test]
    fn restored_data_are_the_golden_ones() {
        let base = tempfile::tempdir().unwrap();
        let folder = WorkDir::create(base.path()).unwrap();
        let root = folder.path().join("data");
        let mut data = DataDirectory::create(root.clone(), folder, None).unwrap();
        let path = |name: &str| root.join(name);
        fs::create_dir(path("base")).unwrap();
        fs::write(path("base/one"), "golden").unwrap();
        fs::set_permissions(path("base/one"), Permissions::from_mode(0o640)).unwrap();
        symlink("one", path("base/link")).unwrap();
        let key = GoldenKey { name: "mine".to_owned(), identity: "mine".to_owned() };
        let GoldenLookUp::Vacant(vacant) = look_up(base.path(), key).unwrap() else { panic!("a copy") };
        data.set_golden(vacant.fill(&root, "").unwrap());
        for _ in 0..2 {
            fs::write(path("base/one"), "changed in place").unwrap();
            fs::write(path("base/two"), "new").unwrap();
            data.restore().unwrap();
            assert_eq!(fs::read_to_string(path("base/link")).unwrap(), "golden");
            assert!(!path("base/two").exists());
            let mode = |name: &str| fs::metadata(path(name)).unwrap().mode() & 0o7777;
            assert_eq!((mode("base/one"), mode("")), (0o640, 0o700));
        }
        assert_eq!(data.bytes(), 6);
    }
}
