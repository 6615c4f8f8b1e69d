//! Indicators read from the metrics of machines.

use std::collections::BTreeMap;

use model::{Counter, Load, MachineRole, Plan};

use super::connections::ServiceNames;
use super::load_interfaces::LoadInterfaces;
use super::{CpuNeighbor, Indicator, Indicators, connections, served, web};
use crate::limits_in_force::{self, DISK_BYTES, DISK_OPERATIONS};
use crate::other_programs::programs_on;
pub(super) use crate::resources::ratio;
use crate::resources::{ResourceUsage, SERVER_END, SeriesUsage, sum_of};
use crate::server_cpus::busy_cpus;
use crate::shared_cpus::SharedCpus;
use crate::{LoadPointResult, VerdictState};

/// The loopback interface: it has no speed and is never a limit.
const LOOPBACK: &str = "lo";

/// Beginnings of the kernel functions in which a thread sleeps that waits for a lock on a file. Futexes and semaphores do
/// not count: threads of a pool that have nothing to do sleep there too.
const LOCK_CHANNELS: [&str; 4] = ["do_lock_file_wait", "fcntl_setlk", "flock_", "locks_lock_"];

/// Beginnings of the kernel functions in which a thread sleeps that waits for data from a socket.
const SOCKET_CHANNELS: [&str; 5] =
    ["wait_woken", "sk_wait_data", "tcp_recvmsg", "unix_stream_read_generic", "unix_stream_data_wait"];

/// The counts by which databases say how many pages they read because their buffers did not hold them.
const BUFFER_READS: [&str; 2] = ["pg_stat_database.blks_read", "Innodb_buffer_pool_reads"];

/// The least mean response time, in s, that the CPU time of an operation has to explain. A house rule: below it, what the
/// network and the generator add would count.
const RESPONSE_MIN: f64 = 0.005;

/// The indicators of a load point by itself, with the values that later ones are compared with.
#[derive(Debug, Clone, Default)]
pub(super) struct PointIndicators {
    /// The indicators.
    pub(super) indicators: Indicators,
    /// Mean time of a request to the busiest disk, in s.
    disk_time: Option<f64>,
    /// Context switches per operation.
    switches: Option<f64>,
}

/// Reads the indicators that need no other load point.
pub(super) fn point_indicators(plan: &Plan, point: &LoadPointResult) -> PointIndicators {
    let mut reader = Reader { plan, point, uses: &point.resources, indicators: Indicators::new() };
    reader.processors();
    reader.memory();
    reader.disks();
    reader.network();
    reader.workers();
    reader.waits();
    let disk_time = busiest_disk(reader.uses).and_then(|(name, _)| disk_time(reader.uses, &name));
    let switches = reader.per_operation(reader.uses.sut_sum(Counter::ContextSwitches));
    PointIndicators { indicators: reader.indicators, disk_time, switches }
}

/// Returns the use of the CPUs that the server and the generator share; `None` if they share none.
pub(super) fn shared_cpus(plan: &Plan, point: &LoadPointResult) -> Option<SharedCpus> {
    SharedCpus::of(plan, &point.resources, point.generator_cpus(plan), point.sut_cpus)
}

/// Returns who used more of the CPUs than the server did, and more than all others; `None` if the server used most.
pub(super) fn neighbor(plan: &Plan, point: &LoadPointResult) -> Option<CpuNeighbor> {
    let uses = &point.resources;
    let machine = uses.first_with(Counter::OtherCpu, SERVER_END);
    let programs = machine.into_iter().flat_map(|machine| programs_on(uses, machine));
    let programs = programs.map(|used| (used.cpus, CpuNeighbor::Program(used)));
    let generator = point.generator_cpus(plan);
    let own = limits_in_force::allowed_cpus(uses).unwrap_or_default();
    let is_apart = !own.is_empty()
        && !plan.load_cpus().is_empty()
        && plan.load_cpus().iter().all(|cpu| !own.contains(cpu));
    let shares_cpus = cpu_role(uses) == Some(MachineRole::Both) && !is_apart;
    let generator = shares_cpus.then_some((generator, CpuNeighbor::Generator { cpus: generator }));
    let busiest = programs.chain(generator).max_by(|one, other| one.0.total_cmp(&other.0));
    busiest.filter(|(cpus, _)| point.sut_cpus.is_some_and(|own| own < *cpus)).map(|(_, neighbor)| neighbor)
}

