//! Memory accounting of a control group.

use std::path::Path;

use super::hierarchy::CgroupVersion;
use crate::kernel_file::{keyed_number, read, refaults};

/// Memory of a control group.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct MemoryUse {
    /// Bytes in use, including the page cache.
    pub bytes: u64,
    /// Number of times the limit was reached.
    pub limit_hits: u64,
    /// Refaults: evicted pages that were needed again.
    pub refaults: u64,
}

impl MemoryUse {
    /// Reads the memory accounting of the group in a directory; `None` if its files are missing.
    pub fn read(version: CgroupVersion, directory: &Path) -> Option<MemoryUse> {
        let text = |name| read(directory.join(name));
        let refaults = refaults(&text("memory.stat")?, "").unwrap_or(0);
        let (bytes, limit_hits) = match version {
            CgroupVersion::V1 => (
                text("memory.usage_in_bytes")?,
                text("memory.failcnt").and_then(|text| text.trim().parse().ok()),
            ),
            CgroupVersion::V2 => {
                (text("memory.current")?, text("memory.events").and_then(|text| keyed_number(&text, "max")))
            }
        };
        Some(MemoryUse { bytes: bytes.trim().parse().ok()?, limit_hits: limit_hits?, refaults })
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn both_versions_are_parsed() {
        let stat = "cache 4096\nworkingset_refault_anon 2\nworkingset_refault_file 40\n\
                    total_workingset_refault_file 999\n";
        let expected = MemoryUse { bytes: 25_165_824, limit_hits: 31, refaults: 42 };
        for (version, files) in [
            (CgroupVersion::V1, [("memory.usage_in_bytes", "25165824\n"), ("memory.failcnt", "31\n")]),
            (
                CgroupVersion::V2,
                [("memory.current", "25165824\n"), ("memory.events", "low 0\nhigh 7\nmax 31\noom 1\n")],
            ),
        ] {
            let group = tempfile::tempdir().unwrap();
            assert_eq!(MemoryUse::read(version, group.path()), None);
            fs::write(group.path().join("memory.stat"), stat).unwrap();
            for (name, text) in files {
                fs::write(group.path().join(name), text).unwrap();
            }
            assert_eq!(MemoryUse::read(version, group.path()), Some(expected));
        }
    }
}
