//! The table of rules by which indicators name a bottleneck, with their thresholds.
//!
//! Source of rules and thresholds: the attribution rules of the order-entry specification (7.4), extended by quotas,
//! queueing disciplines and accept queues.

use super::{Bottleneck, Indicator, Indicators};

/// The threshold of an indicator.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Threshold {
    /// At least this.
    AtLeast(f64),
    /// Below this.
    Below(f64),
}

/// A condition on one indicator.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Condition {
    /// The indicator.
    pub indicator: Indicator,
    /// The threshold that it must pass.
    pub threshold: Threshold,
}

/// A bottleneck and the conditions that name it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Cause {
    /// The bottleneck.
    pub bottleneck: Bottleneck,
    /// All of these must be known and hold.
    pub all: &'static [Condition],
    /// These must hold as far as they are known.
    pub unless_unknown: &'static [Condition],
    /// Whether the bottleneck is concluded indirectly, from growth or from counters of the whole machine, without a
    /// limit that was seen to be reached. Such a bottleneck is only probable.
    pub is_indirect: bool,
}

const fn at_least(indicator: Indicator, threshold: f64) -> Condition {
    Condition { indicator, threshold: Threshold::AtLeast(threshold) }
}

const fn below(indicator: Indicator, threshold: f64) -> Condition {
    Condition { indicator, threshold: Threshold::Below(threshold) }
}

/// The use of CPU time from which CPUs are fully used, by the server or by whatever program.
const CPUS_FULL_MIN: f64 = 0.95;

/// The use of its allowance of CPU time from which a server's CPUs are what limits it, if something else agrees.
const CPUS_NEARLY_FULL_MIN: f64 = 0.90;

/// The share of the ideal rate from which nothing holds the rate back.
const IDEAL_RATE_MIN: f64 = 0.95;

/// The busy share of a disk from which operations can be held by it, and that of one that is fully used.
const DISK_BUSY_MIN: f64 = 0.60;
const DISK_FULL_MIN: f64 = 0.90;

/// The used share of a limit on disk traffic from which it is what limits the server.
const DISK_SHARE_USED_MIN: f64 = 0.90;

/// The share of operations or threads that wait for the same thing from which it can be what holds the rate back: a lock, and,
/// with its own part of the response time, a service.
const WAITING_FOR_LOCK_MIN: f64 = 0.50;
const HELD_BY_SERVICE_MIN: f64 = 0.60;

/// The server's CPUs are not fully used.
const CPUS_NOT_FULL: Condition = below(Indicator::ProcessorUse, CPUS_NEARLY_FULL_MIN);

/// The server's CPUs are nearly fully used.
const CPUS_NEARLY_FULL: Condition = at_least(Indicator::ProcessorUse, CPUS_NEARLY_FULL_MIN);

/// The server's CPUs are clearly not fully used.
const CPUS_FREE: Condition = below(Indicator::ProcessorUse, 0.85);

/// The CPUs on which the server may run are fully used, by whatever program.
const MACHINE_CPUS_FULL: Condition = at_least(Indicator::CpuBusy, CPUS_FULL_MIN);

/// The server's threads wait for a CPU longer than they use one.
const THREADS_WAIT_FOR_CPUS: Condition = at_least(Indicator::RunDelay, 0.50);

/// The rate is below the ideal: a user whose requests are served in time has met no limit.
const RATE_BELOW_IDEAL: Condition = below(Indicator::RateOfIdeal, IDEAL_RATE_MIN);

/// The rate does not follow the load.
const RATE_FLAT: Condition = below(Indicator::RateOfLoadGrowth, 0.75);

/// The disks are not fully used.
const DISKS_NOT_BUSY: Condition = below(Indicator::DiskBusy, DISK_BUSY_MIN);

/// Pages that were evicted are needed again.
const REFAULTS: Condition = at_least(Indicator::RefaultsPerOperation, REFAULTS_MIN);

/// The server is seen: from counters of a machine on which its processes were not found, no wait can be concluded.
const SERVER_VISIBLE: Condition = below(Indicator::ServerUnseen, 1.0);

/// The server's connections to services were counted often enough to say what it waits for.
const SERVICES_COUNTED: Condition = at_least(Indicator::ServiceCounts, SERVICE_COUNTS_MIN);

/// Operations hold connections to one service.
const HELD_BY_SERVICE: Condition = at_least(Indicator::HeldByService, HELD_BY_SERVICE_MIN);

/// Operations hold no connections to one service.
const NOT_HELD_BY_SERVICE: Condition = below(Indicator::HeldByService, HELD_BY_SERVICE_MIN);

/// Threads of the server wait for a lock.
const THREADS_AT_LOCK: Condition = at_least(Indicator::ThreadsAtLock, WAITING_FOR_LOCK_MIN);

/// Threads of the server do not wait for a lock.
const NO_THREADS_AT_LOCK: Condition = below(Indicator::ThreadsAtLock, WAITING_FOR_LOCK_MIN);

/// Sessions of a database do not wait for a lock.
const NO_SESSIONS_AT_LOCK: Condition = below(Indicator::SessionsAtLock, WAITING_FOR_LOCK_MIN);

/// The server's CPUs are not fully used.
const NOT_CPU_BOUND: &[Condition] = &[CPUS_NOT_FULL];

/// The server's CPUs are not fully used, and the rate does not follow the load: what refuses a part of all requests at any
/// load has no limit that more load meets. A house rule.
const FLAT_WITHOUT_CPUS: &[Condition] = &[CPUS_NOT_FULL, RATE_FLAT];

/// The least share of operations that a server refuses or fails for it to be a limit. A house rule.
const FAILED_MIN: f64 = 0.05;

/// It refuses operations.
const REFUSED: Condition = at_least(Indicator::Refused, FAILED_MIN);

/// The least number of operations served at once ÷ share refused of a limit on their number: 1 by Erlang's loss formula, less
/// what chance and the ends of the phase take.
const SERVED_OF_REFUSED_MIN: f64 = 0.8;

/// The same, and the kernel did not refuse them in its place.
const FLAT_WITHOUT_OVERFLOWS: &[Condition] =
    &[CPUS_NOT_FULL, RATE_FLAT, below(Indicator::ListenOverflows, 1.0)];

/// The server's CPUs are not fully used, and something holds its rate back: a connection that is accepted a little
/// late but served in time has met no limit.
const SLOW_WITHOUT_CPUS: &[Condition] = &[CPUS_NOT_FULL, RATE_BELOW_IDEAL];

/// The same, and the server's own listeners dropped requests for connections: where they are seen, those of other
/// listeners, and requests that were lost on their way, are no matter of its accept queue.
const SLOW_WITH_DROPS: &[Condition] =
    &[CPUS_NOT_FULL, RATE_BELOW_IDEAL, at_least(Indicator::ListenerDrops, 1.0)];

/// The same, and the kernel counted an overflow: a listener that defers accepting until data arrive (`TCP_DEFER_ACCEPT`,
/// as Apache's) counts the end of every handshake as dropped.
const SLOW_WITH_OVERFLOWS: &[Condition] =
    &[CPUS_NOT_FULL, RATE_BELOW_IDEAL, at_least(Indicator::ListenOverflows, 1.0)];

/// The server's CPUs are not fully used, and the disks are busy with its own requests.
const OWN_DISK_REQUESTS: &[Condition] = &[CPUS_NOT_FULL, at_least(Indicator::DiskRequestsPerOperation, 0.01)];

