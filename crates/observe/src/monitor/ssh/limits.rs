//! The limits in force of processes that are watched on another machine: those of their control groups and the groups
//! above them, and the CPUs that they may use.
//!
//! | state | the next request has | then |
//! |---|---|---|
//! | sought | the files with limits, and the CPUs of the threads | known |
//! | known | the files with limits, which may change, and those that tell their use | known, until other processes are found |

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use model::Reading;

use crate::cgroup::{CgroupLimit, GroupDirectory, limit_files};
use crate::monitor::processes::LimitUses;
use crate::watch::{CpuLists, GroupLimits, ONLINE_CPUS};

/// The texts of files in an answer, by their paths.
pub(super) type FileTexts = BTreeMap<PathBuf, String>;

/// The limits in force of a group.
#[derive(Debug)]
pub(super) enum RemoteLimits {
    /// They are to be read: those that these directories of control groups set.
    Sought(Vec<GroupDirectory>),
    /// They were read, as they are now, and their uses.
    Known(GroupLimits, LimitUses),
}

impl RemoteLimits {
    /// Returns whether the CPUs of the group's threads are to be requested.
    pub(super) fn needs_cpus(&self) -> bool {
        matches!(self, RemoteLimits::Sought(_))
    }

    /// Returns the files to request.
    pub(super) fn files(&self) -> BTreeSet<PathBuf> {
        match self {
            RemoteLimits::Sought(directories) => {
                let mut files = limit_files(directories);
                files.insert(ONLINE_CPUS.into());
                files
            }
            RemoteLimits::Known(limits, uses) => {
                let mut files = CgroupLimit::files(&limits.directories);
                files.extend(uses.paths().cloned());
                files
            }
        }
    }

    /// Takes the files that were requested, and the CPUs of the threads if they were; reports the limits and their use as
    /// those of the group named `label`.
    pub(super) fn read(&mut self, texts: &FileTexts, cpus: &CpuLists, label: &str, into: &mut Vec<Reading>) {
        let text = |path: &Path| texts.get(path).cloned();
        let limits = match self {
            RemoteLimits::Sought(directories) => GroupLimits::found(std::mem::take(directories), cpus, &text),
            RemoteLimits::Known(limits, _) => {
                let mut limits = std::mem::take(limits);
                limits.read_again(&text);
                limits
            }
        };
        let uses = LimitUses::of(&limits, false);
        uses.report(label, into);
        for (path, text) in texts {
            uses.report_use(path, text, label, into);
        }
        *self = RemoteLimits::Known(limits, uses);
    }
}

/// Returns the texts of files in an answer, trimmed: each line begins with the path and a colon.
pub(super) fn texts_of(printed: &str, files: &BTreeSet<PathBuf>) -> FileTexts {
    let paths: Vec<&str> = files.iter().filter_map(|path| path.to_str()).collect();
    let mut texts = FileTexts::new();
    for line in printed.lines().filter(|line| !line.starts_with("/proc/")) {
        let found = paths.iter().find_map(|path| Some((*path, line.strip_prefix(*path)?.strip_prefix(':')?)));
        if let Some((path, rest)) = found {
            texts.entry(path.into()).or_default().extend([rest, "\n"]);
        }
    }
    texts.values_mut().for_each(|text| text.truncate(text.trim_end().len()));
    texts
}

#[cfg(test)]
mod tests {
    use model::Counter;

    use super::*;
    use crate::cgroup::{CgroupVersion, Controller, ControllerFiles};

    const CPU_MAX: &str = "/sys/fs/cgroup/web.slice/web.service/cpu.max";

    fn group(path: &str) -> GroupDirectory {
        let directory = format!("/sys/fs/cgroup{path}").into();
        let version = CgroupVersion::V2;
        let controllers = Controller::ALL.to_vec();
        GroupDirectory { path: path.to_owned(), files: ControllerFiles { version, controllers, directory } }
    }

    /// Recorded: a service of systemd with a quota of its own, in a slice with less memory. By hand: 30 ms of 100 ms.
    #[test]
    fn limits_are_read_with_their_use_and_again_when_they_change() {
        let mut limits = RemoteLimits::Sought(vec![group("/web.slice/web.service"), group("/web.slice")]);
        assert!(limits.needs_cpus());
        let files = limits.files();
        for name in ["web.slice/web.service/cpu.max", "web.slice/memory.max", "web.slice/io.max"] {
            assert!(files.contains(&PathBuf::from(format!("/sys/fs/cgroup/{name}"))), "{name}: {files:?}");
        }
        let printed = "/sys/devices/system/cpu/online:0-3\n\
                       /sys/fs/cgroup/web.slice/web.service/cpu.max:30000 100000\n\
                       /sys/fs/cgroup/web.slice/web.service/memory.max:max\n\
                       /sys/fs/cgroup/web.slice/memory.max:134217728\n\
                       /proc/10/stat:10 (x)\n/sys/fs/cgroup/elsewhere/cpu.max:1 2\n";
        let cpus = CpuLists::of(["Cpus_allowed_list:\t1", "Cpus_allowed_list:\t3"].into_iter(), true);
        let mut readings = Vec::new();
        limits.read(&texts_of(printed, &files), &cpus, "port=80", &mut readings);
        let limit = |counter, instance: &str, value| Reading::of(counter, instance, value);
        let known = [
            limit(Counter::SutQuota, "port=80", 300_000),
            limit(Counter::SutMemoryMax, "port=80", 134_217_728),
            limit(Counter::SutAllowedCpu, "port=80 1", 1),
            limit(Counter::SutAllowedCpu, "port=80 3", 1),
        ];
        assert_eq!(readings, known);
        let files = limits.files();
        assert!(!limits.needs_cpus() && files.contains(&PathBuf::from(CPU_MAX)), "{files:?}");
        assert!(!files.iter().any(|path| path.ends_with("cpuset.cpus.effective")), "{files:?}");
        let printed = "/sys/fs/cgroup/web.slice/web.service/cpu.max:30000 100000\n\
                       /sys/fs/cgroup/web.slice/memory.max:134217728\n\
                       /sys/fs/cgroup/web.slice/web.service/cpu.stat:usage_usec 9000\n\
                       /sys/fs/cgroup/web.slice/web.service/cpu.stat:nr_periods 10\n\
                       /sys/fs/cgroup/web.slice/web.service/cpu.stat:nr_throttled 3\n\
                       /sys/fs/cgroup/web.slice/memory.current:130000000\n";
        readings.clear();
        limits.read(&texts_of(printed, &files), &CpuLists::default(), "port=80", &mut readings);
        let uses = [
            limit(Counter::SutLimitedMemory, "port=80", 130_000_000),
            limit(Counter::SutQuotaCpu, "port=80", 9000),
            limit(Counter::SutPeriods, "port=80", 10),
            limit(Counter::SutThrottledPeriods, "port=80", 3),
        ];
        assert_eq!(readings, [&known[..], &uses].concat());
        // Somebody lifts the limit on memory and halves the quota; the CPUs are those that were found.
        let printed = format!("{CPU_MAX}:15000 100000\n/sys/fs/cgroup/web.slice/memory.max:max\n");
        readings.clear();
        limits.read(&texts_of(&printed, &files), &CpuLists::default(), "port=80", &mut readings);
        let changed = [limit(Counter::SutQuota, "port=80", 150_000), known[2].clone(), known[3].clone()];
        assert_eq!(readings, changed);
        assert!(!limits.files().iter().any(|path| path.ends_with("memory.current")));
    }
}
