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
