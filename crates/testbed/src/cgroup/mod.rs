//! A control group for the system under test: its limits, the account of what it uses, and its end.
//!
//! Version 1 keeps a hierarchy per controller, version 2 has one for all. Counting and limiting CPU time is what a
//! group is made for; where memory, disks or sets of CPUs cannot be controlled, the rest goes on without them. Where
//! no group can be made, or a limit does not hold, the reason is a text that the disclosure shows.
//!
//! - `limits`: what can be limited
//! - `quota`: the form of a CPU quota
//! - `hierarchy`: where groups can be made
//! - `controls`: what is written so that limits hold
//! - `node`: a group's directory in one hierarchy
//! - `stat`: the account of CPU time; `memory`: that of memory
//! - `stale`: what killed runs left behind

mod controls;
mod hierarchy;
mod limits;
mod memory;
mod node;
mod quota;
mod stale;
mod stat;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

pub use hierarchy::{Controller, Version};
pub use limits::{DiskLimits, Limits, disk_of, memory_text};
pub use memory::MemoryUse;
pub use node::{Place, kill_all as kill_groups, members, remove as remove_groups};
use quota::Quota;
pub use stale::{remove_stale, stale};
pub use stat::Account;

use hierarchy::{Hierarchy, hierarchies};
use node::{Node, enter, kill_all};

/// Beginning of the names of all our groups; the number of the process that made it follows.
const PREFIX: &str = "plimsoll-";

/// Why there is no group.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct NoGroup(String);

/// A control group of our own. Dropping it ends what still runs in it and removes it.
#[derive(Debug)]
pub struct Group {
    nodes: Vec<Node>,
    limits: Limits,
    /// Limits that do not hold, and why.
    unheld: Vec<(Controller, String)>,
}

impl Group {
    /// Makes a group whose processes are held to these limits together, as far as that is possible here.
    ///
    /// # Errors
    /// With the reason if this machine or this user's rights do not allow a group that counts CPU time.
    pub fn create(limits: &Limits) -> Result<Group, NoGroup> {
        static MADE: AtomicU32 = AtomicU32::new(0);
        let name = format!("{PREFIX}{}-{}", std::process::id(), MADE.fetch_add(1, Ordering::Relaxed));
        let hierarchies = hierarchies();
        if hierarchies.is_empty() {
            return Err(NoGroup(
                "no control group hierarchy with the `cpu` controller is mounted".to_owned(),
            ));
        }
        let mut group = Group { nodes: Vec::new(), limits: limits.clone(), unheld: Vec::new() };
        for hierarchy in &hierarchies {
            group.enter_hierarchy(hierarchy, &name)?;
        }
        group.note_what_nobody_controls();
        Ok(group)
    }

    fn enter_hierarchy(&mut self, hierarchy: &Hierarchy, name: &str) -> Result<(), NoGroup> {
        let controls = |what: fn(Controller) -> bool| hierarchy.controllers.iter().any(|one| what(*one));
        if hierarchy.controllers == [Controller::Cpuset] && self.limits.cpus.is_empty() {
            // Version 1 would count nothing there.
            return Ok(());
        }
        match Node::create(hierarchy, name, &self.limits) {
            Ok(mut node) => {
                self.unheld.append(&mut node.unheld);
                self.nodes.push(node);
            }
            Err(why) if controls(Controller::is_needed) => return Err(why),
            Err(why) => {
                self.unheld.extend(hierarchy.controllers.iter().map(|one| (*one, why.to_string())));
            }
        }
        Ok(())
    }

    fn note_what_nobody_controls(&mut self) {
        for controller in Controller::ALL {
            let is_known = self.unheld.iter().any(|(known, _)| *known == controller);
            if !is_known && self.directory(controller).is_none() {
                let why = "no control group hierarchy for it is mounted".to_owned();
                self.unheld.push((controller, why));
            }
        }
        self.unheld.retain(|(controller, _)| controls::is_limited(*controller, &self.limits));
    }

    /// Returns the command that starts a program inside of the group.
    pub fn command(&self, program: &Path) -> Command {
        enter(self.nodes.iter().map(|node| node.place.directory.as_path()), program)
    }

    /// Opens the account of CPU time.
    pub fn account(&self) -> Option<Account> {
        let directory = |controller| Some(self.directory(controller)?.to_owned());
        Account::open(self.version(), &[directory(Controller::Cpu)?, directory(Controller::Cpuacct)?])
    }

