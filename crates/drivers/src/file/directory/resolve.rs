//! The resolution of paths below a folder: none leads out of it, and no symbolic link is followed.
//!
//! Every path begins at the folder's descriptor and is resolved anew, as a client of a file server has it.

use std::ffi::CStr;

use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::fs::{
    AtFlags, FileType, Mode, OFlags, ResolveFlags, Stat, fstat, mkdirat, openat, openat2, statat, unlinkat,
};
use rustix::io::{Errno, Result};

use crate::file::path_text::split;

/// The bounds of a resolution by the kernel. A file system that is mounted within the folder is none of ours, either.
const BOUNDS: ResolveFlags = ResolveFlags::BENEATH
    .union(ResolveFlags::NO_SYMLINKS)
    .union(ResolveFlags::NO_MAGICLINKS)
    .union(ResolveFlags::NO_XDEV);

/// The permissions of files: those of the user alone.
pub(super) const FILE_MODE: Mode = Mode::RUSR.union(Mode::WUSR);

/// The permissions of folders.
pub(super) const FOLDER_MODE: Mode = Mode::RWXU;

/// A number of calls to the kernel.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct CallCount(u64);

impl CallCount {
    /// Makes a call and counts it.
    pub(super) fn call<T>(&mut self, call: impl FnOnce() -> Result<T>) -> Result<T> {
        self.0 += 1;
        call()
    }

    /// Counts a call that is made elsewhere.
    pub(super) fn count(&mut self) {
        self.0 += 1;
    }

    /// Closes what was opened only to be asked about or to be searched, and counts that.
    pub(super) fn close(&mut self, file: OwnedFd) {
        self.0 += 1;
        drop(file);
    }

    /// Returns the number.
    pub(super) fn get(self) -> u64 {
        self.0
    }
}

/// The way in which paths are resolved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Resolution {
    /// By the kernel at once, within bounds: `openat2`, since Linux 5.6.
    Bounded,
    /// Part by part, none of which may be a symbolic link: for kernels without that call, and sandboxes that forbid it.
    PartByPart,
}

impl Resolution {
    /// Finds out which one the kernel has.
    pub(super) fn of(folder: BorrowedFd) -> Resolution {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        match openat2(folder, c".", flags, Mode::empty(), BOUNDS) {
            Err(Errno::NOSYS | Errno::PERM | Errno::INVAL) => Resolution::PartByPart,
            Ok(_) | Err(_) => Resolution::Bounded,
        }
    }

    /// Opens what is at a path below a folder.
    pub(super) fn open(
        self,
        folder: BorrowedFd,
        path: &str,
        flags: OFlags,
        calls: &mut CallCount,
    ) -> Result<OwnedFd> {
        let flags = flags | OFlags::CLOEXEC;
        let mode = if flags.contains(OFlags::CREATE) { FILE_MODE } else { Mode::empty() };
        match self {
            Resolution::Bounded => calls.call(|| openat2(folder, path, flags, mode, BOUNDS)),
            Resolution::PartByPart => open_part_by_part(folder, path, flags, mode, calls),
        }
    }

    /// Opens a folder by its name in another, whose bytes need not be text.
    pub(super) fn open_entry(
        self,
        folder: BorrowedFd,
        name: &CStr,
        calls: &mut CallCount,
    ) -> Result<OwnedFd> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        match self {
            Resolution::Bounded => calls.call(|| openat2(folder, name, flags, Mode::empty(), BOUNDS)),
            Resolution::PartByPart => {
                let opened = calls.call(|| openat(folder, name, flags | OFlags::NOFOLLOW, Mode::empty()))?;
                if fstat(&opened)?.st_dev != fstat(folder)?.st_dev {
                    return Err(Errno::XDEV);
                }
                Ok(opened)
            }
        }
    }

    /// Opens the folder that a path is in, and returns it with the last part of the path.
    pub(super) fn parent<'a>(
        self,
        folder: BorrowedFd,
        path: &'a str,
        calls: &mut CallCount,
    ) -> Result<(OwnedFd, &'a str)> {
        let (parent, name) = split(path);
        let parent = self.open(folder, parent, OFlags::PATH | OFlags::DIRECTORY, calls)?;
        Ok((parent, name))
    }

    /// Returns the attributes of what is at a path; a symbolic link is an error.
    pub(super) fn stat(self, folder: BorrowedFd, path: &str, calls: &mut CallCount) -> Result<Stat> {
        let found = self.open(folder, path, OFlags::PATH, calls)?;
        let stat = calls.call(|| fstat(&found));
        calls.close(found);
        let stat = stat?;
        if file_type(&stat) == FileType::Symlink {
            return Err(Errno::LOOP);
        }
        Ok(stat)
    }

    /// Makes a folder.
    pub(super) fn make_folder(self, folder: BorrowedFd, path: &str, calls: &mut CallCount) -> Result<()> {
        let (parent, name) = self.parent(folder, path, calls)?;
        let made = calls.call(|| mkdirat(&parent, name, FOLDER_MODE));
        calls.close(parent);
        made
    }

    /// Removes a file, or with [`AtFlags::REMOVEDIR`] an empty folder.
    pub(super) fn remove(
        self,
        folder: BorrowedFd,
        path: &str,
        flags: AtFlags,
        calls: &mut CallCount,
    ) -> Result<()> {
        let (parent, name) = self.parent(folder, path, calls)?;
        let removed = calls.call(|| unlinkat(&parent, name, flags));
        calls.close(parent);
        removed
    }
}

