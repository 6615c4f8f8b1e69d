//! Private folders of one user in directories that everybody may write to: their names and checks.
//!
//! `/dev/shm` and `/var/tmp` are shared by all users of a machine. The contents of a folder there are safe
//! from others if the folder belongs to this user, nobody else may write to it, and nobody else can replace
//! one of its parents: these belong to root or this user, and where others may write, the sticky bit keeps
//! them from renaming what is not theirs.

use std::fs::{self, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rustix::fs::{Access, access};
use rustix::process::geteuid;

use crate::inventory::name_of_user;
use crate::kernel_file;

/// Rights of group and others to change a folder.
const OTHERS_WRITE: u32 = 0o022;

/// The right of others to change a folder.
const EVERYBODY_WRITES: u32 = 0o002;

/// Restricts renaming and removal in a folder to the owners.
const STICKY: u32 = 0o1000;

/// The owner shown by the kernel for users outside this user namespace. Source: Linux, `kernel.overflowuid`.
const UNKNOWN_USER: u32 = 65_534;

/// A folder that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum FolderError {
    /// The private folder of this user belongs to another user.
    #[error("`{path}` belongs to {owner}, expected {user}\nhint: {}", removal_hint(.path, .owner))]
    Foreign {
        /// The folder.
        path: PathBuf,
        /// Its owner.
        owner: String,
        /// The expected owner.
        user: String,
    },
    /// Others can write to the private folder of this user.
    #[error(
        "others can write to `{path}` (mode {mode:04o}), so its contents may be theirs\n\
         hint: remove it with `rm -r {path}`; it is recreated with mode 0700"
    )]
    Open {
        /// The folder.
        path: PathBuf,
        /// Its permissions.
        mode: u32,
    },
    /// The path exists but is not a folder.
    #[error("`{path}` is not a folder\nhint: remove it with `rm {path}`; the folder is then created")]
    NotAFolder {
        /// The path.
        path: PathBuf,
    },
    /// A parent folder belongs to another user.
    #[error(
        "`{parent}` belongs to {owner}, who can replace its contents, such as `{path}`\n\
         hint: `chown root {parent}` makes it safe"
    )]
    ForeignParent {
        /// The folder.
        path: PathBuf,
        /// The parent.
        parent: PathBuf,
        /// Its owner.
        owner: String,
    },
    /// Others can rename the contents of a parent folder.
    #[error(
        "others can replace the contents of `{parent}` (mode {mode:04o}), such as `{path}`\n\
         hint: `chmod +t {parent}` makes it safe: then only owners can rename or remove its contents"
    )]
    OpenParent {
        /// The folder.
        path: PathBuf,
        /// The parent.
        parent: PathBuf,
        /// Its permissions.
        mode: u32,
    },
    /// A system call failed.
    #[error("cannot {doing} the folder `{path}`: {source}")]
    System {
        /// The attempted action: `create`.
        doing: &'static str,
        /// The folder.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
}

fn removal_hint(path: &Path, owner: &str) -> String {
    if geteuid().is_root() {
        format!("inspect its contents, then remove it with `rm -r {}`", path.display())
    } else if owner == "root" {
        "only root can remove it".to_owned()
    } else {
        format!("only {owner} or root can remove it")
    }
}

/// Returns the path of this user's private folder in a shared one: `/dev/shm/plimsoll-1000`.
pub fn private_folder_in(shared: &Path) -> PathBuf {
    shared.join(folder_name())
}

fn folder_name() -> String {
    format!("plimsoll-{}", geteuid().as_raw())
}

/// Returns whether a private folder exists or could be created; creates nothing.
///
/// # Errors
/// Others can change it or its parents, or it could not be created.
pub fn check_private_folder(path: &Path) -> Result<(), FolderError> {
    let path = in_safe_parent(path)?;
    match check_own(&path) {
        Err(FolderError::System { source, .. }) if source.kind() == io::ErrorKind::NotFound => {
            let parent = path.parent().unwrap_or(Path::new("/"));
            access(parent, Access::WRITE_OK | Access::EXEC_OK).map_err(|errno| FolderError::System {
                doing: "create",
                source: errno.into(),
                path,
            })
        }
        checked => checked,
    }
}

/// Returns the private folders of this user that contain a path, innermost first.
pub fn private_folders_of(path: &Path) -> impl Iterator<Item = &Path> {
    let name = folder_name();
    path.ancestors().filter(move |folder| folder.file_name().is_some_and(|own| own == name.as_str()))
}

/// Returns the path with the links in its parents resolved, if nobody else can replace a parent.
///
/// # Errors
/// A parent that others can replace, or that cannot be inspected.
pub fn in_safe_parent(path: &Path) -> Result<PathBuf, FolderError> {
    let look = |source| FolderError::System { doing: "inspect", path: path.to_owned(), source };
    let path = std::path::absolute(path).map_err(look)?;
    let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
        return Err(FolderError::NotAFolder { path });
    };
    let look = |source| FolderError::System { doing: "inspect", path: parent.to_owned(), source };
    let parent = parent.canonicalize().map_err(look)?;
    for folder in parent.ancestors() {
        let found = fs::symlink_metadata(folder).map_err(|source| FolderError::System {
            doing: "inspect",
            path: folder.to_owned(),
            source,
        })?;
        check_parent(&path, folder, &found)?;
    }
    Ok(parent.join(name))
}

