//! The limits that a system under test can be held to.

use std::fmt;
use std::path::Path;

use rustix::fs::{major, minor, stat};
use units::Bytes;

use crate::system_file;

/// What a system under test may use at most. The default is no limit.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Limits {
    /// CPUs that it may run on; empty for all that this process has.
    pub cpus: Vec<u32>,
    /// CPU time per second, in CPUs.
    pub quota: Option<f64>,
    /// Memory in bytes, file pages included.
    pub memory: Option<u64>,
    /// Traffic with one disk.
    pub disk: Option<DiskLimits>,
}

/// Limits on the traffic with one disk, per second each. The default is none.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DiskLimits {
    /// The whole disk, as `MAJOR:MINOR`.
    pub device: String,
    /// Bytes read.
    pub read_bytes: Option<u64>,
    /// Bytes written.
    pub write_bytes: Option<u64>,
    /// Reads.
    pub reads: Option<u64>,
    /// Writes.
    pub writes: Option<u64>,
}

impl DiskLimits {
    /// Returns the numbers with what version 1 calls the file of each, and version 2 the key.
    pub(super) fn numbers(&self) -> impl Iterator<Item = (&'static str, &'static str, u64)> {
        let all = [
            ("blkio.throttle.read_bps_device", "rbps", self.read_bytes),
            ("blkio.throttle.write_bps_device", "wbps", self.write_bytes),
            ("blkio.throttle.read_iops_device", "riops", self.reads),
            ("blkio.throttle.write_iops_device", "wiops", self.writes),
        ];
        all.into_iter().filter_map(|(file, key, number)| Some((file, key, number?)))
    }
}

impl fmt::Display for DiskLimits {
    /// Writes the limits for people: `1000000 B/s read, 50 writes/s on 254:0`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let all = [
            (self.read_bytes, "B/s read"),
            (self.write_bytes, "B/s written"),
            (self.reads, "reads/s"),
            (self.writes, "writes/s"),
        ];
        let parts: Vec<String> =
            all.iter().filter_map(|(number, what)| Some(format!("{} {what}", (*number)?))).collect();
        write!(f, "{} on {}", parts.join(", "), self.device)
    }
}

/// Writes a limit on memory for people.
pub fn memory_text(bytes: u64) -> String {
    format!("{bytes} bytes ({})", Bytes(bytes))
}

/// Returns the whole disk that a file or directory lies on, as `MAJOR:MINOR`; `None` if it lies on none that the
/// kernel names, such as memory, a network or several disks.
pub fn disk_of(path: &Path) -> Option<String> {
    let device = stat(path).ok()?.st_dev;
    let directory = format!("/sys/dev/block/{}:{}", major(device), minor(device));
    let is_partition = Path::new(&directory).join("partition").exists();
    system_file::read(if is_partition { format!("{directory}/../dev") } else { format!("{directory}/dev") })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_on_a_disk_are_said_one_by_one() {
        let limits = DiskLimits {
            device: "254:0".into(),
            read_bytes: Some(1_000_000),
            writes: Some(50),
            ..DiskLimits::default()
        };
        assert_eq!(limits.to_string(), "1000000 B/s read, 50 writes/s on 254:0");
        let numbers: Vec<_> = limits.numbers().collect();
        let (read, write) = ("blkio.throttle.read_bps_device", "blkio.throttle.write_iops_device");
        assert_eq!(numbers, [(read, "rbps", 1_000_000), (write, "wiops", 50)]);
    }

    #[test]
    fn memory_that_poses_as_files_lies_on_no_disk() {
        assert_eq!(disk_of(Path::new("/proc")), None);
        assert_eq!(disk_of(Path::new("/no/such")), None);
        if let Some(disk) = disk_of(Path::new("/")) {
            assert!(Path::new(&format!("/sys/dev/block/{disk}/queue")).exists(), "{disk} is a whole disk");
        }
    }
}
