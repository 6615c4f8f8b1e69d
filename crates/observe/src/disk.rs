//! The disk that holds a file, and its free space.

use std::path::Path;

use rustix::fs::{major, minor, stat, statvfs};

use crate::kernel_file;

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
    let path = std::path::absolute(path).ok()?;
    let existing = path.ancestors().find(|path| path.exists())?;
    let system = statvfs(existing).ok()?;
    Some(system.f_bavail.saturating_mul(system.f_frsize))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_file_systems_have_no_disk() {
        assert_eq!(disk_of(Path::new("/proc")), None);
        assert_eq!(disk_of(Path::new("/no/such")), None);
        if let Some(disk) = disk_of(Path::new("/")) {
            assert!(Path::new(&format!("/sys/dev/block/{disk}/queue")).exists(), "{disk} is a whole disk");
        }
    }
}