    /// Returns how much memory is in use, and what the limit on it did; `None` if memory is not counted.
    pub fn memory(&self) -> Option<MemoryUse> {
        MemoryUse::read(self.version(), self.directory(Controller::Memory)?)
    }

    /// Returns where the group's files are.
    pub fn places(&self) -> Vec<Place> {
        self.nodes.iter().map(|node| node.place.clone()).collect()
    }

    /// Returns the limits that hold.
    pub fn held(&self) -> Limits {
        let mut held = self.limits.clone();
        for (controller, _) in &self.unheld {
            match controller {
                Controller::Cpu => held.quota = None,
                Controller::Cpuacct => {}
                Controller::Memory => held.memory = None,
                Controller::Blkio => held.disk = None,
                Controller::Cpuset => held.cpus.clear(),
            }
        }
        held
    }

    /// Returns for the disclosure by what the limits of a controller are held, or why they are not.
    pub fn holding(&self, controller: Controller) -> String {
        match self.unheld.iter().find(|(unheld, _)| *unheld == controller) {
            None => format!("held by {}", self.version().name()),
            Some((_, why)) => format!("not held: {why}"),
        }
    }

    /// Returns how CPU time is held, for the disclosure.
    pub fn quota_text(&self) -> String {
        let Some(cpus) = self.limits.quota else {
            return format!("none; CPU time counted by {}", self.version().name());
        };
        let (quota, holding) = (Quota::new(cpus), self.holding(Controller::Cpu));
        match self.held().quota {
            Some(_) => format!("{quota}, {holding} ({} in {} µs)", quota.quota_us, quota.period_us),
            None => format!("{quota} asked for, {holding}"),
        }
    }

    /// Kills every process in the group and waits, a second at most, until it is empty.
    pub fn kill(&self) {
        let directories: Vec<PathBuf> = self.nodes.iter().map(|node| node.place.directory.clone()).collect();
        kill_all(&directories);
    }

    fn version(&self) -> Version {
        self.nodes.first().map_or(Version::V1, |node| node.place.version)
    }

    fn directory(&self, controller: Controller) -> Option<&Path> {
        let node = self.nodes.iter().find(|node| node.place.controllers.contains(&controller))?;
        Some(&node.place.directory)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Stdio;

    /// Goal: with the right to make groups, a group is made, holds a process from its first instruction on, and is
    /// gone with it afterwards. Without that right a reason is given.
    #[test]
    fn a_group_ends_with_what_runs_in_it() {
        let limits = Limits {
            cpus: vec![crate::affinity::available_cpus()[0]],
            quota: Some(0.5),
            memory: Some(1 << 26),
            disk: None,
        };
        let group = match Group::create(&limits) {
            Ok(group) => group,
            Err(why) => return assert!(!why.to_string().is_empty()),
        };
        let directories: Vec<PathBuf> = group.places().into_iter().map(|place| place.directory).collect();
        let mut command = group.command(Path::new("sh"));
        command.args(["-c", "echo in; read forever"]);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut said = [0; 3];
        std::io::Read::read_exact(child.stdout.as_mut().unwrap(), &mut said).unwrap();
        assert!(directories.iter().all(|directory| members(directory) == [child.id()]));
        for (controller, is_held) in [
            (Controller::Cpu, group.held().quota.is_some()),
            (Controller::Memory, group.held().memory.is_some()),
            (Controller::Cpuset, !group.held().cpus.is_empty()),
        ] {
            assert_eq!(group.holding(controller).starts_with("held by cgroup v"), is_held, "{group:?}");
        }
        let collector = std::thread::spawn(move || child.wait().unwrap());
        drop(group);
        assert!(!collector.join().unwrap().success());
        assert!(directories.iter().all(|directory| !directory.exists()));
    }

    /// The kernel has no device of this number, so no group can limit it; the rest goes on.
    #[test]
    fn a_limit_that_cannot_be_held_is_said_and_the_others_hold() {
        let disk = DiskLimits { device: "4095:7".into(), reads: Some(1), ..DiskLimits::default() };
        let limits = Limits { quota: Some(0.5), disk: Some(disk), ..Limits::default() };
        let Ok(group) = Group::create(&limits) else { return };
        assert_eq!(group.held().disk, None);
        assert!(group.holding(Controller::Blkio).starts_with("not held: "), "{group:?}");
        assert_eq!(group.held().quota, Some(0.5));
        assert!(group.quota_text().starts_with("0.5 CPUs, held by cgroup v"), "{}", group.quota_text());
    }
}