/// The rate is held back, and not by the disks: a user whose requests are served in time has met no limit.
const SLOW_WITHOUT_DISKS: &[Condition] = &[RATE_BELOW_IDEAL, DISKS_NOT_BUSY];

/// The rate is held back, not by the disks, and by CPUs: what mostly sleeps is not held back by them, however long it waits
/// for one in between. The least demand is a house rule: without waits, a server that needs a CPU for two fifths of the time
/// carries up to 1 ÷ (1 − 0.4) = 1.67 times the load.
const SLOW_FOR_CPUS: &[Condition] = &[RATE_BELOW_IDEAL, DISKS_NOT_BUSY, at_least(Indicator::CpuDemand, 0.40)];

/// Operations are not seen to wait for anything but CPUs.
const NO_OTHER_WAITS: &[Condition] =
    &[DISKS_NOT_BUSY, NOT_HELD_BY_SERVICE, NO_THREADS_AT_LOCK, NO_SESSIONS_AT_LOCK];

/// The CPUs that a process uses whose threads take turns at one. House rules: an interpreter that is always held leaves a tenth
/// for the change of threads, and network and files are served without it.
const ONE_CPU_MIN: f64 = 0.90;
const ONE_CPU_MAX: f64 = 1.20;

/// The rate is held back, and no operations are seen to wait for a disk, a service or a lock.
const SLOW_WITHOUT_OTHER_WAITS: &[Condition] = &[
    RATE_BELOW_IDEAL,
    DISKS_NOT_BUSY,
    NOT_HELD_BY_SERVICE,
    below(Indicator::PoolAtLimit, 1.0),
    NO_THREADS_AT_LOCK,
    NO_SESSIONS_AT_LOCK,
];

/// The server is seen: from counters of a machine on which its processes were not found, no wait can be concluded.
const ONLY_VISIBLE: &[Condition] = &[SERVER_VISIBLE];

/// The server is seen, and neither its CPUs nor its disks are fully used.
const VISIBLE_AND_FREE: &[Condition] = &[SERVER_VISIBLE, CPUS_FREE, DISKS_NOT_BUSY];

/// The fewest counts of connections that a wait for a service would have shown in. A house rule.
pub const SERVICE_COUNTS_MIN: f64 = 3.0;

/// The least number of refaults per operation that a lack of memory causes. A house rule.
pub const REFAULTS_MIN: f64 = 0.10;

/// The least share of operations in progress whose sessions wait for the database's log, for the log to be what they wait
/// for. A house rule.
pub const SESSIONS_AT_LOG_MIN: f64 = 0.50;

/// The least number of pages per operation that a database reads because its buffers are too small: tables that grow need a
/// part of a page. A house rule.
pub const BUFFER_READS_MIN: f64 = 1.0;

/// The least part of a response time that the server does not explain, for its users to wait for something else: without that
/// part, users who never think would bring twice the rate. A house rule.
const RESPONSE_UNEXPLAINED_MIN: f64 = 0.50;

/// The same, where most operations are seen at one service: without that part, the users would bring a third more. Threads
/// that a slow service lets go together wait for CPUs then, which explains the rest. A house rule.
const UNEXPLAINED_AT_SERVICE_MIN: f64 = 0.25;

/// Sessions of a database wait for its log.
const AT_LOG: Condition = at_least(Indicator::SessionsAtLog, SESSIONS_AT_LOG_MIN);

/// A database reads pages that its buffers do not hold.
const BUFFERS_TOO_SMALL: Condition = at_least(Indicator::BufferReadsPerOperation, BUFFER_READS_MIN);

/// The uses of a disk at its limit: where they hold, evidence beside that of the rule.
const DISK_USES: &[Condition] = &[AT_LOG, BUFFERS_TOO_SMALL];

/// The server is seen, neither its CPUs nor its disks are fully used, and its connections to services were counted often
/// enough to tell what it waits for.
const VISIBLE_FREE_AND_COUNTED: &[Condition] = &[SERVER_VISIBLE, CPUS_FREE, DISKS_NOT_BUSY, SERVICES_COUNTED];

/// The server is seen, neither its CPUs nor its disks are fully used, and something holds its rate back.
const VISIBLE_FREE_AND_SLOW: &[Condition] = &[SERVER_VISIBLE, CPUS_FREE, DISKS_NOT_BUSY, RATE_BELOW_IDEAL];

/// The server is seen, its disks are not fully used, and its connections to services were counted often enough.
const VISIBLE_DISKS_FREE: &[Condition] = &[SERVER_VISIBLE, DISKS_NOT_BUSY, SERVICES_COUNTED];

/// Its disks are not fully used.
const DISKS_FREE: &[Condition] = &[DISKS_NOT_BUSY];

const fn cause(
    bottleneck: Bottleneck,
    all: &'static [Condition],
    unless_unknown: &'static [Condition],
) -> Cause {
    Cause { bottleneck, all, unless_unknown, is_indirect: false }
}

const fn indirect(
    bottleneck: Bottleneck,
    all: &'static [Condition],
    unless_unknown: &'static [Condition],
) -> Cause {
    Cause { is_indirect: true, ..cause(bottleneck, all, unless_unknown) }
}

