//! The disk that holds a file, and its free space.

use std::path::{Path, PathBuf};

use rustix::fs::{major, minor, stat, statfs, statvfs};

use crate::kernel_file;

/// Types of file systems that are in memory: tmpfs and ramfs (statfs(2)).
const IN_MEMORY: [u64; 2] = [0x0102_1994, 0x8584_58F6];

/// Returns the whole disk that holds a file or directory, as `MAJOR:MINOR`; `None` if the kernel names none,
/// as for memory, network and multi-disk file systems.
pub fn disk_of(path: &Path) -> Option<String> {
    let device = stat(path).ok()?.st_dev;
    let directory = format!("/sys/dev/block/{}:{}", major(device), minor(device));
    let is_partition = Path::new(&directory).join("partition").exists();
    kernel_file::read(if is_partition { format!("{directory}/../dev") } else { format!("{directory}/dev") })
}

/// Returns the bytes available to an ordinary user on the file system of a path, or of its nearest existing parent; `None`
/// if the system does not say.
pub fn free_bytes(path: &Path) -> Option<u64> {
    let system = statvfs(&nearest_existing(path)?).ok()?;
    Some(system.f_bavail.saturating_mul(system.f_frsize))
}

/// Returns whether two paths, or their nearest existing parents, are on one file system; `false` if the system does not say.
pub fn share_file_system(one: &Path, other: &Path) -> bool {
    let device = |path| stat(&nearest_existing(path)?).ok().map(|found| found.st_dev);
    device(one).is_some_and(|found| device(other) == Some(found))
}

/// Returns whether the file system of a path, or of its nearest existing parent, is in memory; `false` if the system does
/// not say.
pub fn is_in_memory(path: &Path) -> bool {
    let system = nearest_existing(path).and_then(|existing| statfs(&existing).ok());
    // The type has 32 bits, and its sign is none of the file system.
    system.is_some_and(|system| IN_MEMORY.contains(&(system.f_type as u64 & 0xFFFF_FFFF)))
}

fn nearest_existing(path: &Path) -> Option<PathBuf> {
    let path = std::path::absolute(path).ok()?;
    path.ancestors().find(|path| path.exists()).map(Path::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_in_memory_are_told_from_those_on_a_disk() {
        for (path, expected) in
            [("/dev/shm", true), ("/dev/shm/no/such", true), ("/proc", false), ("/var/tmp/no/such", false)]
        {
            assert_eq!(is_in_memory(Path::new(path)), expected, "{path}");
        }
    }

    #[test]
    fn file_systems_are_those_of_existing_parents() {
        let shares = |one: &str, other: &str| share_file_system(Path::new(one), Path::new(other));
        assert!(shares("/dev/shm", "/dev/shm/no/such") && shares("/proc/no/such", "/proc/self"));
        assert!(!shares("/dev/shm/no/such", "/proc/no/such"));
    }

    #[test]
    fn memory_file_systems_have_no_disk() {
        assert_eq!(disk_of(Path::new("/proc")), None);
        assert_eq!(disk_of(Path::new("/no/such")), None);
        if let Some(disk) = disk_of(Path::new("/")) {
            assert!(Path::new(&format!("/sys/dev/block/{disk}/queue")).exists(), "{disk} is a whole disk");
        }
    }
}