/// A reader of the indicators of one load point, resource by resource.
struct Reader<'a> {
    plan: &'a Plan,
    point: &'a LoadPointResult,
    uses: &'a ResourceUsage,
    indicators: Indicators,
}

impl Reader<'_> {
    fn put(&mut self, indicator: Indicator, value: Option<f64>) {
        if let Some(value) = value.filter(|value| value.is_finite()) {
            self.indicators.insert(indicator, value);
        }
    }

    /// Sets an indicator to the sum of a counter where the server runs.
    fn put_sum(&mut self, indicator: Indicator, counter: Counter) {
        self.put(indicator, self.uses.sut_sum(counter));
    }

    fn per_operation(&self, amount: Option<f64>) -> Option<f64> {
        ratio(amount, Some(self.point.rate + self.point.error_rate))
    }

    fn processors(&mut self) {
        let uses = self.uses;
        let point = self.point;
        let cpus = busy_cpus(self.plan, uses);
        let of_limits = limits_in_force::processor_share(uses);
        self.put(Indicator::AllowanceBusy, point.sut_busy.or(of_limits));
        // On a machine with other programs, its CPUs may be busy without the server.
        let own = point.sut_busy.or_else(|| match limits_in_force::allowed_cpus(uses) {
            Some(_) => of_limits,
            None => of_limits.into_iter().chain(self.processor_use(&cpus)).max_by(f64::total_cmp),
        });
        self.put(Indicator::ProcessorUse, own);
        self.put(Indicator::ServerCpus, point.sut_cpus);
        self.put(Indicator::CpuBusy, mean(&cpus));
        let thread = uses.sut_sum(Counter::SutBusiestThread).map(|micros| micros / 1e6);
        self.put(Indicator::BusiestThread, thread);
        let process = uses.sut_sum(Counter::SutBusiestProcess).map(|micros| micros / 1e6);
        self.put(Indicator::BusiestProcess, process);
        self.put(Indicator::CpuBusiest, cpus.iter().copied().max_by(f64::total_cmp));
        let throttled = ratio(uses.sut_sum(Counter::SutThrottledPeriods), uses.sut_sum(Counter::SutPeriods));
        self.put(Indicator::Throttled, throttled);
        let delay = uses.sut_share(Counter::SutRunDelay);
        let wanted = delay.zip(point.sut_cpus).map(|(delay, used)| delay + used);
        let waited = ratio(delay, wanted);
        self.put(Indicator::RunDelay, waited);
        self.put(Indicator::CpuDemand, self.cpu_demand(thread, wanted, waited));
        let shares_machine = cpu_role(uses) == Some(MachineRole::Both);
        self.put(Indicator::ServerUnseen, shares_machine.then_some(f64::from(point.sut_cpus.is_none())));
        self.put(Indicator::CpuPressure, own_share(uses, Counter::SutPressureCpu, Counter::PressureCpu));
        let n_cpus = uses.sut_instances(Counter::CpuIdle).count();
        self.put(Indicator::RunnablePerCpu, ratio(uses.sut_sum(Counter::Runnable), Some(n_cpus as f64)));
    }

    /// Returns the part of the time in which a thread, or an operation in progress, used or waited for a CPU: that of the
    /// thread with most of both, and (C + W) ÷ R of an operation. The greater counts, at most 1: workers that take turns are
    /// each seldom busy, and operations wait together for a thread that receives all of them. `None` where threads are not
    /// seen. Runs from before both were counted by thread have the busiest one's b ÷ (1 − w), with b its CPU time and w the
    /// waiting part of all threads' demand.
    fn cpu_demand(&self, thread: Option<f64>, wanted: Option<f64>, waited: Option<f64>) -> Option<f64> {
        let of_busiest = || ratio(thread, waited.map(|waited| 1.0 - waited));
        let demand = self.uses.sut_sum(Counter::SutThreadDemand).map(|micros| micros / 1e6);
        let of_thread = demand.or_else(of_busiest)?;
        let of_operation = ratio(wanted, Some(self.point.in_flight_mean)).unwrap_or(0.0);
        Some(of_thread.max(of_operation).min(1.0))
    }

    /// Returns the busy share of the server's CPUs; where the generator shares them, of the part that it leaves.
    fn processor_use(&self, cpus: &[f64]) -> Option<f64> {
        match shared_cpus(self.plan, self.point) {
            Some(shared) => Some(shared.server_share()),
            None => mean(cpus),
        }
    }

    fn memory(&mut self) {
        let uses = self.uses;
        self.put(
            Indicator::MemoryPressure,
            own_share(uses, Counter::SutPressureMemory, Counter::PressureMemory),
        );
        let refaults = uses.sut_sum(Counter::SutRefaults).or_else(|| uses.sut_sum(Counter::Refaults));
        self.put(Indicator::RefaultsPerOperation, self.per_operation(refaults));
        self.put_sum(Indicator::MemoryLimitHits, Counter::SutMemoryHits);
        self.put(Indicator::MemoryOfLimit, limits_in_force::memory_share(uses));
        let reads = BUFFER_READS.iter().find_map(|name| uses.sut_value(Counter::DatabaseCount, name));
        self.put(Indicator::BufferReadsPerOperation, self.per_operation(reads));
    }

    fn disks(&mut self) {
        let uses = self.uses;
        self.put(Indicator::DiskBusy, busiest_disk(uses).map(|(_, busy)| busy));
        self.put(Indicator::IoPressure, own_share(uses, Counter::SutPressureIo, Counter::PressureIo));
        self.put(Indicator::DiskRequestBytes, request_bytes(uses));
        let own = uses.sut_sum(Counter::SutReads).zip(uses.sut_sum(Counter::SutWrites));
        let own = self.per_operation(own.map(|(reads, writes)| reads + writes));
        self.put(Indicator::DiskRequestsPerOperation, own);
        let share = self.plan.sut.disk.unwrap_or_default();
        let requests = [(Counter::SutReads, share.reads), (Counter::SutWrites, share.writes)];
        let of_limits = limits_in_force::disk_share(uses, DISK_OPERATIONS);
        self.put(Indicator::DiskOperationsOfShare, of_share(uses, requests).or(of_limits));
        let bytes = [(Counter::SutReadBytes, share.read_bytes), (Counter::SutWriteBytes, share.write_bytes)];
        let of_limits = limits_in_force::disk_share(uses, DISK_BYTES);
        self.put(Indicator::DiskBytesOfShare, of_share(uses, bytes).or(of_limits));
    }

    fn network(&mut self) {
        let uses = self.uses;
        // What holds the load back on its way may show at either end: requests are queued and sent again by the generator.
        let ends = LoadInterfaces::of_both_ends(self.point);
        let greatest =
            |of: &dyn Fn(&LoadInterfaces) -> Option<f64>| ends.iter().filter_map(of).max_by(f64::total_cmp);
        let busy = greatest(&|end| network_busy(uses, end));
        let backlog = greatest(&|end| end.sum(uses, Counter::QueueBacklog));
        let drops = greatest(&|end| end.sum(uses, Counter::QueueDrops));
        let retransmits = greatest(&|end| retransmits(uses, end));
        self.put(Indicator::NetworkBusy, busy);
        self.put(Indicator::QueueBacklog, backlog);
        self.put(Indicator::QueueDrops, drops);
        self.put(Indicator::Retransmits, retransmits);
        // Without its processes, the listeners of all programs are counted.
        let is_seen = uses.sut_sum(Counter::SutProcesses).is_some();
        self.put(Indicator::ListenerDrops, uses.sum_of_all(Counter::ListenerDrops).filter(|_| is_seen));
        self.put(Indicator::ListenOverflows, listen_overflows(uses));
        self.put(Indicator::SynRetransmits, ends[0].sum_of_end(uses, Counter::TcpSynRetransmits));
        let queues = [Counter::AcceptQueue, Counter::UnixAcceptQueue];
        let queued: Vec<f64> = queues.into_iter().filter_map(|counter| uses.sum_of_all(counter)).collect();
        self.put(Indicator::AcceptQueue, (!queued.is_empty()).then(|| queued.iter().sum()));
    }

    fn workers(&mut self) {
        let busy = Counter::ServiceBusy;
        let all = Counter::ServiceWorkers;
        self.put(Indicator::WorkersBusy, ratio(self.uses.sut_sum(busy), self.uses.sut_sum(all)));
        self.put_sum(Indicator::RequestsQueued, Counter::ServiceQueue);
        self.put(Indicator::InFlightPerWorker, web::in_flight_per_worker(self.plan, self.point));
        self.put(Indicator::OpenFilesOfLimit, open_files_of_limit(self.uses));
        let refused = web::refused(self.plan, self.point);
        self.put(Indicator::Refused, refused);
        self.put(Indicator::RefusedByRate, web::refused_by_rate(self.plan, self.point));
        self.indicators.extend(served::indicators(self.point, refused));
        self.put(Indicator::BackEndErrors, web::back_end_errors(self.plan, self.point));
        self.put(Indicator::ConnectionsCut, served::connections_cut(self.point));
        self.put(Indicator::GeneratorFault, Some(generator_faults(self.point)));
    }

    /// Reads what the server's threads wait for, and how much of the response time is known.
    fn waits(&mut self) {
        let in_flight = self.point.in_flight_mean;
        let at_socket = threads_in(self.uses, &SOCKET_CHANNELS);
        let at_socket = (!at_socket.is_empty()).then(|| at_socket.values().sum());
        self.put(Indicator::ThreadsAtSocket, share_of(at_socket, in_flight));
        self.put(Indicator::AcceptedAtLimit, connections::accepted_at_limit(self.uses));
        let sum = |counter| self.uses.sut_sum(counter);
        let threads = sum(Counter::SutThreads).unwrap_or(f64::INFINITY);
        let at_disk = share_of(sum(Counter::SutThreadsBlocked), threads.min(in_flight));
        self.put(Indicator::SessionsAtLock, share_of(sum(Counter::SessionsAtLock), in_flight));
        self.put(Indicator::SessionsAtLog, share_of(sum(Counter::SessionsAtLog), in_flight));
        self.put(Indicator::ThreadsAtDisk, at_disk);
        self.put(Indicator::UsersThinking, self.users_thinking());
        self.put(Indicator::ResponseUnexplained, self.response_unexplained());
    }

    /// Returns the users that think on average ÷ all users; `None` for an open loop, which has none.
    fn users_thinking(&self) -> Option<f64> {
        match self.point.load {
            Load::Users(users) => ratio(Some(self.point.thinking_mean), Some(f64::from(users))),
            Load::Rate { .. } => None,
        }
    }

    /// Returns 1 − (C + W) ÷ R, at least 0, with C the server's CPU time per operation, W its threads' wait for a CPU per
    /// operation, R the mean response time. `None` where the pace is set by think times or a schedule, where R is short,
    /// where C is not known, and of a server on another machine, where R includes the time of the network.
    fn response_unexplained(&self) -> Option<f64> {
        if cpu_role(self.uses) == Some(MachineRole::Sut) {
            return None;
        }
        let is_driven = matches!(self.point.load, Load::Users(_)) && self.point.thinking_mean <= 0.0;
        let response = self.point.response.mean.filter(|mean| is_driven && RESPONSE_MIN <= *mean)?;
        let waited = self.per_operation(self.uses.sut_share(Counter::SutRunDelay)).unwrap_or(0.0);
        let known = self.point.sut_cpu_per_operation? + waited;
        Some((1.0 - known / response).max(0.0))
    }
}

