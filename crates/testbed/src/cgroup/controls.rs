//! What is written into a group's files so that its limits hold.

use std::fs;
use std::path::Path;

use super::hierarchy::{Controller, Version};
use super::{Limits, Quota};
use crate::affinity::format_cpu_list;
use crate::system_file;

/// A file of a group and what it is given.
type Setting = (&'static str, String);

/// Makes a group's limits hold, as far as one controller is concerned.
///
/// # Errors
/// The first file that could not be written, and why. Without a limit there is nothing that could fail.
pub fn apply(
    version: Version,
    controller: Controller,
    directory: &Path,
    limits: &Limits,
) -> Result<(), String> {
    if version == Version::V1 && controller == Controller::Blkio {
        count_all_disks(directory);
    }
    settings(version, controller, directory, limits).iter().try_for_each(|(file, text)| {
        let path = directory.join(file);
        fs::write(&path, text).map_err(|error| format!("{}: {error}", path.display()))
    })
}

/// Returns whether a controller has to hold any of the limits.
pub fn is_limited(controller: Controller, limits: &Limits) -> bool {
    match controller {
        Controller::Cpu => limits.quota.is_some(),
        Controller::Cpuacct => false,
        Controller::Memory => limits.memory.is_some(),
        Controller::Blkio => limits.disk.is_some(),
        Controller::Cpuset => !limits.cpus.is_empty(),
    }
}

/// Tells the parent to hand its controllers down, which version 2 does only on request. What fails shows when a limit
/// is written, or in what is not counted.
pub fn hand_down(parent: &Path) {
    let path = parent.join("cgroup.subtree_control");
    let handed = system_file::read(&path).unwrap_or_default();
    for name in Controller::ALL.into_iter().filter_map(Controller::name_v2) {
        if !handed.split(' ').any(|known| known == name) {
            // Each alone: one that there is not would keep the others back.
            let _ = fs::write(&path, format!("+{name}"));
        }
    }
}

fn settings(version: Version, controller: Controller, directory: &Path, limits: &Limits) -> Vec<Setting> {
    match (controller, version) {
        (Controller::Cpu, _) => limits.quota.map(|cpus| quota(version, cpus)).unwrap_or_default(),
        (Controller::Cpuacct, _) => Vec::new(),
        (Controller::Memory, Version::V1) => {
            limits.memory.map(|bytes| ("memory.limit_in_bytes", bytes.to_string())).into_iter().collect()
        }
        (Controller::Memory, Version::V2) => {
            limits.memory.map(|bytes| ("memory.max", bytes.to_string())).into_iter().collect()
        }
        (Controller::Blkio, _) => disk(version, limits),
        (Controller::Cpuset, Version::V1) => cpus_and_nodes(directory, &limits.cpus),
        (Controller::Cpuset, Version::V2) if limits.cpus.is_empty() => Vec::new(),
        (Controller::Cpuset, Version::V2) => vec![("cpuset.cpus", format_cpu_list(&limits.cpus))],
    }
}

fn quota(version: Version, cpus: f64) -> Vec<Setting> {
    let Quota { quota_us, period_us } = Quota::new(cpus);
    match version {
        Version::V1 => {
            vec![("cpu.cfs_period_us", period_us.to_string()), ("cpu.cfs_quota_us", quota_us.to_string())]
        }
        Version::V2 => vec![("cpu.max", format!("{quota_us} {period_us}"))],
    }
}

fn disk(version: Version, limits: &Limits) -> Vec<Setting> {
    let Some(disk) = &limits.disk else { return Vec::new() };
    let numbers = disk.numbers();
    match version {
        Version::V1 => numbers.map(|(file, _, number)| (file, format!("{} {number}", disk.device))).collect(),
        Version::V2 => {
            let keys: String = numbers.map(|(_, key, number)| format!(" {key}={number}")).collect();
            vec![("io.max", format!("{}{keys}", disk.device))]
        }
    }
}

/// Version 1 makes groups without CPUs and memory nodes, which nobody can enter: what is not limited is the parent's.
fn cpus_and_nodes(directory: &Path, cpus: &[u32]) -> Vec<Setting> {
    let of_parent = |file: &'static str| {
        let text = directory.parent().and_then(|parent| system_file::read(parent.join(file)));
        (file, text.unwrap_or_default())
    };
    let cpus = match cpus {
        [] => of_parent("cpuset.cpus"),
        _ => ("cpuset.cpus", format_cpu_list(cpus)),
    };
    vec![of_parent("cpuset.mems"), cpus]
}

/// Newer kernels begin to count the traffic with a disk only with its first setting, and "0", no limit, will do.
///
/// Seen on Linux 6.18; block/blk-throttle.c.
fn count_all_disks(directory: &Path) {
    let Ok(disks) = fs::read_dir("/sys/block") else { return };
    for disk in disks.flatten() {
        let name = disk.file_name();
        let poses_as_disk =
            ["loop", "ram", "zram"].iter().any(|kind| name.to_string_lossy().starts_with(kind));
        if let Some(device) = system_file::read(disk.path().join("dev")).filter(|_| !poses_as_disk) {
            // A disk that refuses is not counted.
            let _ = fs::write(directory.join("blkio.throttle.read_bps_device"), format!("{device} 0"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::DiskLimits;
    use super::*;
    use Controller::*;
    use Version::*;

    fn limits() -> Limits {
        let disk = DiskLimits {
            device: "254:0".into(),
            read_bytes: Some(1_000_000),
            writes: Some(50),
            ..DiskLimits::default()
        };
        Limits { cpus: vec![0, 1, 3], quota: Some(0.25), memory: Some(1 << 26), disk: Some(disk) }
    }

    /// An ordinary directory stands for the kernel's: what is written is what the kernel would read.
    #[test]
    fn limits_are_written_as_each_version_reads_them() {
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
        let error = apply(V2, Cpu, Path::new("/nowhere"), &limits()).unwrap_err();
        assert!(error.starts_with("/nowhere/cpu.max: "), "{error}");
    }

    #[test]
    fn without_a_limit_nothing_is_written() {
        for controller in Controller::ALL {
            assert!(!is_limited(controller, &Limits::default()));
            for version in [V1, V2].into_iter().filter(|version| (*version, controller) != (V1, Cpuset)) {
                assert_eq!(settings(version, controller, Path::new("/nowhere"), &Limits::default()), []);
            }
        }
        let parent = tempfile::tempdir().unwrap();
        fs::write(parent.path().join("cpuset.mems"), "0").unwrap();
        fs::write(parent.path().join("cpuset.cpus"), "0-1").unwrap();
        let of_parent = settings(V1, Cpuset, &parent.path().join("group"), &Limits::default());
        assert_eq!(of_parent, [("cpuset.mems", "0".to_owned()), ("cpuset.cpus", "0-1".to_owned())]);
    }

    #[test]
    fn what_is_handed_down_already_is_not_asked_for_again() {
        let parent = tempfile::tempdir().unwrap();
        let path = parent.path().join("cgroup.subtree_control");
        fs::write(&path, "cpuset cpu io\n").unwrap();
        hand_down(parent.path());
        assert_eq!(fs::read_to_string(&path).unwrap(), "+memory");
        fs::write(&path, "cpuset cpu io memory\n").unwrap();
        hand_down(parent.path());
        assert_eq!(fs::read_to_string(&path).unwrap(), "cpuset cpu io memory\n");
    }
}
