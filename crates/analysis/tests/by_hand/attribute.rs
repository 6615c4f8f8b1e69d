//! Bottlenecks named from the metrics of machines.

use analysis::attribute::{
    Attribution, Bottleneck, Certainty, CpuNeighbor, GeneratorHeadroom, HeadroomSource, Indicator,
    generator_headroom,
};
use analysis::{Analysis, Analyzer};
use model::{
    AgentPlan, Counter, CounterKind, Load, LoadPoint, MachineRole, MonitoredSource, Plan, ResourceRecord,
    RunEnding, Series, SutPlan,
};
use units::Nanos;

use crate::record::{ms, plan, records, s, users};

/// The metrics of a machine of two CPUs and one disk at a load: busy shares, and threads that want to run.
#[derive(Debug, Clone, Copy)]
struct Shown {
    cpu: f64,
    runnable: u64,
    disk: f64,
}

const SERIES: [(Counter, &str); 7] = [
    (Counter::CpuUser, "0"),
    (Counter::CpuIdle, "0"),
    (Counter::CpuUser, "1"),
    (Counter::CpuIdle, "1"),
    (Counter::DiskBusy, "sda"),
    (Counter::Runnable, ""),
    (Counter::DiskReads, "sda"),
];

/// Runs load points of (users, response time, what the machine shows), 1 s of settling and 12 s measured, on a server
/// that is monitored from outside.
fn run(points: &[(u32, u64, Shown)]) -> Analysis {
    let mut plan = plan(Load::Users(1), 1, 12);
    plan.sut.quota = None;
    plan.load_points =
        (0..).zip(points).map(|(index, (n, ..))| LoadPoint { index, load: Load::Users(*n) }).collect();
    let mut analyzer = Analyzer::new(&plan);
    analyzer.machine(MonitoredSource { name: "sut".to_owned(), role: MachineRole::Sut });
    for (counter, instance) in SERIES {
        analyzer.series(Series { machine: 0, counter, instance: instance.to_owned() });
    }
    for (index, (n, response, shown)) in points.iter().enumerate() {
        let operations = users(&plan, *n, |_, _| ms(*response), Nanos::ZERO);
        for mut interval in records(&plan, index, 0, &operations) {
            interval.sut = None;
            analyzer.interval(&interval);
        }
        (0..=14).for_each(|second| analyzer.resource(&reading(index as u32, second, *shown)));
    }
    analyzer.finish(RunEnding::Complete)
}

/// Both CPUs are busy alike; the disk takes 100 reads a second.
fn reading(load_point: u32, second: u64, shown: Shown) -> ResourceRecord {
    let micros = |share: f64| (share * second as f64 * 1e6) as u64;
    let busy = micros(shown.cpu);
    let idle = micros(1.0 - shown.cpu);
    let values = [busy, idle, busy, idle, micros(shown.disk), shown.runnable, 100 * second];
    ResourceRecord { load_point, machine: 0, at: s(second), values: (0..).zip(values).collect() }
}

fn named(analysis: &Analysis) -> Vec<Bottleneck> {
    analysis.load_points.iter().map(|point| point.attribution.as_ref().unwrap().bottleneck).collect()
}

/// The example of the order-entry specification, 9.8: one client waits for nothing; then the CPUs are full; then CPUs
/// and disk are half used and more load brings more; above 40 clients the disk is full.
#[test]
fn the_bottleneck_moves_as_specified() {
    let shown = |cpu, runnable, disk| Shown { cpu, runnable, disk };
    let analysis = run(&[
        (1, 20, shown(0.30, 1, 0.1)),
        (4, 60, shown(0.97, 5, 0.2)),
        (8, 110, shown(0.98, 9, 0.3)),
        (12, 110, shown(0.78, 2, 0.71)),
        (40, 200, shown(0.74, 2, 0.70)),
        (44, 220, shown(0.40, 1, 0.99)),
        (60, 300, shown(0.38, 1, 0.99)),
    ]);
    use Bottleneck::*;
    assert_eq!(
        named(&analysis),
        [None, Processor, Processor, Undetermined, Undetermined, DiskOperations, DiskOperations]
    );
    let most_used = analysis.load_points[3].attribution.as_ref().unwrap().most_used();
    let [(processor, cpu), (disk, busy)] = most_used[..] else { panic!("{most_used:?}") };
    assert_eq!([processor, disk], [Indicator::ProcessorUse, Indicator::DiskBusy]);
    assert!((cpu - 0.78).abs() < 0.005 && (busy - 0.71).abs() < 0.005, "{most_used:?}");
}

/// By hand: 8 users at 110 ms are 72.7/s. CPUs: 2 × 0.98 ÷ 72.7 = 27 ms an operation are not seen from outside; the
/// disk is busy 0.3 ÷ 72.7 = 4.1 ms and takes 100 ÷ 72.7 = 1.375 requests an operation, so it allows 242/s.
#[test]
fn demands_and_bounds_follow_from_use_and_rate() {
    let analysis = run(&[(8, 110, Shown { cpu: 0.5, runnable: 1, disk: 0.3 })]);
    let attribution = analysis.load_points[0].attribution.as_ref().unwrap();
    let demand = |name: &str| attribution.demands.iter().find(|one| one.resource == name).unwrap();
    let rate = analysis.load_points[0].rate;
    assert!((rate - 72.7).abs() < 1.0, "{rate}");
    assert!((demand("disk sda, time").per_operation - 0.3 / rate).abs() < 1e-9);
    assert!((demand("disk sda, requests").per_operation - 100.0 / rate).abs() < 1e-9);
    assert!((attribution.bounds.rate_max.unwrap() - rate / 0.3).abs() < 1e-6);
    // Without think time and with one resource known, one user is enough to fill it.
    assert!((attribution.bounds.users.unwrap() - 1.0).abs() < 1e-9);
}

