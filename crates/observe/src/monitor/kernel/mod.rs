//! The kernel files that are read every second, on this machine and on others, and their parsers.
//!
//! The parsers are part of this crate: the `procfs` crate lacks `net/netstat`, `net/sockstat` and control
//! groups, builds tables of hundreds of entries of which ten are needed, and its types would still have to be
//! converted into readings.
//!
//! - `text`: common line formats
//! - `processor`: CPU time, context switches, interrupts, the run queue
//! - `pressure`: pressure stall information (PSI) of CPUs, memory, disks
//! - `memory`: memory use, paging
//! - `disks`: block devices
//! - `interfaces`: network interfaces
//! - `tcp`: connections, retransmissions, overflows
//! - `group`: counters of a control group; `limit`: the use of the limits that it sets

pub(super) mod disks;
pub(super) mod group;
pub(super) mod interfaces;
pub(super) mod limit;
mod memory;
mod pressure;
pub(super) mod processor;
mod tcp;
pub(super) mod text;

use model::{Counter, Reading};

/// A parser that appends the counters it finds in the text of a kernel file; accepts any text.
pub(crate) type Parse = fn(text: &str, into: &mut Vec<Reading>);

/// The files of every Linux machine, with their parsers. No file exists in all versions and configurations.
///
/// Files below `net` belong to the network namespace of the thread that opens the file.
pub const PROC_FILES: &[(&str, Parse)] = &[
    ("/proc/stat", processor::parse),
    ("/proc/pressure/cpu", pressure::parse_cpu),
    ("/proc/pressure/memory", pressure::parse_memory),
    ("/proc/pressure/io", pressure::parse_io),
    ("/proc/meminfo", memory::parse),
    ("/proc/vmstat", memory::parse_paging),
    ("/proc/diskstats", disks::parse),
    ("/proc/thread-self/net/dev", interfaces::parse),
    ("/proc/thread-self/net/snmp", tcp::parse_snmp),
    ("/proc/thread-self/net/netstat", tcp::parse_netstat),
    ("/proc/thread-self/net/sockstat", tcp::parse_sockets),
    ("/proc/sys/fs/file-nr", parse_open_files),
];

/// The files below `net` of every process, with their parsers: those of its network namespace.
pub(super) const NET_FILES: &[(&str, Parse)] = &[
    ("dev", interfaces::parse),
    ("snmp", tcp::parse_snmp),
    ("netstat", tcp::parse_netstat),
    ("sockstat", tcp::parse_sockets),
];

/// Parses `file-nr`: allocated files, unused ones among them, the limit.
fn parse_open_files(text: &str, into: &mut Vec<Reading>) {
    let mut numbers = text.split_ascii_whitespace().map_while(|field| field.parse::<u64>().ok());
    if let (Some(allocated), Some(unused)) = (numbers.next(), numbers.next()) {
        into.push(Reading::new(Counter::OpenFiles, allocated.saturating_sub(unused)));
    }
}

#[cfg(test)]
pub(super) mod testing {
    use super::*;

    /// Parses a text and compares the result with values worked out by hand.
    #[track_caller]
    pub(crate) fn check(parse: Parse, text: &str, expected: &[(Counter, &str, u64)]) {
        let mut readings = Vec::new();
        parse(text, &mut readings);
        let expected: Vec<Reading> = expected
            .iter()
            .map(|(counter, instance, value)| Reading::of(*counter, *instance, *value))
            .collect();
        assert_eq!(readings, expected);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::testing::check;
    use super::*;

    #[test]
    fn open_files_are_those_in_use() {
        check(parse_open_files, "1184\t64\t9223372036854775807\n", &[(Counter::OpenFiles, "", 1120)]);
        check(parse_open_files, "1184\n", &[]);
    }

    /// Words that occur in the files, and numbers at the limits.
    const WORDS: &[&str] = &[
        "cpu0",
        "cpu",
        "ctxt",
        "intr",
        "some",
        "full",
        "total=7",
        "total=18446744073709551615",
        "MemTotal:",
        "SwapTotal:",
        "SwapFree:",
        "kB",
        "pgpgin",
        "workingset_refault_file",
        "8",
        "0",
        "sda",
        "sda1",
        "loop0",
        "ram0",
        "eth0:",
        "lo:7",
        "Tcp:",
        "TcpExt:",
        "OutSegs",
        "ListenDrops",
        "TCP:",
        "tw",
        "inuse",
        "-1",
        "max",
        "254:0",
        "rbytes=18446744073709551615",
        "rios=x",
        "Read",
        "Write",
        "usage_usec",
        "user",
        "18446744073709551615",
        "99999999999999999999",
        "\n",
        "\n",
        "\n",
        ":",
        "=",
        "\u{fc}",
    ];

    fn all_parsers() -> impl Iterator<Item = Parse> {
        let files = PROC_FILES.iter().map(|(_, parse)| *parse);
        files
            .chain(group::V1_FILES.iter().map(|(_, _, parse)| *parse))
            .chain(group::V2_FILES.iter().map(|(_, parse)| *parse))
    }

    proptest! {
        #[test]
        fn any_text_is_parsed_without_panic(text in "(?s).{0,200}") {
            for parse in all_parsers() {
                parse(&text, &mut Vec::new());
            }
        }

        #[test]
        fn words_in_any_order_are_parsed_without_panic(words in prop::collection::vec(prop::sample::select(WORDS), 0..60)) {
            let text = words.join(" ");
            for parse in all_parsers() {
                parse(&text, &mut Vec::new());
            }
        }
    }
}
