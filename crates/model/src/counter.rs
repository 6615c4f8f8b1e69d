//! The performance counters of a machine, its server and the services on it: one line each.

use std::fmt;

/// The unit of a counter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum CounterUnit {
    /// Things: packets, switches, processes.
    Count,
    /// Bytes.
    Bytes,
    /// Microseconds.
    Micros,
    /// Hertz.
    Hertz,
    /// Bits per second.
    BitsPerSecond,
}

/// The behavior of a counter over time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum CounterKind {
    /// Only grows, but for a restart of what counts: what happened is the difference of two readings.
    Total,
    /// Stands where it stands: a queue, a size.
    Level,
}

impl CounterUnit {
    /// Returns the unit as it is stored: `us`, `bytes`.
    pub fn name(self) -> &'static str {
        match self {
            CounterUnit::Count => "1",
            CounterUnit::Bytes => "bytes",
            CounterUnit::Micros => "us",
            CounterUnit::Hertz => "Hz",
            CounterUnit::BitsPerSecond => "bit/s",
        }
    }
}

impl CounterKind {
    /// Returns the kind as it is stored.
    pub fn name(self) -> &'static str {
        match self {
            CounterKind::Total => "total",
            CounterKind::Level => "level",
        }
    }
}

/// Makes the enum, its list and its tables from one line per counter: variant, name, kind, unit, what it is.
macro_rules! counters {
    ($($variant:ident $name:literal $kind:ident $unit:ident $about:literal;)*) => {
        /// A performance counter. Its instance (a CPU, a disk, an interface, a program) is said by the series.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Counter {
            $(#[doc = $about] $variant,)*
        }

        impl Counter {
            /// All counters, in the order of the report.
            pub const ALL: &[Counter] = &[$(Counter::$variant),*];

            /// Returns the name in files and exports: what it belongs to, a dot, what it counts.
            pub fn name(self) -> &'static str {
                match self { $(Counter::$variant => $name,)* }
            }

            /// Returns how it behaves over time.
            pub fn kind(self) -> CounterKind {
                match self { $(Counter::$variant => CounterKind::$kind,)* }
            }

            /// Returns in what it counts.
            pub fn unit(self) -> CounterUnit {
                match self { $(Counter::$variant => CounterUnit::$unit,)* }
            }

            /// Returns what it is: a sentence.
            pub fn about(self) -> &'static str {
                match self { $(Counter::$variant => $about,)* }
            }
        }
    };
}

