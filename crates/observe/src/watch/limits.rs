//! The limits in force of a group of watched processes: those of its control groups and the groups above them, and the
//! CPUs that it may use.

use std::collections::BTreeSet;
use std::path::Path;

use crate::cgroup::{
    CgroupLimit, CgroupLimitKind, CgroupMembership, CgroupMount, Controller, GroupDirectory, ReadFile,
    group_with_cpus,
};
use crate::cpu_list::{format_cpu_list, parse_cpu_list};
use crate::kernel_file;

/// The file that names the CPUs of a machine that are in use.
pub(crate) const ONLINE_CPUS: &str = "/sys/devices/system/cpu/online";

/// The most threads whose control groups and CPUs are read.
const THREADS_MAX: usize = 64;

/// The limits of a group of processes, as far as they apply to all of them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct GroupLimits {
    /// Those that control groups set.
    pub(crate) of_cgroups: Vec<CgroupLimit>,
    /// The CPUs that it may use; `None` if these are all of the machine, or not known.
    pub(crate) cpus: Option<AllowedCpus>,
    /// The directories of all control groups that it is in, and of those above.
    pub(crate) directories: Vec<GroupDirectory>,
}

/// The CPUs that a group of processes may use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct AllowedCpus {
    /// Their numbers, sorted, not empty.
    pub(crate) cpus: Vec<u32>,
    /// The path of the control group that restricts them; `None` if the processes or their starter did.
    pub(crate) set_by: Option<String>,
}

/// Returns the memory limit in force of processes in bytes: the least that the control groups of all of them, and those above
/// them, set. `None` without one.
pub fn memory_limit_of(pids: &[u32]) -> Option<u64> {
    let limits = CgroupLimit::least(&directories_of(pids), &read_here);
    limits.iter().find(|limit| limit.kind == CgroupLimitKind::Memory).map(|limit| limit.value)
}

impl GroupLimits {
    /// No limits.
    pub(crate) const NONE: GroupLimits =
        GroupLimits { of_cgroups: Vec::new(), cpus: None, directories: Vec::new() };

    /// Reads the limits of these processes. A limit of some of them alone is left out.
    pub(crate) fn of(pids: &[u32]) -> GroupLimits {
        GroupLimits::found(directories_of(pids), &cpu_lists(pids), &read_here)
    }

    /// Reads again the limits that its control groups set, and, of these processes, the CPUs that they may use: both may be
    /// changed at any time. Returns whether they have changed.
    pub(crate) fn update(&mut self, cpus_of: Option<&[u32]>) -> bool {
        let next = match cpus_of {
            Some(pids) => GroupLimits::found(self.directories.clone(), &cpu_lists(pids), &read_here),
            None => {
                let mut next = self.clone();
                next.read_again(&read_here);
                next
            }
        };
        let has_changed = next != *self;
        *self = next;
        has_changed
    }

    /// Reads again the limits that its control groups set.
    pub(crate) fn read_again(&mut self, read: ReadFile<'_>) {
        self.of_cgroups = CgroupLimit::least(&self.directories, read);
    }

    /// Reads the limits that these directories set, and that of the CPUs that threads may use, from the files of a machine.
    pub(crate) fn found(
        directories: Vec<GroupDirectory>,
        lists: &CpuLists,
        read: ReadFile<'_>,
    ) -> GroupLimits {
        let online = read(Path::new(ONLINE_CPUS));
        let online = online.and_then(|text| parse_cpu_list(&text).ok()).unwrap_or_default();
        let cpus = allowed_cpus(lists).filter(|cpus| cpus.len() < online.len());
        let cpus = cpus.map(|cpus| {
            let set_by = group_with_cpus(&directories, &format_cpu_list(&cpus), read);
            AllowedCpus { set_by: set_by.map(|group| group.path.clone()), cpus }
        });
        GroupLimits { of_cgroups: CgroupLimit::least(&directories, read), cpus, directories }
    }

    /// Returns the directory that accounts for the CPU time of the control group that sets a limit.
    pub(crate) fn account(&self, limit: &CgroupLimit) -> Option<&GroupDirectory> {
        let is_same = |one: &&GroupDirectory| {
            one.path == limit.set_by.path && one.files.version == limit.set_by.files.version
        };
        let accounts = |one: &&GroupDirectory| one.files.controllers.contains(&Controller::Cpuacct);
        self.directories.iter().filter(accounts).find(is_same)
    }
}

fn read_here(path: &Path) -> Option<String> {
    kernel_file::read(path)
}

