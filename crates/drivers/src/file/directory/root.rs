//! The folder of a run's files: made, marked, locked, and removed.

use std::ffi::CStr;
use std::io;
use std::path::{Path, PathBuf};

use files::FileContent;
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::fs::{
    AtFlags, CWD, FileType, FlockOperation, Mode, OFlags, Stat, flock, fstat, mkdirat, openat, statat,
    unlinkat,
};
use rustix::io::{Errno, pread, pwrite};
use thiserror::Error;

use super::resolve::{CallCount, FILE_MODE, FOLDER_MODE, Resolution, file_type};
use super::tree;
use crate::file::marker::{MARKER_BYTES_MAX, MARKER_TEXT, marker_text};

/// The name of the folder, in a directory of the user's choice.
pub const FOLDER_NAME: &str = "plimsoll-files";

/// The name of the file in the folder that says whose it is. It holds the lock, too.
pub(super) const MARKER_NAME: &CStr = c".plimsoll";

/// The number of attempts when other runs remove their folder at the same time.
const ATTEMPTS: usize = 5;

/// A reason why a directory cannot be used.
#[derive(Debug, Error)]
pub enum FileRootError {
    /// The directory cannot be opened.
    #[error("the directory `{path}` cannot be opened: {source}")]
    Directory {
        /// The directory.
        path: PathBuf,
        /// The reason.
        source: io::Error,
    },
    /// The folder is there, but no run has made it.
    #[error("`{path}` is there already, and no run of Plimsoll has made it")]
    NotOurs {
        /// The folder.
        path: PathBuf,
    },
    /// Another run uses the folder.
    #[error("another run uses `{path}`")]
    InUse {
        /// The folder.
        path: PathBuf,
    },
    /// The folder or its marker cannot be made, opened or locked.
    #[error("the folder `{path}` cannot be used: {source}")]
    Folder {
        /// The folder.
        path: PathBuf,
        /// The reason.
        source: io::Error,
    },
}

/// A folder of a run's own, in which alone the clients' files are.
///
/// A marker in it says whose it is, and is locked while the folder is in use: the lock ends with the process, whatever
/// ends that, and the next run takes the folder over. A folder without a marker is refused, unless it is empty.
#[derive(Debug)]
pub struct FileRoot {
    path: PathBuf,
    parent: OwnedFd,
    folder: OwnedFd,
    marker: OwnedFd,
    resolution: Resolution,
}

impl FileRoot {
    /// Makes the folder [`FOLDER_NAME`] in a directory, or takes it over from an earlier run.
    ///
    /// # Errors
    ///
    /// The directory cannot be opened or written, the folder there is not one of ours, or another run uses it.
    pub fn open(directory: &Path) -> Result<FileRoot, FileRootError> {
        let path = directory.join(FOLDER_NAME);
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let parent = openat(CWD, directory, flags, Mode::empty())
            .map_err(|error| FileRootError::Directory { path: directory.to_owned(), source: error.into() })?;
        let failed = |error: Errno| FileRootError::Folder { path: path.clone(), source: error.into() };
        for _ in 0..ATTEMPTS {
            match mkdirat(&parent, FOLDER_NAME, FOLDER_MODE) {
                Ok(()) | Err(Errno::EXIST) => {}
                Err(error) => return Err(failed(error)),
            }
            let folder = match openat(&parent, FOLDER_NAME, flags | OFlags::NOFOLLOW, Mode::empty()) {
                Ok(folder) => folder,
                // It was removed since.
                Err(Errno::NOENT) => continue,
                Err(Errno::LOOP | Errno::NOTDIR) => return Err(FileRootError::NotOurs { path }),
                Err(error) => return Err(failed(error)),
            };
            let marker = match open_marker(folder.as_fd()) {
                Ok(Some(marker)) => marker,
                Ok(None) => return Err(FileRootError::NotOurs { path }),
                // Likewise.
                Err(Errno::NOENT) => continue,
                Err(error) => return Err(failed(error)),
            };
            match flock(&marker, FlockOperation::NonBlockingLockExclusive) {
                Ok(()) => {}
                Err(Errno::WOULDBLOCK) => return Err(FileRootError::InUse { path }),
                Err(error) => return Err(failed(error)),
            }
            let root = FileRoot {
                path: path.clone(),
                resolution: Resolution::of(folder.as_fd()),
                parent: parent
                    .try_clone()
                    .map_err(|error| FileRootError::Folder { path: path.clone(), source: error })?,
                folder,
                marker,
            };
            // The run that had the lock before may have removed the folder that was opened above.
            if root.is_in_its_directory().map_err(failed)? && root.has_its_marker().map_err(failed)? {
                if read_text(root.marker.as_fd()).map_err(failed)?.is_empty() {
                    let source_of = |source| FileRootError::Folder { path: path.clone(), source };
                    root.mark_content(None).map_err(source_of)?;
                }
                return Ok(root);
            }
        }
        Err(FileRootError::InUse { path })
    }

