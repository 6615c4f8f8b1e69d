//! `/proc/meminfo` and `/proc/vmstat`: memory use, paging and refaults.

use model::{Counter, Reading};

use super::text::{keyed, keyed_counters};
use crate::kernel_file::refaults;

/// The unit of both files where they count bytes.
const KB: u64 = 1024;

/// Lines of `meminfo`.
const SIZES: [(&str, Counter); 4] = [
    ("MemTotal:", Counter::MemoryTotal),
    ("MemAvailable:", Counter::MemoryAvailable),
    ("Cached:", Counter::MemoryCached),
    ("Dirty:", Counter::MemoryDirty),
];

/// Lines of `vmstat` that count KB.
const PAGED: [(&str, Counter); 2] = [("pgpgin", Counter::PagedIn), ("pgpgout", Counter::PagedOut)];

/// Lines of `vmstat` that count pages and faults.
const PAGES: [(&str, Counter); 3] =
    [("pswpin", Counter::SwappedIn), ("pswpout", Counter::SwappedOut), ("pgmajfault", Counter::MajorFaults)];

/// Parses `meminfo`.
pub(super) fn parse(text: &str, into: &mut Vec<Reading>) {
    keyed_counters(text, &SIZES, KB, into);
    let size = |wanted: &str| keyed(text).find(|(key, _)| *key == wanted).map(|(_, number)| number);
    if let (Some(total), Some(free)) = (size("SwapTotal:"), size("SwapFree:")) {
        into.push(Reading::new(Counter::SwapUsed, total.saturating_sub(free).saturating_mul(KB)));
    }
}

/// Parses `vmstat`.
pub(super) fn parse_paging(text: &str, into: &mut Vec<Reading>) {
    keyed_counters(text, &PAGED, KB, into);
    keyed_counters(text, &PAGES, 1, into);
    into.extend(refaults(text, "").map(|number| Reading::new(Counter::Refaults, number)));
}

#[cfg(test)]
mod tests {
    use super::super::testing::check;
    use super::*;
    use Counter::*;

    #[test]
    fn sizes_are_in_bytes_and_swap_counts_used_space() {
        let text = "MemTotal:       16372008 kB\nMemFree:         1000000 kB\nMemAvailable:   14000000 kB\n\
                    Buffers:          123456 kB\nCached:          2000000 kB\nSwapCached:            8 kB\n\
                    SwapTotal:       1048576 kB\nSwapFree:        1048476 kB\nDirty:               300 kB\n\
                    HugePages_Total:       0\n";
        check(
            parse,
            text,
            &[
                (MemoryTotal, "", 16_372_008 * 1024),
                (MemoryAvailable, "", 14_000_000 * 1024),
                (MemoryCached, "", 2_000_000 * 1024),
                (MemoryDirty, "", 300 * 1024),
                (SwapUsed, "", 102_400),
            ],
        );
    }

    #[test]
    fn refaults_of_all_pages_are_one_number() {
        let text = "nr_free_pages 7\nworkingset_refault_anon 2\nworkingset_refault_file 40\n\
                    workingset_activate_file 9\npgpgin 10\npgpgout 20\npswpin 3\npswpout 4\npgfault 99\npgmajfault 5\n";
        check(
            parse_paging,
            text,
            &[
                (PagedIn, "", 10_240),
                (PagedOut, "", 20_480),
                (SwappedIn, "", 3),
                (SwappedOut, "", 4),
                (MajorFaults, "", 5),
                (Refaults, "", 42),
            ],
        );
        check(parse_paging, "workingset_refault 6\n", &[(Refaults, "", 6)]);
        check(parse_paging, "", &[]);
    }
}
