//! The sizes of a database's buffers and log, as they follow from its data.

use units::Bytes;

/// Buffers and log for data of unknown size, in MiB.
const UNKNOWN_MIB: u64 = 1024;

/// The least size of buffers and log, in MiB: the default of the buffers of both PostgreSQL and MariaDB.
const MIB_MIN: u64 = 128;

/// The largest log, in MiB.
const LOG_MIB_MAX: u64 = 1024;

/// Sizes are multiples of this, in MiB. MariaDB divides its buffer pool into 64 chunks of whole MiB.
const STEP_MIB: u64 = 64;

/// Data that are loaded into a running server.
#[derive(Debug, Clone)]
pub struct DataContents {
    /// A text that data with other contents do not have.
    pub identity: String,
    /// Their expected size in the server, indexes included, in bytes; `None` if it is unknown.
    pub bytes: Option<u64>,
}

/// The sizes of a database's buffers and log, in MiB.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct BufferSizes {
    /// Size of its buffers.
    pub buffer_mib: u64,
    /// Size that they would have with enough memory.
    pub wanted_mib: u64,
    /// Size of its log.
    pub log_mib: u64,
}

impl BufferSizes {
    /// Returns the sizes for data of a server, and for the memory that it may use, both in bytes.
    ///
    /// Buffers have 1.5 times the size of the data: room for them and for the rows of a load point. The log has their
    /// size, at most 1 GiB, because it is copied when they are restored. Both have at least 128 MiB, and 1 GiB where the
    /// data are unknown. Buffers have at most half of the memory: the rest is for sessions and for the page cache.
    pub(crate) fn of(data: Option<u64>, memory: u64) -> BufferSizes {
        let stepped = |bytes: u64| (bytes >> 20).next_multiple_of(STEP_MIB).max(MIB_MIN);
        let wanted_mib = data.map_or(UNKNOWN_MIB, |bytes| stepped(bytes.saturating_add(bytes / 2)));
        let log_mib = data.map_or(UNKNOWN_MIB, stepped).min(LOG_MIB_MAX);
        BufferSizes { buffer_mib: wanted_mib.min((memory / 2) >> 20), wanted_mib, log_mib }
    }

    /// Returns the warning about buffers that the memory has no room for; `None` where it has.
    pub(crate) fn warning(&self) -> Option<String> {
        let [buffers, wanted] = [self.buffer_mib, self.wanted_mib].map(|mib| Bytes(mib << 20));
        (buffers < wanted).then(|| {
            format!(
                "the buffers of the server have {buffers}, half of the memory that it may use, in place of {wanted}: its \
                 data may be read from disk during load points"
            )
        })
    }
}

/// Returns the memory of this machine, in bytes.
pub(super) fn machine_memory() -> u64 {
    let found = rustix::system::sysinfo();
    // Sizes are in units of a byte on 64-bit machines.
    found.totalram.saturating_mul(u64::from(found.mem_unit))
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1 << 20;

    /// By hand: 1.5 · 874 = 1311, whose next multiple of 64 is 1344, and that of 874 is 896.
    #[test]
    fn buffers_and_log_follow_from_the_data() {
        let sizes = |data_mib: u64| {
            let BufferSizes { buffer_mib, wanted_mib, log_mib } =
                BufferSizes::of(Some(data_mib * MIB), 24_000 * MIB);
            assert_eq!(buffer_mib, wanted_mib);
            (buffer_mib, log_mib)
        };
        assert_eq!(sizes(874), (1344, 896));
        assert_eq!(sizes(7000), (10_560, 1024));
        assert_eq!([sizes(0), sizes(85)], [(128, 128); 2]);
        assert_eq!(BufferSizes::of(None, 24_000 * MIB).buffer_mib, 1024);
        assert_eq!(BufferSizes::of(None, 24_000 * MIB).log_mib, 1024);
        assert_eq!(BufferSizes::of(Some(u64::MAX), 24_000 * MIB).log_mib, 1024);
    }

    #[test]
    fn buffers_have_at_most_half_of_the_memory() {
        let cut = BufferSizes::of(Some(874 * MIB), 1000 * MIB);
        assert_eq!(cut, BufferSizes { buffer_mib: 500, wanted_mib: 1344, log_mib: 896 });
        let warning = cut.warning().unwrap();
        assert!(warning.starts_with("the buffers of the server have 500.0 MiB, half of "), "{warning}");
        assert!(warning.contains(" in place of 1.3 GiB: "), "{warning}");
        assert_eq!(BufferSizes::of(Some(874 * MIB), 2688 * MIB).warning(), None, "just enough");
        assert!(MIB < machine_memory());
    }
}