/// The server of the reported cases, watched on a machine of two CPUs: CPU time of its processes per second, in µs, and bytes
/// per second of its own, of all with the disk that is busy for 0.25 of the time.
fn bounded(cpu: u64, [own, all]: [u64; 2], change: impl Fn(&mut Plan)) -> (f64, Option<f64>) {
    let mut plan = plan(Load::Users(8), 1, 12);
    plan.sut = SutPlan::of("external");
    change(&mut plan);
    let mut analyzer = Analyzer::new(&plan);
    analyzer.machine(MonitoredSource { name: "this machine".to_owned(), role: MachineRole::Both });
    let shown = [
        (Counter::CpuUser, "0", 600_000),
        (Counter::CpuIdle, "0", 400_000),
        (Counter::CpuUser, "1", 600_000),
        (Counter::CpuIdle, "1", 400_000),
        (Counter::SutProcesses, "port=80", 0),
        (Counter::SutCpu, "port=80", cpu),
        (Counter::DiskBusy, "sda", 250_000),
        (Counter::DiskReadBytes, "sda", 0),
        (Counter::DiskWriteBytes, "sda", all),
        (Counter::SutReadBytes, "port=80", 0),
        (Counter::SutWriteBytes, "port=80", own),
    ];
    for (counter, instance, _) in shown {
        analyzer.series(Series { machine: 0, counter, instance: instance.to_owned() });
    }
    for mut interval in records(&plan, 0, 0, &users(&plan, 8, |_, _| ms(100), Nanos::ZERO)) {
        interval.sut = None;
        analyzer.interval(&interval);
    }
    for second in 0..=14 {
        let values = (0..).zip(shown.map(|(_, _, each)| each * second)).collect();
        analyzer.resource(&ResourceRecord { load_point: 0, machine: 0, at: s(second), values });
    }
    let analysis = analyzer.finish(RunEnding::Complete);
    let point = &analysis.load_points[0];
    (point.rate, point.attribution.as_ref().unwrap().bounds.rate_max)
}

/// By hand: 8 users at 100 ms are 80/s. With 1 CPU of the 2 on which the server may run, 160/s are the bound; with 0.2 of them
/// it would be 800/s, ten times what was measured. The disk is busy for 0.25 of the time: 320/s.
#[test]
fn a_bound_needs_a_capacity_and_is_near_what_was_measured() {
    let near = |(rate, bound): (f64, Option<f64>), times: f64| {
        assert!((bound.unwrap() - times * rate).abs() < 1e-6, "{bound:?} at {rate}");
    };
    near(bounded(1_000_000, [0, 9_000], |_| ()), 2.0);
    near(bounded(200_000, [9_000, 9_000], |_| ()), 4.0);
    // Another program uses the disk.
    assert_eq!(bounded(200_000, [4_000, 9_000], |_| ()).1, None);
    near(bounded(200_000, [0, 0], |plan| plan.sut.quota = Some(0.4)), 2.0);
}

#[test]
fn evidence_has_values_and_thresholds() {
    let analysis = run(&[(4, 60, Shown { cpu: 0.97, runnable: 5, disk: 0.2 })]);
    let attribution = analysis.load_points[0].attribution.as_ref().unwrap();
    let found: Vec<(Indicator, f64)> =
        attribution.evidence.iter().map(|(condition, value)| (condition.indicator, *value)).collect();
    assert_eq!(found, [(Indicator::ProcessorUse, 0.97)]);
}

#[test]
fn a_run_that_was_not_monitored_has_no_attribution() {
    let analysis = crate::record::RecordedRun::closed().analyze();
    assert_eq!(analysis.load_points[0].attribution, None);
}

/// Runs 4 users at 60 ms on the machine that also makes the load, with what each interface shows: bytes per second,
/// bytes queued, and whether the run's route leads there (`None`: not recorded).
fn with_interfaces(length: u64, interfaces: &[(&str, u64, u64, Option<bool>)]) -> Analysis {
    let mut plan = plan(Load::Users(4), 1, length);
    plan.sut.quota = None;
    let mut analyzer = Analyzer::new(&plan);
    analyzer.machine(MonitoredSource { name: "this machine".to_owned(), role: MachineRole::Both });
    let series = |counter, instance: &str| Series { machine: 0, counter, instance: instance.to_owned() };
    for (counter, instance) in [(Counter::CpuUser, "0"), (Counter::CpuIdle, "0")] {
        analyzer.series(series(counter, instance));
    }
    for (name, _, _, route) in interfaces {
        analyzer.series(series(Counter::NetSentBytes, name));
        analyzer.series(series(Counter::QueueBacklog, name));
        if route.is_some() {
            analyzer.series(series(Counter::NetRoute, name));
        }
    }
    for mut interval in records(&plan, 0, 0, &users(&plan, 4, |_, _| ms(60), Nanos::ZERO)) {
        interval.sut = None;
        analyzer.interval(&interval);
    }
    for second in 0..=length + 2 {
        let mut values = vec![500_000 * second, 500_000 * second];
        for (_, bytes, queued, route) in interfaces {
            values.extend([bytes * second, *queued]);
            values.extend(route.map(u64::from));
        }
        let values = (0..).zip(values).collect();
        analyzer.resource(&ResourceRecord { load_point: 0, machine: 0, at: s(second), values });
    }
    analyzer.finish(RunEnding::Complete)
}

/// The reported case: load over loopback, and another process's interface with a queue.
#[test]
fn a_queue_at_an_interface_without_the_load_is_no_bottleneck() {
    let judged = |interfaces: &[(&str, u64, u64, Option<bool>)]| {
        let analysis = with_interfaces(12, interfaces);
        let attribution = analysis.load_points[0].attribution.clone().unwrap();
        (attribution.bottleneck, attribution.certainty)
    };
    const MUCH: u64 = 1 << 30;
    let loopback = ("lo", MUCH, 0, Some(true));
    let far = ("eth0", MUCH, 90_000, None);
    assert_eq!(judged(&[loopback, far]).0, Bottleneck::Undetermined, "the route is recorded");
    let on_route = ("eth0", 5, 90_000, Some(true));
    assert_eq!(judged(&[("lo", MUCH, 0, None), on_route]), (Bottleneck::Network, Certainty::Certain));
    // Runs that recorded no route: what carried less than the load is not on its way, the rest may be.
    assert_eq!(judged(&[("lo", MUCH, 0, None), ("eth0", 5, 90_000, None)]).0, Bottleneck::Undetermined);
    assert_eq!(judged(&[far]), (Bottleneck::Network, Certainty::Probable));
}

