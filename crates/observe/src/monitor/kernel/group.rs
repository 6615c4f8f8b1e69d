//! Counters of a control group, which include ended processes.

use model::{Counter, Reading};

use super::text::{NANOS_PER_MICRO, keyed_counters, sole_counter, ticks_to_micros};
use super::{Parse, pressure};
use crate::cgroup::{Controller, memory_limit};
use crate::kernel_file::{keyed_number, refaults};

/// The files of version 1, each in the group's directory of one controller.
pub(crate) const V1_FILES: &[(Controller, &str, Parse)] = &[
    (Controller::Cpuacct, "cpuacct.usage", parse_usage),
    (Controller::Cpuacct, "cpuacct.stat", parse_modes),
    (Controller::Cpu, "cpu.stat", parse_throttling),
    (Controller::Memory, "memory.usage_in_bytes", parse_memory),
    (Controller::Memory, "memory.limit_in_bytes", parse_memory_max),
    (Controller::Memory, "memory.failcnt", parse_memory_hits),
    (Controller::Memory, "memory.stat", parse_memory_stat),
    (Controller::Blkio, "blkio.throttle.io_service_bytes", parse_io_bytes),
    (Controller::Blkio, "blkio.throttle.io_serviced", parse_io_counts),
    // Available only with the BFQ scheduler built with debugging.
    (Controller::Blkio, "blkio.bfq.io_wait_time", parse_io_wait),
];

/// The files of version 2, all in one directory.
pub(crate) const V2_FILES: &[(&str, Parse)] = &[
    ("cpu.stat", parse_cpu),
    ("memory.current", parse_memory),
    ("memory.max", parse_memory_max),
    ("memory.events", parse_memory_events),
    ("memory.stat", parse_memory_stat),
    ("io.stat", parse_io),
    ("cpu.pressure", parse_cpu_pressure),
    ("memory.pressure", parse_memory_pressure),
    ("io.pressure", parse_io_pressure),
];

/// Version 1, `cpuacct.usage`: ns.
fn parse_usage(text: &str, into: &mut Vec<Reading>) {
    sole_counter(text, Counter::SutCpu, NANOS_PER_MICRO, into);
}

/// Version 1, `cpuacct.stat`: ticks.
fn parse_modes(text: &str, into: &mut Vec<Reading>) {
    keyed_counters(
        text,
        &[("user", Counter::SutCpuUser), ("system", Counter::SutCpuSystem)],
        ticks_to_micros(1),
        into,
    );
}

/// Keys of quota periods, the same in both versions.
pub(super) const PERIODS: [(&str, Counter); 2] =
    [("nr_periods", Counter::SutPeriods), ("nr_throttled", Counter::SutThrottledPeriods)];

/// Version 1, `cpu.stat`: the throttled time in ns, summed over the CPUs.
pub(super) fn parse_throttling(text: &str, into: &mut Vec<Reading>) {
    keyed_counters(text, &PERIODS, 1, into);
    let nanos = keyed_number(text, "throttled_time");
    into.extend(nanos.map(|nanos| Reading::new(Counter::SutThrottled, nanos / NANOS_PER_MICRO)));
}

/// Version 2, `cpu.stat`: µs. The lines about a quota exist only with the controller.
fn parse_cpu(text: &str, into: &mut Vec<Reading>) {
    let times = [
        ("usage_usec", Counter::SutCpu),
        ("user_usec", Counter::SutCpuUser),
        ("system_usec", Counter::SutCpuSystem),
        ("throttled_usec", Counter::SutThrottled),
    ];
    keyed_counters(text, &times, 1, into);
    keyed_counters(text, &PERIODS, 1, into);
}

fn parse_memory(text: &str, into: &mut Vec<Reading>) {
    sole_counter(text, Counter::SutMemory, 1, into);
}

fn parse_memory_max(text: &str, into: &mut Vec<Reading>) {
    into.extend(memory_limit(text).map(|bytes| Reading::new(Counter::SutMemoryMax, bytes)));
}

fn parse_memory_hits(text: &str, into: &mut Vec<Reading>) {
    sole_counter(text, Counter::SutMemoryHits, 1, into);
}

fn parse_memory_events(text: &str, into: &mut Vec<Reading>) {
    keyed_counters(text, &[("max", Counter::SutMemoryHits)], 1, into);
}

/// Both versions, `memory.stat`: pages; child groups have separate lines.
fn parse_memory_stat(text: &str, into: &mut Vec<Reading>) {
    into.extend(refaults(text, "").map(|n| Reading::new(Counter::SutRefaults, n)));
    keyed_counters(text, &[("pgmajfault", Counter::SutMajorFaults)], 1, into);
}

/// Version 1: lines `254:0 Read 4096`, summed over the devices.
fn parse_io_bytes(text: &str, into: &mut Vec<Reading>) {
    into.push(Reading::new(Counter::SutReadBytes, sum_of(text, "Read")));
    into.push(Reading::new(Counter::SutWriteBytes, sum_of(text, "Write")));
}

/// Version 1: the number of operations in the same form.
fn parse_io_counts(text: &str, into: &mut Vec<Reading>) {
    into.push(Reading::new(Counter::SutReads, sum_of(text, "Read")));
    into.push(Reading::new(Counter::SutWrites, sum_of(text, "Write")));
}

/// Version 1: the wait time in ns in the same form.
fn parse_io_wait(text: &str, into: &mut Vec<Reading>) {
    let nanos = sum_of(text, "Read").saturating_add(sum_of(text, "Write"));
    into.push(Reading::new(Counter::SutIoWait, nanos / NANOS_PER_MICRO));
}

