//! Control groups for the system under test: limits and termination; `observe::cgroup` reads them.
//!
//! Accounting and limiting CPU time is required; without control over memory, disks or CPU sets a group is created all the same. If no group can
//! be created or a limit is not enforced, the reason is a text in the disclosure.
//!
//! - `limits`: resource limits
//! - `quota`: the format of a CPU quota
//! - `controls`: settings that enforce limits
//! - `hierarchy_node`: a group's directory in one hierarchy

mod controls;
mod hierarchy_node;
mod limits;
mod quota;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

use observe::cgroup::{
    CgroupVersion, Controller, ControllerFiles, CpuAccount, Hierarchy, MemoryUse, PREFIX, hierarchies,
};

pub(crate) use limits::memory_text;
pub use limits::{DiskLimits, ResourceLimits};

use crate::group_removal::kill_groups;
use hierarchy_node::{HierarchyNode, enter};
use quota::Quota;

/// The reason why there is no control group.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ControlGroupError(String);

/// A control group created by this process. Dropping it kills its processes and removes it.
#[derive(Debug)]
pub struct ControlGroup {
    nodes: Vec<HierarchyNode>,
    limits: ResourceLimits,
    /// Limits that are not enforced, and the reasons.
    unheld: Vec<(Controller, String)>,
}

impl ControlGroup {
    /// Creates a group that limits its processes together, as far as this machine supports it.
    ///
    /// # Errors
    /// This machine or this user's rights do not allow a group that accounts CPU time.
    pub fn create(limits: &ResourceLimits) -> Result<ControlGroup, ControlGroupError> {
        static N_CREATED: AtomicU32 = AtomicU32::new(0);
        let name = format!("{PREFIX}{}-{}", std::process::id(), N_CREATED.fetch_add(1, Ordering::Relaxed));
        let hierarchies = hierarchies();
        if hierarchies.is_empty() {
            return Err(ControlGroupError(
                "no control group hierarchy with the `cpu` controller is mounted".to_owned(),
            ));
        }
        let mut group = ControlGroup { nodes: Vec::new(), limits: limits.clone(), unheld: Vec::new() };
        for hierarchy in &hierarchies {
            group.enter_hierarchy(hierarchy, &name)?;
        }
        group.record_uncontrolled_limits();
        Ok(group)
    }