/// Runs 4 users at 60 ms against a server in another network namespace, with the bytes queued at the generator's end of
/// the way, and the segments per second that each end sends again of its 1000.
fn with_two_ends(queued: u64, again: [u64; 2]) -> Bottleneck {
    let mut plan = plan(Load::Users(4), 1, 12);
    plan.sut.quota = None;
    let mut analyzer = Analyzer::new(&plan);
    for (name, role) in [("this machine", MachineRole::Both), ("network of port=8080", MachineRole::Sut)] {
        analyzer.machine(MonitoredSource { name: name.to_owned(), role });
    }
    let counters = [
        (Counter::NetRoute, ""),
        (Counter::QueueBacklog, ""),
        (Counter::TcpSegmentsSent, "all"),
        (Counter::TcpRetransmits, "all"),
    ];
    for (machine, interface) in [(0, "veth0"), (1, "eth0")] {
        for (counter, instance) in counters {
            let instance = if instance.is_empty() { interface } else { "" };
            analyzer.series(Series { machine, counter, instance: instance.to_owned() });
        }
    }
    for mut interval in records(&plan, 0, 0, &users(&plan, 4, |_, _| ms(60), Nanos::ZERO)) {
        interval.sut = None;
        analyzer.interval(&interval);
    }
    for second in 0..=14 {
        for (machine, queued) in [(0, queued), (1, 0)] {
            let values = [1, queued, 1000 * second, again[usize::from(machine == 1)] * second];
            let values = (4 * machine..).zip(values).collect();
            analyzer.resource(&ResourceRecord { load_point: 0, machine, at: s(second), values });
        }
    }
    analyzer.finish(RunEnding::Complete).load_points[0].attribution.as_ref().unwrap().bottleneck
}

/// The reported cases: requests that queue before the generator's own link, and requests that are lost on their way.
#[test]
fn a_link_shows_at_the_end_that_sends_into_it() {
    assert_eq!(with_two_ends(0, [0, 0]), Bottleneck::Undetermined);
    assert_eq!(with_two_ends(90_000, [0, 0]), Bottleneck::Network);
    assert_eq!(with_two_ends(0, [30, 0]), Bottleneck::Network);
    assert_eq!(with_two_ends(0, [0, 30]), Bottleneck::Network);
}