counters! {
    // Instance: the number of the CPU.
    CpuUser "cpu.user" Total Micros "Time in user mode, guests included.";
    CpuNice "cpu.nice" Total Micros "Time in user mode at low priority.";
    CpuSystem "cpu.system" Total Micros "Time in the kernel on behalf of processes.";
    CpuIrq "cpu.irq" Total Micros "Time in interrupt handlers.";
    CpuSoftirq "cpu.softirq" Total Micros "Time in deferred interrupt work, such as the network's.";
    CpuSteal "cpu.steal" Total Micros "Time that the host of a virtual machine gave to others.";
    CpuIdle "cpu.idle" Total Micros "Idle time.";
    CpuIowait "cpu.iowait" Total Micros "Idle time while input or output was under way.";
    CpuFrequency "cpu.frequency" Level Hertz "Clock frequency.";

    ContextSwitches "system.context_switches" Total Count "Switches from one thread to another.";
    Interrupts "system.interrupts" Total Count "Interrupts served.";
    Forks "system.forks" Total Count "Processes and threads made.";
    Runnable "system.runnable" Level Count "Threads that run or wait for a CPU.";
    Blocked "system.blocked" Level Count "Threads that wait for a disk.";
    OpenFiles "system.open_files" Level Count "Open files.";

    PressureCpu "pressure.cpu_some" Total Micros "Time in which a thread waited for a CPU.";
    PressureMemory "pressure.memory_some" Total Micros "Time in which a thread waited for memory.";
    PressureMemoryFull "pressure.memory_full" Total Micros "Time in which all threads waited for memory.";
    PressureIo "pressure.io_some" Total Micros "Time in which a thread waited for input or output.";
    PressureIoFull "pressure.io_full" Total Micros "Time in which all threads waited for input or output.";

    MemoryTotal "memory.total" Level Bytes "Memory of the machine.";
    MemoryAvailable "memory.available" Level Bytes "Memory that can be had without paging.";
    MemoryCached "memory.cached" Level Bytes "Memory that holds file pages.";
    MemoryDirty "memory.dirty" Level Bytes "File pages that wait to be written.";
    SwapUsed "memory.swap_used" Level Bytes "Memory that was paged out.";
    PagedIn "paging.in" Total Bytes "Read from disks into pages.";
    PagedOut "paging.out" Total Bytes "Written from pages to disks.";
    SwappedIn "paging.swapped_in" Total Count "Pages read from swap.";
    SwappedOut "paging.swapped_out" Total Count "Pages written to swap.";
    MajorFaults "paging.major_faults" Total Count "Page faults that needed a disk.";
    Refaults "paging.refaults" Total Count "Pages needed again soon after they were evicted.";

    // Instance: the block device.
    DiskReads "disk.reads" Total Count "Reads completed.";
    DiskWrites "disk.writes" Total Count "Writes completed.";
    DiskReadBytes "disk.read_bytes" Total Bytes "Bytes read.";
    DiskWriteBytes "disk.write_bytes" Total Bytes "Bytes written.";
    DiskReadTime "disk.read_time" Total Micros "Time that reads took, summed over them.";
    DiskWriteTime "disk.write_time" Total Micros "Time that writes took, summed over them.";
    DiskBusy "disk.busy" Total Micros "Time in which anything was under way.";
    DiskIdle "disk.idle" Total Micros "Time in which nothing was under way: what Windows tells in place of the busy time.";
    DiskQueueTime "disk.queue_time" Total Micros "Requests under way, integrated over time.";

    // Instance: the network interface.
    NetReceivedBytes "net.received_bytes" Total Bytes "Bytes received.";
    NetSentBytes "net.sent_bytes" Total Bytes "Bytes sent.";
    NetReceivedPackets "net.received_packets" Total Count "Packets received.";
    NetSentPackets "net.sent_packets" Total Count "Packets sent.";
    NetErrors "net.errors" Total Count "Packets with errors, both directions.";
    NetDrops "net.drops" Total Count "Packets dropped, both directions.";
    NetSpeed "net.speed" Level BitsPerSecond "Speed of the link.";
    QueueDrops "net.queue_drops" Total Count "Packets that the queueing discipline dropped.";
    QueueOverlimits "net.queue_overlimits" Total Count "Packets that the queueing discipline held back.";
    QueueBacklog "net.queue_backlog" Level Bytes "Bytes that wait in the queueing discipline.";

    NetRoute "net.route" Level Count "1: the load's way to the server leads through this interface.";

    TcpActiveOpens "tcp.active_opens" Total Count "Connections made from here.";
    TcpPassiveOpens "tcp.passive_opens" Total Count "Connections made to here.";
    TcpSegmentsSent "tcp.segments_sent" Total Count "Segments sent.";
    TcpRetransmits "tcp.retransmits" Total Count "Segments sent again.";
    TcpSynRetransmits "tcp.syn_retransmits" Total Count "Requests for a connection sent again.";
    TcpResetsSent "tcp.resets_sent" Total Count "Resets sent.";
    ListenOverflows "tcp.listen_overflows" Total Count "Connections refused because an accept queue was full.";
    ListenDrops "tcp.listen_drops" Total Count "Requests for a connection dropped by listeners.";
    TcpInUse "tcp.in_use" Level Count "TCP sockets in use.";
    TcpTimeWait "tcp.time_wait" Level Count "Connections in TIME-WAIT.";
    // Instance: the listener's port.
    AcceptQueue "tcp.accept_queue" Level Count "Connections that wait to be accepted.";
    AcceptQueueMax "tcp.accept_queue_max" Level Count "Connections that may wait to be accepted.";

    // The server's processes together.
    SutCpu "sut.cpu" Total Micros "CPU time of the server's processes.";
    SutCpuUser "sut.cpu_user" Total Micros "CPU time of the server's processes in user mode.";
    SutCpuSystem "sut.cpu_system" Total Micros "CPU time of the server's processes in the kernel.";
    SutBusiestThread "sut.busiest_thread" Level Micros "CPU time per second of the server's busiest thread.";
    SutPeriods "sut.periods" Total Count "Periods of the server's CPU quota.";
    SutThrottledPeriods "sut.throttled_periods" Total Count "Periods in which the quota was used up.";
    SutThrottled "sut.throttled" Total Micros "Time for which the quota held the server back.";
    SutProcesses "sut.processes" Level Count "Processes of the server.";
    SutMemory "sut.memory" Level Bytes "Memory of the server's processes, file pages included.";
    SutMemoryMax "sut.memory_max" Level Bytes "The limit on that memory.";
    SutMemoryHits "sut.memory_limit_hits" Total Count "How often the limit on memory was met.";
    SutRefaults "sut.refaults" Total Count "File and other pages of the server needed again soon after they were evicted.";
    SutMajorFaults "sut.major_faults" Total Count "Page faults of the server that needed a disk.";
    SutReads "sut.reads" Total Count "Reads by the server's processes that reached a disk.";
    SutWrites "sut.writes" Total Count "Writes by the server's processes that reached a disk.";
    SutReadBytes "sut.read_bytes" Total Bytes "Bytes that the server's processes read from disks.";
    SutWriteBytes "sut.write_bytes" Total Bytes "Bytes that the server's processes wrote to disks.";
    SutIoWait "sut.io_wait" Total Micros "Time that the server's requests to disks waited or were held back, summed over them.";
    SutPressureCpu "sut.pressure_cpu" Total Micros "Time in which a thread of the server waited for a CPU.";
    SutPressureMemory "sut.pressure_memory" Total Micros "Time in which a thread of the server waited for memory.";
    SutPressureIo "sut.pressure_io" Total Micros "Time in which a thread of the server waited for input or output.";
    // Instance: the program's name.
    ProcessCpu "process.cpu" Total Micros "CPU time of a program's processes.";
    ProcessMemory "process.memory" Level Bytes "Resident memory of a program's processes.";
    ProcessCount "process.count" Level Count "Processes of a program.";
    ProcessRunning "process.running" Level Count "Threads of a program that run or wait for a CPU.";
    ProcessWaiting "process.waiting" Level Count "Threads of a program that wait for something else than a CPU or a disk.";
    ProcessBlocked "process.blocked" Level Count "Threads of a program that wait for a disk.";

    // Instance: the program's name.
    OtherCpu "other.cpu" Total Micros "CPU time of a program that is neither the server nor this one.";

    // What only the server knows.
    ServiceWorkers "service.workers" Level Count "Workers, or connections, that the server can have at most.";
    ServiceBusy "service.busy" Level Count "Workers that serve a request.";
    ServiceIdle "service.idle" Level Count "Workers, or connections, that wait for a request.";
    ServiceConnections "service.connections" Level Count "Open connections.";
    ServiceAccepted "service.accepted" Total Count "Connections accepted.";
    ServiceRequests "service.requests" Total Count "Requests served.";
    ServiceSent "service.sent" Total Bytes "Bytes sent.";

    MonitorCpu "monitor.cpu" Total Micros "CPU time of the monitor itself.";
}

impl Counter {
    /// The modes in which a CPU is busy.
    pub const CPU_BUSY: [Counter; 6] = [
        Counter::CpuUser,
        Counter::CpuNice,
        Counter::CpuSystem,
        Counter::CpuIrq,
        Counter::CpuSoftirq,
        Counter::CpuSteal,
    ];

    /// The modes in which a CPU is idle; what is waited for meanwhile is a disk's business.
    pub const CPU_IDLE: [Counter; 2] = [Counter::CpuIdle, Counter::CpuIowait];

    /// Returns the counter of a name; `None` if there is none.
    pub fn from_name(name: &str) -> Option<Counter> {
        Counter::ALL.iter().copied().find(|counter| counter.name() == name)
    }
}

impl fmt::Display for Counter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_leads_back_to_its_counter() {
        for counter in Counter::ALL {
            assert_eq!(Counter::from_name(counter.name()), Some(*counter));
            assert!(counter.about().ends_with('.'), "{counter}");
        }
        assert_eq!(Counter::from_name("cpu"), None);
    }
}