    fn enter_hierarchy(&mut self, hierarchy: &Hierarchy, name: &str) -> Result<(), ControlGroupError> {
        let controls = |what: fn(Controller) -> bool| hierarchy.controllers.iter().any(|one| what(*one));
        if hierarchy.controllers == [Controller::Cpuset] && self.limits.cpus.is_empty() {
            // Version 1 would not account for anything there.
            return Ok(());
        }
        match HierarchyNode::create(hierarchy, name, &self.limits) {
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

    fn record_uncontrolled_limits(&mut self) {
        for controller in Controller::ALL {
            let is_known = self.unheld.iter().any(|(known, _)| *known == controller);
            if !is_known && self.directory(controller).is_none() {
                let why = "no control group hierarchy for it is mounted".to_owned();
                self.unheld.push((controller, why));
            }
        }
        self.unheld.retain(|(controller, _)| controls::is_limited(*controller, &self.limits));
    }

    /// Returns a command that starts a program inside the group.
    pub fn command(&self, program: &Path) -> Command {
        enter(self.nodes.iter().map(|node| node.files.directory.as_path()), program)
    }

    /// Changes the limits while its processes run.
    ///
    /// # Errors
    /// A limit is not enforced: the reason. The group has the limits that were changed before it.
    pub fn change_limits(&mut self, limits: &ResourceLimits) -> Result<(), ControlGroupError> {
        for ControllerFiles { version, controllers, directory } in self.nodes.iter().map(|node| &node.files) {
            for controller in controllers {
                controls::change(*version, *controller, directory, [&self.limits, limits])
                    .map_err(|why| ControlGroupError(why.to_string()))?;
            }
        }
        self.limits = limits.clone();
        self.record_uncontrolled_limits();
        match self.unheld.first() {
            Some((_, why)) => Err(ControlGroupError(why.clone())),
            None => Ok(()),
        }
    }

    /// Opens the CPU accounting.
    pub(crate) fn account(&self) -> Option<CpuAccount> {
        let directory = |controller| Some(self.directory(controller)?.to_owned());
        CpuAccount::open(self.version(), &[directory(Controller::Cpu)?, directory(Controller::Cpuacct)?])
    }

    /// Returns the memory accounting; `None` if memory is not accounted.
    pub(crate) fn memory(&self) -> Option<MemoryUse> {
        MemoryUse::read(self.version(), self.directory(Controller::Memory)?)
    }

    /// Returns the directories of the group.
    pub fn controller_files(&self) -> Vec<ControllerFiles> {
        self.nodes.iter().map(|node| node.files.clone()).collect()
    }

    /// Returns the enforced limits.
    pub fn enforced_limits(&self) -> ResourceLimits {
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

    /// Describes for the disclosure how the limits of a controller are enforced, or why they are not.
    pub(crate) fn enforcement(&self, controller: Controller) -> String {
        match self.unheld.iter().find(|(unheld, _)| *unheld == controller) {
            None => format!("enforced by {}", self.version().name()),
            Some((_, why)) => format!("not enforced: {why}"),
        }
    }

    /// Describes for the disclosure how CPU time is limited.
    pub(crate) fn quota_text(&self) -> String {
        let Some(cpus) = self.limits.quota else {
            return format!("none; CPU time accounted by {}", self.version().name());
        };
        let quota = Quota::new(cpus);
        let holding = self.enforcement(Controller::Cpu);
        match self.enforced_limits().quota {
            Some(_) => format!("{quota}, {holding} ({} in {} µs)", quota.quota_us, quota.period_us),
            None => format!("{quota} requested, {holding}"),
        }
    }

    /// Kills every process in the group and waits at most a second until it is empty.
    pub(crate) fn kill(&self) {
        let directories: Vec<PathBuf> = self.nodes.iter().map(|node| node.files.directory.clone()).collect();
        kill_groups(&directories);
    }

    fn version(&self) -> CgroupVersion {
        self.nodes.first().map_or(CgroupVersion::V1, |node| node.files.version)
    }

    fn directory(&self, controller: Controller) -> Option<&Path> {
        let node = self.nodes.iter().find(|node| node.files.controllers.contains(&controller))?;
        Some(&node.files.directory)
    }
}

/// Finds out whether this machine enforces CPU quotas, by creating and removing a group with one; returns how.
///
/// # Errors
/// The reason why it does not.
pub fn probe_quota() -> Result<String, ControlGroupError> {
    let limits = ResourceLimits { quota: Some(0.5), ..ResourceLimits::default() };
    let group = ControlGroup::create(&limits)?;
    match group.enforced_limits().quota {
        Some(_) => Ok(group.quota_text()),
        None => Err(ControlGroupError(group.enforcement(Controller::Cpu))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use observe::available_cpus;
    use observe::cgroup::members;
    use std::process::Stdio;

    /// Goal: with sufficient rights, a group is created, contains a process from its first instruction on,
    /// and is removed with it. Without these rights a reason is given.
    #[test]
    fn dropping_a_group_kills_its_processes() {
        let limits = ResourceLimits {
            cpus: vec![available_cpus()[0]],
            quota: Some(0.5),
            memory: Some(1 << 26),
            disk: None,
        };
        let group = match ControlGroup::create(&limits) {
            Ok(group) => group,
            Err(why) => return assert!(!why.to_string().is_empty()),
        };
        let directories: Vec<PathBuf> =
            group.controller_files().into_iter().map(|files| files.directory).collect();
        let mut command = group.command(Path::new("sh"));
        command.args(["-c", "echo in; read forever"]);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut said = [0; 3];
        std::io::Read::read_exact(child.stdout.as_mut().unwrap(), &mut said).unwrap();
        assert!(directories.iter().all(|directory| members(directory) == [child.id()]));
        for (controller, is_held) in [
            (Controller::Cpu, group.enforced_limits().quota.is_some()),
            (Controller::Memory, group.enforced_limits().memory.is_some()),
            (Controller::Cpuset, !group.enforced_limits().cpus.is_empty()),
        ] {
            assert_eq!(
                group.enforcement(controller).starts_with("enforced by cgroup v"),
                is_held,
                "{group:?}"
            );
        }
        let collector = std::thread::spawn(move || child.wait().unwrap());
        drop(group);
        assert!(!collector.join().unwrap().success());
        assert!(directories.iter().all(|directory| !directory.exists()));
    }

    /// Without sufficient rights there is no group.
    #[test]
    fn limits_are_changed_while_the_group_is_in_use() {
        let of = |quota| ResourceLimits { quota, ..ResourceLimits::default() };
        let Ok(mut group) = ControlGroup::create(&of(Some(0.5))) else { return };
        for (next, text) in [
            (of(Some(0.25)), "0.25 CPUs, enforced by cgroup v"),
            (ResourceLimits { memory: Some(1 << 26), ..of(None) }, "none; "),
            (of(Some(0.3)), "0.3 CPUs, enforced by cgroup v"),
        ] {
            group.change_limits(&next).unwrap();
            assert_eq!(group.enforced_limits(), next);
            assert!(group.quota_text().starts_with(text), "{}", group.quota_text());
        }
        let disk = DiskLimits { device: "4095:7".into(), reads: Some(1), ..DiskLimits::default() };
        assert!(group.change_limits(&ResourceLimits { disk: Some(disk), ..of(None) }).is_err());
    }

    /// The kernel has no device with this number, so no group can limit it; other limits are enforced.
    #[test]
    fn a_limit_that_cannot_be_enforced_is_reported_and_the_others_are_enforced() {
        let disk = DiskLimits { device: "4095:7".into(), reads: Some(1), ..DiskLimits::default() };
        let limits = ResourceLimits { quota: Some(0.5), disk: Some(disk), ..ResourceLimits::default() };
        let Ok(group) = ControlGroup::create(&limits) else { return };
        assert_eq!(group.enforced_limits().disk, None);
        assert!(group.enforcement(Controller::Blkio).starts_with("not enforced: "), "{group:?}");
        assert_eq!(group.enforced_limits().quota, Some(0.5));
        assert!(group.quota_text().starts_with("0.5 CPUs, enforced by cgroup v"), "{}", group.quota_text());
    }
}