/// Values per second of totals, or levels, of a counter.
type CounterValue = (Counter, &'static str, u64);

/// Runs 4 users at 60 ms against a server on this machine, with a service behind it in a network namespace of its own,
/// where the load does not arrive; with the counters that were read here and there.
fn with_service_apart(here: &[CounterValue], apart: &[CounterValue]) -> Bottleneck {
    let mut plan = plan(Load::Users(4), 1, 12);
    plan.sut.quota = None;
    let mut analyzer = Analyzer::new(&plan);
    for (name, role) in [("this machine", MachineRole::Both), ("network of port=5432", MachineRole::Sut)] {
        analyzer.machine(MonitoredSource { name: name.to_owned(), role });
    }
    let here = [(Counter::NetRoute, "lo", 1), (Counter::SutProcesses, "port=8080", 1)].iter().chain(here);
    let all: Vec<(u32, &CounterValue)> =
        here.map(|one| (0, one)).chain(apart.iter().map(|one| (1, one))).collect();
    for (machine, (counter, instance, _)) in &all {
        analyzer.series(Series { machine: *machine, counter: *counter, instance: (*instance).to_owned() });
    }
    for mut interval in records(&plan, 0, 0, &users(&plan, 4, |_, _| ms(60), Nanos::ZERO)) {
        interval.sut = None;
        analyzer.interval(&interval);
    }
    for second in 0..=14 {
        let value = |(counter, _, value): &CounterValue| match counter.kind() {
            CounterKind::Total => value * second,
            CounterKind::Level => *value,
        };
        for machine in [0, 1] {
            let of_machine = (0..).zip(&all).filter(|(_, one)| one.0 == machine);
            let values = of_machine.map(|(number, one)| (number, value(one.1))).collect();
            analyzer.resource(&ResourceRecord { load_point: 0, machine, at: s(second), values });
        }
    }
    analyzer.finish(RunEnding::Complete).load_points[0].attribution.as_ref().unwrap().bottleneck
}

/// Servers in several network namespaces: accept queues count wherever they are, segments only on the load's way.
#[test]
fn the_networks_of_services_behind_the_server_have_its_listeners_and_not_its_load() {
    let queue = |port, n| (Counter::AcceptQueue, port, n);
    let full = |port| [queue(port, 12), (Counter::ListenerDrops, port, 9), (Counter::ListenOverflows, "", 9)];
    let calm = |port| [queue(port, 0), (Counter::ListenerDrops, port, 0), (Counter::ListenOverflows, "", 0)];
    assert_eq!(with_service_apart(&calm("8080"), &calm("5432")), Bottleneck::Undetermined);
    assert_eq!(with_service_apart(&[queue("8080", 12)], &[queue("5432", 0)]), Bottleneck::WorkerLimit);
    assert_eq!(with_service_apart(&[queue("8080", 0)], &[queue("5432", 12)]), Bottleneck::WorkerLimit);
    assert_eq!(with_service_apart(&full("8080"), &calm("5432")), Bottleneck::AcceptBacklog);
    assert_eq!(with_service_apart(&calm("8080"), &full("5432")), Bottleneck::AcceptBacklog);
    let lossy = [(Counter::TcpSegmentsSent, "", 1000), (Counter::TcpRetransmits, "", 90)];
    let sent = [(Counter::TcpSegmentsSent, "", 1000)];
    assert_eq!(with_service_apart(&sent, &lossy), Bottleneck::Undetermined);
    // Segments that are sent again on loopback were late because of the server.
    assert_eq!(with_service_apart(&lossy, &sent), Bottleneck::Undetermined);
}

#[test]
fn a_bottleneck_of_a_short_phase_is_only_probable() {
    let judged = |length| {
        let analysis = with_interfaces(length, &[("lo", 1 << 30, 90_000, Some(true))]);
        let attribution = analysis.load_points[0].attribution.as_ref().unwrap();
        (attribution.bottleneck, attribution.certainty)
    };
    assert_eq!(judged(3), (Bottleneck::Network, Certainty::Probable));
    assert_eq!(judged(6), (Bottleneck::Network, Certainty::Certain));
}

/// A machine of two CPUs: `given` of the load and of the server, busy shares of each CPU, busy part of one load thread.
fn headroom(
    load_cpus: &[u32],
    sut_cpus: &[u32],
    busy: [f64; 2],
    generator: f64,
) -> Option<GeneratorHeadroom> {
    let mut analysis = run(&[(4, 60, Shown { cpu: 0.5, runnable: 1, disk: 0.0 })]);
    let mut plan = plan(Load::Users(4), 1, 12);
    plan.agents = vec![AgentPlan { cpus: load_cpus.to_vec(), ..AgentPlan::only(1) }];
    plan.sut.cpus = sut_cpus.to_vec();
    let point = &mut analysis.load_points[0];
    (point.generator_busy, point.sut_cpus) = (generator, Some(0.4));
    point.resources.machines[0].role = MachineRole::Both;
    for one in &mut point.resources.series {
        let Ok(cpu) = one.series.instance.parse::<usize>() else { continue };
        match one.series.counter {
            Counter::CpuUser => one.value = Some(1e6 * busy[cpu]),
            Counter::CpuIdle => one.value = Some(1e6 * (1.0 - busy[cpu])),
            _ => {}
        }
    }
    generator_headroom(&plan, point)
}

/// The reported case: 36 % of the generator's CPU on a machine that was 89 % busy is no room for 2.8 times the load.
///
/// By hand. Own CPU, busy 0.5, of it 0.36 the generator: (0.36 + 0.5) ÷ 0.36. Shared CPUs, 0.22 idle of 2: (0.36 +
/// 0.4 + 0.22) ÷ (0.36 + 0.4). Where all of its thread is idle time: 1 ÷ 0.36.
#[test]
fn the_headroom_of_the_generator_is_the_idle_time() {
    use HeadroomSource::*;
    let near = |found: Option<GeneratorHeadroom>, expected: f64, from| {
        let found = found.unwrap();
        assert!((found.times - expected).abs() < 1e-9 && found.from == from, "{found:?}");
    };
    near(headroom(&[1], &[0], [0.9, 0.5], 0.36), 0.86 / 0.36, OwnCpus);
    near(headroom(&[], &[], [0.89, 0.89], 0.36), 0.98 / 0.76, SharedCpus);
    near(headroom(&[0, 1], &[0, 1], [0.89, 0.89], 0.36), 0.98 / 0.76, SharedCpus);
    near(headroom(&[1], &[0], [0.9, 0.3], 0.36), 1.0 / 0.36, Threads);
    near(headroom(&[1], &[0], [0.1, 1.0], 0.36), 1.0, OwnCpus);
    let unwatched = crate::record::RecordedRun::closed().analyze();
    assert_eq!(generator_headroom(&plan(Load::Users(1), 1, 12), &unwatched.load_points[0]), None);
}

/// By hand: 4 users at 60 ms on one load thread; a server of 4 threads, 2 of which sleep at futexes, which may be idle, 1 at
/// a lock on a file and 1 at a disk, used 0.1 CPUs and waited 0.3 s per second for one. Threads are shares of 4 operations in progress. An
/// operation has 1 ÷ 66.7/s × 0.4 = 6 ms that are known of its 60 ms.
#[test]
fn waits_of_a_server_that_plimsoll_did_not_start_are_read() {
    let attribution = watched(&[
        (Counter::CpuUser, "0", |second| 500_000 * second),
        (Counter::CpuIdle, "0", |second| 500_000 * second),
        (Counter::SutRunDelay, "port=80", |second| 300_000 * second),
        (Counter::SutThreads, "port=80", |_| 4),
        (Counter::SutThreadsBlocked, "port=80", |_| 1),
        (Counter::SutWaitChannel, "port=80 futex_wait_queue", |_| 2),
        (Counter::SutWaitChannel, "port=80 flock_lock_inode_wait", |_| 1),
        (Counter::SutWaitChannel, "port=80 ep_poll", |_| 9),
        (Counter::SutOpenFiles, "port=80", |_| 51),
        (Counter::SutOpenFilesMax, "port=80", |_| 100),
    ]);
    let expected = [
        (Indicator::RunDelay, 0.3 / 0.4),
        (Indicator::ThreadsAtLock, 1.0 / 4.0),
        (Indicator::ThreadsAtDisk, 1.0 / 4.0),
        (Indicator::OpenFilesOfLimit, 0.51),
        (Indicator::ResponseUnexplained, 1.0 - 6.0 / 60.0),
        (Indicator::ServerUnseen, 0.0),
    ];
    check(&attribution, &expected);
}

/// By hand: a server on another machine, whose processes are watched there, used 0.1 CPUs and waited for them for 0.3 s per
/// second. Its response time includes the network's, which nobody measures.
#[test]
fn processes_on_another_machine_are_the_servers() {
    let shown: &[Shows] = &[
        (Counter::CpuUser, "0", |second| 1_000_000 * second),
        (Counter::CpuIdle, "0", |_| 0),
        (Counter::SutCpu, "port=80", |second| 60_000 * second),
        (Counter::SutCpu, "port=5432", |second| 40_000 * second),
        (Counter::SutRunDelay, "port=80", |second| 300_000 * second),
        (Counter::SutBusiestThread, "", |_| 50_000),
    ];
    let attribution = watched_on(MachineRole::Sut, None, shown);
    check(&attribution, &[(Indicator::ServerCpus, 0.1), (Indicator::RunDelay, 0.75)]);
    assert!(attribution.indicators.contains_key(&Indicator::CpuDemand));
    for unknown in [Indicator::ResponseUnexplained, Indicator::ServerUnseen] {
        assert!(!attribution.indicators.contains_key(&unknown), "{unknown:?}");
    }
}

/// By hand: the server used 0.1 CPUs of a quota of 0.3 that it shares with others, who used 0.195.
#[test]
fn a_quota_that_others_share_is_used_up_all_the_same() {
    let attribution = watched(&[
        (Counter::CpuUser, "0", |second| 500_000 * second),
        (Counter::CpuIdle, "0", |second| 500_000 * second),
        (Counter::SutProcesses, "port=80", |_| 3),
        (Counter::SutCpu, "port=80", |second| 100_000 * second),
        (Counter::SutQuota, "port=80", |_| 300_000),
        (Counter::SutQuotaCpu, "port=80", |second| 295_000 * second),
    ]);
    let share = 0.295 / 0.300;
    check(&attribution, &[(Indicator::AllowanceBusy, share), (Indicator::ProcessorUse, share)]);
    assert_eq!(attribution.bottleneck, Bottleneck::Processor);
    assert_eq!(attribution.neighbor, None);
}

/// By hand: of two CPUs the server may use CPU 1 alone, which is full; it used 0.1 of it and waited 0.7 s per second. CPU 0 is
/// idle. Another program used 0.85 CPUs.
#[test]
fn a_cpu_that_a_neighbor_fills_is_the_servers_processor() {
    let attribution = watched(&[
        (Counter::CpuUser, "0", |_| 0),
        (Counter::CpuIdle, "0", |second| 1_000_000 * second),
        (Counter::CpuUser, "1", |second| 1_000_000 * second),
        (Counter::CpuIdle, "1", |_| 0),
        (Counter::SutProcesses, "port=80", |_| 3),
        (Counter::SutCpu, "port=80", |second| 100_000 * second),
        (Counter::SutAllowedCpu, "port=80 1", |_| 1),
        (Counter::SutRunDelay, "port=80", |second| 700_000 * second),
        (Counter::OtherCpu, "stress", |second| 850_000 * second),
        (Counter::OtherCpu, "sshd", |second| 9_000 * second),
    ]);
    check(&attribution, &[(Indicator::ProcessorUse, 0.1), (Indicator::CpuBusy, 1.0)]);
    assert_eq!(attribution.bottleneck, Bottleneck::Processor);
    let Some(CpuNeighbor::Program(program)) = attribution.neighbor else { panic!("{attribution:?}") };
    assert_eq!(program.name, "stress");
    assert!((program.cpus - 0.85).abs() < 0.01);
}

/// A server that used 0.1 CPUs of one that another program fills, with more that is seen of it.
fn on_a_crowded_cpu(shown: &[Shows]) -> Attribution {
    let crowded: &[Shows] = &[
        (Counter::CpuUser, "0", |second| 1_000_000 * second),
        (Counter::CpuIdle, "0", |_| 0),
        (Counter::SutProcesses, "port=80", |_| 3),
        (Counter::SutCpu, "port=80", |second| 100_000 * second),
        (Counter::OtherCpu, "rustc", |second| 850_000 * second),
    ];
    watched(&[crowded, shown].concat())
}

/// By hand: the busiest thread used 0.1 CPUs, and its part of 7 ÷ 8 of waiting makes 0.8; a thread that used 0.02 of them
/// makes 0.16, and of 4 operations in progress 0.8 CPUs make 0.2. Then more workers help, and not more CPUs.
#[test]
fn crowded_cpus_hold_back_who_needs_one_most_of_the_time() {
    let with_thread = |micros: fn(u64) -> u64| {
        on_a_crowded_cpu(&[
            (Counter::SutRunDelay, "port=80", |second| 700_000 * second),
            (Counter::AcceptQueue, "80", |_| 6),
            (Counter::SutBusiestThread, "", micros),
        ])
    };
    let needs = with_thread(|_| 100_000);
    let sleeps = with_thread(|_| 20_000);
    check(&needs, &[(Indicator::CpuDemand, 0.8), (Indicator::RunDelay, 0.875)]);
    check(&sleeps, &[(Indicator::CpuDemand, 0.2)]);
    assert_eq!((needs.bottleneck, sleeps.bottleneck), (Bottleneck::Processor, Bottleneck::WorkerLimit));
}

/// The reported case: Apache's workers each waited seldom, but the thread that receives all requests used or waited for a CPU
/// for 0.9 of the time, during which they waited unseen.
#[test]
fn operations_that_wait_for_one_thread_on_crowded_cpus_are_held_back_by_these() {
    let with_demand = |micros: fn(u64) -> u64| {
        on_a_crowded_cpu(&[
            (Counter::SutRunDelay, "port=80", |second| 900_000 * second),
            (Counter::SutBusiestThread, "", |_| 10_000),
            (Counter::SutThreadDemand, "", micros),
        ])
    };
    let receives = with_demand(|_| 900_000);
    let sleeps = with_demand(|_| 200_000);
    check(&receives, &[(Indicator::CpuDemand, 0.9), (Indicator::BusiestThread, 0.01)]);
    // (C + W) ÷ R: 1.0 of 4 operations.
    check(&sleeps, &[(Indicator::CpuDemand, 0.25)]);
    assert_eq!(receives.bottleneck, Bottleneck::Processor);
    assert_ne!(sleeps.bottleneck, Bottleneck::Processor);
}

/// By hand: 4 users at 60 ms are 66.7/s; 20 refaults a second are 0.3 an operation, in a group whose memory is full.
#[test]
fn memory_at_the_limit_of_a_group_above_is_the_bottleneck() {
    let with_memory = |memory| {
        watched(&[
            (Counter::CpuUser, "0", |second| 500_000 * second),
            (Counter::CpuIdle, "0", |second| 500_000 * second),
            (Counter::SutMemoryMax, "port=80", |_| 1_000_000),
            (Counter::SutLimitedMemory, "port=80", memory),
            (Counter::SutRefaults, "port=80", |second| 20 * second),
        ])
    };
    let full = with_memory(|_| 990_000);
    check(&full, &[(Indicator::MemoryOfLimit, 0.99), (Indicator::RefaultsPerOperation, 0.3)]);
    assert_eq!(full.bottleneck, Bottleneck::Memory);
    assert_ne!(with_memory(|_| 500_000).bottleneck, Bottleneck::Memory);
}

/// Files beyond the memory of their server, on a disk that is limited to 80 reads a second: the disk is named once they are
/// used up, as with 78 of them, and the memory before.
#[test]
fn a_buffered_server_with_a_slow_disk_is_disk_bound_once_that_is_used_up() {
    let with_reads = |reads| {
        watched(&[
            (Counter::CpuUser, "0", |second| 300_000 * second),
            (Counter::CpuIdle, "0", |second| 700_000 * second),
            (Counter::SutMemoryMax, "port=80", |_| 1_000_000),
            (Counter::SutLimitedMemory, "port=80", |_| 990_000),
            (Counter::SutRefaults, "port=80", |second| 20 * second),
            (Counter::SutReadsMax, "port=80 8:0", |_| 80),
            (Counter::SutLimitedReads, "port=80 8:0", reads),
        ])
    };
    let full = with_reads(|second| 78 * second);
    check(&full, &[(Indicator::DiskOperationsOfShare, 78.0 / 80.0), (Indicator::RefaultsPerOperation, 0.3)]);
    assert_eq!((full.bottleneck, full.certainty), (Bottleneck::DiskOperations, Certainty::Certain));
    assert_eq!(with_reads(|second| 40 * second).bottleneck, Bottleneck::Memory);
}

/// By hand: 78 of 80 reads a second, and 7 of 8 MB.
#[test]
fn traffic_with_a_disk_is_compared_with_the_limit_of_its_group() {
    let attribution = watched(&[
        (Counter::CpuUser, "0", |second| 100_000 * second),
        (Counter::CpuIdle, "0", |second| 900_000 * second),
        (Counter::SutReadsMax, "port=80 8:0", |_| 80),
        (Counter::SutLimitedReads, "port=80 8:0", |second| 78 * second),
        (Counter::SutReadBytesMax, "port=80 8:0", |_| 8_000_000),
        (Counter::SutLimitedReadBytes, "port=80 8:0", |second| 7_000_000 * second),
    ]);
    let expected =
        [(Indicator::DiskOperationsOfShare, 78.0 / 80.0), (Indicator::DiskBytesOfShare, 7.0 / 8.0)];
    check(&attribution, &expected);
    assert_eq!(attribution.bottleneck, Bottleneck::DiskOperations);
}

/// By hand: of 4 operations in progress 3 wait for the log; 66.7 operations and 100 pages a second are 1.5 pages an operation.
#[test]
fn a_database_says_what_its_disk_is_used_for() {
    for (reads, others) in [
        ("pg_stat_database.blks_read", "pg_stat_database.blks_hit"),
        ("Innodb_buffer_pool_reads", "Innodb_data_fsyncs"),
    ] {
        let attribution = watched(&[
            (Counter::CpuUser, "0", |second| 100_000 * second),
            (Counter::CpuIdle, "0", |second| 900_000 * second),
            (Counter::SutWritesMax, "port=80 8:0", |_| 80),
            (Counter::SutLimitedWrites, "port=80 8:0", |second| 78 * second),
            (Counter::SessionsAtLog, "", |_| 3),
            (Counter::DatabaseCount, reads, |second| 100 * second),
            (Counter::DatabaseCount, others, |second| 9000 * second),
        ]);
        let expected = [(Indicator::SessionsAtLog, 0.75), (Indicator::BufferReadsPerOperation, 1.5)];
        check(&attribution, &expected);
        let uses: Vec<Indicator> = attribution.evidence.iter().map(|(one, _)| one.indicator).collect();
        assert_eq!(attribution.bottleneck, Bottleneck::DiskOperations);
        assert!(expected.iter().all(|(indicator, _)| uses.contains(indicator)), "{uses:?}");
    }
}

/// The reported case: the whole machine's listeners overflow, the server's own does not. By hand: 9 overflows a second.
#[test]
fn overflows_of_other_listeners_are_not_the_servers() {
    let with_drops = |drops| {
        watched(&[
            (Counter::CpuUser, "0", |second| 100_000 * second),
            (Counter::CpuIdle, "0", |second| 900_000 * second),
            (Counter::ListenOverflows, "", |second| 9 * second),
            (Counter::SutProcesses, "port=80", |_| 3),
            (Counter::ListenerDrops, "80", drops),
        ])
    };
    let own = with_drops(|second| 9 * second);
    check(&own, &[(Indicator::ListenerDrops, 9.0), (Indicator::ListenOverflows, 9.0)]);
    assert_eq!((own.bottleneck, own.certainty), (Bottleneck::AcceptBacklog, Certainty::Certain));
    assert_ne!(with_drops(|_| 7).bottleneck, Bottleneck::AcceptBacklog);
}

/// The connections to a service at 1 user and at 8, with what is seen of the server's threads.
fn with_service(connections: [u64; 2], shown: &[(Counter, &str, u64)]) -> Attribution {
    let shown: Vec<_> = shown.iter().map(|(counter, name, n)| (*counter, *name, [*n; 2])).collect();
    with_services(&[("5432", connections)], 15, &shown)
}

/// The connections to services, by their ports, at 1 user and at 8, where they are counted `n_counts` times, with what is
/// seen of the server's threads at each.
fn with_services(
    services: &[(&str, [u64; 2])],
    n_counts: u64,
    shown: &[(Counter, &str, [u64; 2])],
) -> Attribution {
    let mut plan = plan(Load::Users(1), 1, 12);
    plan.sut.quota = None;
    plan.load_points =
        (0..).zip([1, 8]).map(|(index, n)| LoadPoint { index, load: Load::Users(n) }).collect();
    let mut analyzer = Analyzer::new(&plan);
    analyzer.machine(MonitoredSource { name: "this machine".to_owned(), role: MachineRole::Both });
    let idle = [
        (Counter::CpuUser, "0", [100_000; 2]),
        (Counter::CpuIdle, "0", [900_000; 2]),
        (Counter::Runnable, "", [0; 2]),
    ];
    let all = || idle.iter().chain(shown);
    for (counter, instance, _) in all() {
        analyzer.series(Series { machine: 0, counter: *counter, instance: (*instance).to_owned() });
    }
    analyzer.series(Series { machine: 0, counter: Counter::SutServices, instance: String::new() });
    for (port, _) in services {
        let counter = Counter::SutServiceConnections;
        analyzer.series(Series { machine: 0, counter, instance: (*port).to_owned() });
    }
    for (index, n) in [(0, 1), (1, 8)] {
        for mut interval in
            records(&plan, index, 0, &users(&plan, n, |_, _| ms(60 * u64::from(n)), Nanos::ZERO))
        {
            interval.sut = Some(model::SutUse { cpu: ms(10), throttled: Nanos::ZERO });
            analyzer.interval(&interval);
        }
        for second in 0..=14 {
            let value = |(counter, _, values): &(Counter, &str, [u64; 2])| match counter.kind() {
                CounterKind::Total => values[index] * second,
                CounterKind::Level => values[index],
            };
            let counted = [services.len() as u64].into_iter().chain(services.iter().map(|(_, n)| n[index]));
            // The first second is that of settling.
            let is_counted = index == 0 || (1..=n_counts).contains(&second);
            let counted = counted.take_while(|_| is_counted);
            let values = (0..).zip(all().map(value).chain(counted)).collect();
            analyzer.resource(&ResourceRecord {
                load_point: index as u32,
                machine: 0,
                at: s(second),
                values,
            });
        }
    }
    analyzer.finish(RunEnding::Complete).load_points.remove(1).attribution.unwrap()
}

/// By hand: 8 operations in progress hold 8 connections, which were 1 at 1 user; then workers that keep 8 each, of which 6 wait
/// for data.
#[test]
fn operations_that_each_hold_a_connection_wait_for_the_service() {
    let grown = with_service([1, 8], &[]);
    check(&grown, &[(Indicator::HeldByService, 1.0)]);
    assert_eq!(grown.bottleneck, Bottleneck::DownstreamService);
    assert_eq!(grown.service.as_deref(), Some("port 5432"));
    let kept =
        |at_socket| with_service([8, 8], &[(Counter::SutWaitChannel, "port=80 wait_woken", at_socket)]);
    check(&kept(6), &[(Indicator::HeldByService, 1.0), (Indicator::ThreadsAtSocket, 0.75)]);
    assert_eq!(kept(6).bottleneck, Bottleneck::DownstreamService);
    // Connections that are only kept say nothing.
    assert_eq!(kept(1).bottleneck, Bottleneck::Waiting);
    assert_eq!(with_service([0, 0], &[]).bottleneck, Bottleneck::Waiting);
}

/// The reported case: the service with the most connections was named, whatever the evidence was about. By hand: 20 connections
/// that are kept to a cache, 1 to 8 to a database, and a pool of 4 that is used up.
#[test]
fn the_service_that_is_named_is_that_of_the_evidence() {
    let cache = ("6379", [20, 20]);
    let held = with_services(&[cache, ("5432", [1, 8])], 15, &[]);
    check(&held, &[(Indicator::HeldByService, 1.0)]);
    assert_eq!(
        (held.bottleneck, held.service.as_deref()),
        (Bottleneck::DownstreamService, Some("port 5432"))
    );
    // Threads that wait for data may wait for either, and the one whose connections follow the load is the likelier.
    let waiting = [(Counter::SutWaitChannel, "port=80 wait_woken", [6; 2])];
    let both = with_services(&[cache, ("5432", [1, 8])], 15, &waiting);
    assert_eq!(both.service.as_deref(), Some("port 5432"));
    let threads = [(Counter::SutThreads, "port=80", [20; 2])];
    let pool = with_services(&[cache, ("5432", [1, 4])], 15, &threads);
    assert_eq!((pool.bottleneck, pool.service.as_deref()), (Bottleneck::ConnectionLimit, Some("port 5432")));
}

/// By hand: 8 operations hold 8 connections in each of two cases, of which the one is never counted while they do.
#[test]
fn a_service_whose_connections_are_counted_too_rarely_is_no_lock() {
    let counted = |n| with_services(&[("5432", [1, 8])], n, &[]);
    assert_eq!(counted(15).bottleneck, Bottleneck::DownstreamService);
    assert!(!counted(15).indicators.contains_key(&Indicator::ServiceCounts));
    check(&counted(0), &[(Indicator::ServiceCounts, 0.0)]);
    assert_eq!(counted(0).bottleneck, Bottleneck::Undetermined);
    assert_eq!(counted(2).bottleneck, Bottleneck::DownstreamService);
    let other = with_services(&[("5432", [1, 1])], 2, &[]);
    assert_eq!(other.bottleneck, Bottleneck::Undetermined);
}

/// By hand: a pool of 4 for 8 operations, of a server with one thread, which sleeps elsewhere; then of one whose 4 workers wait for
/// data, which need more workers first; then of one with 20 threads.
#[test]
fn a_pool_of_connections_that_is_used_up_is_a_connection_limit() {
    let threads = |n, at_socket| {
        [(Counter::SutThreads, "port=80", n), (Counter::SutWaitChannel, "port=80 wait_woken", at_socket)]
    };
    let event_loop = with_service([1, 4], &threads(1, 0));
    check(&event_loop, &[(Indicator::PoolAtLimit, 4.0)]);
    assert_eq!(event_loop.bottleneck, Bottleneck::ConnectionLimit);
    assert_eq!(with_service([1, 4], &threads(5, 4)).bottleneck, Bottleneck::Waiting);
    assert_eq!(with_service([1, 4], &threads(20, 4)).bottleneck, Bottleneck::ConnectionLimit);
    // It has not grown.
    assert_eq!(with_service([4, 4], &threads(1, 0)).bottleneck, Bottleneck::Waiting);
    // Most operations have a connection: the service itself is what they wait for.
    assert_eq!(with_service([1, 6], &threads(1, 0)).bottleneck, Bottleneck::DownstreamService);
}

/// The reported case: a pool of one connection that was counted twice. By hand: it has as many connections at 1 user as at 8, and
/// the rate of 1 user, of 60 ms each, is that of 1 operation at a time; a thread waits for data all the time, or none does.
#[test]
fn a_pool_that_is_full_at_the_lowest_load_is_recognized() {
    let pool = |connections, n_counts, at_socket| {
        let shown = [
            (Counter::SutThreads, "port=80", [20; 2]),
            (Counter::SutWaitChannel, "port=80 wait_woken", [at_socket; 2]),
        ];
        with_services(&[("5432", [connections; 2])], n_counts, &shown)
    };
    let full = pool(1, 2, 1);
    check(&full, &[(Indicator::PoolAtLimit, 1.0), (Indicator::ServiceCounts, 2.0)]);
    assert_eq!((full.bottleneck, full.service.as_deref()), (Bottleneck::ConnectionLimit, Some("port 5432")));
    assert_eq!(pool(1, 1, 1).bottleneck, Bottleneck::Undetermined, "counted once, it may vary");
    assert_eq!(pool(1, 15, 0).bottleneck, Bottleneck::Waiting, "a connection that is only kept");
    assert_eq!(pool(4, 15, 0).bottleneck, Bottleneck::Waiting, "4 connections for the rate of one");
}

/// The reported cases: a link and an interpreter that one user fills were called *none* or a lock at 1 client, and by their names
/// at 8. By hand: one user with 20 ms is 50/s; 8 with 160 ms are 50/s, and 8 with 40 ms are 200/s.
#[test]
fn the_lowest_load_is_judged_by_the_next_one_at_the_same_rate() {
    let idle = |cpu, disk| Shown { cpu, runnable: 1, disk };
    let of = |next, low: Shown, high: Shown| named(&run(&[(1, 20, low), (8, next, high)]));
    use Bottleneck::{DiskOperations, None, Processor};
    assert_eq!(of(160, idle(0.88, 0.1), idle(0.96, 0.1)), [Processor; 2]);
    assert_eq!(of(160, idle(0.4, 0.1), idle(0.96, 0.1)), [None, Processor], "one user leaves the CPUs idle");
    assert_eq!(of(40, idle(0.88, 0.1), idle(0.96, 0.1)), [None, Processor], "the rate has grown");
    assert_eq!(of(160, idle(0.3, 0.85), idle(0.3, 0.95)), [DiskOperations; 2]);
    let analysis = run(&[(1, 20, idle(0.88, 0.1)), (8, 160, idle(0.96, 0.1)), (16, 320, idle(0.97, 0.1))]);
    let lowest = analysis.load_points[0].attribution.as_ref().unwrap();
    let evidence: Vec<Indicator> = lowest.evidence.iter().map(|(condition, _)| condition.indicator).collect();
    assert_eq!(evidence, [Indicator::ProcessorUse, Indicator::RateAtNextLoad]);
    check(lowest, &[(Indicator::RateAtNextLoad, 1.0)]);
}

/// A quota that is used up is told with its size: the plan's, or the one in force of the group that was watched.
#[test]
fn the_quota_that_is_used_up_is_told() {
    let quota = watched(&[
        (Counter::CpuUser, "0", |second| 150_000 * second),
        (Counter::CpuIdle, "0", |second| 850_000 * second),
        (Counter::SutProcesses, "port=80", |_| 1),
        (Counter::SutCpu, "port=80", |second| 195_000 * second),
        (Counter::SutQuota, "port=80", |_| 200_000),
    ]);
    assert_eq!(quota.bottleneck, Bottleneck::Processor);
    let expected = analysis::attribute::UsedUpQuota { cpus: 0.2, group: Some("port=80".to_owned()) };
    assert_eq!(quota.quota, Some(expected));
    let half = watched(&[
        (Counter::SutProcesses, "port=80", |_| 1),
        (Counter::SutCpu, "port=80", |second| 100_000 * second),
        (Counter::SutQuota, "port=80", |_| 200_000),
    ]);
    assert_eq!(half.quota, None);
}

/// By hand: 4 of 8 connections are accepted by 2 threads, and 4 wait; then by 4 threads, one for each.
#[test]
fn a_server_that_accepts_no_more_although_it_could_has_a_connection_limit() {
    let with_threads = |threads| {
        with_service(
            [0, 0],
            &[
                (Counter::SutThreads, "port=80", threads),
                (Counter::AcceptQueue, "80", 4),
                (Counter::SutAccepted, "80", 4),
            ],
        )
    };
    let limited = with_threads(2);
    check(&limited, &[(Indicator::AcceptedAtLimit, 4.0), (Indicator::AcceptQueue, 4.0)]);
    assert_eq!(limited.bottleneck, Bottleneck::ConnectionLimit);
    assert_eq!(with_threads(4).bottleneck, Bottleneck::WorkerLimit);
}

/// A back end of 5 threads, of which so many wait for a lock on a file at 1 user and at 8, and an accept queue at 8 users.
fn with_lock_waiters(waiting: [u64; 2]) -> Attribution {
    let shown = [
        (Counter::SutThreads, "port=80", [100; 2]),
        (Counter::SutThreads, "socket=/run/fpm.sock", [5; 2]),
        (Counter::SutWaitChannel, "port=80 ep_poll", [100; 2]),
        (Counter::SutWaitChannel, "socket=/run/fpm.sock flock_lock_inode_wait", waiting),
        (Counter::UnixAcceptQueue, "/run/fpm.sock", [0, 4]),
    ];
    with_services(&[("5432", [1, 4])], 15, &shown)
}

/// By hand: of 5 threads of a back end 3 wait for one lock; those of the server in front of it do not count.
#[test]
fn a_lock_in_a_back_end_is_seen_among_its_own_threads() {
    for at_lowest in [0, 1] {
        let attribution = with_lock_waiters([at_lowest, 3]);
        check(&attribution, &[(Indicator::ThreadsAtLock, 0.6)]);
        assert_eq!(attribution.bottleneck, Bottleneck::Waiting);
    }
}

/// The reported case: idle daemons of mod_wsgi take turns at accepting by a lock on a file. By hand: 3 of 5 wait for it while
/// one operation is in progress.
#[test]
fn idle_workers_that_take_turns_at_accepting_wait_for_no_lock() {
    let attribution = with_lock_waiters([3, 3]);
    check(&attribution, &[(Indicator::ThreadsAtLock, 0.0)]);
    assert_eq!(attribution.bottleneck, Bottleneck::WorkerLimit);
}

/// A counter with its instance, and its value at each second.
type Shows = (Counter, &'static str, fn(u64) -> u64);

/// Runs 4 users at 60 ms for 12 s, on CPU 0, against a server on the same machine, which used 0.1 CPUs.
fn watched(shown: &[Shows]) -> Attribution {
    let used = model::SutUse { cpu: ms(100), throttled: Nanos::ZERO };
    watched_on(MachineRole::Both, Some(used), shown)
}

/// The same against a server on a machine of some role, with what is seen of it each second beside that machine's counters.
fn watched_on(role: MachineRole, used: Option<model::SutUse>, shown: &[Shows]) -> Attribution {
    let mut plan = plan(Load::Users(4), 1, 12);
    (plan.sut.quota, plan.agents[0].cpus) = (None, vec![0]);
    let mut analyzer = Analyzer::new(&plan);
    analyzer.machine(MonitoredSource { name: "the server's".to_owned(), role });
    for (counter, instance, _) in shown {
        analyzer.series(Series { machine: 0, counter: *counter, instance: (*instance).to_owned() });
    }
    for mut interval in records(&plan, 0, 0, &users(&plan, 4, |_, _| ms(60), Nanos::ZERO)) {
        interval.sut = used;
        analyzer.interval(&interval);
    }
    for second in 0..=14 {
        let values = (0..).zip(shown.iter().map(|(_, _, value)| value(second))).collect();
        analyzer.resource(&ResourceRecord { load_point: 0, machine: 0, at: s(second), values });
    }
    analyzer.finish(RunEnding::Complete).load_points.remove(0).attribution.unwrap()
}

#[track_caller]
fn check(attribution: &Attribution, expected: &[(Indicator, f64)]) {
    for (indicator, value) in expected {
        let found = attribution.indicators.get(indicator).copied().unwrap_or(f64::NAN);
        assert!((found - value).abs() < 0.01, "{indicator:?}: {found}, expected {value}");
    }
}