/// Adds the indicators that follow from a comparison with the lowest load, and with all lower ones; returns them with the
/// services that they are about.
pub(super) fn with_relative(
    plan: &Plan,
    own: &PointIndicators,
    point: &LoadPointResult,
    (lowest, base): (&LoadPointResult, &PointIndicators),
    points: &[LoadPointResult],
) -> (Indicators, ServiceNames) {
    let lower = points.iter().filter(|other| other.load.level() < point.load.level());
    let highest = lower.max_by(|one, other| one.rate.total_cmp(&other.rate));
    let growth = highest.and_then(|highest| ratio(Some(point.rate), Some(highest.rate)));
    let load_growth = highest.and_then(|highest| ratio(Some(point.load.level()), Some(highest.load.level())));
    let of_load = growth.zip(load_growth).and_then(|(rate, load)| ratio(Some(rate - 1.0), Some(load - 1.0)));
    let is_lowest = point.index == lowest.index;
    let beyond = |growth: Option<f64>| growth.filter(|_| !is_lowest);
    let mut indicators = own.indicators.clone();
    for (indicator, value) in [
        (Indicator::RateOfIdeal, rate_of_ideal(point, lowest)),
        (Indicator::ThreadsAtLock, threads_at_lock(plan, point, lowest)),
        (Indicator::DiskGrowth, beyond(ratio(own.disk_time, base.disk_time))),
        (Indicator::SwitchGrowth, beyond(ratio(own.switches, base.switches))),
        (Indicator::RateGrowth, growth),
        (Indicator::RateOfLoadGrowth, of_load),
        (Indicator::KeptConnectionsCut, beyond(served::kept_connections_cut(point, lowest))),
        (Indicator::ServiceCounts, connections::rare_counts(point, points)),
    ] {
        if let Some(value) = value.filter(|value| value.is_finite()) {
            indicators.insert(indicator, value);
        }
    }
    let services = connections::add_services(&mut indicators, point, lowest);
    (indicators, services)
}

