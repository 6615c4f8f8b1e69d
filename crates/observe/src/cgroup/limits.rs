//! The limits that the control groups of processes set, and the groups above them: the least of each counts.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::hierarchy::{CgroupVersion, Controller};
use super::membership::GroupDirectory;

/// The kind of a limit of a control group.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum CgroupLimitKind {
    /// CPU time per second, in µs.
    CpuQuota,
    /// Memory, in bytes. Version 2 has two, `memory.high` and `memory.max`.
    Memory,
    /// Reads per second from a disk.
    Reads,
    /// Writes per second to a disk.
    Writes,
    /// Bytes per second from a disk.
    ReadBytes,
    /// Bytes per second to a disk.
    WriteBytes,
}

/// A limit, with the control group that sets it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CgroupLimit {
    /// The kind, which determines the unit.
    pub(crate) kind: CgroupLimitKind,
    /// The numbers of the disk that it limits: `8:0`; empty if it limits none.
    pub(crate) disk: String,
    /// The value in the unit of the kind.
    pub(crate) value: u64,
    /// The control group that sets it.
    pub(crate) set_by: GroupDirectory,
}

/// A value in a file: the disk, if any, and the limit.
type Found = (String, u64);

/// A reader of files, of this machine or another one: returns the text of a file, trimmed; `None` if it cannot be read.
pub(crate) type ReadFile<'a> = &'a dyn Fn(&Path) -> Option<String>;

/// A parser of limits, which may read other files of the directory by their names, too.
type LimitParse = fn(&str, &dyn Fn(&str) -> Option<String>) -> Vec<Found>;

/// A file with limits: its version, its controller, the kind, its name, and its parser.
type LimitFile = (CgroupVersion, Controller, CgroupLimitKind, &'static str, LimitParse);

/// The value of version 1 for "no limit" on memory: more bytes than any machine has.
const NO_LIMIT_BYTES: u64 = 1 << 62;

const MICROS: u64 = 1_000_000;

/// All files with limits.
const FILES: &[LimitFile] = {
    use CgroupLimitKind::*;
    use CgroupVersion::{V1, V2};
    use Controller::{Blkio, Cpu, Memory as Mem};
    &[
        (V1, Cpu, CpuQuota, "cpu.cfs_quota_us", quota_v1),
        (V2, Cpu, CpuQuota, "cpu.max", |text, _| quota(text)),
        (V1, Mem, Memory, "memory.limit_in_bytes", |text, _| memory(text)),
        (V2, Mem, Memory, "memory.high", |text, _| memory(text)),
        (V2, Mem, Memory, "memory.max", |text, _| memory(text)),
        (V1, Blkio, Reads, "blkio.throttle.read_iops_device", |text, _| per_disk(text, "")),
        (V1, Blkio, Writes, "blkio.throttle.write_iops_device", |text, _| per_disk(text, "")),
        (V1, Blkio, ReadBytes, "blkio.throttle.read_bps_device", |text, _| per_disk(text, "")),
        (V1, Blkio, WriteBytes, "blkio.throttle.write_bps_device", |text, _| per_disk(text, "")),
        (V2, Blkio, Reads, "io.max", |text, _| per_disk(text, "riops=")),
        (V2, Blkio, Writes, "io.max", |text, _| per_disk(text, "wiops=")),
        (V2, Blkio, ReadBytes, "io.max", |text, _| per_disk(text, "rbps=")),
        (V2, Blkio, WriteBytes, "io.max", |text, _| per_disk(text, "wbps=")),
    ]
};

/// The files in which a group names the CPUs that it may use, per version; effective ones first.
const CPU_FILES: [(CgroupVersion, &str); 3] = [
    (CgroupVersion::V1, "cpuset.effective_cpus"),
    (CgroupVersion::V1, "cpuset.cpus"),
    (CgroupVersion::V2, "cpuset.cpus.effective"),
];

impl CgroupLimit {
    /// Returns the least limit of each kind and disk that these directories set, sorted; of equal ones that of the
    /// innermost. A hierarchy's directories must be listed from the innermost.
    pub(crate) fn least(directories: &[GroupDirectory], read: ReadFile<'_>) -> Vec<CgroupLimit> {
        let mut least: Vec<CgroupLimit> = Vec::new();
        for limit in directories.iter().flat_map(|one| set_in(one, read)) {
            match least.iter_mut().find(|one| (one.kind, &one.disk) == (limit.kind, &limit.disk)) {
                Some(known) if limit.value < known.value => *known = limit,
                Some(_) => {}
                None => least.push(limit),
            }
        }
        least.sort_by(|one, other| (one.kind, &one.disk).cmp(&(other.kind, &other.disk)));
        least
    }

    /// Returns the files from which the limits that these directories set are read: those that reading asks for where none can
    /// be read.
    pub(crate) fn files(directories: &[GroupDirectory]) -> BTreeSet<PathBuf> {
        asked_for(|unread| {
            CgroupLimit::least(directories, unread);
        })
    }

    /// Returns the path of a file of the group that sets the limit.
    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.set_by.files.directory.join(name)
    }
}