/// Returns the directories of control groups, and of those above, that hold all of these processes of this machine.
fn directories_of(pids: &[u32]) -> Vec<GroupDirectory> {
    let memberships: Vec<CgroupMembership> =
        pids.iter().take(THREADS_MAX).copied().map(CgroupMembership::of).collect();
    common_directories(memberships.iter(), &CgroupMount::all())
}

/// Returns the directories, below these mounts, of control groups, and of those above, that hold all processes with these
/// memberships.
pub(crate) fn common_directories<'a>(
    memberships: impl Iterator<Item = &'a CgroupMembership>,
    mounts: &[CgroupMount],
) -> Vec<GroupDirectory> {
    let mut distinct: Vec<&CgroupMembership> = Vec::new();
    for one in memberships {
        // A process that has ended meanwhile is in none.
        if *one != CgroupMembership::default() && !distinct.contains(&one) {
            distinct.push(one);
        }
    }
    let mut all = distinct.iter().map(|one| one.limiting_groups(mounts));
    let first = all.next().unwrap_or_default();
    all.fold(first, |mut common, other| {
        common.retain(|directory| other.contains(directory));
        common
    })
}

/// The CPUs of each thread that was read; whether all were.
#[derive(Debug, Default)]
pub(crate) struct CpuLists {
    lists: BTreeSet<Vec<u32>>,
    is_complete: bool,
}

impl CpuLists {
    /// Parses the statuses of threads, or their lines `Cpus_allowed_list:` alone.
    pub(crate) fn of<'a>(statuses: impl Iterator<Item = &'a str>, is_complete: bool) -> CpuLists {
        CpuLists { lists: statuses.filter_map(parse_allowed).collect(), is_complete }
    }
}

fn cpu_lists(pids: &[u32]) -> CpuLists {
    let tasks = pids.iter().flat_map(|pid| {
        let entries = std::fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
        entries.map(|entry| entry.path())
    });
    let mut found = CpuLists { is_complete: true, ..CpuLists::default() };
    for (n, task) in tasks.enumerate() {
        if n == THREADS_MAX {
            found.is_complete = false;
            break;
        }
        let text = kernel_file::read(task.join("status")).unwrap_or_default();
        found.lists.extend(parse_allowed(&text));
    }
    found
}

/// Parses the line `Cpus_allowed_list:` of `/proc/PID/status`: the CPUs that both affinity and control group leave.
fn parse_allowed(status: &str) -> Option<Vec<u32>> {
    let list = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"))?;
    parse_cpu_list(list.trim()).ok()
}

/// Returns the CPUs of all threads together. Threads that are bound to different CPUs, of which some were not read, may have
/// more.
fn allowed_cpus(found: &CpuLists) -> Option<Vec<u32>> {
    let is_known = found.lists.len() == 1 || found.is_complete;
    let union: BTreeSet<u32> = found.lists.iter().flatten().copied().collect();
    (is_known && !union.is_empty()).then(|| union.into_iter().collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lists(all: &[&[u32]], is_complete: bool) -> CpuLists {
        CpuLists { lists: all.iter().map(|list| list.to_vec()).collect(), is_complete }
    }

    #[test]
    fn workers_that_are_bound_to_one_cpu_each_may_use_all_of_these() {
        assert_eq!(allowed_cpus(&lists(&[&[0], &[1]], true)), Some(vec![0, 1]));
        assert_eq!(allowed_cpus(&lists(&[&[0], &[1]], false)), None);
        assert_eq!(allowed_cpus(&lists(&[&[2, 3]], false)), Some(vec![2, 3]));
        assert_eq!(allowed_cpus(&lists(&[], true)), None);
    }

    #[test]
    fn the_cpus_of_a_process_are_parsed() {
        let status = "Name:\tnginx\nCpus_allowed:\t3\nCpus_allowed_list:\t0-1\nMems_allowed:\t1\n";
        assert_eq!(parse_allowed(status), Some(vec![0, 1]));
        assert_eq!(parse_allowed("Cpus_allowed_list:\tx\n"), None);
    }

    /// Goal: the limits of this process are those of all its threads, whatever they are here.
    #[test]
    fn this_process_may_use_the_cpus_that_the_kernel_says() {
        let limits = GroupLimits::of(&[std::process::id()]);
        if let Some(allowed) = &limits.cpus {
            assert_eq!(allowed.cpus, crate::cpu_list::available_cpus());
        }
        assert_eq!(GroupLimits::of(&[]), GroupLimits::default());
    }
}
