//! Resident memory of a system under test.

use std::path::Path;

use observe::kernel_file::read;

/// Resident memory of processes, in bytes.
#[derive(Debug, Default, PartialEq, Eq)]
struct Shares {
    /// Anonymous memory.
    anonymous: u64,
    /// File pages, such as programs.
    files: u64,
    /// Shared memory, and mapped files in memory.
    shared: u64,
}

/// Returns the resident memory of processes: their anonymous memory, their share of file pages, and files in
/// memory, of which only the control group knows those that are not mapped. `None` if no process can be read.
///
/// Source: proc_pid_smaps(5), `smaps_rollup`; memory controller, `shmem` in `memory.stat`.
pub(super) fn resident_bytes(processes: &[u32], group: Option<&Path>) -> Option<u64> {
    let rollups = processes.iter().filter_map(|pid| read(format!("/proc/{pid}/smaps_rollup")));
    let mut shares = rollups.filter_map(|text| parse_rollup(&text)).peekable();
    shares.peek()?;
    let sum = shares.fold(Shares::default(), |sum, one| Shares {
        anonymous: sum.anonymous + one.anonymous,
        files: sum.files + one.files,
        shared: sum.shared + one.shared,
    });
    let of_group = group.and_then(|directory| parse_shmem(&read(directory.join("memory.stat"))?));
    Some(sum.anonymous + sum.files + sum.shared.max(of_group.unwrap_or(0)))
}

fn parse_rollup(text: &str) -> Option<Shares> {
    let kib = |name: &str| {
        let value = text.lines().find_map(|line| line.strip_prefix(name))?;
        value.split_whitespace().next()?.parse::<u64>().ok()?.checked_mul(1024)
    };
    Some(Shares { anonymous: kib("Pss_Anon:")?, files: kib("Pss_File:")?, shared: kib("Pss_Shmem:")? })
}

fn parse_shmem(text: &str) -> Option<u64> {
    text.lines().find_map(|line| line.strip_prefix("shmem "))?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_parsed_from_the_kernels_lines() {
        let text = "55d0-7ffd ---p 00000000 00:00 0    [rollup]\nRss:    1708 kB\nPss_Dirty:  116 kB\n\
                    Pss_Anon:   116 kB\nPss_File:   122 kB\nPss_Shmem:   3 kB\n";
        let expected = Shares { anonymous: 116 << 10, files: 122 << 10, shared: 3 << 10 };
        assert_eq!(parse_rollup(text), Some(expected));
        assert_eq!(parse_rollup("Rss: 1 kB\n"), None);
        assert_eq!(parse_shmem("cache 7\nshmem 9084928\ntotal_shmem 31166464\n"), Some(9_084_928));
    }

    #[test]
    fn a_process_has_at_least_its_stack_resident() {
        let own = resident_bytes(&[std::process::id()], None).unwrap();
        assert!((64 << 10..8 << 30).contains(&own), "{own}");
        assert_eq!(resident_bytes(&[], None), None);
    }
}