/// Returns the rate of a load point relative to the ideal rate without any waiting: N ÷ (Z + R₁), with Z the measured
/// think time and R₁ the mean response time at the lowest load; in an open loop relative to the due operations.
///
/// The lowest load can only be its own reference where surely nothing waits there: with one user, or with think times.
fn rate_of_ideal(point: &LoadPointResult, lowest: &LoadPointResult) -> Option<f64> {
    let Load::Users(users) = point.load else { return point.delivered_ratio };
    let thinks = 0.0 < point.thinking_mean;
    if point.index == lowest.index && 1 < users && !thinks {
        return None;
    }
    let think = point.thinking_mean / point.rate;
    ratio(Some(point.rate), Some(f64::from(users) / (think + lowest.response.mean?)))
}

/// Returns the share of the operations in progress whose threads wait for a lock on a file; `None` where wait channels were
/// not read. Idle workers may take turns at accepting by such a lock, as the daemons of mod_wsgi do: where several more wait at
/// the lowest load than operations are in progress, the waits of their group tell nothing.
fn threads_at_lock(plan: &Plan, point: &LoadPointResult, lowest: &LoadPointResult) -> Option<f64> {
    let idle = threads_in(&lowest.resources, &LOCK_CHANNELS);
    let takes_turns = |group: &str| idle.get(group).is_some_and(|n| lowest.in_flight_mean + 1.0 < *n);
    let uses = &point.resources;
    let workers = uses.sut_sum(Counter::ServiceWorkers).or(web::workers(plan));
    let waiting = threads_in(uses, &LOCK_CHANNELS).into_iter().filter(|(group, _)| !takes_turns(group));
    let shares = waiting.filter_map(|(group, n)| {
        // The workers of a back end are fewer than the operations that wait for them.
        let workers = workers.or(uses.sut_value(Counter::SutThreads, group)).unwrap_or(f64::INFINITY);
        share_of(Some(n), workers.min(point.in_flight_mean))
    });
    shares.max_by(f64::total_cmp)
}

