//! Making of private folders; `observe` names and checks them.

use std::fs::{self, DirBuilder, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use observe::private_folder::{FolderError, check_own, in_safe_parent, private_folders_of};

/// Mode that admits only the user.
const PRIVATE: u32 = 0o700;

/// Mode that also lets one group pass through to names it knows, without listing them.
const PASSABLE: u32 = 0o710;

/// Creates a private folder with mode 0700 unless it exists, and returns its path with links resolved.
///
/// An existing one is used if it belongs to this user and others cannot write to it; others lose the right to
/// read it, except a group admitted by `let_group_through`.
///
/// # Errors
/// It cannot be created, or others can change it or its parents.
pub fn make_private_folder(path: &Path) -> Result<PathBuf, FolderError> {
    let path = make_own_folder(path)?;
    let failed =
        |doing| move |source, path: &Path| FolderError::System { doing, path: path.to_owned(), source };
    let mode = fs::symlink_metadata(&path).map_err(|source| failed("inspect")(source, &path))?.mode() & 0o777;
    if mode != PRIVATE && mode != PASSABLE {
        let private = Permissions::from_mode(PRIVATE);
        fs::set_permissions(&path, private).map_err(|source| failed("protect")(source, &path))?;
    }
    Ok(path)
}

/// Creates a folder of this user with mode 0700 unless it exists; returns its path with links resolved. Read
/// permissions of an existing one are kept.
///
/// # Errors
/// It cannot be created, or others can change it or its parents.
pub(crate) fn make_own_folder(path: &Path) -> Result<PathBuf, FolderError> {
    let path = in_safe_parent(path)?;
    match DirBuilder::new().mode(PRIVATE).create(&path) {
        Err(source) if source.kind() != io::ErrorKind::AlreadyExists => {
            return Err(FolderError::System { doing: "create", path, source });
        }
        _ => {}
    }
    check_own(&path)?;
    Ok(path)
}

/// Lets a group pass through the private folders of this user on the way to `path`, for servers that run as
/// another user.
///
/// # Errors
/// The system's error.
pub(crate) fn let_group_through(path: &Path, group: u32) -> io::Result<()> {
    for folder in private_folders_of(path) {
        std::os::unix::fs::chown(folder, None, Some(group))?;
        fs::set_permissions(folder, Permissions::from_mode(PASSABLE))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use observe::private_folder::{check_private_folder, private_folder_in};

    use super::*;

    fn mode(path: &Path) -> u32 {
        fs::symlink_metadata(path).unwrap().mode() & 0o7777
    }

    fn set_mode(path: &Path, mode: u32) {
        fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
    }

    #[test]
    fn a_private_folder_is_created_reused_and_closed_to_others() {
        let base = tempfile::tempdir().unwrap();
        let path = private_folder_in(base.path());
        check_private_folder(&path).unwrap();
        assert!(!path.exists(), "checking creates nothing");
        let made = make_private_folder(&path).unwrap();
        assert_eq!((made.file_name(), mode(&made)), (path.file_name(), 0o700));
        fs::write(made.join("kept"), "").unwrap();
        // As created with the default mode by other programs.
        set_mode(&made, 0o755);
        check_private_folder(&path).unwrap();
        assert_eq!(make_private_folder(&path).unwrap(), made);
        assert_eq!(mode(&made), 0o700);
        assert!(made.join("kept").exists());
    }

    #[test]
    fn only_the_admitted_group_passes_through_private_folders() {
        let base = tempfile::tempdir().unwrap();
        let path = make_private_folder(&private_folder_in(base.path())).unwrap();
        let deep = path.join("files/web96");
        fs::create_dir_all(&deep).unwrap();
        let before = mode(base.path());
        // This process's own group, which its user may assign to the folder.
        let group = rustix::process::getegid().as_raw();
        let_group_through(&deep, group).unwrap();
        assert_eq!((mode(&path), mode(base.path())), (0o710, before));
        assert_eq!(make_private_folder(&path).unwrap(), path);
        assert_eq!(mode(&path), 0o710, "a running server may still need it");
    }

    #[test]
    fn a_folder_that_others_can_change_is_neither_used_nor_created() {
        let base = tempfile::tempdir().unwrap();
        let path = base.path().join("own");
        fs::create_dir(&path).unwrap();
        set_mode(&path, 0o777);
        assert!(make_private_folder(&path).is_err() && make_own_folder(&path).is_err());
        assert_eq!(mode(&path), 0o777);
        let below = path.join("below");
        assert!(matches!(make_private_folder(&below), Err(FolderError::OpenParent { .. })));
        assert!(!below.exists());
        set_mode(&path, 0o1777);
        make_private_folder(&below).unwrap();
    }

    /// Goal: links in the parents are followed, and the folder is created behind them.
    #[test]
    fn a_link_instead_of_the_folder_is_refused() {
        let base = tempfile::tempdir().unwrap();
        let real = base.path().join("real");
        let link = base.path().join("link");
        fs::create_dir(&real).unwrap();
        std::os::unix::fs::symlink(&real, &link).unwrap();
        assert!(matches!(make_private_folder(&link), Err(FolderError::NotAFolder { .. })));
        assert_eq!(make_private_folder(&link.join("own")).unwrap(), real.canonicalize().unwrap().join("own"));
    }
}