/// All rules; the first that holds names the bottleneck.
pub const CAUSES: &[Cause] = &[
    cause(Bottleneck::Generator, &[at_least(Indicator::GeneratorFault, 1.0)], &[]),
    // A limit on disk traffic that is used up is a limit whatever the traffic is for, pages that do not fit in memory included.
    cause(
        Bottleneck::DiskOperations,
        &[at_least(Indicator::DiskOperationsOfShare, DISK_SHARE_USED_MIN)],
        NOT_CPU_BOUND,
    ),
    cause(
        Bottleneck::DiskBandwidth,
        &[at_least(Indicator::DiskBytesOfShare, DISK_SHARE_USED_MIN)],
        NOT_CPU_BOUND,
    ),
    // A lack of memory also shows as CPU time of the kernel and at the disks, so it is checked before these.
    cause(Bottleneck::Memory, &[REFAULTS, at_least(Indicator::MemoryPressure, 0.10)], &[]),
    cause(Bottleneck::Memory, &[REFAULTS, at_least(Indicator::MemoryLimitHits, 1.0)], &[]),
    cause(Bottleneck::Memory, &[REFAULTS, at_least(Indicator::MemoryOfLimit, 0.95)], &[]),
    cause(Bottleneck::Memory, &[at_least(Indicator::MemoryPressure, 0.10)], NOT_CPU_BOUND),
    cause(Bottleneck::Processor, &[at_least(Indicator::ProcessorUse, CPUS_FULL_MIN)], &[]),
    // A quota that Plimsoll did not set is no part of its use, but the kernel counts the periods in which it ran out.
    cause(Bottleneck::Processor, &[at_least(Indicator::Throttled, 0.50)], SLOW_WITHOUT_DISKS),
    // CPUs that are full of other programs' work: the server's threads wait for one longer than they use one.
    cause(Bottleneck::Processor, &[MACHINE_CPUS_FULL, THREADS_WAIT_FOR_CPUS], SLOW_FOR_CPUS),
    // On such CPUs one user waits, too, so that the ideal rate tells nothing: of users who never think, it is enough that a
    // thread or their operations do nothing else, unless those are seen to wait for a service or a lock.
    cause(
        Bottleneck::Processor,
        &[
            MACHINE_CPUS_FULL,
            THREADS_WAIT_FOR_CPUS,
            at_least(Indicator::CpuDemand, 0.90),
            below(Indicator::UsersThinking, 0.05),
        ],
        NO_OTHER_WAITS,
    ),
    cause(Bottleneck::Processor, &[CPUS_NEARLY_FULL, at_least(Indicator::CpuPressure, 0.20)], DISKS_FREE),
    cause(Bottleneck::Processor, &[CPUS_NEARLY_FULL, at_least(Indicator::RunnablePerCpu, 1.0)], DISKS_FREE),
    cause(Bottleneck::Processor, &[CPUS_NEARLY_FULL], SLOW_WITHOUT_DISKS),
    // Its CPUs are full, although a part of their time, as for the network, is not accounted to the server.
    cause(
        Bottleneck::Processor,
        &[at_least(Indicator::CpuBusy, 0.97), at_least(Indicator::ProcessorUse, 0.80)],
        SLOW_WITHOUT_DISKS,
    ),
    // A server with one thread fills one CPU of several: all waiting for it is a consequence.
    cause(Bottleneck::Processor, &[at_least(Indicator::BusiestThread, 0.90)], SLOW_WITHOUT_DISKS),
    // So does a process whose threads take turns, as those of one interpreter do; a little more where some of its work, as in
    // the kernel, needs no turn.
    indirect(
        Bottleneck::Processor,
        &[
            at_least(Indicator::BusiestProcess, ONE_CPU_MIN),
            below(Indicator::BusiestProcess, ONE_CPU_MAX),
            below(Indicator::RateOfLoadGrowth, 0.25),
        ],
        SLOW_WITHOUT_OTHER_WAITS,
    ),
    cause(
        Bottleneck::Processor,
        &[
            at_least(Indicator::CpuBusiest, 0.98),
            at_least(Indicator::ServerCpus, 0.90),
            below(Indicator::RateGrowth, 1.05),
        ],
        DISKS_FREE,
    ),
    cause(
        Bottleneck::DiskBandwidth,
        &[at_least(Indicator::DiskBusy, DISK_FULL_MIN), at_least(Indicator::DiskRequestBytes, 65536.0)],
        OWN_DISK_REQUESTS,
    ),
    cause(Bottleneck::DiskOperations, &[at_least(Indicator::DiskBusy, DISK_FULL_MIN)], OWN_DISK_REQUESTS),
    cause(
        Bottleneck::DiskBandwidth,
        &[at_least(Indicator::IoPressure, 0.30), at_least(Indicator::DiskRequestBytes, 65536.0)],
        OWN_DISK_REQUESTS,
    ),
    cause(Bottleneck::DiskOperations, &[at_least(Indicator::IoPressure, 0.30)], OWN_DISK_REQUESTS),
    indirect(
        Bottleneck::DiskOperations,
        &[at_least(Indicator::DiskGrowth, 3.0), at_least(Indicator::IoPressure, 0.05)],
        OWN_DISK_REQUESTS,
    ),
    // A limit on disk traffic that Plimsoll did not set holds requests back before they reach a disk, which looks idle.
    indirect(
        Bottleneck::DiskBandwidth,
        &[at_least(Indicator::ThreadsAtDisk, 0.40), at_least(Indicator::DiskRequestBytes, 65536.0)],
        SLOW_WITHOUT_CPUS,
    ),
    indirect(Bottleneck::DiskOperations, &[at_least(Indicator::ThreadsAtDisk, 0.40)], SLOW_WITHOUT_CPUS),
    // A transaction that commits waits until its log is written, wherever that disk is.
    indirect(Bottleneck::DiskOperations, &[AT_LOG], SLOW_WITHOUT_CPUS),
    cause(Bottleneck::Network, &[at_least(Indicator::NetworkBusy, 0.85)], NOT_CPU_BOUND),
    cause(Bottleneck::Network, &[at_least(Indicator::QueueBacklog, 1500.0)], SLOW_WITHOUT_CPUS),
    cause(Bottleneck::Network, &[at_least(Indicator::QueueDrops, 1.0)], SLOW_WITHOUT_CPUS),
    cause(Bottleneck::OpenFiles, &[at_least(Indicator::OpenFilesOfLimit, 0.98)], SLOW_WITHOUT_CPUS),
    // Of a limit on the number of operations that are served at once, that number is steadier than their rate.
    cause(
        Bottleneck::ConcurrencyLimit,
        &[
            REFUSED,
            at_least(Indicator::ServedOfRefused, SERVED_OF_REFUSED_MIN),
            at_least(Indicator::ServedInFlight, 0.0),
            below(Indicator::NumberVariation, 0.5),
        ],
        FLAT_WITHOUT_CPUS,
    ),
    cause(Bottleneck::RateLimit, &[REFUSED, at_least(Indicator::RefusedByRate, 0.5)], FLAT_WITHOUT_CPUS),
    cause(Bottleneck::RateLimit, &[REFUSED, at_least(Indicator::NumberVariation, 2.0)], FLAT_WITHOUT_CPUS),
    // Where both are as steady, it may be either.
    cause(
        Bottleneck::ServerLimit,
        &[REFUSED, at_least(Indicator::ServedOfRefused, SERVED_OF_REFUSED_MIN)],
        FLAT_WITHOUT_CPUS,
    ),
    cause(Bottleneck::RateLimit, &[REFUSED], FLAT_WITHOUT_CPUS),
    // What a server does to operations is more direct than what the others wait for.
    cause(
        Bottleneck::BackEndConnections,
        &[at_least(Indicator::BackEndErrors, FAILED_MIN)],
        FLAT_WITHOUT_CPUS,
    ),
    indirect(
        Bottleneck::ConnectionLimit,
        &[at_least(Indicator::ConnectionsCut, FAILED_MIN)],
        FLAT_WITHOUT_OVERFLOWS,
    ),
    indirect(
        Bottleneck::ConnectionLimit,
        &[at_least(Indicator::KeptConnectionsCut, FAILED_MIN)],
        FLAT_WITHOUT_OVERFLOWS,
    ),
    // Sessions of a database say what they wait for.
    indirect(
        Bottleneck::Waiting,
        &[at_least(Indicator::SessionsAtLock, WAITING_FOR_LOCK_MIN)],
        VISIBLE_AND_FREE,
    ),
    // Workers that all wait for one lock are busy, but more of them would wait for it too.
    indirect(
        Bottleneck::Waiting,
        &[at_least(Indicator::WorkersBusy, 0.98), THREADS_AT_LOCK],
        VISIBLE_AND_FREE,
    ),
    indirect(
        Bottleneck::Waiting,
        &[at_least(Indicator::InFlightPerWorker, 1.2), THREADS_AT_LOCK],
        VISIBLE_AND_FREE,
    ),
    indirect(
        Bottleneck::Waiting,
        &[at_least(Indicator::AcceptQueue, 1.0), THREADS_AT_LOCK],
        VISIBLE_FREE_AND_SLOW,
    ),
    // A worker may be read between one request and the next that waits.
    cause(
        Bottleneck::WorkerLimit,
        &[at_least(Indicator::WorkersBusy, 0.90), at_least(Indicator::RequestsQueued, 1.0)],
        NOT_CPU_BOUND,
    ),
    cause(Bottleneck::WorkerLimit, &[at_least(Indicator::WorkersBusy, 0.98)], NOT_CPU_BOUND),
    cause(
        Bottleneck::WorkerLimit,
        &[at_least(Indicator::InFlightPerWorker, 1.2), RATE_BELOW_IDEAL],
        NOT_CPU_BOUND,
    ),
    cause(Bottleneck::AcceptBacklog, &[at_least(Indicator::ListenerDrops, 1.0)], SLOW_WITH_OVERFLOWS),
    indirect(Bottleneck::AcceptBacklog, &[at_least(Indicator::ListenOverflows, 1.0)], SLOW_WITH_DROPS),
    indirect(Bottleneck::AcceptBacklog, &[at_least(Indicator::SynRetransmits, 1.0)], SLOW_WITH_DROPS),
    indirect(Bottleneck::Network, &[at_least(Indicator::Retransmits, 0.01)], SLOW_WITHOUT_CPUS),
    // A lossy way is as slow for one user as for many, so that the rate follows the load.
    indirect(
        Bottleneck::Network,
        &[
            at_least(Indicator::Retransmits, 0.01),
            at_least(Indicator::ResponseUnexplained, RESPONSE_UNEXPLAINED_MIN),
        ],
        NOT_CPU_BOUND,
    ),
    // A thread that is nearly fully used makes others wait before it is fully used on average.
    indirect(Bottleneck::Processor, &[at_least(Indicator::BusiestThread, 0.80)], SLOW_WITHOUT_DISKS),
    // A server that needs no thread for each connection accepts all, unless it is told not to.
    cause(Bottleneck::ConnectionLimit, &[at_least(Indicator::AcceptedAtLimit, 2.0)], SLOW_WITHOUT_CPUS),
    indirect(Bottleneck::WorkerLimit, &[at_least(Indicator::AcceptQueue, 1.0)], SLOW_WITHOUT_CPUS),
    // Operations that each hold a connection to a service wait for it, unless a lock is seen to hold them.
    indirect(Bottleneck::Waiting, &[HELD_BY_SERVICE, THREADS_AT_LOCK], VISIBLE_AND_FREE),
    indirect(
        Bottleneck::DownstreamService,
        &[HELD_BY_SERVICE, at_least(Indicator::ResponseUnexplained, UNEXPLAINED_AT_SERVICE_MIN)],
        VISIBLE_AND_FREE,
    ),
    indirect(Bottleneck::DownstreamService, &[HELD_BY_SERVICE, RATE_BELOW_IDEAL], VISIBLE_AND_FREE),
    indirect(
        Bottleneck::ConnectionLimit,
        &[at_least(Indicator::PoolAtLimit, 1.0), RATE_BELOW_IDEAL],
        VISIBLE_AND_FREE,
    ),
    // Without think times, more users bring more: but each waits for something that is neither a CPU nor a disk.
    indirect(
        Bottleneck::Waiting,
        &[at_least(Indicator::ResponseUnexplained, RESPONSE_UNEXPLAINED_MIN)],
        VISIBLE_FREE_AND_COUNTED,
    ),
    cause(
        Bottleneck::None,
        &[at_least(Indicator::RateOfIdeal, IDEAL_RATE_MIN)],
        &[below(Indicator::ProcessorUse, CPUS_FULL_MIN)],
    ),
    // Operations that only use CPUs or wait for them leave these idle for moments, as where a few processes wake one another.
    indirect(
        Bottleneck::Processor,
        &[
            at_least(Indicator::CpuBusy, 0.85),
            at_least(Indicator::CpuDemand, 0.95),
            below(Indicator::RateGrowth, 1.05),
        ],
        NO_OTHER_WAITS,
    ),
    indirect(
        Bottleneck::Scheduler,
        &[
            at_least(Indicator::SwitchGrowth, 3.0),
            below(Indicator::RateGrowth, 1.05),
            below(Indicator::ProcessorUse, 0.70),
        ],
        ONLY_VISIBLE,
    ),
    indirect(
        Bottleneck::Waiting,
        &[below(Indicator::RateGrowth, 1.05), CPUS_FREE],
        &[SERVER_VISIBLE, SERVICES_COUNTED],
    ),
    // From one user to many, growth of the rate by a few percent does not count.
    indirect(
        Bottleneck::Waiting,
        &[
            below(Indicator::RateOfLoadGrowth, 0.10),
            below(Indicator::RateOfIdeal, 0.50),
            below(Indicator::ProcessorUse, 0.60),
        ],
        VISIBLE_DISKS_FREE,
    ),
];