/// Returns `n` ÷ `all`, at most 1; `None` if `n` is not known, or there are none.
fn share_of(n: Option<f64>, all: f64) -> Option<f64> {
    ratio(n, Some(all)).map(|share| share.min(1.0))
}

/// Returns the mean number of threads of each group of the server that sleep in functions with these beginnings; empty where
/// wait channels were not read.
fn threads_in<'a>(uses: &'a ResourceUsage, functions: &[&str]) -> BTreeMap<&'a str, f64> {
    let mut groups: BTreeMap<&str, f64> = BTreeMap::new();
    for one in uses.of_sut(Counter::SutWaitChannel) {
        // The name of the channel is the last word of the instance; before it stands the group of processes.
        let (group, channel) = one.series.instance.rsplit_once(' ').unwrap_or(("", &one.series.instance));
        let is_wanted = functions.iter().any(|function| channel.starts_with(function));
        *groups.entry(group).or_default() += one.value.filter(|_| is_wanted).unwrap_or(0.0);
    }
    groups
}

/// Returns the open files ÷ their limit of the group of processes that is closest to it.
fn open_files_of_limit(uses: &ResourceUsage) -> Option<f64> {
    let shares = uses.of_sut(Counter::SutOpenFiles).filter_map(|open| {
        ratio(open.value, uses.sut_value(Counter::SutOpenFilesMax, &open.series.instance))
    });
    shares.max_by(f64::total_cmp)
}

/// Returns the role of the machine on which the server runs, as far as its CPUs were monitored.
fn cpu_role(uses: &ResourceUsage) -> Option<MachineRole> {
    uses.of_sut(Counter::CpuIdle).next().and_then(|one| uses.role(one))
}

/// Returns the number of broken rules that concern the generator.
fn generator_faults(point: &LoadPointResult) -> f64 {
    let broken = |reason: &&crate::Reason| reason.finding.is_generator_limit();
    match point.verdict.state {
        VerdictState::Valid => 0.0,
        _ => point.verdict.reasons.iter().filter(broken).count() as f64,
    }
}