/// Returns the files from which the limits that these directories set are read, and with them the group that restricts the CPUs.
pub(crate) fn limit_files(directories: &[GroupDirectory]) -> BTreeSet<PathBuf> {
    let mut files = CgroupLimit::files(directories);
    files.extend(asked_for(|unread| {
        group_with_cpus(directories, "", unread);
    }));
    files
}

/// Returns the files that a reader asks for where none can be read.
fn asked_for(read_all: impl FnOnce(ReadFile<'_>)) -> BTreeSet<PathBuf> {
    let files = RefCell::new(BTreeSet::new());
    read_all(&|path: &Path| {
        files.borrow_mut().insert(path.to_owned());
        None
    });
    files.into_inner()
}

/// Returns the outermost group that restricts its processes to exactly these CPUs, given as the kernel writes them.
pub(crate) fn group_with_cpus<'a>(
    directories: &'a [GroupDirectory],
    cpus: &str,
    read: ReadFile<'_>,
) -> Option<&'a GroupDirectory> {
    let names = |group: &GroupDirectory| {
        let files = CPU_FILES.iter().filter(|(version, _)| *version == group.files.version);
        let texts = files.filter_map(|(_, name)| read(&group.files.directory.join(name)));
        texts.take(1).any(|text| text == cpus)
    };
    directories
        .iter()
        .rev()
        .filter(|group| group.files.controllers.contains(&Controller::Cpuset))
        .find(|one| names(one))
}

/// Returns the limits that one directory sets.
fn set_in(group: &GroupDirectory, read: ReadFile<'_>) -> Vec<CgroupLimit> {
    let text = |name: &str| read(&group.files.directory.join(name));
    let files = FILES.iter().filter(|(version, controller, ..)| {
        *version == group.files.version && group.files.controllers.contains(controller)
    });
    let limits = files.flat_map(|(_, _, kind, name, parse)| {
        let found = parse(&text(name).unwrap_or_default(), &text).into_iter();
        found.map(|(disk, value)| CgroupLimit { kind: *kind, disk, value, set_by: group.clone() })
    });
    limits.collect()
}

/// Version 1, `cpu.cfs_quota_us`: −1 for none; the period is in another file.
fn quota_v1(text: &str, file: &dyn Fn(&str) -> Option<String>) -> Vec<Found> {
    quota(&format!("{text} {}", file("cpu.cfs_period_us").unwrap_or_default()))
}

/// Parses quota and period in µs; `max` or −1 for no quota.
fn quota(text: &str) -> Vec<Found> {
    let mut words = text.split_ascii_whitespace().map(|word| word.parse::<u64>().ok());
    let quota = words.next().flatten();
    let period = words.next().flatten().filter(|period| 0 < *period);
    let value = quota.zip(period).map(|(quota, period)| quota.saturating_mul(MICROS) / period);
    value.map(|value| (String::new(), value)).into_iter().collect()
}

/// Parses a limit on memory in bytes: version 2 writes `max` for none, version 1 a huge number.
pub(crate) fn memory_limit(text: &str) -> Option<u64> {
    text.trim().parse().ok().filter(|bytes| *bytes < NO_LIMIT_BYTES)
}