/// Returns the type of a file.
pub(super) fn file_type(stat: &Stat) -> FileType {
    FileType::from_raw_mode(stat.st_mode)
}

fn open_part_by_part(
    folder: BorrowedFd,
    path: &str,
    flags: OFlags,
    mode: Mode,
    calls: &mut CallCount,
) -> Result<OwnedFd> {
    let (parents, name) = path.rsplit_once('/').unwrap_or(("", path));
    let mut at: Option<OwnedFd> = None;
    for part in parents.split('/').filter(|part| !part.is_empty()) {
        let within = at.as_ref().map_or(folder, AsFd::as_fd);
        let opened = open_part(within, part, OFlags::PATH | OFlags::DIRECTORY, Mode::empty(), calls);
        if let Some(left) = at.take() {
            calls.close(left);
        }
        at = Some(opened?);
    }
    let opened = open_part(at.as_ref().map_or(folder, AsFd::as_fd), name, flags, mode, calls);
    if let Some(left) = at {
        calls.close(left);
    }
    opened
}

fn open_part(
    within: BorrowedFd,
    part: &str,
    flags: OFlags,
    mode: Mode,
    calls: &mut CallCount,
) -> Result<OwnedFd> {
    if part == ".." {
        return Err(Errno::XDEV);
    }
    let flags = flags | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let opened = calls.call(|| openat(within, part, flags, mode));
    if opened.as_ref().is_err_and(|error| *error == Errno::NOTDIR) {
        // A symbolic link is no directory, either; the kernel's own resolution tells them apart.
        let found = calls.call(|| statat(within, part, AtFlags::SYMLINK_NOFOLLOW))?;
        if file_type(&found) == FileType::Symlink {
            return Err(Errno::LOOP);
        }
    }
    opened
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use rustix::fs::CWD;

    use super::*;

    fn open(folder: &std::path::Path) -> OwnedFd {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        openat(CWD, folder, flags, Mode::empty()).unwrap()
    }

    /// Goal: both ways give the same answers, so that a test on a new kernel speaks for an old one, too.
    #[test]
    fn no_path_leads_out_and_no_link_is_followed() {
        let outer = tempfile::tempdir().unwrap();
        let inner = outer.path().join("inner");
        fs::create_dir_all(inner.join("a/b")).unwrap();
        fs::write(outer.path().join("secret"), "s").unwrap();
        fs::write(inner.join("a/b/file"), "f").unwrap();
        symlink(outer.path(), inner.join("a/out")).unwrap();
        symlink("b", inner.join("a/within")).unwrap();
        symlink("../../secret", inner.join("a/secret")).unwrap();
        let folder = open(&inner);
        for resolution in [Resolution::Bounded, Resolution::PartByPart] {
            let calls = &mut CallCount::default();
            let mut read = |path: &str| resolution.open(folder.as_fd(), path, OFlags::RDONLY, calls);
            assert!(read("a/b/file").is_ok() && read("a/b").is_ok());
            assert_eq!(read("a/b/none").unwrap_err(), Errno::NOENT);
            assert_eq!(read("a/b/file/x").unwrap_err(), Errno::NOTDIR);
            for path in ["a/out/secret", "a/within/file", "a/secret", "a/out"] {
                assert_eq!(read(path).unwrap_err(), Errno::LOOP, "{path} {resolution:?}");
            }
            for path in ["../secret", "a/../../secret", "a/b/../../.."] {
                assert_eq!(read(path).unwrap_err(), Errno::XDEV, "{path} {resolution:?}");
            }
            let calls = &mut CallCount::default();
            let stat = |path, calls: &mut CallCount| resolution.stat(folder.as_fd(), path, calls);
            assert_eq!(stat("a/b/file", calls).unwrap().st_size, 1);
            assert_eq!(stat("a/secret", calls).unwrap_err(), Errno::LOOP);
            let made = resolution.make_folder(folder.as_fd(), "a/out/made", calls);
            assert_eq!(made, Err(Errno::LOOP), "{resolution:?}");
            let removed = resolution.remove(folder.as_fd(), "a/out/secret", AtFlags::empty(), calls);
            assert_eq!(removed, Err(Errno::LOOP), "{resolution:?}");
        }
        assert!(outer.path().join("secret").exists() && !outer.path().join("made").exists());
    }

    /// `openat2` and `fstat` and `close`; part by part, two folders are opened and closed before.
    #[test]
    fn calls_are_counted() {
        let outer = tempfile::tempdir().unwrap();
        fs::create_dir_all(outer.path().join("a/b")).unwrap();
        fs::write(outer.path().join("a/b/file"), "f").unwrap();
        let folder = open(outer.path());
        for (resolution, expected) in [(Resolution::Bounded, 3), (Resolution::PartByPart, 7)] {
            let mut calls = CallCount::default();
            resolution.stat(folder.as_fd(), "a/b/file", &mut calls).unwrap();
            assert_eq!(calls.get(), expected, "{resolution:?}");
        }
    }
}