/// Returns the share of time of the server's own counter, or of the machine's if the server has none of its own.
fn own_share(uses: &ResourceUsage, own: Counter, of_machine: Counter) -> Option<f64> {
    uses.sut_share(own).or_else(|| uses.sut_share(of_machine))
}

/// Returns the disk that was busiest and its busy share; Windows reports the idle time of disks instead.
fn busiest_disk(uses: &ResourceUsage) -> Option<(String, f64)> {
    let share = |one: &SeriesUsage| Some((one.series.instance.clone(), one.value? / 1e6));
    let busy = uses.of_sut(Counter::DiskBusy).filter_map(share);
    let idle = uses.of_sut(Counter::DiskIdle).filter_map(share);
    let busy = busy.chain(idle.map(|(disk, idle)| (disk, (1.0 - idle).max(0.0))));
    busy.max_by(|one, other| one.1.total_cmp(&other.1))
}

/// Returns the mean time of a request to a disk, in s; `None` if it had none.
fn disk_time(uses: &ResourceUsage, disk: &str) -> Option<f64> {
    let of = |counter| uses.sut_value(counter, disk);
    let time = of(Counter::DiskReadTime)? + of(Counter::DiskWriteTime)?;
    ratio(Some(time / 1e6), Some(of(Counter::DiskReads)? + of(Counter::DiskWrites)?))
}

/// Returns the bytes of a request to the disks: the server's own where they are counted, else all.
fn request_bytes(uses: &ResourceUsage) -> Option<f64> {
    let sum = |counters: [Counter; 2]| Some(uses.sut_sum(counters[0])? + uses.sut_sum(counters[1])?);
    let own = ratio(
        sum([Counter::SutReadBytes, Counter::SutWriteBytes]),
        sum([Counter::SutReads, Counter::SutWrites]),
    );
    own.or_else(|| {
        ratio(
            sum([Counter::DiskReadBytes, Counter::DiskWriteBytes]),
            sum([Counter::DiskReads, Counter::DiskWrites]),
        )
    })
}

/// Returns the greatest use of a limit on disk traffic; `None` if none is set, or if none is counted.
fn of_share(uses: &ResourceUsage, limits: [(Counter, Option<u64>); 2]) -> Option<f64> {
    let used =
        limits.into_iter().filter_map(|(counter, limit)| ratio(uses.sut_sum(counter), Some(limit? as f64)));
    used.max_by(f64::total_cmp)
}

/// Returns the segments sent again ÷ those sent at one end. Requests for a connection that are sent again concern
/// listeners. Loopback loses no segments: those that are sent again there were late because of the server.
fn retransmits(uses: &ResourceUsage, end: &LoadInterfaces) -> Option<f64> {
    let sum = |counter| end.sum_of_end(uses, counter);
    let connects = sum(Counter::TcpSynRetransmits).unwrap_or(0.0);
    let again = sum(Counter::TcpRetransmits).filter(|_| !end.is_only(LOOPBACK))?;
    ratio(Some((again - connects).max(0.0)), sum(Counter::TcpSegmentsSent))
}

/// Returns the overflows of accept queues in the networks in which listeners of the server, or of services behind it, are
/// seen; where none are, in the first network with this counter.
fn listen_overflows(uses: &ResourceUsage) -> Option<f64> {
    let counter = Counter::ListenOverflows;
    let has_listeners =
        |one: &&SeriesUsage| uses.on(Counter::AcceptQueue, one.series.machine).next().is_some();
    sum_of(uses.of_all(counter).filter(has_listeners)).or_else(|| uses.sut_sum(counter))
}

fn network_busy(uses: &ResourceUsage, end: &LoadInterfaces) -> Option<f64> {
    let is_link = |name: &str| name != LOOPBACK && end.holds(name);
    let speeds = end.series(uses, Counter::NetSpeed).filter(|one| is_link(&one.series.instance));
    let busy = speeds.filter_map(|one| {
        let bytes = |counter| end.value(uses, counter, &one.series.instance);
        let busier = bytes(Counter::NetReceivedBytes)?.max(bytes(Counter::NetSentBytes)?);
        ratio(Some(8.0 * busier), one.value)
    });
    busy.max_by(f64::total_cmp)
}

fn mean(values: &[f64]) -> Option<f64> {
    ratio(Some(values.iter().sum()), Some(values.len() as f64))
}