    /// Returns the path of the folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Removes the folder with all that is in it, and follows no symbolic link.
    ///
    /// # Errors
    ///
    /// A file or folder in it cannot be removed. The marker and the folder stay.
    pub fn remove(self) -> io::Result<()> {
        if !self.is_in_its_directory()? {
            // It is gone, or somebody has given it another name and keeps it.
            return Ok(());
        }
        let calls = &mut CallCount::default();
        tree::remove_content(self.resolution, self.folder(), Some(MARKER_NAME), calls)?;
        match unlinkat(&self.folder, MARKER_NAME, AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => {}
            Err(error) => return Err(error.into()),
        }
        unlinkat(&self.parent, FOLDER_NAME, AtFlags::REMOVEDIR)?;
        Ok(())
    }

    /// Returns the descriptor of the folder.
    pub(super) fn folder(&self) -> BorrowedFd<'_> {
        self.folder.as_fd()
    }

    /// Returns the way in which paths below the folder are resolved.
    pub(super) fn resolution(&self) -> Resolution {
        self.resolution
    }

    /// Resolves paths in another way than the kernel's best.
    #[cfg(test)]
    pub(super) fn resolving(self, resolution: Resolution) -> FileRoot {
        FileRoot { resolution, ..self }
    }

    /// Returns whether the marker says that all files in the folder have this content.
    pub(super) fn has_content(&self, content: &FileContent) -> io::Result<bool> {
        Ok(read_text(self.marker.as_fd())? == marker_text(Some(content)))
    }

    /// Writes into the marker which content all files in the folder have; `None` while they have several.
    pub(super) fn mark_content(&self, content: Option<&FileContent>) -> io::Result<()> {
        let text = marker_text(content);
        let n_written = pwrite(&self.marker, text.as_bytes(), 0)?;
        if n_written < text.len() {
            return Err(Errno::NOSPC.into());
        }
        rustix::fs::ftruncate(&self.marker, text.len() as u64)?;
        Ok(())
    }

    /// Returns whether the folder still has its name in the directory.
    fn is_in_its_directory(&self) -> rustix::io::Result<bool> {
        is_entry(self.parent.as_fd(), FOLDER_NAME, &fstat(&self.folder)?)
    }

    /// Returns whether the marker that is locked still is the folder's.
    fn has_its_marker(&self) -> rustix::io::Result<bool> {
        is_entry(self.folder(), MARKER_NAME, &fstat(&self.marker)?)
    }
}

/// Returns whether a folder has a file under a name.
fn is_entry(folder: BorrowedFd, name: impl rustix::path::Arg, file: &Stat) -> rustix::io::Result<bool> {
    match statat(folder, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(found) => Ok((found.st_dev, found.st_ino) == (file.st_dev, file.st_ino)),
        Err(Errno::NOENT) => Ok(false),
        Err(error) => Err(error),
    }
}

/// Opens the marker of a folder, and makes it if the folder is empty. `None` if the folder is not ours.
fn open_marker(folder: BorrowedFd) -> rustix::io::Result<Option<OwnedFd>> {
    let flags = OFlags::RDWR | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
    let opened = match openat(folder, MARKER_NAME, flags, Mode::empty()) {
        Err(Errno::NOENT) if tree::entries(folder, &mut CallCount::default())?.is_empty() => {
            openat(folder, MARKER_NAME, flags | OFlags::CREATE, FILE_MODE)
        }
        // Another run may have made it in between.
        Err(Errno::NOENT) => match openat(folder, MARKER_NAME, flags, Mode::empty()) {
            Err(Errno::NOENT) => return Ok(None),
            other => other,
        },
        other => other,
    };
    let marker = match opened {
        Err(Errno::LOOP | Errno::ISDIR) => return Ok(None),
        other => other?,
    };
    if file_type(&fstat(&marker)?) != FileType::RegularFile {
        return Ok(None);
    }
    // One without text is that of a run which ended before it had written it.
    let text = read_text(marker.as_fd())?;
    Ok((text.is_empty() || text.starts_with(MARKER_TEXT)).then_some(marker))
}