fn check_parent(path: &Path, parent: &Path, found: &Metadata) -> Result<(), FolderError> {
    let path = path.to_owned();
    let mode = found.mode() & 0o7777;
    if ![0, geteuid().as_raw()].contains(&found.uid()) && !is_outside(found.uid()) {
        let owner = name_of_user(found.uid());
        return Err(FolderError::ForeignParent { path, parent: parent.to_owned(), owner });
    }
    // Members of root's group are trusted with root's folders.
    let by_others = if found.gid() == 0 { EVERYBODY_WRITES } else { OTHERS_WRITE };
    if mode & by_others != 0 && mode & STICKY == 0 {
        Err(FolderError::OpenParent { path, parent: parent.to_owned(), mode })
    } else {
        Ok(())
    }
}

/// Checks that an existing folder belongs to this user and that others cannot write to it.
///
/// # Errors
/// It is not as expected, or cannot be inspected.
pub fn check_own(path: &Path) -> Result<(), FolderError> {
    let found = fs::symlink_metadata(path).map_err(|source| FolderError::System {
        doing: "inspect",
        path: path.to_owned(),
        source,
    })?;
    let path = path.to_owned();
    let mode = found.mode() & 0o7777;
    let user = geteuid().as_raw();
    match () {
        () if found.uid() != user => {
            let owner = name_of_user(found.uid());
            let user = name_of_user(user);
            Err(FolderError::Foreign { path, owner, user })
        }
        () if !found.is_dir() => Err(FolderError::NotAFolder { path }),
        () if mode & OTHERS_WRITE != 0 => Err(FolderError::Open { path, mode }),
        () => Ok(()),
    }
}

/// Returns whether an id stands for a user outside this user namespace, which may be root: in a rootless
/// container, `/` belongs to an unknown user.
fn is_outside(uid: u32) -> bool {
    let is_mapped = |line: &str| {
        let numbers: Vec<u64> = line.split_ascii_whitespace().filter_map(|one| one.parse().ok()).collect();
        matches!(numbers[..], [first, _, n] if (first..first + n).contains(&u64::from(uid)))
    };
    let map = kernel_file::read("/proc/self/uid_map").unwrap_or_default();
    uid == UNKNOWN_USER && !map.is_empty() && !map.lines().any(is_mapped)
}

#[cfg(test)]
mod tests {
    use std::fs::Permissions;
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn set_mode(path: &Path, mode: u32) {
        fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
    }

    #[test]
    fn private_folders_are_found_by_their_name() {
        let private = private_folder_in(Path::new("/dev/shm"));
        let deep = private.join("files/web96");
        assert_eq!(private_folders_of(&deep).collect::<Vec<_>>(), [private.as_path()]);
        assert_eq!(private_folders_of(Path::new("/dev/shm")).next(), None);
    }

    #[test]
    fn a_folder_writable_by_others_is_refused() {
        let base = tempfile::tempdir().unwrap();
        let path = base.path().join("own");
        fs::create_dir(&path).unwrap();
        for open in [0o777, 0o770, 0o1777] {
            set_mode(&path, open);
            let error = check_private_folder(&path).unwrap_err();
            assert!(matches!(error, FolderError::Open { mode, .. } if mode == open), "{error}");
        }
    }

    #[test]
    fn a_parent_in_which_others_can_rename_is_refused() {
        let base = tempfile::tempdir().unwrap();
        let parent = base.path().join("shared");
        let path = base.path().join("shared/deeper/own");
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        set_mode(&parent, 0o777);
        let error = check_private_folder(&path).unwrap_err();
        assert!(matches!(error, FolderError::OpenParent { .. }), "{error}");
        assert!(error.to_string().contains("mode 0777") && error.to_string().contains("chmod +t"), "{error}");
        set_mode(&parent, 0o1777);
        check_private_folder(&path).unwrap();
    }

    #[test]
    fn a_link_or_a_file_instead_of_the_folder_is_refused() {
        let base = tempfile::tempdir().unwrap();
        let real = base.path().join("real");
        let link = base.path().join("link");
        fs::create_dir(&real).unwrap();
        std::os::unix::fs::symlink(&real, &link).unwrap();
        let error = check_private_folder(&link).unwrap_err();
        assert!(matches!(error, FolderError::NotAFolder { .. }), "{error}");
        fs::write(base.path().join("file"), "").unwrap();
        assert!(check_private_folder(&base.path().join("file")).is_err());
        // Links in the parents are followed, and their targets are checked.
        assert_eq!(in_safe_parent(&link.join("own")).unwrap(), real.canonicalize().unwrap().join("own"));
    }

    /// Only root can give folders away, so other users have nothing to test.
    #[test]
    fn a_folder_of_another_user_is_refused_with_names() {
        if !geteuid().is_root() {
            return;
        }
        let base = tempfile::tempdir().unwrap();
        let path = base.path().join("own");
        fs::create_dir(&path).unwrap();
        std::os::unix::fs::chown(&path, Some(1), None).unwrap();
        let text = check_private_folder(&path).unwrap_err().to_string();
        assert!(text.contains("belongs to daemon, expected root"), "{text}");
        assert!(text.contains("hint: inspect its contents, then remove it with `rm -r "), "{text}");
        let text = check_private_folder(&path.join("below")).unwrap_err().to_string();
        assert!(text.contains("belongs to daemon, who can replace its contents"), "{text}");
    }
}
