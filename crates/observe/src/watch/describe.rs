//! The groups of watched processes in words: their programs, their control groups, and the conclusions that cannot be drawn.

use std::collections::BTreeMap;
use std::path::Path;

use units::Bytes;

use super::group::ProcessGroup;
use super::limits::GroupLimits;
use super::namespaces::Namespace;
use crate::cgroup::{CgroupLimit, CgroupLimitKind};
use crate::cpu_list::format_cpu_list;
use crate::kernel_file;
use crate::process::parse_stat;

/// The description of a group of watched processes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GroupDescription {
    /// Its name in series: the selector, or the port of the load.
    pub label: String,
    /// Its programs, with their numbers of processes.
    pub programs: BTreeMap<String, usize>,
    /// The directories of the control groups that hold it alone.
    pub control_groups: Vec<String>,
    /// The limits in force.
    pub limits: Vec<LimitDescription>,
    /// Whether it is in another network namespace than this process.
    pub is_in_other_network: bool,
    /// The parts of it that this user cannot see.
    pub unseen: Vec<BlindSpot>,
}

/// The description of a limit in force of a group of watched processes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LimitDescription {
    /// The limited resource: `CPU quota`, `reads from sda`.
    pub resource: String,
    /// The limit with its unit, and the control group that sets it: `0.3 CPUs, set by control group /web`.
    pub value: String,
}

/// A part of the counters that cannot be read, and the conclusions that this rules out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BlindSpot {
    /// The group shares its control groups with other processes.
    ControlGroup,
    /// The disk traffic of its processes.
    DiskTraffic,
    /// The sockets that its processes hold.
    Sockets,
    /// The kernel functions in which its threads sleep.
    WaitChannels,
    /// Its network namespace.
    Network,
}

impl BlindSpot {
    /// Returns the part that cannot be read.
    pub fn name(self) -> &'static str {
        match self {
            BlindSpot::ControlGroup => "control group of its own",
            BlindSpot::DiskTraffic => "disk bytes",
            BlindSpot::Sockets => "sockets",
            BlindSpot::WaitChannels => "wait channels",
            BlindSpot::Network => "network namespace",
        }
    }

    /// Returns the conclusions that this rules out: a sentence.
    pub fn rules_out(self) -> &'static str {
        match self {
            BlindSpot::ControlGroup => {
                "It shares its control groups with other processes, so throttling, memory limit hits, refaults \
                 and disk requests cannot be attributed to it."
            }
            BlindSpot::DiskTraffic => {
                "This user may not read `/proc/PID/io`, so busy disks cannot be attributed to it."
            }
            BlindSpot::Sockets => {
                "This user may not read `/proc/PID/fd`, so accept queues cannot be attributed to its back ends, \
                 and full ones are not recognized."
            }
            BlindSpot::WaitChannels => {
                "Wait channels cannot be read, so threads that wait for a lock cannot be distinguished from \
                 idle ones."
            }
            BlindSpot::Network => {
                "Its network namespace cannot be entered, so accept queues and queueing disciplines there are \
                 not read."
            }
        }
    }
}

/// Describes an updated group.
pub(super) fn describe(group: &ProcessGroup) -> GroupDescription {
    let mut programs: BTreeMap<String, usize> = BTreeMap::new();
    for pid in group.members() {
        let text = kernel_file::read(format!("/proc/{pid}/stat"));
        if let Some((name, _)) = text.as_deref().and_then(parse_stat) {
            *programs.entry(name.to_owned()).or_default() += 1;
        }
    }
    let control_groups = group.alone().iter().map(|files| files.directory.display().to_string()).collect();
    let sample = group.members().first().copied();
    GroupDescription {
        label: group.label.clone(),
        programs,
        control_groups,
        limits: limits(group.limits()),
        is_in_other_network: sample.is_some_and(|pid| Namespace::of(pid).is_other()),
        unseen: sample.map(|pid| unseen(group, pid)).unwrap_or_default(),
    }
}

/// Describes limits, CPUs first.
fn limits(limits: &GroupLimits) -> Vec<LimitDescription> {
    let set_by = |path: &str| format!("set by control group {path}");
    let cpus = limits.cpus.iter().map(|allowed| LimitDescription {
        resource: "CPUs".to_owned(),
        value: format!(
            "{}, {}",
            format_cpu_list(&allowed.cpus),
            allowed.set_by.as_deref().map_or("by the affinity of its processes".to_owned(), set_by)
        ),
    });
    let of_cgroup = |limit: &CgroupLimit| LimitDescription {
        resource: resource(limit.kind, &disk_name(&limit.disk)),
        value: format!("{}, {}", amount(limit.kind, limit.value), set_by(&limit.set_by.path)),
    };
    cpus.chain(limits.of_cgroups.iter().map(of_cgroup)).collect()
}

fn resource(kind: CgroupLimitKind, disk: &str) -> String {
    match kind {
        CgroupLimitKind::CpuQuota => "CPU quota".to_owned(),
        CgroupLimitKind::Memory => "memory".to_owned(),
        CgroupLimitKind::Reads => format!("reads from {disk}"),
        CgroupLimitKind::Writes => format!("writes to {disk}"),
        CgroupLimitKind::ReadBytes => format!("bytes read from {disk}"),
        CgroupLimitKind::WriteBytes => format!("bytes written to {disk}"),
    }
}

