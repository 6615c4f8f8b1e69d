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
    /// A monotonic count, reset only when its source restarts; the difference of two readings counts the events.
    Total,
    /// A gauge: the length of a queue, a size.
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

/// Makes the enum, its list and its tables from one line per counter: variant, name, kind, unit, description.
macro_rules! counters {
    ($($variant:ident $name:literal $kind:ident $unit:ident $description:literal;)*) => {
        /// A performance counter. The series names its instance (a CPU, a disk, an interface, a program).
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Counter {
            $(#[doc = $description] $variant,)*
        }

        impl Counter {
            /// All counters, in the order of the report.
            pub const ALL: &[Counter] = &[$(Counter::$variant),*];

            /// Returns the name in files and exports: the group, a dot, the quantity.
            pub fn name(self) -> &'static str {
                match self { $(Counter::$variant => $name,)* }
            }

            /// Returns the behavior over time.
            pub fn kind(self) -> CounterKind {
                match self { $(Counter::$variant => CounterKind::$kind,)* }
            }

            /// Returns the unit.
            pub fn unit(self) -> CounterUnit {
                match self { $(Counter::$variant => CounterUnit::$unit,)* }
            }

            /// Returns the description: a sentence.
            pub fn description(self) -> &'static str {
                match self { $(Counter::$variant => $description,)* }
            }
        }
    };
}

