//! The entries of folders, and their removal.

use std::ffi::{CStr, CString};
use std::mem::MaybeUninit;

use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::fs::{AtFlags, FileType, OFlags, RawDir, RawDirEntry, statat, unlinkat};
use rustix::io::{Errno, Result};

use super::resolve::{CallCount, Resolution, file_type};
use crate::file::run_folder::DEPTH_MAX;

/// The size of the buffer for the entries of a folder: that of the C library.
const ENTRIES_BYTES: usize = 32 << 10;

/// The most entries of a folder that are looked at: a listing without an end ends here.
pub(super) const ENTRIES_MAX: u64 = 1 << 20;

/// An entry of a folder.
#[derive(Debug)]
pub(super) struct FolderEntry {
    pub(super) name: CString,
    pub(super) file_type: FileType,
}

/// Visits the entries of a folder, `.` and `..` included, until there are no more or the visitor says that it has enough
/// (`false`).
///
/// # Errors
///
/// The folder cannot be read, or has more than [`ENTRIES_MAX`] entries ([`Errno::OVERFLOW`]).
pub(super) fn for_each_entry(
    folder: BorrowedFd,
    calls: &mut CallCount,
    mut visit: impl FnMut(&RawDirEntry) -> Result<bool>,
) -> Result<()> {
    let mut buffer = [MaybeUninit::<u8>::uninit(); ENTRIES_BYTES];
    let mut entries = RawDir::new(folder, &mut buffer);
    for _ in 0..ENTRIES_MAX {
        if entries.is_buffer_empty() {
            calls.count();
        }
        let Some(entry) = entries.next().transpose()? else { return Ok(()) };
        if !visit(&entry)? {
            return Ok(());
        }
    }
    Err(Errno::OVERFLOW)
}

/// Opens a folder to read its entries.
pub(super) fn open_folder(
    resolution: Resolution,
    folder: BorrowedFd,
    path: &str,
    calls: &mut CallCount,
) -> Result<OwnedFd> {
    resolution.open(folder, path, OFlags::RDONLY | OFlags::DIRECTORY, calls)
}

/// Returns the entries of an open folder but `.` and `..`, from where its descriptor is on. Never part of a caller that calls
/// itself: the buffer would be on the stack once for each folder.
#[inline(never)]
pub(super) fn entries(folder: BorrowedFd, calls: &mut CallCount) -> Result<Vec<FolderEntry>> {
    let mut entries = Vec::new();
    for_each_entry(folder, calls, |entry| {
        let name = entry.file_name();
        if !is_self_or_parent(name) {
            entries.push(FolderEntry { name: name.to_owned(), file_type: entry.file_type() });
        }
        Ok(true)
    })?;
    for entry in entries.iter_mut().filter(|entry| entry.file_type == FileType::Unknown) {
        // Not all file systems say it in the listing.
        let stat = statat(folder, &entry.name, AtFlags::SYMLINK_NOFOLLOW)?;
        entry.file_type = file_type(&stat);
    }
    Ok(entries)
}

fn is_self_or_parent(name: &CStr) -> bool {
    matches!(name.to_bytes(), b"." | b"..")
}

/// Removes all that is in a folder but the entry of one name, and follows no symbolic link. Returns the number of files and
/// folders removed.
///
/// # Errors
///
/// A file or folder cannot be removed, or another file system is mounted there.
pub(super) fn remove_content(
    resolution: Resolution,
    folder: BorrowedFd,
    kept: Option<&CStr>,
    calls: &mut CallCount,
) -> Result<u64> {
    remove_below(resolution, folder, kept, DEPTH_MAX, calls)
}

fn remove_below(
    resolution: Resolution,
    folder: BorrowedFd,
    kept: Option<&CStr>,
    depth: usize,
    calls: &mut CallCount,
) -> Result<u64> {
    let Some(depth) = depth.checked_sub(1) else { return Err(Errno::NAMETOOLONG) };
    let listed = open_folder(resolution, folder, ".", calls)?;
    let mut n_removed = 0;
    // All of a folder is listed before anything is removed: some file systems skip entries otherwise.
    for entry in entries(listed.as_fd(), calls)? {
        if kept != Some(entry.name.as_c_str()) {
            n_removed += remove_entry(resolution, listed.as_fd(), &entry, depth, calls)?;
        }
    }
    calls.close(listed);
    Ok(n_removed)
}