fn amount(kind: CgroupLimitKind, value: u64) -> String {
    match kind {
        CgroupLimitKind::CpuQuota => format!("{} CPUs", value as f64 / 1e6),
        CgroupLimitKind::Memory => Bytes(value).to_string(),
        CgroupLimitKind::Reads | CgroupLimitKind::Writes => format!("{value}/s"),
        CgroupLimitKind::ReadBytes | CgroupLimitKind::WriteBytes => format!("{}/s", Bytes(value)),
    }
}

/// Returns the name of a disk with these numbers; the numbers if the kernel does not tell.
fn disk_name(numbers: &str) -> String {
    let target = std::fs::read_link(format!("/sys/dev/block/{numbers}")).ok();
    let name = target.as_deref().and_then(Path::file_name).and_then(|name| name.to_str());
    name.unwrap_or(numbers).to_owned()
}

/// Returns what cannot be seen of a group, by one of its processes.
fn unseen(group: &ProcessGroup, pid: u32) -> Vec<BlindSpot> {
    let is_readable = |name: &str| std::fs::read(format!("/proc/{pid}/{name}")).is_ok();
    let can_see_channels = group
        .members()
        .iter()
        .any(|pid| kernel_file::read(format!("/proc/{pid}/wchan")).is_some_and(|text| text != "0"));
    let facts = [
        (BlindSpot::ControlGroup, !group.alone().is_empty()),
        (BlindSpot::DiskTraffic, is_readable("io")),
        (BlindSpot::Sockets, std::fs::read_dir(format!("/proc/{pid}/fd")).is_ok()),
        (BlindSpot::WaitChannels, can_see_channels),
        // A namespace that cannot be told from the own one cannot be entered either.
        (BlindSpot::Network, !Namespace::of(pid).is_hidden()),
    ];
    facts.into_iter().filter(|(_, is_seen)| !is_seen).map(|(unseen, _)| unseen).collect()
}

/// Formats it for people: `nginx (3 processes), php-fpm8.2 (5 processes)`.
impl std::fmt::Display for GroupDescription {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let text =
            |(name, n): (&String, &usize)| format!("{name} ({n} process{})", if *n == 1 { "" } else { "es" });
        if self.programs.is_empty() {
            f.write_str("no process")
        } else {
            f.write_str(&self.programs.iter().map(text).collect::<Vec<_>>().join(", "))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::limits::AllowedCpus;
    use super::super::{ProcessSelector, WatchedTargets};
    use super::*;
    use crate::cgroup::{CgroupVersion, ControllerFiles, GroupDirectory};

    #[test]
    fn this_process_is_described() {
        let own = ProcessSelector::Pid(std::process::id());
        let described = WatchedTargets::select(&[own]).unwrap().describe();
        let [group] = described.as_slice() else { panic!("{described:?}") };
        assert!(group.to_string().contains("process"), "{group}");
        assert!(!group.is_in_other_network && !group.unseen.contains(&BlindSpot::Sockets), "{group:?}");
    }

    #[test]
    fn limits_are_told_with_their_unit_and_the_group_that_sets_them() {
        let group = |path: &str| GroupDirectory {
            path: path.to_owned(),
            files: ControllerFiles {
                version: CgroupVersion::V2,
                controllers: Vec::new(),
                directory: "/none".into(),
            },
        };
        let limit = |kind, disk: &str, value| CgroupLimit {
            kind,
            disk: disk.to_owned(),
            value,
            set_by: group("/pod"),
        };
        // No device has these numbers: 0 is no major number of a block device.
        let of_cgroups = vec![
            limit(CgroupLimitKind::CpuQuota, "", 250_000),
            limit(CgroupLimitKind::Memory, "", 64 << 20),
            limit(CgroupLimitKind::WriteBytes, "0:99999", 1 << 20),
        ];
        let cpus = Some(AllowedCpus { cpus: vec![0, 1, 3], set_by: None });
        let told = limits(&GroupLimits { of_cgroups, cpus, ..GroupLimits::NONE });
        let told: Vec<(&str, &str)> = told.iter().map(|one| (&*one.resource, &*one.value)).collect();
        assert_eq!(
            told,
            [
                ("CPUs", "0-1,3, by the affinity of its processes"),
                ("CPU quota", "0.25 CPUs, set by control group /pod"),
                ("memory", "64.0 MiB, set by control group /pod"),
                ("bytes written to 0:99999", "1.0 MiB/s, set by control group /pod"),
            ]
        );
    }

    #[test]
    fn numbers_of_processes_are_worded() {
        let programs = [("nginx".to_owned(), 3), ("sh".to_owned(), 1)].into();
        let group = GroupDescription {
            label: "port=80".into(),
            programs,
            control_groups: Vec::new(),
            limits: Vec::new(),
            is_in_other_network: false,
            unseen: Vec::new(),
        };
        assert_eq!(group.to_string(), "nginx (3 processes), sh (1 process)");
    }
}
