//! A group's directory in one hierarchy.

use std::path::Path;
use std::process::{Command, Stdio};

use languages::foreign_bytes;
use observe::cgroup::{CgroupVersion, Controller, ControllerFiles, Hierarchy};

use super::{ControlGroupError, ResourceLimits, controls};
use crate::group_removal::{kill_groups, remove_groups};
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
                node.unheld.push((*controller, why.to_string()));
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
        kill_groups(directories);
        remove_groups(directories);
    }
}

/// Returns a command that starts a program inside groups.
pub(super) fn enter<'a>(directories: impl Iterator<Item = &'a Path>, program: &Path) -> Command {
    let mut command = Command::new("sh");
    command.args(["-c", ENTER, "sh"]).args(directories).arg("--").arg(program);
    command
}