/// Removes an entry of a folder with all that is in it.
pub(super) fn remove_whole_entry(
    resolution: Resolution,
    folder: BorrowedFd,
    entry: &FolderEntry,
    calls: &mut CallCount,
) -> Result<u64> {
    remove_entry(resolution, folder, entry, DEPTH_MAX, calls)
}

fn remove_entry(
    resolution: Resolution,
    folder: BorrowedFd,
    entry: &FolderEntry,
    depth: usize,
    calls: &mut CallCount,
) -> Result<u64> {
    let name = &entry.name;
    if entry.file_type != FileType::Directory {
        calls.call(|| unlinkat(folder, name, AtFlags::empty()))?;
        return Ok(1);
    }
    let below = resolution.open_entry(folder, name, calls)?;
    let n_removed = remove_below(resolution, below.as_fd(), None, depth, calls)?;
    calls.close(below);
    calls.call(|| unlinkat(folder, name, AtFlags::REMOVEDIR))?;
    Ok(n_removed + 1)
}

#[cfg(test)]
mod tests {
    use std::fs::{self, File};
    use std::os::unix::ffi::OsStrExt;
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn all_but_what_is_kept_is_removed_and_no_link_is_followed() {
        let outer = tempfile::tempdir().unwrap();
        let inner = outer.path().join("inner");
        fs::create_dir_all(inner.join("a/b/c")).unwrap();
        fs::write(inner.join("a/b/c/file"), "x").unwrap();
        fs::write(inner.join(std::ffi::OsStr::from_bytes(b"no\xfftext")), "x").unwrap();
        fs::write(inner.join("kept"), "x").unwrap();
        fs::create_dir(outer.path().join("theirs")).unwrap();
        fs::write(outer.path().join("theirs/file"), "x").unwrap();
        symlink("../theirs", inner.join("link")).unwrap();
        symlink("../../theirs/file", inner.join("a/link")).unwrap();
        let folder = File::open(&inner).unwrap();
        for resolution in [Resolution::Bounded, Resolution::PartByPart] {
            fs::create_dir_all(inner.join("a/again")).unwrap();
            let calls = &mut CallCount::default();
            remove_content(resolution, folder.as_fd(), Some(c"kept"), calls).unwrap();
            let left: Vec<_> =
                fs::read_dir(&inner).unwrap().map(|entry| entry.unwrap().file_name()).collect();
            assert_eq!(left, ["kept"]);
        }
        assert!(outer.path().join("theirs/file").exists());
    }

    /// On the stack of a user's thread.
    #[test]
    fn folders_in_each_other_are_removed_up_to_a_depth() {
        for (depth, is_removed) in [(DEPTH_MAX - 1, true), (DEPTH_MAX, false)] {
            let directory = tempfile::tempdir().unwrap();
            fs::create_dir_all(directory.path().join("d/".repeat(depth))).unwrap();
            let folder = File::open(directory.path()).unwrap();
            let remove =
                move || remove_content(Resolution::Bounded, folder.as_fd(), None, &mut CallCount::default());
            let thread = std::thread::Builder::new().stack_size(256 << 10).spawn(remove).unwrap();
            let expected = if is_removed { Ok(depth as u64) } else { Err(Errno::NAMETOOLONG) };
            assert_eq!(thread.join().unwrap(), expected);
        }
    }

    #[test]
    fn a_listing_ends_when_enough_was_seen() {
        let folder = tempfile::tempdir().unwrap();
        for number in 0..2000 {
            fs::write(folder.path().join(format!("{number}")), "").unwrap();
        }
        let opened = File::open(folder.path()).unwrap();
        let mut n_seen = 0;
        let mut calls = CallCount::default();
        for_each_entry(opened.as_fd(), &mut calls, |_| {
            n_seen += 1;
            Ok(n_seen < 10)
        })
        .unwrap();
        assert_eq!((n_seen, calls.get()), (10, 1));
        let mut calls = CallCount::default();
        let opened = File::open(folder.path()).unwrap();
        assert_eq!(entries(opened.as_fd(), &mut calls).unwrap().len(), 2000);
        // 2,002 entries of 24 bytes are more than one buffer, and the last call says that there are no more.
        assert!((3..6).contains(&calls.get()), "{}", calls.get());
    }
}