fn read_text(marker: BorrowedFd) -> rustix::io::Result<String> {
    let mut text = [0; MARKER_BYTES_MAX as usize];
    let n_read = pread(marker, &mut text, 0)?;
    Ok(String::from_utf8_lossy(&text[..n_read]).into_owned())
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn a_folder_is_made_marked_locked_and_removed() {
        let directory = tempfile::tempdir().unwrap();
        let root = FileRoot::open(directory.path()).unwrap();
        let path = directory.path().join(FOLDER_NAME);
        assert_eq!(root.path(), path);
        let second = FileRoot::open(directory.path()).unwrap_err();
        assert_eq!(second.to_string(), format!("another run uses `{}`", path.display()));
        fs::create_dir_all(path.join("private/c0")).unwrap();
        fs::write(path.join("private/c0/file"), "x").unwrap();
        root.remove().unwrap();
        assert!(!path.exists());
    }

    /// The lock ends with the run, and its files stay for the next one to remove.
    #[test]
    fn the_folder_of_a_run_that_was_killed_is_taken_over() {
        let directory = tempfile::tempdir().unwrap();
        let root = FileRoot::open(directory.path()).unwrap();
        fs::write(root.path().join("left"), "x").unwrap();
        drop(root);
        let root = FileRoot::open(directory.path()).unwrap();
        assert!(root.path().join("left").exists());
        root.remove().unwrap();
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_run_that_ended_before_its_marker_had_text_left_one_of_ours() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join(FOLDER_NAME);
        fs::create_dir(&path).unwrap();
        fs::write(path.join(".plimsoll"), "").unwrap();
        FileRoot::open(directory.path()).unwrap();
        fs::write(path.join(".plimsoll"), "something else").unwrap();
        assert!(matches!(FileRoot::open(directory.path()), Err(FileRootError::NotOurs { .. })));
    }

    #[test]
    fn what_no_run_has_made_is_refused_and_left_alone() {
        let outer = tempfile::tempdir().unwrap();
        let theirs = outer.path().join("theirs");
        fs::create_dir(&theirs).unwrap();
        let refused = |directory: &Path| {
            let error = FileRoot::open(directory).unwrap_err();
            assert!(matches!(error, FileRootError::NotOurs { .. }), "{error}");
        };
        let place = |name: &str| {
            let directory = outer.path().join(name);
            fs::create_dir(&directory).unwrap();
            directory
        };
        let with_files = place("with files");
        fs::create_dir(with_files.join(FOLDER_NAME)).unwrap();
        fs::write(with_files.join(FOLDER_NAME).join("precious"), "x").unwrap();
        refused(&with_files);
        assert!(with_files.join(FOLDER_NAME).join("precious").exists());
        let with_link = place("with link");
        symlink(&theirs, with_link.join(FOLDER_NAME)).unwrap();
        refused(&with_link);
        let with_file = place("with file");
        fs::write(with_file.join(FOLDER_NAME), "x").unwrap();
        refused(&with_file);
        let with_linked_marker = place("with linked marker");
        fs::create_dir(with_linked_marker.join(FOLDER_NAME)).unwrap();
        fs::write(theirs.join("file"), "").unwrap();
        symlink(theirs.join("file"), with_linked_marker.join(FOLDER_NAME).join(".plimsoll")).unwrap();
        refused(&with_linked_marker);
        assert_eq!(fs::read_dir(&theirs).unwrap().count(), 1);
        let missing = FileRoot::open(&outer.path().join("none")).unwrap_err();
        assert!(matches!(missing, FileRootError::Directory { .. }), "{missing}");
    }

    #[test]
    fn a_folder_that_was_removed_meanwhile_needs_no_removal() {
        let directory = tempfile::tempdir().unwrap();
        let root = FileRoot::open(directory.path()).unwrap();
        fs::remove_dir_all(root.path()).unwrap();
        root.remove().unwrap();
        let root = FileRoot::open(directory.path()).unwrap();
        fs::rename(root.path(), directory.path().join("moved")).unwrap();
        root.remove().unwrap();
        assert!(directory.path().join("moved/.plimsoll").exists());
    }

    #[test]
    fn the_marker_says_which_content_the_files_have() {
        let directory = tempfile::tempdir().unwrap();
        let root = FileRoot::open(directory.path()).unwrap();
        let contents = [FileContent::new(1, 50), FileContent::new(2, 50), FileContent::new(1, 51)];
        assert!(!root.has_content(&contents[0]).unwrap());
        root.mark_content(Some(&contents[0])).unwrap();
        assert_eq!(contents.map(|content| root.has_content(&content).unwrap()), [true, false, false]);
        root.mark_content(None).unwrap();
        assert!(!root.has_content(&contents[0]).unwrap());
        drop(root);
        FileRoot::open(directory.path()).unwrap();
    }
}
