//! The limits that control groups set for a group of watched processes, with their use.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use model::{Counter, Reading};

use crate::cgroup::{CgroupLimit, CgroupLimitKind, Controller};
use crate::kernel_file::KernelFile;
use crate::monitor::kernel::limit::{LIMIT_FILES, LimitParse, REFAULTS};
use crate::watch::GroupLimits;

/// The limits of a group, with the files that tell their use by all processes of the control groups that set them.
#[derive(Debug, Default)]
pub(in crate::monitor) struct LimitUses {
    /// The limits; instances without the group's name.
    limits: Vec<Reading>,
    files: BTreeMap<PathBuf, Vec<LimitUse>>,
}

/// The limits of a group, with the open files of their use.
#[derive(Debug, Default)]
pub(super) struct LimitFiles {
    uses: LimitUses,
    open: Vec<(PathBuf, KernelFile)>,
}

/// The use of one limit in a file: the numbers of the disk, empty if the limit is on none, and the parser.
type LimitUse = (String, LimitParse);

impl LimitUses {
    /// Returns the files of these limits. Refaults are read only of a group whose own are not known.
    pub(in crate::monitor) fn of(limits: &GroupLimits, knows_refaults: bool) -> LimitUses {
        let of_cgroup =
            |limit: &CgroupLimit| Reading::of(counter(limit.kind), limit.disk.clone(), limit.value);
        let allowed = limits.cpus.iter().flat_map(|allowed| &allowed.cpus);
        let allowed = allowed.map(|cpu| Reading::of(Counter::SutAllowedCpu, cpu.to_string(), 1));
        let mut files: BTreeMap<PathBuf, Vec<LimitUse>> = BTreeMap::new();
        for limit in &limits.of_cgroups {
            for (path, parse) in files_of(limits, limit, knows_refaults) {
                files.entry(path).or_default().push((limit.disk.clone(), parse));
            }
        }
        LimitUses { limits: limits.of_cgroups.iter().map(of_cgroup).chain(allowed).collect(), files }
    }

    /// Returns the paths of the files.
    pub(in crate::monitor) fn paths(&self) -> impl Iterator<Item = &PathBuf> {
        self.files.keys()
    }

    /// Reports the limits as those of the group named `label`.
    pub(in crate::monitor) fn report(&self, label: &str, into: &mut Vec<Reading>) {
        for limit in &self.limits {
            into.push(Reading { instance: instance(label, &limit.instance), ..limit.clone() });
        }
    }

    /// Reports the uses that are in the text of one of the files.
    pub(in crate::monitor) fn report_use(
        &self,
        path: &Path,
        text: &str,
        label: &str,
        into: &mut Vec<Reading>,
    ) {
        for (disk, parse) in self.files.get(path).into_iter().flatten() {
            let mut readings = Vec::new();
            parse(text, disk, &mut readings);
            into.extend(readings.into_iter().map(|one| Reading { instance: instance(label, disk), ..one }));
        }
    }
}

impl LimitFiles {
    /// Opens the files of these limits.
    pub(super) fn open(limits: &GroupLimits, knows_refaults: bool) -> LimitFiles {
        let uses = LimitUses::of(limits, knows_refaults);
        let open = uses.paths().filter_map(|path| Some((path.clone(), KernelFile::open(path).ok()?)));
        LimitFiles { open: open.collect(), uses }
    }

    /// Reads limits and uses as those of the group named `label`.
    pub(super) fn read(&self, label: &str, buffer: &mut Vec<u8>, into: &mut Vec<Reading>) {
        self.uses.report(label, into);
        for (path, file) in &self.open {
            if let Some(text) = file.text_in(buffer) {
                self.uses.report_use(path, &text, label, into);
            }
        }
    }
}

/// Returns the instance of a limit in series: the group, then the disk or the CPU that is limited, if any.
fn instance(label: &str, of: &str) -> String {
    match of {
        "" => label.to_owned(),
        of => format!("{label} {of}"),
    }
}

