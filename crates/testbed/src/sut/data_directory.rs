//! The data of a server: their directory, and the golden copy that they are restored from.

use std::fs::{self, File, Permissions};
use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt, chown, lchown, symlink};
use std::path::{Path, PathBuf};

use rustix::process::geteuid;

use super::SutError;
use super::account::Account;

/// The data directory of one server.
#[derive(Debug)]
pub(super) struct DataDirectory {
    path: PathBuf,
    golden: PathBuf,
}

impl DataDirectory {
    /// Creates an empty one that belongs to the server's account alone; the golden copy will lie beside it.
    pub(super) fn create(path: PathBuf, owner: Option<&Account>) -> Result<DataDirectory, SutError> {
        let created = fs::create_dir_all(&path)
            .and_then(|()| fs::set_permissions(&path, Permissions::from_mode(0o700)))
            .and_then(|()| owner.map_or(Ok(()), |owner| chown(&path, Some(owner.uid), Some(owner.gid))));
        created.map_err(failed("data directory", &path))?;
        let golden = path.with_extension("golden");
        Ok(DataDirectory { path, golden })
    }

    /// Copies the data; to be called while the server does not run.
    pub(super) fn keep_golden(&self) -> Result<(), SutError> {
        copy_tree(&self.path, &self.golden).map_err(failed("golden copy", &self.golden))
    }

    /// Replaces the data by the golden copy; to be called while the server does not run.
    pub(super) fn restore(&self) -> Result<(), SutError> {
        let restored = fs::remove_dir_all(&self.path).and_then(|()| copy_tree(&self.golden, &self.path));
        restored.map_err(failed("restored data", &self.path))
    }
}

fn failed(what: &'static str, path: &Path) -> impl FnOnce(io::Error) -> SutError {
    let path = path.to_owned();
    move |source| SutError::File { what, path, source }
}

/// Copies a directory with modes, owners and symbolic links. The contents of files are shared until one side
/// writes where the file system can do that (XFS, btrfs), otherwise copied. Sockets and pipes are left out.
fn copy_tree(from: &Path, to: &Path) -> io::Result<()> {
    let meta = fs::symlink_metadata(from)?;
    let kind = meta.file_type();
    if kind.is_socket() || kind.is_fifo() {
        return Ok(());
    }
    let is_root = geteuid().is_root();
    if kind.is_symlink() {
        symlink(fs::read_link(from)?, to)?;
        return if is_root { lchown(to, Some(meta.uid()), Some(meta.gid())) } else { Ok(()) };
    }
    if kind.is_dir() {
        fs::create_dir(to)?;
        for entry in fs::read_dir(from)? {
            let entry = entry?;
            copy_tree(&entry.path(), &to.join(entry.file_name()))?;
        }
    } else {
        copy_file(from, to)?;
    }
    if is_root {
        chown(to, Some(meta.uid()), Some(meta.gid()))?;
    }
    fs::set_permissions(to, Permissions::from_mode(meta.mode() & 0o7777))
}

fn copy_file(from: &Path, to: &Path) -> io::Result<()> {
    let (mut source, mut copy) = (File::open(from)?, File::create_new(to)?);
    match rustix::fs::ioctl_ficlone(&copy, &source) {
        Ok(()) => Ok(()),
        // The file system cannot share contents.
        Err(_) => io::copy(&mut source, &mut copy).map(drop),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn restored_data_are_the_golden_ones() {
        let folder = tempfile::tempdir().unwrap();
        let data = DataDirectory::create(folder.path().join("data"), None).unwrap();
        let path = |name: &str| folder.path().join("data").join(name);
        fs::create_dir(path("base")).unwrap();
        fs::write(path("base/one"), "golden").unwrap();
        fs::set_permissions(path("base/one"), Permissions::from_mode(0o640)).unwrap();
        symlink("one", path("base/link")).unwrap();
        data.keep_golden().unwrap();
        for _ in 0..2 {
            fs::write(path("base/one"), "changed in place").unwrap();
            fs::write(path("base/two"), "new").unwrap();
            data.restore().unwrap();
            assert_eq!(fs::read_to_string(path("base/link")).unwrap(), "golden");
            assert!(!path("base/two").exists());
            let mode = |name: &str| fs::metadata(path(name)).unwrap().mode() & 0o7777;
            assert_eq!((mode("base/one"), mode("")), (0o640, 0o700));
        }
    }
}
