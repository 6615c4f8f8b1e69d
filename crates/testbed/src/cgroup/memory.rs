//! The account of memory that a control group keeps.

use std::path::Path;

use super::hierarchy::Version;
use crate::system_file::{keyed_number, read};

/// Memory of a control group.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct MemoryUse {
    /// What is in use, in bytes, file pages included.
    pub bytes: u64,
    /// How often the limit was met.
    pub limit_hits: u64,
    /// Pages that were needed again after they had been evicted.
    pub refaults: u64,
}

impl MemoryUse {
    /// Reads the account of the group in a directory; `None` if its files are missing.
    pub fn read(version: Version, directory: &Path) -> Option<MemoryUse> {
        let text = |name| read(directory.join(name));
        let refaults = parse_refaults(&text("memory.stat")?);
        let (bytes, limit_hits) = match version {
            Version::V1 => (
                text("memory.usage_in_bytes")?,
                text("memory.failcnt").and_then(|text| text.trim().parse().ok()),
            ),
            Version::V2 => {
                (text("memory.current")?, text("memory.events").and_then(|text| keyed_number(&text, "max")))
            }
        };
        Some(MemoryUse { bytes: bytes.trim().parse().ok()?, limit_hits: limit_hits?, refaults })
    }
}

/// Reads `memory.stat`: one line for file pages and one for others, or one for both on kernels before 5.9.
fn parse_refaults(stat: &str) -> u64 {
    let number = |key| keyed_number(stat, key).unwrap_or(0);
    number("workingset_refault") + number("workingset_refault_file") + number("workingset_refault_anon")
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn both_versions_are_read() {
        let stat = "cache 4096\nworkingset_refault_anon 2\nworkingset_refault_file 40\n\
                    total_workingset_refault_file 999\n";
        let expected = MemoryUse { bytes: 25_165_824, limit_hits: 31, refaults: 42 };
        for (version, files) in [
            (Version::V1, [("memory.usage_in_bytes", "25165824\n"), ("memory.failcnt", "31\n")]),
            (
                Version::V2,
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
        assert_eq!(parse_refaults("workingset_refault 6\nworkingset_activate 9\n"), 6);
    }
}