fn memory(text: &str) -> Vec<Found> {
    memory_limit(text).map(|bytes| (String::new(), bytes)).into_iter().collect()
}

/// Parses lines of a disk with its limits, in version 2 behind keys: `8:0 1048576`, `8:0 rbps=1048576 riops=max`. Zero is no
/// limit.
fn per_disk(text: &str, key: &str) -> Vec<Found> {
    let line = |line: &str| {
        let (disk, rest) = line.split_once(' ')?;
        let value = rest.split_ascii_whitespace().find_map(|word| word.strip_prefix(key))?;
        Some((disk.to_owned(), value.parse().ok().filter(|value| 0 < *value)?))
    };
    text.lines().filter_map(line).collect()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::super::group::ControllerFiles;
    use super::*;
    use crate::kernel_file;
    use CgroupLimitKind::*;

    fn here(path: &Path) -> Option<String> {
        kernel_file::read(path)
    }

    /// Makes a recorded directory tree: for each group its path and its files. Returns the directories from the innermost.
    fn tree(
        root: &Path,
        version: CgroupVersion,
        controllers: &[Controller],
        groups: &[(&str, &[(&str, &str)])],
    ) -> Vec<GroupDirectory> {
        let make = |(path, files): &(&str, &[(&str, &str)])| {
            let directory = root.join(path.trim_start_matches('/'));
            fs::create_dir_all(&directory).unwrap();
            files.iter().for_each(|(name, text)| fs::write(directory.join(name), text).unwrap());
            let files = ControllerFiles { version, controllers: controllers.to_vec(), directory };
            GroupDirectory { path: (*path).to_owned(), files }
        };
        groups.iter().map(make).collect()
    }

    fn told(limits: &[CgroupLimit]) -> Vec<(CgroupLimitKind, &str, u64, &str)> {
        limits.iter().map(|one| (one.kind, &*one.disk, one.value, &*one.set_by.path)).collect()
    }

    /// By hand: 30 ms of 100 ms are 0.3 CPUs, the pod's 50 of 200 are 0.25; the pod has less memory than the container.
    #[test]
    fn the_least_limit_of_a_group_and_its_ancestors_counts_in_version_2() {
        let root = tempfile::tempdir().unwrap();
        let groups: [(&str, &[(&str, &str)]); 3] = [
            (
                "/pod/web",
                &[
                    ("cpu.max", "30000 100000\n"),
                    ("memory.max", "max\n"),
                    ("memory.high", "268435456\n"),
                    ("io.max", "8:16 rbps=2097152 wbps=max riops=max wiops=120\n259:0 rbps=max riops=50\n"),
                ],
            ),
            (
                "/pod",
                &[
                    ("cpu.max", "50000 200000\n"),
                    ("memory.max", "134217728\n"),
                    ("memory.high", "max\n"),
                    ("io.max", "8:16 rbps=9999999 wbps=max riops=max wiops=100\n"),
                ],
            ),
            ("/", &[]),
        ];
        let directories = tree(root.path(), CgroupVersion::V2, &Controller::ALL, &groups);
        let limits = CgroupLimit::least(&directories, &here);
        assert_eq!(
            told(&limits),
            [
                (CpuQuota, "", 250_000, "/pod"),
                (Memory, "", 134_217_728, "/pod"),
                (Reads, "259:0", 50, "/pod/web"),
                (Writes, "8:16", 100, "/pod"),
                (ReadBytes, "8:16", 2_097_152, "/pod/web"),
            ]
        );
        assert_eq!(limits[0].file("cpu.stat"), root.path().join("pod/cpu.stat"));
    }

    #[test]
    fn the_hierarchies_of_version_1_are_read_by_controller() {
        let root = tempfile::tempdir().unwrap();
        let of = |name: &str, controllers: &[Controller], groups: &[(&str, &[(&str, &str)])]| {
            tree(&root.path().join(name), CgroupVersion::V1, controllers, groups)
        };
        let none: &[(&str, &str)] = &[("cpu.cfs_quota_us", "-1\n"), ("cpu.cfs_period_us", "100000\n")];
        let half: &[(&str, &str)] = &[("cpu.cfs_quota_us", "50000\n"), ("cpu.cfs_period_us", "100000\n")];
        let unlimited: &[(&str, &str)] = &[("memory.limit_in_bytes", "9223372036854771712\n")];
        let limited: &[(&str, &str)] = &[("memory.limit_in_bytes", "67108864\n")];
        let disks: &[(&str, &str)] = &[
            ("blkio.throttle.read_iops_device", "254:0 80\n"),
            ("blkio.throttle.write_iops_device", ""),
            ("blkio.throttle.read_bps_device", "254:0 1048576\n8:0 7\n"),
        ];
        let directories = [
            of("cpu", &[Controller::Cpu], &[("/a/b", none), ("/a", half), ("/", none)]),
            of("memory", &[Controller::Memory], &[("/a", limited), ("/", unlimited)]),
            of("blkio", &[Controller::Blkio], &[("/a", disks)]),
            // Files of a controller that is mounted elsewhere do not count.
            of("cpuset", &[Controller::Cpuset], &[("/a", half)]),
        ]
        .concat();
        assert_eq!(
            told(&CgroupLimit::least(&directories, &here)),
            [
                (CpuQuota, "", 500_000, "/a"),
                (Memory, "", 67_108_864, "/a"),
                (Reads, "254:0", 80, "/a"),
                (ReadBytes, "254:0", 1_048_576, "/a"),
                (ReadBytes, "8:0", 7, "/a"),
            ]
        );
    }

    #[test]
    fn the_group_that_restricts_the_cpus_is_the_outermost_with_these() {
        let root = tempfile::tempdir().unwrap();
        let one: &[(&str, &str)] = &[("cpuset.cpus.effective", "1\n")];
        let all: &[(&str, &str)] = &[("cpuset.cpus.effective", "0-1\n")];
        let groups = [("/a/b/c", one), ("/a/b", one), ("/a", all)];
        let directories = tree(root.path(), CgroupVersion::V2, &Controller::ALL, &groups);
        let path = |cpus| group_with_cpus(&directories, cpus, &here).map(|group| group.path.as_str());
        assert_eq!((path("1"), path("0-1"), path("0")), (Some("/a/b"), Some("/a"), None));
        let files: &[(&str, &str)] = &[("cpuset.cpus", "0-1\n"), ("cpuset.effective_cpus", "1\n")];
        let old = tree(&root.path().join("v1"), CgroupVersion::V1, &[Controller::Cpuset], &[("/a", files)]);
        assert!(group_with_cpus(&old, "1", &here).is_some() && group_with_cpus(&old, "0-1", &here).is_none());
    }

    /// Goal: whoever reads these files alone, on another machine, finds the same limits.
    #[test]
    fn the_files_with_limits_are_listed() {
        let root = tempfile::tempdir().unwrap();
        let groups: [(&str, &[(&str, &str)]); 2] = [
            ("/a/b", &[("cpu.cfs_quota_us", "50000\n"), ("cpu.cfs_period_us", "100000\n")]),
            ("/a", &[("cpuset.effective_cpus", "1\n"), ("memory.limit_in_bytes", "4096\n")]),
        ];
        let directories = tree(root.path(), CgroupVersion::V1, &Controller::ALL, &groups);
        let files = limit_files(&directories);
        let listed = |path: &Path| files.contains(path).then(|| here(path)).flatten();
        assert_eq!(CgroupLimit::least(&directories, &listed), CgroupLimit::least(&directories, &here));
        assert_eq!(CgroupLimit::least(&directories, &listed).len(), 2);
        assert_eq!(group_with_cpus(&directories, "1", &listed).map(|group| group.path.as_str()), Some("/a"));
    }

    #[test]
    fn texts_that_are_no_limits_set_none() {
        for text in ["", "max 100000", "-1 100000", "x y", "5 0", "5"] {
            assert_eq!(quota(text), [], "{text}");
        }
        for text in ["", "8:0", "8:0 rbps=max", "8:0 rbps=0", "rbps=5"] {
            assert_eq!(per_disk(text, "rbps="), [], "{text}");
        }
        assert_eq!(memory("max"), []);
    }
}
