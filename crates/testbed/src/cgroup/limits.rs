//! Resource limits of a system under test.

use std::fmt;

use units::Bytes;

/// Resource limits of a system under test. No limit by default.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ResourceLimits {
    /// CPUs that it may run on; empty for all CPUs of this process.
    pub cpus: Vec<u32>,
    /// CPU time per second, in CPUs.
    pub quota: Option<f64>,
    /// Memory in bytes, including the page cache.
    pub memory: Option<u64>,
    /// Traffic of one disk.
    pub disk: Option<DiskLimits>,
}

/// Limits on the traffic of one disk, per second. No limit by default.
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
    /// Returns the values with the file name of version 1 and the key of version 2.
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
    /// Formats the limits: `1000000 B/s read, 50 writes/s on 254:0`.
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

/// Formats a memory limit.
pub(crate) fn memory_text(bytes: u64) -> String {
    format!("{bytes} bytes ({})", Bytes(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn disk_limits_are_formatted_one_by_one() {
        let limits = DiskLimits {
            device: "254:0".into(),
            read_bytes: Some(1_000_000),
            writes: Some(50),
            ..DiskLimits::default()
        };
        assert_eq!(limits.to_string(), "1000000 B/s read, 50 writes/s on 254:0");
        let numbers: Vec<_> = limits.numbers().collect();
        let read = "blkio.throttle.read_bps_device";
        let write = "blkio.throttle.write_iops_device";
        assert_eq!(numbers, [(read, "rbps", 1_000_000), (write, "wiops", 50)]);
    }
}