impl Condition {
    /// Returns whether the indicator is known and the condition holds.
    pub fn holds(&self, indicators: &Indicators) -> bool {
        indicators.get(&self.indicator).is_some_and(|value| match self.threshold {
            Threshold::AtLeast(least) => least <= *value,
            Threshold::Below(limit) => *value < limit,
        })
    }

    fn is_contradicted(&self, indicators: &Indicators) -> bool {
        indicators.contains_key(&self.indicator) && !self.holds(indicators)
    }
}

impl Cause {
    /// Returns whether the indicators name this bottleneck.
    pub fn holds(&self, indicators: &Indicators) -> bool {
        self.all.iter().all(|condition| condition.holds(indicators))
            && !self.unless_unknown.iter().any(|condition| condition.is_contradicted(indicators))
    }

    /// Returns the conditions whose indicators are known, with the values found; of a disk also what it is used for.
    pub fn evidence(&self, indicators: &Indicators) -> Vec<(Condition, f64)> {
        let is_disk = matches!(self.bottleneck, Bottleneck::DiskOperations | Bottleneck::DiskBandwidth);
        let uses = DISK_USES.iter().filter(|one| is_disk && !self.all.contains(one) && one.holds(indicators));
        let conditions = self.all.iter().chain(self.unless_unknown).chain(uses);
        conditions
            .filter_map(|condition| Some((*condition, *indicators.get(&condition.indicator)?)))
            .collect()
    }
}

/// Returns the condition by which the lowest load is judged by the next one.
pub(super) const fn hindsight_condition(growth_max: f64) -> Condition {
    below(Indicator::RateAtNextLoad, growth_max)
}

