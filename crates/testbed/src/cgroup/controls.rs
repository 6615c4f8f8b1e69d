//! Settings that enforce a group's limits.

use std::path::{Path, PathBuf};
use std::{fs, io};

use observe::cgroup::{CgroupVersion, Controller};
use observe::{format_cpu_list, kernel_file};

use super::{Quota, ResourceLimits};

/// A file of a group that could not be written.
#[derive(Debug, thiserror::Error)]
#[error("{}: {source}", path.display())]
pub(super) struct ControlFileError {
    path: PathBuf,
    source: io::Error,
}

/// A file of a group and its new content.
type Setting = (&'static str, String);

/// Enforces a group's limits, as far as one controller is concerned.
///
/// # Errors
/// The first file that could not be written, and the error. Never without a limit.
pub(super) fn apply(
    version: CgroupVersion,
    controller: Controller,
    directory: &Path,
    limits: &ResourceLimits,
) -> Result<(), ControlFileError> {
    if version == CgroupVersion::V1 && controller == Controller::Blkio {
        count_all_disks(directory);
    }
    write(directory, &settings(version, controller, directory, limits))
}

/// Changes a group's limits, as far as one controller is concerned: lifts those that it had and sets the next ones.
///
/// # Errors
/// The first file that could not be written, and the error.
pub(super) fn change(
    version: CgroupVersion,
    controller: Controller,
    directory: &Path,
    [before, next]: [&ResourceLimits; 2],
) -> Result<(), ControlFileError> {
    write(directory, &lifted(version, controller, before))?;
    write(directory, &settings(version, controller, directory, next))
}

fn write(directory: &Path, settings: &[Setting]) -> Result<(), ControlFileError> {
    settings.iter().try_for_each(|(file, text)| {
        let path = directory.join(file);
        fs::write(&path, text).map_err(|source| ControlFileError { path, source })
    })
}

/// Returns whether any of the limits concerns a controller.
pub(super) fn is_limited(controller: Controller, limits: &ResourceLimits) -> bool {
    match controller {
        Controller::Cpu => limits.quota.is_some(),
        Controller::Cpuacct => false,
        Controller::Memory => limits.memory.is_some(),
        Controller::Blkio => limits.disk.is_some(),
        Controller::Cpuset => !limits.cpus.is_empty(),
    }
}

/// Makes the parent delegate its controllers, which version 2 does only on request. Failures show when a
/// limit is written, or as missing counters.
pub(super) fn delegate_controllers(parent: &Path) {
    let path = parent.join("cgroup.subtree_control");
    let handed = kernel_file::read(&path).unwrap_or_default();
    for name in Controller::ALL.into_iter().filter_map(Controller::name_v2) {
        if !handed.split(' ').any(|known| known == name) {
            // One at a time: an unavailable controller would block the others.
            let _ = fs::write(&path, format!("+{name}"));
        }
    }
}

fn settings(
    version: CgroupVersion,
    controller: Controller,
    directory: &Path,
    limits: &ResourceLimits,
) -> Vec<Setting> {
    match (controller, version) {
        (Controller::Cpu, _) => limits.quota.map(|cpus| quota(version, cpus)).unwrap_or_default(),
        (Controller::Cpuacct, _) => Vec::new(),
        (Controller::Memory, CgroupVersion::V1) => {
            limits.memory.map(|bytes| ("memory.limit_in_bytes", bytes.to_string())).into_iter().collect()
        }
        (Controller::Memory, CgroupVersion::V2) => {
            limits.memory.map(|bytes| ("memory.max", bytes.to_string())).into_iter().collect()
        }
        (Controller::Blkio, _) => disk(version, limits),
        (Controller::Cpuset, CgroupVersion::V1) => cpus_and_nodes(directory, &limits.cpus),
        (Controller::Cpuset, CgroupVersion::V2) if limits.cpus.is_empty() => Vec::new(),
        (Controller::Cpuset, CgroupVersion::V2) => vec![("cpuset.cpus", format_cpu_list(&limits.cpus))],
    }
}

/// Returns what lifts the limits, except to CPUs in version 1, where a group that is not limited has those of its parent.
fn lifted(version: CgroupVersion, controller: Controller, limits: &ResourceLimits) -> Vec<Setting> {
    let has = is_limited(controller, limits);
    let disk = limits.disk.iter().flat_map(|disk| disk.numbers().map(|number| (&disk.device, number)));
    match (controller, version) {
        (Controller::Cpuacct, _) | (Controller::Cpuset, CgroupVersion::V1) => Vec::new(),
        (Controller::Blkio, CgroupVersion::V1) => {
            disk.map(|(device, (file, _, _))| (file, format!("{device} 0"))).collect()
        }
        (Controller::Blkio, CgroupVersion::V2) => {
            disk.map(|(device, (_, key, _))| ("io.max", format!("{device} {key}=max"))).collect()
        }
        _ if !has => Vec::new(),
        (Controller::Cpuset, CgroupVersion::V2) => vec![("cpuset.cpus", "\n".to_owned())],
        (Controller::Cpu, CgroupVersion::V1) => vec![("cpu.cfs_quota_us", "-1".to_owned())],
        (Controller::Cpu, CgroupVersion::V2) => vec![("cpu.max", "max".to_owned())],
        (Controller::Memory, CgroupVersion::V1) => vec![("memory.limit_in_bytes", "-1".to_owned())],
        (Controller::Memory, CgroupVersion::V2) => vec![("memory.max", "max".to_owned())],
    }
}

fn quota(version: CgroupVersion, cpus: f64) -> Vec<Setting> {
    let Quota { quota_us, period_us } = Quota::new(cpus);
    match version {
        CgroupVersion::V1 => {
            vec![("cpu.cfs_period_us", period_us.to_string()), ("cpu.cfs_quota_us", quota_us.to_string())]
        }
        CgroupVersion::V2 => vec![("cpu.max", format!("{quota_us} {period_us}"))],
    }
}

fn disk(version: CgroupVersion, limits: &ResourceLimits) -> Vec<Setting> {
    let Some(disk) = &limits.disk else { return Vec::new() };
    let numbers = disk.numbers();
    match version {
        CgroupVersion::V1 => {
            numbers.map(|(file, _, number)| (file, format!("{} {number}", disk.device))).collect()
        }
        CgroupVersion::V2 => {
            let keys: String = numbers.map(|(_, key, number)| format!(" {key}={number}")).collect();
            vec![("io.max", format!("{}{keys}", disk.device))]
        }
    }
}

/// Version 1 creates groups without CPUs and memory nodes, which no process can enter: unlimited ones are
/// copied from the parent.
fn cpus_and_nodes(directory: &Path, cpus: &[u32]) -> Vec<Setting> {
    let of_parent = |file: &'static str| {
        let text = directory.parent().and_then(|parent| kernel_file::read(parent.join(file)));
        (file, text.unwrap_or_default())
    };
    let cpus = match cpus {
        [] => of_parent("cpuset.cpus"),
        _ => ("cpuset.cpus", format_cpu_list(cpus)),
    };
    vec![of_parent("cpuset.mems"), cpus]
}

