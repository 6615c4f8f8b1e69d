//! The memory of a test's own process.

/// Returns the resident memory of this process, in bytes, where pages have 4 KiB.
///
/// # Panics
/// If the kernel does not tell it.
pub fn resident_bytes() -> u64 {
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap();
    let pages: u64 = statm.split_whitespace().nth(1).unwrap().parse().unwrap();
    pages * 4096
}