counters! {
    // Instance: the number of the CPU.
    CpuUser "cpu.user" Total Micros "Time in user mode, guests included.";
    CpuNice "cpu.nice" Total Micros "Time in user mode at low priority.";
    CpuSystem "cpu.system" Total Micros "Time in kernel mode on behalf of processes.";
    CpuIrq "cpu.irq" Total Micros "Time in interrupt handlers.";
    CpuSoftirq "cpu.softirq" Total Micros "Time in softirqs: deferred interrupt work such as network processing.";
    CpuSteal "cpu.steal" Total Micros "Time stolen by the hypervisor to run other virtual machines.";
    CpuIdle "cpu.idle" Total Micros "Idle time.";
    CpuIowait "cpu.iowait" Total Micros "Idle time with an outstanding disk I/O request.";
    CpuFrequency "cpu.frequency" Level Hertz "Clock frequency.";

    ContextSwitches "system.context_switches" Total Count "Context switches.";
    Interrupts "system.interrupts" Total Count "Interrupts served.";
    Forks "system.forks" Total Count "Processes and threads created.";
    Runnable "system.runnable" Level Count "Runnable threads: running or waiting for a CPU.";
    Blocked "system.blocked" Level Count "Threads blocked on disk I/O.";
    OpenFiles "system.open_files" Level Count "Open files.";

    PressureCpu "pressure.cpu_some" Total Micros "Time in which at least one thread waited for a CPU (PSI some).";
    PressureMemory "pressure.memory_some" Total Micros "Time in which at least one thread waited for memory (PSI some).";
    PressureMemoryFull "pressure.memory_full" Total Micros "Time in which all non-idle threads waited for memory (PSI full).";
    PressureIo "pressure.io_some" Total Micros "Time in which at least one thread waited for I/O (PSI some).";
    PressureIoFull "pressure.io_full" Total Micros "Time in which all non-idle threads waited for I/O (PSI full).";

    MemoryTotal "memory.total" Level Bytes "Memory of the machine.";
    MemoryAvailable "memory.available" Level Bytes "Memory available without swapping.";
    MemoryCached "memory.cached" Level Bytes "Page cache.";
    MemoryDirty "memory.dirty" Level Bytes "Dirty pages waiting for writeback.";
    SwapUsed "memory.swap_used" Level Bytes "Swap space in use.";
    PagedIn "paging.in" Total Bytes "Bytes paged in from disks.";
    PagedOut "paging.out" Total Bytes "Bytes paged out to disks.";
    SwappedIn "paging.swapped_in" Total Count "Pages read from swap.";
    SwappedOut "paging.swapped_out" Total Count "Pages written to swap.";
    MajorFaults "paging.major_faults" Total Count "Major page faults: those that read from a disk.";
    Refaults "paging.refaults" Total Count "Refaults: page faults on recently evicted pages.";

    // Instance: the block device.
    DiskReads "disk.reads" Total Count "Reads completed.";
    DiskWrites "disk.writes" Total Count "Writes completed.";
    DiskReadBytes "disk.read_bytes" Total Bytes "Bytes read.";
    DiskWriteBytes "disk.write_bytes" Total Bytes "Bytes written.";
    DiskReadTime "disk.read_time" Total Micros "Time of all reads, summed.";
    DiskWriteTime "disk.write_time" Total Micros "Time of all writes, summed.";
    DiskBusy "disk.busy" Total Micros "Time with at least one request in flight.";
    DiskIdle "disk.idle" Total Micros "Time without a request in flight; Windows reports it instead of the busy time.";
    DiskQueueTime "disk.queue_time" Total Micros "Requests in flight, integrated over time.";

    // Instance: the network interface.
    NetReceivedBytes "net.received_bytes" Total Bytes "Bytes received.";
    NetSentBytes "net.sent_bytes" Total Bytes "Bytes sent.";
    NetReceivedPackets "net.received_packets" Total Count "Packets received.";
    NetSentPackets "net.sent_packets" Total Count "Packets sent.";
    NetErrors "net.errors" Total Count "Packets with errors, both directions.";
    NetDrops "net.drops" Total Count "Packets dropped, both directions.";
    NetSpeed "net.speed" Level BitsPerSecond "Speed of the link.";
    QueueDrops "net.queue_drops" Total Count "Packets that the queueing discipline dropped.";
    QueueOverlimits "net.queue_overlimits" Total Count "Packets that the queueing discipline delayed (overlimits).";
    QueueBacklog "net.queue_backlog" Level Bytes "Bytes queued in the queueing discipline.";

    NetRoute "net.route" Level Count "1 if the load reaches the server through this interface.";

    TcpActiveOpens "tcp.active_opens" Total Count "Connections opened by this machine (active opens).";
    TcpPassiveOpens "tcp.passive_opens" Total Count "Connections accepted by this machine (passive opens).";
    TcpSegmentsSent "tcp.segments_sent" Total Count "Segments sent.";
    TcpRetransmits "tcp.retransmits" Total Count "Segments retransmitted.";
    TcpSynRetransmits "tcp.syn_retransmits" Total Count "SYN segments retransmitted.";
    TcpResetsSent "tcp.resets_sent" Total Count "Resets sent.";
    ListenOverflows "tcp.listen_overflows" Total Count "Connections dropped because an accept queue was full.";
    ListenDrops "tcp.listen_drops" Total Count "Connection requests dropped by listeners.";
    TcpInUse "tcp.in_use" Level Count "TCP sockets in use.";
    TcpTimeWait "tcp.time_wait" Level Count "Connections in TIME-WAIT.";
    // Instance: the listener's port.
    AcceptQueue "tcp.accept_queue" Level Count "Connections in the accept queue.";
    AcceptQueueMax "tcp.accept_queue_max" Level Count "Capacity of the accept queue (backlog).";

    // The server's processes together.
    SutCpu "sut.cpu" Total Micros "CPU time of the server's processes.";
    SutCpuUser "sut.cpu_user" Total Micros "CPU time of the server's processes in user mode.";
    SutCpuSystem "sut.cpu_system" Total Micros "CPU time of the server's processes in the kernel.";
    SutBusiestThread "sut.busiest_thread" Level Micros "CPU time per second of the server's busiest thread.";
    SutThreadDemand "sut.thread_demand" Level Micros "Greatest CPU time and run delay per second of one of the server's threads.";
    SutBusiestProcess "sut.busiest_process" Level Micros "CPU time per second of the threads of the server's busiest process.";
    SutPeriods "sut.periods" Total Count "Enforcement periods of the server's CPU quota.";
    SutThrottledPeriods "sut.throttled_periods" Total Count "Enforcement periods in which the server was throttled.";
    SutThrottled "sut.throttled" Total Micros "Time for which the CPU quota throttled the server.";
    SutProcesses "sut.processes" Level Count "Processes of the server.";
    SutMemory "sut.memory" Level Bytes "Memory of the server's processes, page cache included.";
    SutMemoryMax "sut.memory_max" Level Bytes "Memory limit of the server.";
    SutMemoryHits "sut.memory_limit_hits" Total Count "Number of times the server reached its memory limit.";
    SutRefaults "sut.refaults" Total Count "Refaults of the server: page faults on recently evicted pages.";
    SutMajorFaults "sut.major_faults" Total Count "Major page faults of the server: those that read from a disk.";
    SutReads "sut.reads" Total Count "Reads by the server's processes that reached a disk.";
    SutWrites "sut.writes" Total Count "Writes by the server's processes that reached a disk.";
    SutReadBytes "sut.read_bytes" Total Bytes "Bytes that the server's processes read from disks.";
    SutWriteBytes "sut.write_bytes" Total Bytes "Bytes that the server's processes wrote to disks.";
    SutIoWait "sut.io_wait" Total Micros "Time that the server's disk requests were queued or throttled, summed over them.";
    SutPressureCpu "sut.pressure_cpu" Total Micros "Time in which at least one thread of the server waited for a CPU (PSI some).";
    SutPressureMemory "sut.pressure_memory" Total Micros "Time in which at least one thread of the server waited for memory (PSI some).";
    SutPressureIo "sut.pressure_io" Total Micros "Time in which at least one thread of the server waited for I/O (PSI some).";
    // Instance: the program's name.
    ProcessCpu "process.cpu" Total Micros "CPU time of a program's processes.";
    ProcessMemory "process.memory" Level Bytes "Resident memory of a program's processes.";
    ProcessCount "process.count" Level Count "Processes of a program.";
    ProcessRunning "process.running" Level Count "Runnable threads of a program: running or waiting for a CPU.";
    ProcessWaiting "process.waiting" Level Count "Threads of a program that wait for something other than a CPU or a disk.";
    ProcessBlocked "process.blocked" Level Count "Threads of a program blocked on disk I/O.";

    // Instance: the program's name.
    OtherCpu "other.cpu" Total Micros "CPU time of a program that is neither the server nor this one.";

    // Counters that only the server itself can report.
    ServiceWorkers "service.workers" Level Count "Maximum number of workers or connections of the server.";
    ServiceBusy "service.busy" Level Count "Workers serving a request.";
    ServiceIdle "service.idle" Level Count "Workers or connections waiting for a request.";
    ServiceConnections "service.connections" Level Count "Open connections.";
    ServiceAccepted "service.accepted" Total Count "Connections accepted.";
    ServiceRequests "service.requests" Total Count "Requests served.";
    ServiceSent "service.sent" Total Bytes "Bytes sent.";

    MonitorCpu "monitor.cpu" Total Micros "CPU time of the monitor itself.";

    // Instance: the group of the server's processes, as it was selected; empty for a server that the run started.
    SutRunDelay "sut.run_delay" Total Micros "Time for which runnable threads of the server waited for a CPU, summed over them.";
    SutMinorFaults "sut.minor_faults" Total Count "Minor page faults of the server: those that read from no disk.";
    SutThreads "sut.threads" Level Count "Threads of the server.";
    SutThreadsRunning "sut.threads_running" Level Count "Runnable threads of the server: running or waiting for a CPU.";
    SutThreadsWaiting "sut.threads_waiting" Level Count "Threads of the server that wait for something other than a CPU or a disk.";
    SutThreadsBlocked "sut.threads_blocked" Level Count "Threads of the server blocked on disk I/O.";
    SutOpenFiles "sut.open_files" Level Count "Open files of the server's process that is closest to its limit.";
    SutOpenFilesMax "sut.open_files_max" Level Count "Limit on the open files of that process.";
    // Instance: the group, then the kernel function.
    SutWaitChannel "sut.wait_channel" Level Count "Threads of the server that sleep in a kernel function (wait channel).";
    // Instance: the listener's port.
    SutConnections "sut.connections" Level Count "Established connections to a TCP port of the server.";
    ListenerDrops "tcp.listener_drops" Total Count "Connection requests that a listener of the server dropped.";
    // Instance: the path of the listener's Unix socket.
    UnixAcceptQueue "unix.accept_queue" Level Count "Connections in the accept queue of a Unix socket.";
    UnixAcceptQueueMax "unix.accept_queue_max" Level Count "Capacity of the accept queue of a Unix socket (backlog).";
    // Instance: the listener's port.
    SutAccepted "sut.accepted_connections" Level Count "Established connections that the server has accepted.";
    // Instance: empty.
    SutServices "sut.services" Level Count "Services that the server was seen to be connected to.";
    // Instance: the port or the path of the service.
    SutServiceConnections "sut.service_connections" Level Count "Established connections of the server to another service.";

    // Limits that the control groups of watched processes and their ancestors set, the least of each, and the use of
    // each by all processes in the group that sets it. Instance: the group of the server's processes.
    SutQuota "sut.cpu_quota" Level Micros "CPU time per second that a control group of the server allows.";
    SutQuotaCpu "sut.quota_cpu" Total Micros "CPU time of the control group that sets the server's CPU quota.";
    SutLimitedMemory "sut.limited_memory" Level Bytes "Memory of the control group that sets the server's memory limit.";
    // Instance: the group, then the number of the CPU.
    SutAllowedCpu "sut.allowed_cpu" Level Count "1 for each CPU that the server may use, where it may not use all.";
    // Instance: the group, then the numbers of the disk.
    SutReadsMax "sut.reads_max" Level Count "Reads per second from a disk that a control group of the server allows.";
    SutWritesMax "sut.writes_max" Level Count "Writes per second to a disk that a control group of the server allows.";
    SutReadBytesMax "sut.read_bytes_max" Level Bytes "Bytes per second from a disk that a control group of the server allows.";
    SutWriteBytesMax "sut.write_bytes_max" Level Bytes "Bytes per second to a disk that a control group of the server allows.";
    SutLimitedReads "sut.limited_reads" Total Count "Reads from a disk of the control group that limits them.";
    SutLimitedWrites "sut.limited_writes" Total Count "Writes to a disk of the control group that limits them.";
    SutLimitedReadBytes "sut.limited_read_bytes" Total Bytes "Bytes read from a disk by the control group that limits them.";
    SutLimitedWriteBytes "sut.limited_write_bytes" Total Bytes "Bytes written to a disk by the control group that limits them.";

    // Of servers with a queue before their workers.
    ServiceQueue "service.queue" Level Count "Requests that wait for a worker.";
    ServiceQueueMax "service.queue_max" Level Count "Requests that may wait for a worker.";
    ServiceRefused "service.refused" Total Count "Requests refused because that many waited.";

    // Of databases.
    SessionsActive "database.sessions_active" Level Count "Sessions of a database that execute a statement, the mean of ten counts a second.";
    SessionsAtLock "database.sessions_at_lock" Level Count "Sessions of a database that wait for a lock, the mean of ten counts a second.";
    SessionsAtLog "database.sessions_at_log" Level Count "Sessions of a database that wait for its log, the mean of ten counts a second.";
    // Instance: the name that the documentation of the database has for it.
    DatabaseCount "database.count" Total Count "A count that the database keeps itself.";

    // Instance: the listener's port.
    SutOtherConnections "sut.other_connections" Level Count "Established connections to a port of the server that the load goes to, of other clients.";
}

impl Counter {
    /// Returns whether its instances count the same, so that their sum says something.
    pub fn adds_up(self) -> bool {
        // Reads, bytes and deadlocks.
        self != Counter::DatabaseCount
    }

    /// The modes in which a CPU is busy.
    pub const CPU_BUSY: [Counter; 6] = [
        Counter::CpuUser,
        Counter::CpuNice,
        Counter::CpuSystem,
        Counter::CpuIrq,
        Counter::CpuSoftirq,
        Counter::CpuSteal,
    ];

    /// The modes in which a CPU is idle, iowait included.
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
            assert!(counter.description().ends_with('.'), "{counter}");
        }
        assert_eq!(Counter::from_name("cpu"), None);
    }
}
