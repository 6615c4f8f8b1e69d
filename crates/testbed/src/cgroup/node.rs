//! A group's directory in one hierarchy.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use model::foreign_bytes;

use super::hierarchy::{Controller, Hierarchy, Version};
use super::{Limits, NoGroup, controls};
use crate::started::{Entry, make_group};
use crate::system_file;

/// Moves itself into the groups named by its arguments up to `--` and becomes what comes after.
///
/// A process that is moved from outside could have had children before; this one is inside before the server's first
/// instruction, and needs no code between fork and exec of our own.
const ENTER: &str =
    r#"while [ "$1" != -- ]; do echo $$ > "$1/cgroup.procs" || exit 1; shift; done; shift; exec "$@""#;

/// Where the files of a group are that belong to some of its controllers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The generation, which says what the files are called.
    pub version: Version,
    /// What is controlled there.
    pub controllers: Vec<Controller>,
    /// The directory.
    pub directory: PathBuf,
}

/// A directory of our own. Dropping it ends what still runs in it and removes it.
#[derive(Debug)]
pub struct Node {
    /// Where it is.
    pub place: Place,
    /// Limits that could not be set, and why.
    pub unheld: Vec<(Controller, String)>,
    _entry: Entry,
}

impl Node {
    /// Makes the directory in the best place, that is the first where all limits hold, or else where there is one.
    pub fn create(hierarchy: &Hierarchy, name: &str, limits: &Limits) -> Result<Node, NoGroup> {
        let mut best = Err(NoGroup("there is no place for a group".to_owned()));
        for parent in &hierarchy.parents {
            match Node::create_below(parent, hierarchy, name, limits) {
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
        limits: &Limits,
    ) -> Result<Node, NoGroup> {
        let Hierarchy { version, controllers, .. } = hierarchy.clone();
        if version == Version::V2 {
            controls::hand_down(parent);
        }
        let directory = parent.join(name);
        let entry =
            make_group(&directory).map_err(|error| NoGroup(format!("{}: {error}", directory.display())))?;
        // From here on the value's drop removes what was made, and nothing that was there before.
        let place = Place { version, controllers, directory };
        let mut node = Node { place, unheld: Vec::new(), _entry: entry };
        for controller in &node.place.controllers {
            let applied = controls::apply(version, *controller, &node.place.directory, limits);
            if let Err(why) = applied {
                node.unheld.push((*controller, why));
            }
        }
        node.probe()?;
        Ok(node)
    }

    /// Lets a process enter and leave again: rights and the rule against inner processes show only then.
    fn probe(&self) -> Result<(), NoGroup> {
        let directory = &self.place.directory;
        let mut command = enter([directory.as_path()].into_iter(), Path::new("true"));
        let output =
            command.stdin(Stdio::null()).output().map_err(|error| NoGroup(format!("sh: {error}")))?;
        if output.status.success() {
            return Ok(());
        }
        let said = foreign_bytes(output.stderr.trim_ascii());
        Err(NoGroup(format!("a process cannot enter {}: {said}", directory.display())))
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        let directories = std::slice::from_ref(&self.place.directory);
        kill_all(directories);
        remove(directories);
    }
}

/// Returns the command that starts a program inside of groups.
pub fn enter<'a>(directories: impl Iterator<Item = &'a Path>, program: &Path) -> Command {
    let mut command = Command::new("sh");
    command.args(["-c", ENTER, "sh"]).args(directories).arg("--").arg(program);
    command
}

/// Returns the processes in a group.
pub fn members(directory: &Path) -> Vec<u32> {
    let text = system_file::read(directory.join("cgroup.procs")).unwrap_or_default();
    text.lines().filter_map(|line| line.parse().ok()).collect()
}

/// Kills every process in the groups and waits, a second at most, until they are empty.
pub fn kill_all(directories: &[PathBuf]) {
    for _ in 0..200 {
        let pids: Vec<u32> = directories.iter().flat_map(|directory| members(directory)).collect();
        if pids.is_empty() {
            return;
        }
        for pid in pids.into_iter().filter_map(|pid| rustix::process::Pid::from_raw(pid.cast_signed())) {
            // One that is gone already is what we want.
            let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Removes empty groups.
pub fn remove(directories: &[PathBuf]) {
    for directory in directories {
        // The kernel lets go of a group a moment after its last process.
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