/// Returns the first rule that holds; `None` if none does.
pub(super) fn find_cause(indicators: &Indicators) -> Option<&'static Cause> {
    CAUSES.iter().find(|cause| cause.holds(indicators))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(indicators: &[(Indicator, f64)]) -> Bottleneck {
        find_cause(&indicators.iter().copied().collect())
            .map_or(Bottleneck::Undetermined, |cause| cause.bottleneck)
    }

    /// The examples of the order-entry specification, 9.8.
    #[test]
    fn the_specified_examples_are_named() {
        use Indicator::*;
        for (indicators, expected) in [
            (&[(ProcessorUse, 0.97), (RunnablePerCpu, 4.5), (DiskBusy, 0.12)][..], Bottleneck::Processor),
            (&[(ProcessorUse, 0.41), (DiskBusy, 0.99), (DiskGrowth, 4.0)], Bottleneck::DiskOperations),
            (
                &[(ProcessorUse, 0.40), (SwitchGrowth, 4.0), (DiskBusy, 0.05), (RateGrowth, 1.0)],
                Bottleneck::Scheduler,
            ),
            (&[(ProcessorUse, 0.35), (DiskBusy, 0.10), (RateGrowth, 1.01)], Bottleneck::Waiting),
            (&[(ProcessorUse, 0.55), (NetworkBusy, 0.96)], Bottleneck::Network),
            (&[(GeneratorFault, 1.0), (ProcessorUse, 0.61)], Bottleneck::Generator),
        ] {
            assert_eq!(named(indicators), expected, "{indicators:?}");
        }
    }

    #[test]
    fn a_server_with_full_cpus_is_processor_bound() {
        use Indicator::*;
        let full = (ProcessorUse, 0.99);
        for other in [(IoPressure, 0.5), (ListenOverflows, 30.0), (AcceptQueue, 50.0), (QueueDrops, 3.0)] {
            assert_eq!(named(&[full, other]), Bottleneck::Processor, "{other:?}");
        }
    }

    #[test]
    fn a_full_accept_queue_is_a_limit_only_where_the_rate_suffers() {
        use Indicator::*;
        let waiting = [(AcceptQueue, 2.0), (ProcessorUse, 0.7)];
        let with = |ideal| [&waiting[..], &[(RateOfIdeal, ideal)]].concat();
        assert_eq!(named(&waiting), Bottleneck::WorkerLimit);
        assert_eq!(named(&with(0.6)), Bottleneck::WorkerLimit);
        assert_eq!(named(&with(1.0)), Bottleneck::None);
    }

    /// The reported case: overflows of the whole machine's listeners made the accept backlog the bottleneck of a server
    /// whose own queue was empty, and of a single user.
    #[test]
    fn only_the_servers_own_listeners_prove_a_short_accept_backlog() {
        use Indicator::*;
        let slow = [(ProcessorUse, 0.3), (RateOfIdeal, 0.4)];
        let with = |more: &[(Indicator, f64)]| [&slow[..], more].concat();
        let is_indirect = |found: &[(Indicator, f64)]| {
            find_cause(&found.iter().copied().collect()).is_some_and(|cause| cause.is_indirect)
        };
        let own = with(&[(ListenerDrops, 9.0), (ListenOverflows, 9.0), (SynRetransmits, 9.0)]);
        assert_eq!((named(&own), is_indirect(&own)), (Bottleneck::AcceptBacklog, false));
        for of_machine in [ListenOverflows, SynRetransmits] {
            let alone = with(&[(of_machine, 9.0)]);
            assert_eq!((named(&alone), is_indirect(&alone)), (Bottleneck::AcceptBacklog, true));
            assert_eq!(named(&with(&[(of_machine, 9.0), (ListenerDrops, 0.0)])), Bottleneck::Undetermined);
            // One user, whose rate is the ideal one.
            assert_eq!(named(&[(of_machine, 9.0), (RateOfIdeal, 1.0)]), Bottleneck::None);
        }
        // Apache with 20 users whose connections it ends after 100 requests each; its workers are the limit.
        let deferred = with(&[(ListenerDrops, 1.7), (ListenOverflows, 0.0), (SynRetransmits, 0.0)]);
        assert_eq!(named(&deferred), Bottleneck::Undetermined);
        let lossy = with(&[(SynRetransmits, 9.0), (Retransmits, 0.03), (ListenerDrops, 0.0)]);
        assert_eq!(named(&lossy), Bottleneck::Network);
    }

    /// The reported case: a server with one worker on two CPUs, which used 90 % of one of them, was called bound by a
    /// lock, the network, its workers or nothing in particular, depending on what else stood out.
    #[test]
    fn a_server_with_a_full_thread_is_not_called_anything_else() {
        use Indicator::*;
        for thread in [0.90, 0.97] {
            let one = [(ProcessorUse, thread / 2.0), (BusiestThread, thread), (RateOfIdeal, 0.3)];
            for other in [
                (AcceptQueue, 12.0),
                (RateGrowth, 1.01),
                (Retransmits, 0.02),
                (QueueBacklog, 3000.0),
                (RateOfLoadGrowth, 0.01),
                (SwitchGrowth, 5.0),
                (ListenOverflows, 2.0),
            ] {
                assert_eq!(
                    named(&[&one[..], &[other]].concat()),
                    Bottleneck::Processor,
                    "{thread} {other:?}"
                );
            }
        }
        // A thread that keeps up with its load is no limit yet.
        assert_eq!(
            named(&[(ProcessorUse, 0.46), (BusiestThread, 0.92), (RateOfIdeal, 1.0)]),
            Bottleneck::None
        );
        // Nor are disks that are fully used because of it.
        assert_eq!(
            named(&[
                (ProcessorUse, 0.46),
                (BusiestThread, 0.92),
                (DiskBusy, 0.95),
                (DiskRequestsPerOperation, 1.0)
            ]),
            Bottleneck::DiskOperations
        );
    }

    #[test]
    fn between_nine_tenths_and_full_the_processor_is_named_without_other_indicators() {
        use Indicator::*;
        for used in [0.90, 0.93, 0.95] {
            assert_eq!(named(&[(ProcessorUse, used), (RateOfIdeal, 0.5)]), Bottleneck::Processor, "{used}");
        }
        assert_eq!(
            named(&[(ProcessorUse, 0.84), (CpuBusy, 0.99), (RateOfIdeal, 0.5)]),
            Bottleneck::Processor
        );
    }

    /// A server that Plimsoll did not start: its limits are not in the plan, but the kernel shows that they are met.
    #[test]
    fn limits_that_nobody_told_are_seen_by_what_they_do() {
        use Indicator::*;
        let slow = (RateOfIdeal, 0.4);
        // A quota of 0.3 of two CPUs: the accept queue is a consequence.
        let quota = [(ProcessorUse, 0.15), (Throttled, 0.97), (AcceptQueue, 20.0), slow];
        assert_eq!(named(&quota), Bottleneck::Processor);
        assert_eq!(
            named(&[(ProcessorUse, 0.15), (Throttled, 0.97), (RateOfIdeal, 1.0)]),
            Bottleneck::None,
            "a quota that runs out within a period, of users who are served in time"
        );
        // Two CPUs that other programs keep busy.
        let crowded = [(ProcessorUse, 0.3), (CpuBusy, 1.0), (RunDelay, 0.7), (RateGrowth, 1.0), slow];
        assert_eq!(named(&crowded), Bottleneck::Processor);
        // The reported case: one user waited for the crowded CPU, too, and 16 reached up to four times what he promised.
        let with = |demand, thinking, of_ideal| {
            let crowded = [(CpuBusy, 1.0), (RunDelay, 0.9), (RateOfIdeal, of_ideal)];
            named(&[&crowded[..], &[(CpuDemand, demand), (UsersThinking, thinking)]].concat())
        };
        assert_eq!([1.0, 1.67, 4.2].map(|of_ideal| with(0.97, 0.0, of_ideal)), [Bottleneck::Processor; 3]);
        assert_eq!(with(0.97, 0.6, 1.0), Bottleneck::None, "users who think, and are served in time");
        assert_eq!(with(0.5, 0.0, 1.0), Bottleneck::None, "a server that mostly sleeps");
        for elsewhere in [HeldByService, ThreadsAtLock, SessionsAtLock] {
            let crowded = [(CpuBusy, 1.0), (RunDelay, 0.9), (CpuDemand, 1.0), (UsersThinking, 0.0)];
            let waits = [&crowded[..], &[(RateOfIdeal, 1.0), (elsewhere, 0.9)]].concat();
            assert_ne!(named(&waits), Bottleneck::Processor, "{elsewhere:?}");
        }
        // A limit on reads: no disk is busy, and all threads wait for one.
        let reads = [(ProcessorUse, 0.1), (DiskBusy, 0.05), (ThreadsAtDisk, 0.9), slow];
        assert_eq!(named(&reads), Bottleneck::DiskOperations);
        assert_eq!(
            named(&[&reads[..], &[(DiskRequestBytes, 131_072.0)]].concat()),
            Bottleneck::DiskBandwidth
        );
        assert_eq!(named(&[(ProcessorUse, 0.2), (OpenFilesOfLimit, 1.0), slow]), Bottleneck::OpenFiles);
        let refused = |growth| named(&[(ProcessorUse, 0.2), (Refused, 0.4), (RateOfLoadGrowth, growth)]);
        assert_eq!(named(&[(ProcessorUse, 0.2), (Refused, 0.4), (RateGrowth, 1.0)]), Bottleneck::RateLimit);
        assert_eq!(refused(0.4), Bottleneck::RateLimit);
        assert_ne!(
            refused(1.0),
            Bottleneck::RateLimit,
            "it refuses the same part of all requests at any load"
        );
    }

    /// Limits of control groups of a server that Plimsoll did not start, read where they are set.
    /// The values of nginx beside the load generator on two CPUs, with 100 connections.
    #[test]
    fn operations_that_only_use_cpus_or_wait_for_them_are_bound_by_these() {
        use Indicator::*;
        let shared = |demand, growth, at_lock| {
            named(&[
                (ProcessorUse, 0.89),
                (CpuBusy, 0.93),
                (CpuDemand, demand),
                (RateGrowth, growth),
                (RateOfIdeal, 0.02),
                (ThreadsAtLock, at_lock),
            ])
        };
        assert_eq!(shared(1.0, 0.94, 0.0), Bottleneck::Processor);
        for (demand, growth, at_lock) in [(0.6, 0.94, 0.0), (1.0, 1.4, 0.0), (1.0, 0.94, 0.7)] {
            assert_eq!(
                shared(demand, growth, at_lock),
                Bottleneck::Undetermined,
                "{demand} {growth} {at_lock}"
            );
        }
    }

    #[test]
    fn limits_in_force_are_named_by_their_use() {
        use Indicator::*;
        let slow = (RateOfIdeal, 0.4);
        // A quota that a neighbor in the same pod shares, without the account of its periods.
        assert_eq!(named(&[(ProcessorUse, 0.97), (AcceptQueue, 20.0), slow]), Bottleneck::Processor);
        let thrashing = [(ProcessorUse, 0.3), (RefaultsPerOperation, 2.0), slow];
        assert_eq!(named(&[&thrashing[..], &[(MemoryOfLimit, 0.99)]].concat()), Bottleneck::Memory);
        assert_ne!(named(&[&thrashing[..], &[(MemoryOfLimit, 0.5)]].concat()), Bottleneck::Memory);
        // A full page cache alone is no lack of memory.
        let cached = [(ProcessorUse, 0.3), (RefaultsPerOperation, 0.0), (MemoryOfLimit, 1.0), slow];
        assert_ne!(named(&cached), Bottleneck::Memory);
        assert_eq!(named(&[(ProcessorUse, 0.1), (DiskOperationsOfShare, 0.98)]), Bottleneck::DiskOperations);
        assert_eq!(named(&[(ProcessorUse, 0.1), (DiskBytesOfShare, 0.98)]), Bottleneck::DiskBandwidth);
        // A CPU that somebody else fills, of a server that may use no other.
        let crowded = [(ProcessorUse, 0.3), (CpuBusy, 1.0), (RunDelay, 0.7), (RateGrowth, 1.0), slow];
        assert_eq!(named(&crowded), Bottleneck::Processor);
    }

    /// The reported case: one worker that sleeps for 20 ms and computes for 1 ms per page, beside compilers on all CPUs. It
    /// waited for a CPU for 8 ms per page, and yet more CPU time would hardly help.
    #[test]
    fn a_sleeping_worker_on_crowded_cpus_is_not_processor_bound() {
        use Indicator::*;
        let crowded =
            [(ProcessorUse, 0.1), (CpuBusy, 1.0), (RunDelay, 0.89), (AcceptQueue, 6.0), (RateOfIdeal, 0.1)];
        let with = |demand| named(&[&crowded[..], &[(CpuDemand, demand)]].concat());
        assert_eq!(with(0.32), Bottleneck::WorkerLimit);
        assert_eq!(with(0.95), Bottleneck::Processor);
        assert_eq!(named(&crowded), Bottleneck::Processor);
    }

    /// The reported case: nginx with `limit_conn 4` and 300 requests per second, of which 75 were served and 225 refused, was
    /// bound by a rate limit. 3.85 operations were served at once, which is at most a limit on their number.
    #[test]
    fn a_limit_on_number_is_told_from_a_rate_limit() {
        use Indicator::*;
        let refusing = [(ProcessorUse, 0.1), (Refused, 0.75), (RateOfLoadGrowth, 0.02)];
        let with = |served: f64, variation: Option<f64>, by_rate| {
            let served =
                [(ServedInFlight, served), (ServedOfRefused, served / 0.75), (RefusedByRate, by_rate)];
            let variation = variation.map(|ratio| (NumberVariation, ratio));
            named(&refusing.into_iter().chain(served).chain(variation).collect::<Vec<_>>())
        };
        assert_eq!(with(3.85, Some(0.2), 0.0), Bottleneck::ConcurrencyLimit);
        assert_eq!(with(3.85, Some(0.2), 1.0), Bottleneck::ConcurrencyLimit, "whatever the status says");
        assert_eq!(with(3.85, None, 0.0), Bottleneck::ServerLimit, "neither varies");
        assert_eq!(with(3.85, Some(1.1), 0.0), Bottleneck::ServerLimit, "both vary alike");
        assert_eq!(with(3.85, Some(4.0), 0.0), Bottleneck::RateLimit);
        assert_eq!(with(3.85, None, 1.0), Bottleneck::RateLimit, "429");
        assert_eq!(
            with(0.08, None, 0.0),
            Bottleneck::RateLimit,
            "one place would be busy for three quarters"
        );
        assert_eq!(with(0.08, Some(0.3), 0.0), Bottleneck::RateLimit);
        assert_eq!(named(&refusing), Bottleneck::RateLimit, "runs from before the number was known");
    }

    /// The reported cases: nginx with 16 local ports to its back end, which answered 340 of 600 requests per second with 502, was
    /// bound by a slow service; with 24 `worker_connections` for 64 clients, of whose operations 98.7 % were cut off, by its
    /// number of workers. With 24 for each of two workers and 64 clients, 18 % of the requests found their connection ended.
    #[test]
    fn failures_come_before_the_waits_of_other_operations() {
        use Indicator::*;
        let slow = [(ProcessorUse, 0.2), (RateOfIdeal, 0.1), (RateOfLoadGrowth, 0.1)];
        let waits = [
            (HeldByService, 1.0),
            (SessionsAtLock, 0.9),
            (WorkersBusy, 1.0),
            (AcceptQueue, 9.0),
            (PoolAtLimit, 16.0),
            (RateGrowth, 1.0),
        ];
        let with =
            |failed: (Indicator, f64), wait: (Indicator, f64)| named(&[&slow[..], &[failed, wait]].concat());
        for wait in waits {
            assert_eq!(with((BackEndErrors, 0.57), wait), Bottleneck::BackEndConnections, "{wait:?}");
            assert_eq!(with((ConnectionsCut, 0.987), wait), Bottleneck::ConnectionLimit, "{wait:?}");
            assert_eq!(with((KeptConnectionsCut, 0.18), wait), Bottleneck::ConnectionLimit, "{wait:?}");
            for few in [BackEndErrors, ConnectionsCut, KeptConnectionsCut] {
                assert_eq!(
                    with((few, 0.04), wait),
                    named(&[&slow[..], &[wait]].concat()),
                    "{few:?} {wait:?}"
                );
            }
        }
        // The kernel resets connections that its accept queue has no room for, and what fails at any load is no limit.
        let overflows = [(ConnectionsCut, 0.3), (ListenOverflows, 9.0), (ListenerDrops, 9.0)];
        assert_eq!(named(&[&slow[..], &overflows].concat()), Bottleneck::AcceptBacklog);
        let growing =
            [(ProcessorUse, 0.2), (RateOfIdeal, 1.0), (RateOfLoadGrowth, 1.0), (BackEndErrors, 0.1)];
        assert_eq!(named(&growing), Bottleneck::None);
    }

    /// The reported cases: gunicorn with 16 threads made 137/s at 1 client and at 16, with 1.01 CPUs in both, and was bound by a
    /// lock; Python's `http.server`, a thread for each connection, was bound by its accept backlog with 1.0 to 1.14 CPUs.
    #[test]
    fn a_process_on_one_cpu_is_the_limit_of_its_threads() {
        use Indicator::*;
        let interpreter = |cpus, growth| {
            [
                (ProcessorUse, cpus / 2.0),
                (ServerCpus, cpus),
                (BusiestProcess, cpus),
                (BusiestThread, 0.3),
                (RateOfIdeal, 0.1),
                (RateOfLoadGrowth, growth),
            ]
        };
        for (cpus, growth) in [(1.01, 0.0), (1.0, 0.02), (1.14, 0.02)] {
            for other in
                [(AcceptQueue, 12.0), (RateGrowth, 1.0), (ListenOverflows, 2.0), (ListenerDrops, 2.0)]
            {
                let found = [&interpreter(cpus, growth)[..], &[other]].concat();
                assert_eq!(named(&found), Bottleneck::Processor, "{cpus} {other:?}");
            }
        }
        for (cpus, growth) in [(0.7, 0.0), (1.4, 0.0), (1.0, 0.6)] {
            assert_ne!(named(&interpreter(cpus, growth)), Bottleneck::Processor, "{cpus} {growth}");
        }
        let waits = [&interpreter(1.0, 0.0)[..], &[(HeldByService, 1.0)]].concat();
        assert_eq!(named(&waits), Bottleneck::DownstreamService);
    }

    /// All workers are busy in both cases; more of them help only where they do not wait for one lock.
    #[test]
    fn a_lock_before_the_workers_is_not_called_the_worker_limit() {
        use Indicator::*;
        let busy = [(ProcessorUse, 0.2), (WorkersBusy, 1.0), (RateOfIdeal, 0.3)];
        let at_lock = |share| [&busy[..], &[(ThreadsAtLock, share)]].concat();
        assert_eq!(named(&at_lock(0.9)), Bottleneck::Waiting);
        assert_eq!(named(&at_lock(0.1)), Bottleneck::WorkerLimit);
        assert_eq!(named(&busy), Bottleneck::WorkerLimit);
    }

    /// Requests that wait for threads are told with the threads; they are a consequence where CPUs or disks are full.
    #[test]
    fn requests_that_wait_for_busy_workers_are_evidence() {
        use Indicator::*;
        let queue = [(WorkersBusy, 0.95), (RequestsQueued, 12.0), (RateOfIdeal, 0.3)];
        let with = |more: &[(Indicator, f64)]| [&queue[..], more].concat();
        let indicators: Indicators = with(&[(ProcessorUse, 0.2)]).into_iter().collect();
        let cause = find_cause(&indicators).unwrap();
        assert_eq!(cause.bottleneck, Bottleneck::WorkerLimit);
        assert!(
            cause
                .evidence(&indicators)
                .iter()
                .any(|(one, value)| { (one.indicator, *value) == (RequestsQueued, 12.0) })
        );
        assert_eq!(named(&with(&[(ProcessorUse, 0.97)])), Bottleneck::Processor);
        let disk = [(ProcessorUse, 0.2), (DiskBusy, 0.97), (DiskRequestsPerOperation, 1.0)];
        assert_eq!(named(&with(&disk)), Bottleneck::DiskOperations);
    }

    /// Cases that were called a lock, or nothing in particular: a service that is slow, and limits on connections.
    #[test]
    fn services_and_limits_on_connections_are_told_from_locks() {
        use Indicator::*;
        let idle = [(ProcessorUse, 0.2), (RateOfIdeal, 0.3), (RateGrowth, 1.0), (ResponseUnexplained, 0.95)];
        let with = |more: &[(Indicator, f64)]| [&idle[..], more].concat();
        assert_eq!(named(&with(&[])), Bottleneck::Waiting);
        assert_eq!(named(&with(&[(HeldByService, 0.95)])), Bottleneck::DownstreamService);
        // Of users who think, the response time is not judged.
        let driven = [(ProcessorUse, 0.2), (RateOfIdeal, 0.5), (HeldByService, 0.95)];
        assert_eq!(named(&driven), Bottleneck::DownstreamService);
        // Users who think and lose nothing have no bottleneck, whatever their operations wait for.
        assert_eq!(
            named(&[(ProcessorUse, 0.2), (RateOfIdeal, 1.0), (HeldByService, 0.95)]),
            Bottleneck::None
        );
        // Most operations hold none: the service is not what they wait for.
        assert_eq!(named(&with(&[(HeldByService, 0.3)])), Bottleneck::Waiting);
        assert_eq!(named(&with(&[(HeldByService, 0.9), (ThreadsAtLock, 0.8)])), Bottleneck::Waiting);
        assert_eq!(named(&with(&[(HeldByService, 0.9), (AcceptQueue, 12.0)])), Bottleneck::WorkerLimit);
        assert_eq!(named(&with(&[(PoolAtLimit, 10.0)])), Bottleneck::ConnectionLimit);
        assert_eq!(
            named(&with(&[(AcceptQueue, 12.0), (AcceptedAtLimit, 64.0)])),
            Bottleneck::ConnectionLimit
        );
        assert_eq!(named(&with(&[(AcceptQueue, 12.0)])), Bottleneck::WorkerLimit);
        // Workers of a back end wait for one lock, and connections wait for the workers.
        assert_eq!(named(&with(&[(AcceptQueue, 12.0), (ThreadsAtLock, 0.75)])), Bottleneck::Waiting);
        // A processor that is full makes operations wait everywhere.
        let full = [(ProcessorUse, 0.97), (RateOfIdeal, 0.3), (HeldByService, 0.95), (PoolAtLimit, 10.0)];
        assert_eq!(named(&full), Bottleneck::Processor);
    }

    /// The reported case: a slow service whose connections were counted once, or never, was called a lock.
    #[test]
    fn connections_that_were_counted_too_rarely_name_no_lock() {
        use Indicator::*;
        let idle = [(ProcessorUse, 0.2), (RateOfIdeal, 0.3), (RateGrowth, 1.0), (ResponseUnexplained, 0.95)];
        let flat = [(ProcessorUse, 0.2), (RateOfIdeal, 0.3), (RateOfLoadGrowth, 0.02)];
        for waiting in [&idle[..], &flat] {
            let counted = |n| named(&[waiting, &[(ServiceCounts, n)]].concat());
            assert_eq!([0.0, 2.0].map(counted), [Bottleneck::Undetermined; 2]);
            assert_eq!(counted(3.0), Bottleneck::Waiting);
        }
        // A service or a lock that is seen is named although the connections were counted too rarely.
        let seen = |more| named(&[&idle[..], &[(ServiceCounts, 1.0), more]].concat());
        assert_eq!(seen((HeldByService, 0.9)), Bottleneck::DownstreamService);
        assert_eq!(
            named(&[&idle[..], &[(ServiceCounts, 1.0), (HeldByService, 0.9), (ThreadsAtLock, 0.8)]].concat()),
            Bottleneck::Waiting
        );
    }

    /// Files that do not fit in memory, on a disk that is limited: both are short, and the disk is what is used up.
    #[test]
    fn a_disk_limit_that_is_used_up_is_named_before_the_memory_that_causes_the_traffic() {
        use Indicator::*;
        let thrashing = [(ProcessorUse, 0.3), (RefaultsPerOperation, 0.3), (MemoryOfLimit, 1.0)];
        let with = |more: &[(Indicator, f64)]| named(&[&thrashing[..], more].concat());
        assert_eq!(with(&[]), Bottleneck::Memory);
        assert_eq!(with(&[(DiskOperationsOfShare, 0.7)]), Bottleneck::Memory);
        assert_eq!(with(&[(DiskOperationsOfShare, 0.97)]), Bottleneck::DiskOperations);
        assert_eq!(with(&[(DiskBytesOfShare, 0.97)]), Bottleneck::DiskBandwidth);
    }

    /// Users without think times whose rate grows with their number wait for something all the same.
    #[test]
    fn a_response_time_that_nothing_explains_is_a_wait() {
        use Indicator::*;
        let grows = [(ProcessorUse, 0.1), (RateOfIdeal, 1.0), (RateGrowth, 2.0)];
        let with = |unexplained| [&grows[..], &[(ResponseUnexplained, unexplained)]].concat();
        assert_eq!(named(&with(0.97)), Bottleneck::Waiting);
        // A service that takes 20 ms of 30, behind a server that computes for the rest.
        assert_eq!(named(&with(0.66)), Bottleneck::Waiting);
        assert_eq!(named(&with(0.4)), Bottleneck::None);
        assert_eq!(named(&grows), Bottleneck::None);
        // The reported case: 16 workers call a service that takes 50 ms, and then want one CPU at the same time.
        let at_service = |unexplained, held| {
            let seen = [(ResponseUnexplained, unexplained), (HeldByService, held), (ServiceCounts, 1.0)];
            named(&[&grows[..], &seen].concat())
        };
        assert_eq!(at_service(0.296, 1.0), Bottleneck::DownstreamService);
        assert_eq!(at_service(0.296, 0.4), Bottleneck::None, "few operations at the service");
        assert_eq!(at_service(0.15, 1.0), Bottleneck::None, "connections that are kept, and hardly used");
    }

    /// The reported case: with 12 % of all packets lost, the rate followed the load, and a lock was named.
    #[test]
    fn losses_explain_a_response_time_that_the_server_does_not() {
        use Indicator::*;
        let slow = [(ProcessorUse, 0.03), (RateOfIdeal, 1.0), (ResponseUnexplained, 0.99)];
        let with = |again| [&slow[..], &[(Retransmits, again)]].concat();
        assert_eq!(named(&with(0.05)), Bottleneck::Network);
        assert_eq!(named(&with(0.001)), Bottleneck::Waiting);
    }

    #[test]
    fn sessions_that_wait_for_a_lock_are_not_called_a_worker_limit() {
        use Indicator::*;
        let held = [(ProcessorUse, 0.2), (RateOfIdeal, 0.4), (WorkersBusy, 1.0)];
        let with = |at_lock| named(&[&held[..], &[(SessionsAtLock, at_lock)]].concat());
        assert_eq!([0.3, 0.8].map(with), [Bottleneck::WorkerLimit, Bottleneck::Waiting]);
    }

    /// Goal: the log of a database and its buffers are named as what the disk is used for, and only there.
    #[test]
    fn a_disk_is_named_with_what_a_database_uses_it_for() {
        use Indicator::*;
        let evidence = |found: &[(Indicator, f64)]| {
            let indicators = found.iter().copied().collect();
            let cause = find_cause(&indicators).unwrap();
            let named: Vec<Indicator> =
                cause.evidence(&indicators).iter().map(|(one, _)| one.indicator).collect();
            (cause.bottleneck, named)
        };
        let operations = [(DiskOperationsOfShare, 0.97), (ProcessorUse, 0.3)];
        let with = |more: &[(Indicator, f64)]| evidence(&[&operations[..], more].concat());
        let disk = |uses: &[Indicator]| {
            (Bottleneck::DiskOperations, [&[DiskOperationsOfShare, ProcessorUse][..], uses].concat())
        };
        assert_eq!(with(&[(SessionsAtLog, 0.9), (BufferReadsPerOperation, 0.2)]), disk(&[SessionsAtLog]));
        assert_eq!(
            with(&[(SessionsAtLog, 0.1), (BufferReadsPerOperation, 6.0)]),
            disk(&[BufferReadsPerOperation])
        );
        assert_eq!(with(&[]), disk(&[]));
        // A processor that is full makes sessions wait everywhere, and pages are read from the page cache.
        let full = [(ProcessorUse, 0.97), (SessionsAtLog, 0.9), (BufferReadsPerOperation, 6.0)];
        assert_eq!(evidence(&full), (Bottleneck::Processor, vec![ProcessorUse]));
    }

    /// A database on another machine, whose disks nobody watches, and one that waits for locks more than for its log.
    #[test]
    fn sessions_at_the_log_name_the_disk_before_the_locks_that_they_hold() {
        use Indicator::*;
        let slow = [(ProcessorUse, 0.2), (RateOfIdeal, 0.4)];
        let with = |at_log, at_lock| {
            let sessions = [(SessionsAtLog, at_log), (SessionsAtLock, at_lock)];
            named(&[&slow[..], &sessions].concat())
        };
        assert_eq!(with(0.9, 0.1), Bottleneck::DiskOperations);
        assert_eq!(with(0.1, 0.9), Bottleneck::Waiting);
        assert_eq!(named(&[(ProcessorUse, 0.2), (RateOfIdeal, 1.0), (SessionsAtLog, 0.9)]), Bottleneck::None);
    }

    #[test]
    fn a_server_that_is_not_seen_is_not_said_to_wait() {
        use Indicator::*;
        for flat in [
            &[(ProcessorUse, 0.2), (RateGrowth, 1.0)][..],
            &[(ProcessorUse, 0.2), (RateGrowth, 1.0), (SwitchGrowth, 5.0)],
            &[(ProcessorUse, 0.2), (RateOfLoadGrowth, 0.01), (RateOfIdeal, 0.1)],
        ] {
            assert_ne!(named(flat), Bottleneck::Undetermined, "{flat:?}");
            let unseen = [flat, &[(ServerUnseen, 1.0)]].concat();
            assert_eq!(named(&unseen), Bottleneck::Undetermined, "{flat:?}");
        }
    }

    /// A cause concluded from growth, or from what all programs of a machine share, is never more than probable.
    #[test]
    fn locks_are_probable_and_full_cpus_are_certain() {
        use Indicator::*;
        let is_indirect = |indicators: &[(Indicator, f64)]| {
            find_cause(&indicators.iter().copied().collect()).unwrap().is_indirect
        };
        assert!(is_indirect(&[(RateGrowth, 1.01), (ProcessorUse, 0.3)]));
        assert!(is_indirect(&[(Retransmits, 0.02), (ProcessorUse, 0.3)]));
        assert!(!is_indirect(&[(ProcessorUse, 0.97)]));
    }

    #[test]
    fn no_indicators_name_no_bottleneck() {
        assert_eq!(named(&[]), Bottleneck::Undetermined);
        assert_eq!(named(&[(Indicator::ProcessorUse, 0.3)]), Bottleneck::Undetermined);
    }
}
