//! Copies and listings of directories.

use std::fs::{self, File, Permissions};
use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt, chown, lchown, symlink};
use std::path::{Path, PathBuf};

use rustix::process::geteuid;

/// Copies a directory with modes, owners and symbolic links, and writes the copy to disk. The contents of files are
/// shared until one side writes where the file system can do that (XFS, btrfs), otherwise copied. Sockets and pipes are
/// left out.
///
/// # Errors
/// The system's error.
pub(super) fn copy_tree(from: &Path, to: &Path) -> io::Result<()> {
    copy(from, to)?;
    // What is still to be written would be written during a measurement, or be lost with the power.
    Ok(rustix::fs::syncfs(File::open(to)?)?)
}

fn copy(from: &Path, to: &Path) -> io::Result<()> {
    let meta = fs::symlink_metadata(from)?;
    let kind = meta.file_type();
    if is_left_out(&meta) {
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
            copy(&entry.path(), &to.join(entry.file_name()))?;
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
    let mut source = File::open(from)?;
    let mut copy = File::create_new(to)?;
    match rustix::fs::ioctl_ficlone(&copy, &source) {
        Ok(()) => Ok(()),
        // The file system cannot share contents.
        Err(_) => io::copy(&mut source, &mut copy).map(drop),
    }
}

/// Sockets and pipes belong to running programs.
fn is_left_out(meta: &fs::Metadata) -> bool {
    meta.file_type().is_socket() || meta.file_type().is_fifo()
}

/// Lists a directory and all below it, sorted, a line for each: mode, owner, and of a file its size and the time of its
/// last change, of a link its target.
///
/// # Errors
/// The system's error.
pub(super) fn list_tree(root: &Path) -> io::Result<Vec<String>> {
    let mut lines = Vec::new();
    list(root, Path::new(""), &mut lines)?;
    lines.sort_unstable();
    Ok(lines)
}

fn list(root: &Path, below: &Path, lines: &mut Vec<String>) -> io::Result<()> {
    let path = root.join(below);
    let meta = fs::symlink_metadata(&path)?;
    if is_left_out(&meta) {
        return Ok(());
    }
    let content = match () {
        () if meta.is_symlink() => format!("to {:?}", fs::read_link(&path)?),
        () if meta.is_dir() => String::new(),
        () => format!("{} bytes, changed {}.{:09}", meta.len(), meta.mtime(), meta.mtime_nsec()),
    };
    lines.push(format!("{below:?} {:o} {}:{} {content}", meta.mode(), meta.uid(), meta.gid()));
    if meta.is_dir() {
        for entry in fs::read_dir(&path)? {
            list(root, &below.join(entry?.file_name()), lines)?;
        }
    }
    Ok(())
}

/// Returns the paths of all files below a directory; what cannot be listed has none.
pub(super) fn files_below(root: &Path) -> Vec<PathBuf> {
    let (mut files, mut left) = (Vec::new(), vec![root.to_owned()]);
    while let Some(directory) = left.pop() {
        for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => left.push(entry.path()),
                Ok(kind) if kind.is_file() => files.push(entry.path()),
                _ => {}
            }
        }
    }
    files
}

/// Returns the size of all files below a directory, in bytes; what cannot be read counts nothing.
pub(super) fn tree_bytes(root: &Path) -> u64 {
    let Ok(entries) = fs::read_dir(root) else { return 0 };
    let bytes = |entry: fs::DirEntry| match entry.metadata() {
        Ok(meta) if meta.is_dir() => tree_bytes(&entry.path()),
        Ok(meta) if meta.is_file() => meta.len(),
        _ => 0,
    };
    entries.flatten().map(bytes).sum()
}