/// Enables disk accounting: newer kernels start it with the first setting, and "0", no limit, is enough.
///
/// Seen on Linux 6.18; block/blk-throttle.c.
fn count_all_disks(directory: &Path) {
    let Ok(disks) = fs::read_dir("/sys/block") else { return };
    for disk in disks.flatten() {
        let name = disk.file_name();
        let poses_as_disk =
            ["loop", "ram", "zram"].iter().any(|kind| name.to_string_lossy().starts_with(kind));
        if let Some(device) = kernel_file::read(disk.path().join("dev")).filter(|_| !poses_as_disk) {
            // A disk that refuses is not accounted.
            let _ = fs::write(directory.join("blkio.throttle.read_bps_device"), format!("{device} 0"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::DiskLimits;
    use super::*;
    use CgroupVersion::*;
    use Controller::*;

    fn limits() -> ResourceLimits {
        let disk = DiskLimits {
            device: "254:0".into(),
            read_bytes: Some(1_000_000),
            writes: Some(50),
            ..DiskLimits::default()
        };
        ResourceLimits { cpus: vec![0, 1, 3], quota: Some(0.25), memory: Some(1 << 26), disk: Some(disk) }
    }

    /// An ordinary directory stands in for the kernel's: it holds what the kernel would read.
    #[test]
    fn limits_are_written_in_the_format_of_each_version() {
        let parent = tempfile::tempdir().unwrap();
        fs::write(parent.path().join("cpuset.mems"), "0-1\n").unwrap();
        let directory = parent.path().join("group");
        fs::create_dir(&directory).unwrap();
        for (version, controller, files) in [
            (V1, Cpu, &[("cpu.cfs_period_us", "10000"), ("cpu.cfs_quota_us", "2500")][..]),
            (V1, Memory, &[("memory.limit_in_bytes", "67108864")]),
            (V1, Cpuset, &[("cpuset.mems", "0-1"), ("cpuset.cpus", "0-1,3")]),
            (
                V1,
                Blkio,
                &[
                    ("blkio.throttle.read_bps_device", "254:0 1000000"),
                    ("blkio.throttle.write_iops_device", "254:0 50"),
                ],
            ),
            (V2, Cpu, &[("cpu.max", "2500 10000")]),
            (V2, Memory, &[("memory.max", "67108864")]),
            (V2, Cpuset, &[("cpuset.cpus", "0-1,3")]),
            (V2, Blkio, &[("io.max", "254:0 rbps=1000000 wiops=50")]),
        ] {
            assert!(is_limited(controller, &limits()));
            apply(version, controller, &directory, &limits()).unwrap();
            for (file, text) in files {
                assert_eq!(fs::read_to_string(directory.join(file)).unwrap(), *text, "{version:?} {file}");
            }
        }
        let error = apply(V2, Cpu, Path::new("/nowhere"), &limits()).unwrap_err().to_string();
        assert!(error.starts_with("/nowhere/cpu.max: "), "{error}");
    }

    /// Goal: what was limited is free, and what is limited next is limited; an ordinary directory shows the last text of a file.
    #[test]
    fn limits_are_lifted_and_others_set() {
        let directory = tempfile::tempdir().unwrap();
        let next = ResourceLimits { quota: Some(0.5), ..ResourceLimits::default() };
        let none = ResourceLimits::default();
        for (version, controller, after, file, text) in [
            (V1, Cpu, &none, "cpu.cfs_quota_us", "-1"),
            (V1, Cpu, &next, "cpu.cfs_quota_us", "5000"),
            (V1, Memory, &next, "memory.limit_in_bytes", "-1"),
            (V1, Blkio, &next, "blkio.throttle.read_bps_device", "254:0 0"),
            (V1, Blkio, &next, "blkio.throttle.write_iops_device", "254:0 0"),
            (V2, Cpu, &none, "cpu.max", "max"),
            (V2, Cpu, &next, "cpu.max", "5000 10000"),
            (V2, Memory, &next, "memory.max", "max"),
            (V2, Cpuset, &next, "cpuset.cpus", "\n"),
            (V2, Blkio, &next, "io.max", "254:0 wiops=max"),
        ] {
            change(version, controller, directory.path(), [&limits(), after]).unwrap();
            let found = fs::read_to_string(directory.path().join(file)).unwrap();
            assert_eq!(found, text, "{version:?} {file}");
        }
    }

    #[test]
    fn without_a_limit_nothing_is_written() {
        for controller in Controller::ALL {
            assert!(!is_limited(controller, &ResourceLimits::default()));
            assert!(
                [V1, V2].iter().all(|one| lifted(*one, controller, &ResourceLimits::default()).is_empty())
            );
            for version in [V1, V2].into_iter().filter(|version| (*version, controller) != (V1, Cpuset)) {
                assert_eq!(
                    settings(version, controller, Path::new("/nowhere"), &ResourceLimits::default()),
                    []
                );
            }
        }
        let parent = tempfile::tempdir().unwrap();
        fs::write(parent.path().join("cpuset.mems"), "0").unwrap();
        fs::write(parent.path().join("cpuset.cpus"), "0-1").unwrap();
        let of_parent = settings(V1, Cpuset, &parent.path().join("group"), &ResourceLimits::default());
        assert_eq!(of_parent, [("cpuset.mems", "0".to_owned()), ("cpuset.cpus", "0-1".to_owned())]);
    }

    #[test]
    fn delegated_controllers_are_not_requested_again() {
        let parent = tempfile::tempdir().unwrap();
        let path = parent.path().join("cgroup.subtree_control");
        fs::write(&path, "cpuset cpu io\n").unwrap();
        delegate_controllers(parent.path());
        assert_eq!(fs::read_to_string(&path).unwrap(), "+memory");
        fs::write(&path, "cpuset cpu io memory\n").unwrap();
        delegate_controllers(parent.path());
        assert_eq!(fs::read_to_string(&path).unwrap(), "cpuset cpu io memory\n");
    }
}
