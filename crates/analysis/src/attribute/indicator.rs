//! The indicators by which a bottleneck is recognized, with their units.

use std::collections::BTreeMap;

/// The unit of an indicator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IndicatorUnit {
    /// A ratio from 0 to 1, printed in percent.
    Share,
    /// A factor.
    Factor,
    /// A count.
    Count,
    /// A count per second.
    PerSecond,
    /// A count per operation.
    PerOperation,
    /// Bytes.
    Bytes,
}

/// Makes the enum and its tables from one line per indicator: variant, name, unit, description.
macro_rules! indicators {
    ($($variant:ident $name:literal $unit:ident $about:literal;)*) => {
        /// An indicator of how close a resource is to its limit.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Indicator {
            $(#[doc = $about] $variant,)*
        }

        impl Indicator {
            /// All indicators, in the order of the report.
            pub const ALL: &[Indicator] = &[$(Indicator::$variant),*];

            /// Returns the name for people.
            pub fn name(self) -> &'static str {
                match self { $(Indicator::$variant => $name,)* }
            }

            /// Returns its unit.
            pub fn unit(self) -> IndicatorUnit {
                match self { $(Indicator::$variant => IndicatorUnit::$unit,)* }
            }
        }
    };
}

indicators! {
    AllowanceBusy "server CPU of its allowance" Share "CPU time of the server's processes ÷ what its CPUs and quota allow; of a quota that it shares, the CPU time of all that share it.";
    ProcessorUse "processor use" Share "The server's use of its allowance where that is seen, else the busy share of its CPUs.";
    ServerCpus "CPUs used by the server" Count "CPU time of the server's processes per second.";
    CpuBusy "CPUs busy" Share "Busy time of the server's CPUs ÷ their time, whoever used it; waiting for a disk counts as idle.";
    CpuBusiest "busiest CPU" Share "The same of the busiest of these CPUs.";
    BusiestThread "busiest server thread" Share "CPU time of the server's busiest thread, of one CPU.";
    BusiestProcess "busiest server process" Count "CPUs that the server's busiest process used, all its threads together.";
    Throttled "quota used up" Share "Periods of the CPU quota that were used up ÷ all periods.";
    RunDelay "wait for a CPU" Share "Time for which the server's runnable threads waited for a CPU ÷ that time and their CPU time.";
    CpuDemand "demand for CPUs" Share "Part of the time in which one of the server's threads, or an operation in progress, used or waited for a CPU: the greatest.";
    CpuPressure "CPU pressure" Share "Time in which a thread waited for a CPU.";
    RunnablePerCpu "runnable threads per CPU" Factor "Threads that run or wait for a CPU ÷ the machine's CPUs.";
    MemoryPressure "memory pressure" Share "Time in which a thread waited for memory.";
    RefaultsPerOperation "refaults per operation" PerOperation "Pages that were needed again soon after they were evicted, per operation.";
    MemoryLimitHits "memory limit met" PerSecond "How often the server met its limit on memory.";
    MemoryOfLimit "memory of its limit" Share "Memory in the control group that limits the server's memory ÷ that limit.";
    BufferReadsPerOperation "buffer reads per operation" PerOperation "Pages that a database read because its buffers did not hold them, per operation.";
    DiskBusy "disk busy" Share "Busy time of the busiest disk.";
    DiskOperationsOfShare "disk requests of their limit" Share "Requests of the server to disks ÷ their limit.";
    DiskBytesOfShare "disk bytes of their limit" Share "Bytes that the server moves to and from disks ÷ their limit.";
    IoPressure "disk pressure" Share "Time in which a thread waited for input or output.";
    ThreadsAtDisk "threads blocked on disk I/O" Share "Threads of the server that are blocked on disk I/O ÷ threads that can have an operation in progress, at most 1.";
    DiskGrowth "disk time growth" Factor "Time that a request to that disk takes ÷ the same at the lowest load.";
    DiskRequestsPerOperation "disk requests per operation" PerOperation "Requests of the server to disks per operation.";
    DiskRequestBytes "bytes per disk request" Bytes "Bytes that a request to the disks moves on average.";
    NetworkBusy "network busy" Share "Bits per second of the busiest direction of an interface that the load passes ÷ its speed; never of loopback.";
    QueueBacklog "queueing backlog" Bytes "Bytes that waited on average in the queueing disciplines of interfaces that the load passes, at the end where more waited.";
    QueueDrops "queueing drops" PerSecond "Packets that the queueing disciplines of interfaces that the load passes dropped.";
    Retransmits "retransmits" Share "Segments sent again ÷ segments sent, requests for a connection left out; at the end of the way where it is greater.";
    ListenerDrops "connections dropped by listeners" PerSecond "Connection requests that the server's own listeners dropped.";
    ListenOverflows "listen overflows" PerSecond "Connections refused because an accept queue was full.";
    SynRetransmits "connection requests sent again" PerSecond "Requests for a connection that were sent again.";
    AcceptQueue "accept queue" Count "Connections that waited to be accepted on average, those of Unix sockets included.";
    WorkersBusy "workers busy" Share "Workers of the server that serve a request ÷ all it can have.";
    RequestsQueued "requests queued" Count "Requests that waited for a worker of the server on average, as it says.";
    OpenFilesOfLimit "open files of the limit" Share "Open files of the server's process that is closest to its limit ÷ that limit.";
    ThreadsAtLock "threads at a lock" Share "Threads of the server that wait for a lock on a file ÷ operations that it can have in progress, at most 1.";
    SessionsAtLock "sessions at a lock" Share "Sessions of the database that wait for a lock ÷ operations in progress, at most 1.";
    SessionsAtLog "sessions at the log" Share "Sessions of the database that wait for its log ÷ operations in progress, at most 1.";
    ThreadsAtSocket "threads at a socket" Share "Threads of the server that wait for data from a socket ÷ operations in progress, at most 1.";
    HeldByService "operations at a service" Share "Connections to a service behind the server ÷ operations in progress, at most 1; where they follow the load, or threads wait for data.";
    ServiceCounts "counts of connections to services" Count "How often the server's connections to services behind it were counted, where that was less often than its CPUs were read.";
    AcceptedAtLimit "accepted connections" Count "Connections that the server has accepted, where their number is constant, others wait, and it does not need a thread for each.";
    PoolAtLimit "connection pool" Count "Connections to a service behind the server, where they have grown with the load to a constant number below that of the operations in progress.";
    Refused "refused" Share "Replies that refuse an operation for lack of capacity ÷ all completed operations.";
    RefusedByRate "refused by 429" Share "Refusals with status 429 (too many requests in a given time) ÷ all refusals.";
    ServedInFlight "operations served at once" Count "Rate of successes × their mean response time, where operations are refused.";
    ServedOfRefused "served at once of share refused" Factor "Operations served at once ÷ share refused: at least 1 where their number is limited (Erlang's loss formula with one place), less where only their rate is.";
    NumberVariation "variation of number to rate" Factor "Variation of the operations served at once ÷ variation of their rate, between seconds; where either varies by 3 %.";
    BackEndErrors "bad gateway" Share "Replies of a proxy that it had no answer from its back end (502, 504) ÷ all completed operations.";
    ConnectionsCut "connections cut" Share "Operations whose connection the server refused, reset, or closed before a reply ÷ all completed operations.";
    KeptConnectionsCut "kept connections cut" Share "Kept connections that had ended when a request was sent on them ÷ operations of all phases, beyond the same at the lowest load; where there are any.";
    InFlightPerWorker "operations in progress per worker" Count "Operations in progress on average ÷ workers that make pages.";
    ResponseUnexplained "response time unexplained" Share "Part of the response time in which the server neither used nor waited for a CPU; of users who never think, from 5 ms on.";
    SwitchGrowth "context switch growth" Factor "Context switches per operation ÷ the same at the lowest load.";
    UsersThinking "users thinking" Share "Part of their time in which the users of a closed loop think.";
    RateOfIdeal "rate of the ideal" Share "Rate ÷ what the users would reach if nothing had to wait, N ÷ (Z + R at the lowest load).";
    RateGrowth "rate growth" Factor "Rate ÷ the highest rate at a lower load.";
    RateOfLoadGrowth "rate growth of load growth" Share "What the rate grew by ÷ what the load grew by, since the lower load with the highest rate.";
    RateAtNextLoad "rate at the next load" Factor "Rate at the next higher load ÷ this rate, at the lowest load of users.";
    ServerUnseen "server not seen" Count "1 where the server shares the machine with the load generator and its processes were not found.";
    GeneratorFault "generator faults" Count "Rules on the generator's health that were broken.";
}

/// The indicators of a load point; those that are not known are missing.
pub type Indicators = BTreeMap<Indicator, f64>;
