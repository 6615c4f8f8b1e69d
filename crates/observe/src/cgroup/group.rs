//! The directories of a control group.

use std::path::{Path, PathBuf};

use super::hierarchy::{CgroupVersion, Controller};
use crate::kernel_file;

/// A directory of a group, and its controllers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ControllerFiles {
    /// The version, which determines the file names.
    pub version: CgroupVersion,
    /// The controllers.
    pub controllers: Vec<Controller>,
    /// The directory.
    pub directory: PathBuf,
}

/// Returns the processes of a group.
pub fn members(directory: &Path) -> Vec<u32> {
    let text = kernel_file::read(directory.join("cgroup.procs")).unwrap_or_default();
    text.lines().filter_map(|line| line.parse().ok()).collect()
}

/// The maximum number of groups that are read below one.
const GROUPS_MAX: usize = 256;

/// Returns the processes of a group and of the groups below it, sorted.
pub fn all_members(directory: &Path) -> Vec<u32> {
    let mut found = Vec::new();
    let mut waiting = vec![directory.to_owned()];
    let mut n_read = 0;
    while let Some(next) = waiting.pop().filter(|_| n_read < GROUPS_MAX) {
        n_read += 1;
        found.extend(members(&next));
        let entries = std::fs::read_dir(&next).into_iter().flatten().flatten();
        let is_folder = |entry: &std::fs::DirEntry| entry.file_type().is_ok_and(|kind| kind.is_dir());
        waiting.extend(entries.filter(is_folder).map(|entry| entry.path()));
    }
    found.sort_unstable();
    found.dedup();
    found
}
