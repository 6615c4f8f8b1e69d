//! A group's directory in one hierarchy.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use languages::foreign_bytes;
use observe::cgroup::{CgroupVersion, Controller, ControllerFiles, Hierarchy, members};

use super::{ControlGroupError, ResourceLimits, controls};
use crate::owned_resources::{OwnedResourceEntry, make_group};

/// A shell script that moves itself into the groups named by its arguments up to `--` and executes the rest.
///
/// A process moved from outside might already have forked; this one is inside before the server's first
/// instruction, and no code has to run between fork and exec.
const ENTER: &str =
    r#"while [ "$1" != -- ]; do echo $$ > "$1/cgroup.procs" || exit 1; shift; done; shift; exec "$@""#;

/// A directory created by this process. Dropping it kills its processes and removes it.
#[derive(Debug)]
pub(super) struct HierarchyNode {
    /// The directory and its controllers.
    pub files: ControllerFiles,
    /// Limits that could not be set, and the reasons.
    pub unheld: Vec<(Controller, String)>,
    _entry: OwnedResourceEntry,
}

impl HierarchyNode {
    /// Creates the directory below the best parent: the first that enforces all limits, or else the first
    /// that works.
    pub(super) fn create(
        hierarchy: &Hierarchy,
        name: &str,
        limits: &ResourceLimits,
    ) -> Result<HierarchyNode, ControlGroupError> {
        let mut best = Err(ControlGroupError("no parent group is available".to_owned()));
        for parent in &hierarchy.parents {
            match HierarchyNode::create_below(parent, hierarchy, name, limits) {
                Ok(node) if node.unheld.is_empty() => return Ok(node),
                other if best.is_err() => best = other,
                _ => {}
            }
        }
        best
    }

    fn create_below(
        parent: &Path,
        hierarchy: &Hierarchy,
        name: &str,
        limits: &ResourceLimits,
    ) -> Result<HierarchyNode, ControlGroupError> {
        let Hierarchy { version, controllers, .. } = hierarchy.clone();
        if version == CgroupVersion::V2 {
            controls::delegate_controllers(parent);
        }
        let directory = parent.join(name);
        let entry = make_group(&directory)
            .map_err(|error| ControlGroupError(format!("{}: {error}", directory.display())))?;
        // From here on dropping the value removes the new directory, and nothing that existed before.
        let files = ControllerFiles { version, controllers, directory };
        let mut node = HierarchyNode { files, unheld: Vec::new(), _entry: entry };
        for controller in &node.files.controllers {
            let applied = controls::apply(version, *controller, &node.files.directory, limits);
            if let Err(why) = applied {
                node.unheld.push((*controller, why));
            }
        }
        node.probe()?;
        Ok(node)
    }

    /// Lets a process enter and leave: rights and the rule against internal processes show only then.
    fn probe(&self) -> Result<(), ControlGroupError> {
        let directory = &self.files.directory;
        let mut command = enter([directory.as_path()].into_iter(), Path::new("true"));
        let output = command
            .stdin(Stdio::null())
            .output()
            .map_err(|error| ControlGroupError(format!("sh: {error}")))?;
        if output.status.success() {
            return Ok(());
        }
        let said = foreign_bytes(output.stderr.trim_ascii());
        Err(ControlGroupError(format!("a process cannot enter {}: {said}", directory.display())))
    }
}

impl Drop for HierarchyNode {
    fn drop(&mut self) {
        let directories = std::slice::from_ref(&self.files.directory);
        kill_all(directories);
        remove(directories);
    }
}

/// Returns a command that starts a program inside groups.
pub(super) fn enter<'a>(directories: impl Iterator<Item = &'a Path>, program: &Path) -> Command {
    let mut command = Command::new("sh");
    command.args(["-c", ENTER, "sh"]).args(directories).arg("--").arg(program);
    command
}

/// Kills every process of the groups and waits at most a second until they are empty.
pub(crate) fn kill_all(directories: &[PathBuf]) {
    for _ in 0..200 {
        let pids: Vec<u32> = directories.iter().flat_map(|directory| members(directory)).collect();
        if pids.is_empty() {
            return;
        }
        for pid in pids.into_iter().filter_map(|pid| rustix::process::Pid::from_raw(pid.cast_signed())) {
            // The process may already be gone.
            let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Removes empty groups.
pub(crate) fn remove(directories: &[PathBuf]) {
    for directory in directories {
        // The kernel releases a group shortly after its last process.
        for _ in 0..200 {
            match fs::remove_dir(directory) {
                Err(error) if error.kind() == std::io::ErrorKind::ResourceBusy => {
                    std::thread::sleep(Duration::from_millis(5));
                }
                _ => break,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_without_processes_are_removed() {
        let parent = tempfile::tempdir().unwrap();
        let groups = ["one", "two"].map(|name| parent.path().join(name));
        groups.iter().for_each(|group| fs::create_dir(group).unwrap());
        kill_all(&groups);
        remove(&groups);
        assert!(groups.iter().all(|group| !group.exists()));
    }
}
