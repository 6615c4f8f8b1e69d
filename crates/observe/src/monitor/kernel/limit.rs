//! The use of a limit by all processes of the control group that sets it, in the files of that group.

use model::{Counter, Reading};

use super::group::{PERIODS, parse_throttling, sum_of};
use super::text::{NANOS_PER_MICRO, keyed, keyed_counters, sole_counter};
use crate::cgroup::{CgroupLimitKind, CgroupVersion, Controller};
use crate::kernel_file;

/// A parser that appends the counters it finds about the disk with these numbers, which is empty for limits on no disk;
/// accepts any text.
pub(crate) type LimitParse = fn(text: &str, disk: &str, into: &mut Vec<Reading>);

/// A file that tells the use of a limit: version and kind of the limit, the controller in whose directory it is, its name.
pub(crate) type LimitFile = (CgroupVersion, CgroupLimitKind, Controller, &'static str, LimitParse);

/// All of them.
pub(crate) const LIMIT_FILES: &[LimitFile] = {
    use CgroupLimitKind::*;
    use CgroupVersion::{V1, V2};
    use Controller::{Blkio, Cpu, Cpuacct, Memory as Mem};
    const V1_BYTES: &str = "blkio.throttle.io_service_bytes";
    const V1_COUNTS: &str = "blkio.throttle.io_serviced";
    &[
        (V1, CpuQuota, Cpu, "cpu.stat", |text, _, into| parse_throttling(text, into)),
        (V1, CpuQuota, Cpuacct, "cpuacct.usage", usage),
        (V2, CpuQuota, Cpu, "cpu.stat", quota_v2),
        (V1, Memory, Mem, "memory.usage_in_bytes", memory),
        (V1, Memory, Mem, "memory.failcnt", hits),
        (V2, Memory, Mem, "memory.current", memory),
        (V2, Memory, Mem, "memory.events", hits_v2),
        (V1, Reads, Blkio, V1_COUNTS, |text, disk, into| {
            v1(text, disk, "Read", Counter::SutLimitedReads, into)
        }),
        (V1, Writes, Blkio, V1_COUNTS, |text, disk, into| {
            v1(text, disk, "Write", Counter::SutLimitedWrites, into)
        }),
        (V1, ReadBytes, Blkio, V1_BYTES, |text, disk, into| {
            v1(text, disk, "Read", Counter::SutLimitedReadBytes, into);
        }),
        (V1, WriteBytes, Blkio, V1_BYTES, |text, disk, into| {
            v1(text, disk, "Write", Counter::SutLimitedWriteBytes, into);
        }),
        (V2, Reads, Blkio, "io.stat", |text, disk, into| {
            v2(text, disk, "rios=", Counter::SutLimitedReads, into)
        }),
        (V2, Writes, Blkio, "io.stat", |text, disk, into| {
            v2(text, disk, "wios=", Counter::SutLimitedWrites, into)
        }),
        (V2, ReadBytes, Blkio, "io.stat", |text, disk, into| {
            v2(text, disk, "rbytes=", Counter::SutLimitedReadBytes, into);
        }),
        (V2, WriteBytes, Blkio, "io.stat", |text, disk, into| {
            v2(text, disk, "wbytes=", Counter::SutLimitedWriteBytes, into);
        }),
    ]
};

/// The refaults in a group that limits memory, and in the groups below it; the file is the same in both versions.
pub(crate) const REFAULTS: (&str, LimitParse) = ("memory.stat", refaults);

/// Version 1, `cpuacct.usage`: ns.
fn usage(text: &str, _disk: &str, into: &mut Vec<Reading>) {
    sole_counter(text, Counter::SutQuotaCpu, NANOS_PER_MICRO, into);
}

/// Version 2, `cpu.stat`: µs.
fn quota_v2(text: &str, _disk: &str, into: &mut Vec<Reading>) {
    let times = [("usage_usec", Counter::SutQuotaCpu), ("throttled_usec", Counter::SutThrottled)];
    keyed_counters(text, &times, 1, into);
    keyed_counters(text, &PERIODS, 1, into);
}

fn memory(text: &str, _disk: &str, into: &mut Vec<Reading>) {
    sole_counter(text, Counter::SutLimitedMemory, 1, into);
}

fn hits(text: &str, _disk: &str, into: &mut Vec<Reading>) {
    sole_counter(text, Counter::SutMemoryHits, 1, into);
}

/// Version 2, `memory.events`: both limits on memory count, `memory.high` and `memory.max`.
fn hits_v2(text: &str, _disk: &str, into: &mut Vec<Reading>) {
    let hits = keyed(text).filter(|(key, _)| matches!(*key, "high" | "max")).map(|(_, number)| number);
    into.extend(hits.reduce(u64::saturating_add).map(|n| Reading::new(Counter::SutMemoryHits, n)));
}

/// Both versions, `memory.stat`. Version 1 counts the groups below in lines of their own, which begin with `total_`.
fn refaults(text: &str, _disk: &str, into: &mut Vec<Reading>) {
    let sum = kernel_file::refaults(text, "total_").or_else(|| kernel_file::refaults(text, ""));
    into.extend(sum.map(|n| Reading::new(Counter::SutRefaults, n)));
}

/// Version 1: lines `8:0 Read 4096`.
fn v1(text: &str, disk: &str, direction: &str, counter: Counter, into: &mut Vec<Reading>) {
    let of_disk = text.lines().find(|line| {
        let mut words = line.split_ascii_whitespace();
        words.next() == Some(disk) && words.next() == Some(direction)
    });
    into.push(Reading::new(counter, of_disk.map_or(0, |line| sum_of(line, direction))));
}

/// Version 2: lines `8:0 rbytes=4096 wbytes=0 rios=1 wios=0`.
fn v2(text: &str, disk: &str, key: &str, counter: Counter, into: &mut Vec<Reading>) {
    let of_disk = text.lines().find_map(|line| line.strip_prefix(disk)?.strip_prefix(' '));
    let number =
        of_disk.and_then(|rest| rest.split_ascii_whitespace().find_map(|word| word.strip_prefix(key)));
    into.push(Reading::new(counter, number.and_then(|number| number.parse().ok()).unwrap_or(0)));
}

#[cfg(test)]
mod tests {
    use super::*;
    use CgroupLimitKind::*;
    use CgroupVersion::{V1, V2};
    use Counter::*;

    /// Parses a text by the entries of a file, and compares the result with values worked out by hand.
    #[track_caller]
    fn check(
        version: CgroupVersion,
        kind: CgroupLimitKind,
        name: &str,
        text: &str,
        expected: &[(Counter, u64)],
    ) {
        let mut readings = Vec::new();
        for (_, _, _, _, parse) in
            LIMIT_FILES.iter().filter(|one| (one.0, one.1, one.3) == (version, kind, name))
        {
            parse(text, "8:0", &mut readings);
        }
        let expected: Vec<Reading> =
            expected.iter().map(|(counter, value)| Reading::new(*counter, *value)).collect();
        assert_eq!(readings, expected, "{name}");
    }

    #[test]
    fn the_use_of_a_quota_is_that_of_the_group_that_sets_it() {
        check(V1, CpuQuota, "cpuacct.usage", "81234567\n", &[(SutQuotaCpu, 81_234)]);
        let text = "nr_periods 41\nnr_throttled 40\nthrottled_time 331234567\n";
        let throttled = [(SutPeriods, 41), (SutThrottledPeriods, 40), (SutThrottled, 331_234)];
        check(V1, CpuQuota, "cpu.stat", text, &throttled);
        let text = "usage_usec 812345\nuser_usec 1\nnr_periods 41\nnr_throttled 40\nthrottled_usec 331234\n";
        let all =
            [(SutQuotaCpu, 812_345), (SutThrottled, 331_234), (SutPeriods, 41), (SutThrottledPeriods, 40)];
        check(V2, CpuQuota, "cpu.stat", text, &all);
    }

    /// By hand: 2 + 3 hits; 2 + 40 refaults in the group, 999 with those below.
    #[test]
    fn the_use_of_limited_memory_is_read_in_both_versions() {
        check(V1, Memory, "memory.usage_in_bytes", "4096\n", &[(SutLimitedMemory, 4096)]);
        check(V1, Memory, "memory.failcnt", "31\n", &[(SutMemoryHits, 31)]);
        check(V2, Memory, "memory.current", "4096\n", &[(SutLimitedMemory, 4096)]);
        check(V2, Memory, "memory.events", "low 1\nhigh 2\nmax 3\noom 4\n", &[(SutMemoryHits, 5)]);
        let stat = "workingset_refault_anon 2\nworkingset_refault_file 40\n";
        for (text, n) in [(stat.to_owned(), 42), (format!("{stat}total_workingset_refault_file 999\n"), 999)]
        {
            let mut readings = Vec::new();
            refaults(&text, "", &mut readings);
            assert_eq!(readings, [Reading::new(SutRefaults, n)]);
        }
    }

    #[test]
    fn only_the_limited_disk_counts() {
        let text = "254:0 Read 9\n8:0 Read 7\n8:0 Write 5\nTotal 21\n";
        check(V1, Reads, "blkio.throttle.io_serviced", text, &[(SutLimitedReads, 7)]);
        check(V1, WriteBytes, "blkio.throttle.io_service_bytes", text, &[(SutLimitedWriteBytes, 5)]);
        let text = "254:0 rbytes=9 wbytes=9 rios=9 wios=9\n8:0 rbytes=1 wbytes=2 rios=3 wios=4 dbytes=0\n";
        for (kind, counter, value) in [
            (ReadBytes, SutLimitedReadBytes, 1),
            (WriteBytes, SutLimitedWriteBytes, 2),
            (Reads, SutLimitedReads, 3),
            (Writes, SutLimitedWrites, 4),
        ] {
            check(V2, kind, "io.stat", text, &[(counter, value)]);
        }
        // A disk without traffic has no line.
        check(V2, Reads, "io.stat", "", &[(SutLimitedReads, 0)]);
    }
}
