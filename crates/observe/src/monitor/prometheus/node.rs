//! Series of node_exporter, on Linux.
//!
//! Names are those of version 0.16 (2018) and later. Sources: its collectors, one per group below, and a
//! scrape of version 1.5.0 in `tests/fixtures`. Series that its collectors report only on request
//! (`--collector.vmstat.fields`) are marked. It has no usable series of queueing disciplines and accept
//! queues.

use model::Counter::*;

use super::table::{BITS, MICROS, SeriesSum, each, minus, one, plus};

/// Bytes per KiB, the unit of paging in `/proc/vmstat`.
const KIB: f64 = 1024.0;

/// The series of each counter.
#[rustfmt::skip]
pub(super) const SERIES_SUMS: &[SeriesSum] = &[
    // cpu. Guest time is part of `user` and `nice`, as in /proc/stat.
    each(CpuUser, "cpu", &[plus("node_cpu_seconds_total").only(&[("mode", "user")])]).times(MICROS),
    each(CpuNice, "cpu", &[plus("node_cpu_seconds_total").only(&[("mode", "nice")])]).times(MICROS),
    each(CpuSystem, "cpu", &[plus("node_cpu_seconds_total").only(&[("mode", "system")])]).times(MICROS),
    each(CpuIrq, "cpu", &[plus("node_cpu_seconds_total").only(&[("mode", "irq")])]).times(MICROS),
    each(CpuSoftirq, "cpu", &[plus("node_cpu_seconds_total").only(&[("mode", "softirq")])]).times(MICROS),
    each(CpuSteal, "cpu", &[plus("node_cpu_seconds_total").only(&[("mode", "steal")])]).times(MICROS),
    each(CpuIdle, "cpu", &[plus("node_cpu_seconds_total").only(&[("mode", "idle")])]).times(MICROS),
    each(CpuIowait, "cpu", &[plus("node_cpu_seconds_total").only(&[("mode", "iowait")])]).times(MICROS),
    // cpufreq.
    each(CpuFrequency, "cpu", &[plus("node_cpu_scaling_frequency_hertz")]),
    each(CpuFrequency, "cpu", &[plus("node_cpu_frequency_hertz")]),

    // stat, filefd.
    one(ContextSwitches, &[plus("node_context_switches_total")]),
    one(Interrupts, &[plus("node_intr_total")]),
    one(Forks, &[plus("node_forks_total")]),
    one(Runnable, &[plus("node_procs_running")]),
    one(Blocked, &[plus("node_procs_blocked")]),
    one(OpenFiles, &[plus("node_filefd_allocated")]),

    // pressure: since 0.18; "waiting" is the kernel's "some", "stalled" is "full".
    one(PressureCpu, &[plus("node_pressure_cpu_waiting_seconds_total")]).times(MICROS),
    one(PressureMemory, &[plus("node_pressure_memory_waiting_seconds_total")]).times(MICROS),
    one(PressureMemoryFull, &[plus("node_pressure_memory_stalled_seconds_total")]).times(MICROS),
    one(PressureIo, &[plus("node_pressure_io_waiting_seconds_total")]).times(MICROS),
    one(PressureIoFull, &[plus("node_pressure_io_stalled_seconds_total")]).times(MICROS),

    // meminfo, vmstat.
    one(MemoryTotal, &[plus("node_memory_MemTotal_bytes")]),
    one(MemoryAvailable, &[plus("node_memory_MemAvailable_bytes")]),
    one(MemoryCached, &[plus("node_memory_Cached_bytes")]),
    one(MemoryDirty, &[plus("node_memory_Dirty_bytes")]),
    one(SwapUsed, &[plus("node_memory_SwapTotal_bytes"), minus("node_memory_SwapFree_bytes")]),
    one(PagedIn, &[plus("node_vmstat_pgpgin")]).times(KIB),
    one(PagedOut, &[plus("node_vmstat_pgpgout")]).times(KIB),
    one(SwappedIn, &[plus("node_vmstat_pswpin")]),
    one(SwappedOut, &[plus("node_vmstat_pswpout")]),
    one(MajorFaults, &[plus("node_vmstat_pgmajfault")]),
    // Only on request; two series since Linux 5.9.
    one(Refaults, &[plus("node_vmstat_workingset_refault_file"), plus("node_vmstat_workingset_refault_anon")]),
    one(Refaults, &[plus("node_vmstat_workingset_refault")]),

    // diskstats.
    each(DiskReads, "device", &[plus("node_disk_reads_completed_total")]),
    each(DiskWrites, "device", &[plus("node_disk_writes_completed_total")]),
    each(DiskReadBytes, "device", &[plus("node_disk_read_bytes_total")]),
    each(DiskWriteBytes, "device", &[plus("node_disk_written_bytes_total")]),
    each(DiskReadTime, "device", &[plus("node_disk_read_time_seconds_total")]).times(MICROS),
    each(DiskWriteTime, "device", &[plus("node_disk_write_time_seconds_total")]).times(MICROS),
    each(DiskBusy, "device", &[plus("node_disk_io_time_seconds_total")]).times(MICROS),
    each(DiskQueueTime, "device", &[plus("node_disk_io_time_weighted_seconds_total")]).times(MICROS),

    // netdev. Debian's package leaves out `lo`. The alternative names of errors and drops:
    // `--collector.netdev.enable-detailed-metrics`.
    each(NetReceivedBytes, "device", &[plus("node_network_receive_bytes_total")]),
    each(NetSentBytes, "device", &[plus("node_network_transmit_bytes_total")]),
    each(NetReceivedPackets, "device", &[plus("node_network_receive_packets_total")]),
    each(NetSentPackets, "device", &[plus("node_network_transmit_packets_total")]),
    each(NetErrors, "device", &[plus("node_network_receive_errs_total"), plus("node_network_transmit_errs_total")]),
    each(NetErrors, "device", &[plus("node_network_receive_errors_total"), plus("node_network_transmit_errors_total")]),
    each(NetDrops, "device", &[plus("node_network_receive_drop_total"), plus("node_network_transmit_drop_total")]),
    each(NetDrops, "device", &[plus("node_network_receive_dropped_total"), plus("node_network_receive_missed_errors_total").if_any(), plus("node_network_transmit_dropped_total")]),
    // netclass; negative if the link speed is unknown, and then left out.
    each(NetSpeed, "device", &[plus("node_network_speed_bytes")]).times(BITS),

    // netstat.
    one(TcpActiveOpens, &[plus("node_netstat_Tcp_ActiveOpens")]),
    one(TcpPassiveOpens, &[plus("node_netstat_Tcp_PassiveOpens")]),
    one(TcpSegmentsSent, &[plus("node_netstat_Tcp_OutSegs")]),
    one(TcpRetransmits, &[plus("node_netstat_Tcp_RetransSegs")]),
    one(TcpSynRetransmits, &[plus("node_netstat_TcpExt_TCPSynRetrans")]),
    one(TcpResetsSent, &[plus("node_netstat_Tcp_OutRsts")]),
    one(ListenOverflows, &[plus("node_netstat_TcpExt_ListenOverflows")]),
    one(ListenDrops, &[plus("node_netstat_TcpExt_ListenDrops")]),
    // sockstat. A server that listens on `::` has its IPv4 connections there too; absent without IPv6.
    one(TcpInUse, &[plus("node_sockstat_TCP_inuse"), plus("node_sockstat_TCP6_inuse").if_any()]),
    one(TcpTimeWait, &[plus("node_sockstat_TCP_tw")]),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::monitor::prometheus::scrape::tests::read;

    /// Recorded with Debian's package of version 1.5.0 on a virtual machine with two CPUs, shortened.
    const RECORDED: &str = include_str!("../../../tests/fixtures/node_exporter-1.5.0.txt");

    #[test]
    fn a_recorded_scrape_yields_all_available_counters() {
        let (told, notes) = read(RECORDED);
        for expected in [
            "cpu.user 0 11373430000",
            "cpu.steal 1 45800000",
            "system.context_switches  141231339",
            "system.runnable  26",
            "pressure.cpu_some  11748745538",
            "pressure.io_full  95253748",
            "memory.total  25276502016",
            "memory.swap_used  0",
            // 151,289,249 KiB.
            "paging.in  154920190976",
            "disk.read_bytes vda 154920199168",
            "disk.queue_time vda 13137030000",
            "net.sent_bytes eth0 844860",
            "net.drops ifb1 0",
            "tcp.listen_overflows  2389",
            "tcp.in_use  26",
            "tcp.time_wait  14108",
        ] {
            assert!(told.iter().any(|line| line == expected), "{expected} is not in {told:#?}");
        }
        // 2 CPUs × 8, system 6, pressure 5, memory 10, 2 disks × 8, 3 interfaces × 6, TCP 10.
        assert_eq!(told.len(), 81);
        assert_eq!((notes.duplicates, notes.bad.count), (None, 0));
        let is_told =
            |line: &&SeriesSum| told.iter().any(|told| told.starts_with(&format!("{} ", line.counter)));
        let mut missing: Vec<_> =
            SERIES_SUMS.iter().filter(|line| !is_told(line)).map(|line| line.counter).collect();
        missing.dedup();
        assert_eq!(missing, [CpuFrequency, Refaults, NetSpeed]);
    }
}
