//! Series of windows_exporter.
//!
//! Names are those of versions 0.13 (2020, until then called wmi_exporter) to 0.31; newer names come first.
//! Source: its collectors and their pages under `docs/`, one per group below. The collectors `memory`, `tcp`
//! and `pagefile` do not run by default in every version.
//!
//! Windows counts differently: its run queue does not include running threads, it reports the idle rather
//! than the busy time of disks, and it has no steal, pressure, accept queues or SYN retransmissions. Counters
//! without a counterpart are left out.

use model::Counter::*;

use super::table::{BITS, MICROS, SeriesSum, each, minus, one, plus};

/// Bytes of a page, on x64 and ARM64.
const PAGE: f64 = 4096.0;

const MEGA: f64 = 1e6;

/// The series of each counter.
#[rustfmt::skip]
pub(super) const SERIES_SUMS: &[SeriesSum] = &[
    // cpu. Privileged time includes interrupts and DPCs ("DPC time is a component of privileged time").
    each(CpuUser, "core", &[plus("windows_cpu_time_total").only(&[("mode", "user")])]).times(MICROS),
    each(CpuSystem, "core", &[plus("windows_cpu_time_total").only(&[("mode", "privileged")]), minus("windows_cpu_time_total").only(&[("mode", "interrupt")]), minus("windows_cpu_time_total").only(&[("mode", "dpc")])]).times(MICROS),
    each(CpuIrq, "core", &[plus("windows_cpu_time_total").only(&[("mode", "interrupt")])]).times(MICROS),
    each(CpuSoftirq, "core", &[plus("windows_cpu_time_total").only(&[("mode", "dpc")])]).times(MICROS),
    each(CpuIdle, "core", &[plus("windows_cpu_time_total").only(&[("mode", "idle")])]).times(MICROS),
    each(CpuFrequency, "core", &[plus("windows_cpu_core_frequency_mhz")]).times(MEGA),
    one(Interrupts, &[plus("windows_cpu_interrupts_total").over(&["core"])]),

    // system. The queue holds threads that wait for a CPU, not those that run.
    one(ContextSwitches, &[plus("windows_system_context_switches_total")]),
    one(Runnable, &[plus("windows_system_processor_queue_length")]),

    // memory; its size was reported by cs and os until 0.31.
    one(MemoryTotal, &[plus("windows_memory_physical_total_bytes")]),
    one(MemoryTotal, &[plus("windows_cs_physical_memory_bytes")]),
    one(MemoryTotal, &[plus("windows_os_visible_memory_bytes")]),
    one(MemoryAvailable, &[plus("windows_memory_available_bytes")]),
    one(MemoryAvailable, &[plus("windows_memory_physical_free_bytes")]),
    one(MemoryAvailable, &[plus("windows_os_physical_memory_free_bytes")]),
    one(MemoryCached, &[plus("windows_memory_cache_bytes")]),
    // pagefile, since 0.30; before that by os.
    one(SwapUsed, &[plus("windows_pagefile_limit_bytes").over(&["file"]), minus("windows_pagefile_free_bytes").over(&["file"])]),
    one(SwapUsed, &[plus("windows_os_paging_limit_bytes"), minus("windows_os_paging_free_bytes")]),
    // "swap" here is all paging from and to disks, including files.
    one(PagedIn, &[plus("windows_memory_swap_pages_read_total")]).times(PAGE),
    one(PagedOut, &[plus("windows_memory_swap_pages_written_total")]).times(PAGE),
    one(MajorFaults, &[plus("windows_memory_swap_page_reads_total")]),

    // physical_disk (since 2023), else logical_disk. Read and write seconds are summed over requests, so they
    // correspond to read and write time on Linux, and their sum is the queue integrated over time.
    each(DiskReads, "disk", &[plus("windows_physical_disk_reads_total")]),
    each(DiskReads, "volume", &[plus("windows_logical_disk_reads_total")]),
    each(DiskWrites, "disk", &[plus("windows_physical_disk_writes_total")]),
    each(DiskWrites, "volume", &[plus("windows_logical_disk_writes_total")]),
    each(DiskReadBytes, "disk", &[plus("windows_physical_disk_read_bytes_total")]),
    each(DiskReadBytes, "volume", &[plus("windows_logical_disk_read_bytes_total")]),
    each(DiskWriteBytes, "disk", &[plus("windows_physical_disk_write_bytes_total")]),
    each(DiskWriteBytes, "volume", &[plus("windows_logical_disk_write_bytes_total")]),
    each(DiskReadTime, "disk", &[plus("windows_physical_disk_read_seconds_total")]).times(MICROS),
    each(DiskReadTime, "volume", &[plus("windows_logical_disk_read_seconds_total")]).times(MICROS),
    each(DiskWriteTime, "disk", &[plus("windows_physical_disk_write_seconds_total")]).times(MICROS),
    each(DiskWriteTime, "volume", &[plus("windows_logical_disk_write_seconds_total")]).times(MICROS),
    each(DiskIdle, "disk", &[plus("windows_physical_disk_idle_seconds_total")]).times(MICROS),
    each(DiskIdle, "volume", &[plus("windows_logical_disk_idle_seconds_total")]).times(MICROS),
    each(DiskQueueTime, "disk", &[plus("windows_physical_disk_read_seconds_total"), plus("windows_physical_disk_write_seconds_total")]).times(MICROS),
    each(DiskQueueTime, "volume", &[plus("windows_logical_disk_read_seconds_total"), plus("windows_logical_disk_write_seconds_total")]).times(MICROS),

    // net. Errors and drops without `_total` until 0.15, the speed in bit/s until 0.16.
    each(NetReceivedBytes, "nic", &[plus("windows_net_bytes_received_total")]),
    each(NetSentBytes, "nic", &[plus("windows_net_bytes_sent_total")]),
    each(NetReceivedPackets, "nic", &[plus("windows_net_packets_received_total")]),
    each(NetSentPackets, "nic", &[plus("windows_net_packets_sent_total")]),
    each(NetErrors, "nic", &[plus("windows_net_packets_received_errors_total"), plus("windows_net_packets_outbound_errors_total")]),
    each(NetErrors, "nic", &[plus("windows_net_packets_received_errors"), plus("windows_net_packets_outbound_errors")]),
    each(NetDrops, "nic", &[plus("windows_net_packets_received_discarded_total"), plus("windows_net_packets_outbound_discarded_total")]),
    each(NetDrops, "nic", &[plus("windows_net_packets_received_discarded"), plus("windows_net_packets_outbound_discarded")]),
    each(NetSpeed, "nic", &[plus("windows_net_current_bandwidth_bytes")]).times(BITS),
    each(NetSpeed, "nic", &[plus("windows_net_current_bandwidth")]),

    // tcp. Connections without `_total` until 0.17. Retransmitted segments do not count as sent (RFC 4022).
    // States are reported since 0.30; states without connections are missing.
    one(TcpActiveOpens, &[plus("windows_tcp_connections_active_total").over(&["af"])]),
    one(TcpActiveOpens, &[plus("windows_tcp_connections_active")]),
    one(TcpPassiveOpens, &[plus("windows_tcp_connections_passive_total").over(&["af"])]),
    one(TcpPassiveOpens, &[plus("windows_tcp_connections_passive")]),
    one(TcpSegmentsSent, &[plus("windows_tcp_segments_sent_total").over(&["af"])]),
    one(TcpRetransmits, &[plus("windows_tcp_segments_retransmitted_total").over(&["af"])]),
    one(TcpInUse, &[plus("windows_tcp_connections_state_count").over(&["af", "state"]), minus("windows_tcp_connections_state_count").only(&[("state", "TIME_WAIT")]).over(&["af"]).if_any()]),
    one(TcpInUse, &[plus("windows_tcp_connections_established").over(&["af"])]),
    one(TcpTimeWait, &[plus("windows_tcp_connections_state_count").only(&[("state", "TIME_WAIT")]).over(&["af"])]),
];