pub(super) fn sum_of(text: &str, kind: &str) -> u64 {
    let numbers = text.lines().filter_map(|line| {
        let mut fields = line.split_ascii_whitespace().skip(1);
        let number = fields.next().filter(|field| *field == kind).and(fields.next());
        number?.parse::<u64>().ok()
    });
    numbers.fold(0, u64::saturating_add)
}

/// Version 2, `io.stat`: lines `254:0 rbytes=4096 wbytes=0 rios=1 wios=0 dbytes=0 dios=0`, summed over the devices.
fn parse_io(text: &str, into: &mut Vec<Reading>) {
    let fields = [
        ("rbytes=", Counter::SutReadBytes),
        ("wbytes=", Counter::SutWriteBytes),
        ("rios=", Counter::SutReads),
        ("wios=", Counter::SutWrites),
    ];
    for (key, counter) in fields {
        let numbers = text.split_ascii_whitespace().filter_map(|field| field.strip_prefix(key)?.parse().ok());
        into.push(Reading::new(counter, numbers.fold(0, u64::saturating_add)));
    }
}

fn parse_cpu_pressure(text: &str, into: &mut Vec<Reading>) {
    pressure::parse(text, &[("some", Counter::SutPressureCpu)], into);
}

fn parse_memory_pressure(text: &str, into: &mut Vec<Reading>) {
    pressure::parse(text, &[("some", Counter::SutPressureMemory)], into);
}

fn parse_io_pressure(text: &str, into: &mut Vec<Reading>) {
    pressure::parse(text, &[("some", Counter::SutPressureIo)], into);
}

#[cfg(test)]
mod tests {
    use super::super::testing::check;
    use super::*;
    use Counter::*;

    #[test]
    fn version_1_counts_cpu_time_in_nanoseconds_and_in_ticks() {
        check(parse_usage, "81234567\n", &[(SutCpu, "", 81_234)]);
        check(parse_modes, "user 3\nsystem 5\n", &[(SutCpuUser, "", 30_000), (SutCpuSystem, "", 50_000)]);
        let text = "nr_periods 41\nnr_throttled 40\nthrottled_time 331234567\nnr_bursts 0\nburst_time 0\n";
        check(
            parse_throttling,
            text,
            &[(SutPeriods, "", 41), (SutThrottledPeriods, "", 40), (SutThrottled, "", 331_234)],
        );
    }

    #[test]
    fn version_2_counts_cpu_time_in_microseconds() {
        let text = "usage_usec 812345\nuser_usec 300000\nsystem_usec 512345\nnice_usec 0\nnr_periods 41\n\
                    nr_throttled 40\nthrottled_usec 331234\n";
        check(
            parse_cpu,
            text,
            &[
                (SutCpu, "", 812_345),
                (SutCpuUser, "", 300_000),
                (SutCpuSystem, "", 512_345),
                (SutThrottled, "", 331_234),
                (SutPeriods, "", 41),
                (SutThrottledPeriods, "", 40),
            ],
        );
    }

    #[test]
    fn no_limit_on_memory_is_no_reading() {
        check(parse_memory, "1048576\n", &[(SutMemory, "", 1_048_576)]);
        check(parse_memory_max, "67108864\n", &[(SutMemoryMax, "", 67_108_864)]);
        check(parse_memory_max, "9223372036854771712\n", &[]);
        check(parse_memory_max, "max\n", &[]);
        check(parse_memory_hits, "12\n", &[(SutMemoryHits, "", 12)]);
        let stat = "cache 4096\nworkingset_refault_anon 2\nworkingset_refault_file 40\npgmajfault 3\n\
                    total_workingset_refault_file 999\n";
        check(parse_memory_stat, stat, &[(SutRefaults, "", 42), (SutMajorFaults, "", 3)]);
        check(parse_memory_stat, "workingset_refault 6\n", &[(SutRefaults, "", 6)]);
        check(parse_memory_events, "low 1\nhigh 2\nmax 3\noom 4\n", &[(SutMemoryHits, "", 3)]);
    }

    #[test]
    fn devices_are_summed_and_totals_ignored() {
        let text = "254:0 Read 2097152\n254:0 Write 10\n254:0 Sync 2097152\n254:0 Total 2097162\n\
                    8:0 Read 4096\n8:0 Write 30\nTotal 2101288\n";
        check(parse_io_bytes, text, &[(SutReadBytes, "", 2_101_248), (SutWriteBytes, "", 40)]);
        check(parse_io_counts, "Total 0\n", &[(SutReads, "", 0), (SutWrites, "", 0)]);
        check(parse_io_wait, "8:0 Read 3000\n8:0 Write 4999\nTotal 7999\n", &[(SutIoWait, "", 7)]);
        let text = "254:0 rbytes=2097152 wbytes=10 rios=32 wios=1 dbytes=0 dios=0\n8:0 rbytes=4096 wbytes=30 rios=1 wios=2 dbytes=0 dios=0\n";
        check(
            parse_io,
            text,
            &[(SutReadBytes, "", 2_101_248), (SutWriteBytes, "", 40), (SutReads, "", 33), (SutWrites, "", 3)],
        );
    }

    #[test]
    fn a_group_has_pressures_of_its_own() {
        let text = "some avg10=0.00 avg60=0.00 avg300=0.00 total=9\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=8\n";
        check(parse_cpu_pressure, text, &[(SutPressureCpu, "", 9)]);
        check(parse_memory_pressure, text, &[(SutPressureMemory, "", 9)]);
        check(parse_io_pressure, text, &[(SutPressureIo, "", 9)]);
    }
}