/// Returns the files that tell the use of a limit, with their parsers.
fn files_of(
    limits: &GroupLimits,
    limit: &CgroupLimit,
    knows_refaults: bool,
) -> impl Iterator<Item = (PathBuf, LimitParse)> {
    let version = limit.set_by.files.version;
    let all = LIMIT_FILES.iter().filter(move |(of, kind, ..)| (*of, *kind) == (version, limit.kind));
    let paths = all.filter_map(move |(_, _, controller, name, parse)| match controller {
        Controller::Cpuacct => Some((limits.account(limit)?.files.directory.join(name), *parse)),
        _ => Some((limit.file(name), *parse)),
    });
    let (name, parse) = REFAULTS;
    let refaults =
        (limit.kind == CgroupLimitKind::Memory && !knows_refaults).then(|| (limit.file(name), parse));
    paths.chain(refaults)
}

/// Returns the counter of a limit.
fn counter(kind: CgroupLimitKind) -> Counter {
    match kind {
        CgroupLimitKind::CpuQuota => Counter::SutQuota,
        CgroupLimitKind::Memory => Counter::SutMemoryMax,
        CgroupLimitKind::Reads => Counter::SutReadsMax,
        CgroupLimitKind::Writes => Counter::SutWritesMax,
        CgroupLimitKind::ReadBytes => Counter::SutReadBytesMax,
        CgroupLimitKind::WriteBytes => Counter::SutWriteBytesMax,
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::cgroup::{CgroupVersion, ControllerFiles, GroupDirectory};
    use crate::kernel_file;

    /// Goal: a limit, its use by the whole group that sets it, and the names of both.
    #[test]
    fn limits_and_their_use_are_read_under_the_groups_name() {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in [
            ("cpu.max", "30000 100000\n"),
            ("cpu.stat", "usage_usec 9000\nnr_periods 10\nnr_throttled 3\nthrottled_usec 5\n"),
            ("memory.max", "1000000\n"),
            ("memory.current", "900000\n"),
            ("memory.stat", "workingset_refault_file 6\n"),
            ("io.max", "8:0 riops=80 wbps=9000\n"),
            ("io.stat", "8:0 wbytes=500 rios=7 wios=1\n"),
        ] {
            fs::write(folder.path().join(name), text).unwrap();
        }
        let files = ControllerFiles {
            version: CgroupVersion::V2,
            controllers: Controller::ALL.to_vec(),
            directory: folder.path().to_owned(),
        };
        let directories = [GroupDirectory { path: "/web".to_owned(), files }];
        let of_cgroups = CgroupLimit::least(&directories, &|path: &Path| kernel_file::read(path));
        let limits = GroupLimits { of_cgroups, ..GroupLimits::default() };
        let read = |knows_refaults| {
            let mut readings = Vec::new();
            LimitFiles::open(&limits, knows_refaults).read("port=80", &mut Vec::new(), &mut readings);
            readings
        };
        let expected = [
            (Counter::SutQuota, "port=80", 300_000),
            (Counter::SutMemoryMax, "port=80", 1_000_000),
            (Counter::SutReadsMax, "port=80 8:0", 80),
            (Counter::SutWriteBytesMax, "port=80 8:0", 9_000),
            (Counter::SutQuotaCpu, "port=80", 9_000),
            (Counter::SutPeriods, "port=80", 10),
            (Counter::SutThrottledPeriods, "port=80", 3),
            (Counter::SutThrottled, "port=80", 5),
            (Counter::SutLimitedMemory, "port=80", 900_000),
            (Counter::SutRefaults, "port=80", 6),
            (Counter::SutLimitedReads, "port=80 8:0", 7),
            (Counter::SutLimitedWriteBytes, "port=80 8:0", 500),
        ];
        let mut expected =
            expected.map(|(counter, instance, value)| Reading::of(counter, instance, value)).to_vec();
        let sort = |readings: &mut Vec<Reading>| {
            readings
                .sort_by(|one, other| (one.counter, &one.instance).cmp(&(other.counter, &other.instance)));
        };
        let mut found = read(false);
        sort(&mut found);
        sort(&mut expected);
        assert_eq!(found, expected);
        assert!(read(true).iter().all(|one| one.counter != Counter::SutRefaults));
    }
}