#[cfg(test)]
mod tests {
    use crate::monitor::prometheus::scrape::tests::read;

    #[test]
    fn names_of_version_0_31_are_known() {
        let (told, notes) = read(include_str!("../../../tests/fixtures/windows_exporter-0.31.by-hand.txt"));
        let nic = "Intel[R] PRO_1000 MT Network Connection _2";
        for expected in [
            "cpu.user 0,0 680250000",
            // 320 − 7.5 − 12.5 s.
            "cpu.system 0,0 300000000",
            "cpu.softirq 0,1 1500000",
            "cpu.idle 0,0 5000015625",
            "cpu.frequency 0,1 2394000000",
            "system.interrupts  1500000",
            "system.runnable  3",
            "memory.total  8570359808",
            // 6,442,450,944 − 6,025,797,632, and nothing of the second file.
            "memory.swap_used  416653312",
            "paging.in  4096000",
            "disk.reads 0 4000",
            "disk.idle 0 5997500000",
            "disk.queue_time 0 3750000",
            &format!("net.errors {nic} 3"),
            &format!("net.drops {nic} 12"),
            &format!("net.speed {nic} 1000000000"),
            "tcp.active_opens  200",
            "tcp.retransmits  33",
            // 40 + 20 and 2, but not 700 and 5.
            "tcp.in_use  62",
            "tcp.time_wait  705",
        ] {
            assert!(told.iter().any(|line| line == expected), "{expected} is not in {told:#?}");
        }
        // 2 CPUs × 6, system 3, memory 7, a disk 8, an interface 7, TCP 6.
        assert_eq!(told.len(), 43);
        assert_eq!((notes.duplicates, notes.bad.count), (None, 0));
    }

    #[test]
    fn names_of_version_0_15_are_known() {
        let told = read(include_str!("../../../tests/fixtures/windows_exporter-0.15.by-hand.txt")).0;
        assert_eq!(
            told,
            [
                "system.interrupts  100",
                "memory.total  4200000000",
                "memory.available  1500000000",
                "memory.swap_used  100000000",
                "disk.reads C: 3990",
                "disk.reads HarddiskVolume1 10",
                "disk.read_time C: 2000000",
                "disk.write_time C: 1000000",
                "disk.idle C: 5998000000",
                "disk.queue_time C: 3000000",
                "net.errors Ethernet 3",
                "net.drops Ethernet 12",
                "net.speed Ethernet 1000000000",
                "tcp.active_opens  150",
                "tcp.passive_opens  90000",
                "tcp.in_use  40",
            ]
        );
    }
}
