//! A generator and a server that share CPUs: whose fault it is that no more was done.

use analysis::attribute::{Bottleneck, load_threads_were_full};
use analysis::finding::ServerUse;
use analysis::{Analysis, Analyzer, Finding, SharedCpus};
use model::{
    Counter, Load, MachineRole, MonitoredSource, ResourceRecord, RunEnding, Series, SutPlan, SutUse,
};
use units::Nanos;

use crate::record::{assert_caught, assert_valid, ms, plan, records, remarks, s, users};

/// A run of one load thread beside a running server on a machine of two CPUs. Per second: the busy time of each CPU,
/// the CPU time of the load thread and its time in the run queue, all in ms, and the CPU time of the server if it is
/// watched.
#[derive(Debug, Clone, Copy)]
struct Shared {
    busy: [u64; 2],
    generator: u64,
    waited: u64,
    watched: Option<u64>,
    /// The CPU time of other programs, in ms.
    others: u64,
    /// Whether the server may use CPU 0 alone.
    is_bound: bool,
}

const FULL: Shared =
    Shared { busy: [1000, 1000], generator: 410, waited: 0, watched: None, others: 0, is_bound: false };

fn analyze(shared: Shared) -> Analysis {
    let mut plan = plan(Load::Users(10), 2, 20);
    plan.sut = SutPlan::of("external");
    plan.agents[0].threads = 1;
    let mut analyzer = Analyzer::new(&plan);
    analyzer.machine(MonitoredSource { name: "this machine".to_owned(), role: MachineRole::Both });
    for instance in ["0", "1"] {
        for counter in [Counter::CpuUser, Counter::CpuIdle] {
            analyzer.series(Series { machine: 0, counter, instance: instance.to_owned() });
        }
    }
    let bound = [
        (Counter::OtherCpu, "cc1"),
        (Counter::SutProcesses, "pid=7"),
        (Counter::SutCpu, "pid=7"),
        (Counter::SutAllowedCpu, "pid=7 0"),
    ];
    for (counter, instance) in bound {
        analyzer.series(Series { machine: 0, counter, instance: instance.to_owned() });
    }
    for mut record in records(&plan, 0, 0, &users(&plan, 10, |_, _| ms(50), Nanos::ZERO)) {
        record.health.cpu = ms(shared.generator);
        record.health.run_queue = ms(shared.waited);
        record.sut = shared.watched.map(|cpu| SutUse { cpu: ms(cpu), throttled: Nanos::ZERO });
        analyzer.interval(&record);
    }
    for second in 0..=24 {
        let values =
            shared.busy.iter().flat_map(|busy| [1000 * busy * second, 1000 * (1000 - busy) * second]);
        let of_server = [1, 1000 * shared.watched.unwrap_or(0) * second, 1];
        let of_server = of_server.into_iter().filter(|_| shared.is_bound);
        let values = values.chain([1000 * shared.others * second]).chain(of_server);
        let values = (0..).zip(values).collect();
        analyzer.resource(&ResourceRecord { load_point: 0, machine: 0, at: s(second), values });
    }
    analyzer.finish(RunEnding::Complete)
}

#[track_caller]
fn close(found: SharedCpus, expected: [f64; 4]) {
    let found = [found.n, found.generator, found.server, found.idle];
    assert!(found.iter().zip(expected).all(|(one, other)| (one - other).abs() < 1e-6), "{found:?}");
}

/// By hand: both CPUs are full, the generator used 0.95 of them, so that the server had 2 − 0.95 = 1.05, all that was
/// left.
#[test]
fn a_busy_generator_beside_a_server_that_takes_the_rest_is_a_remark() {
    let analysis = analyze(Shared { generator: 950, ..FULL });
    assert_valid(&analysis);
    let found = remarks(&analysis, "generator-busy");
    let [Finding::GeneratorBusy { server: Some(ServerUse::TookTheRest(shared)), .. }] = found[..] else {
        panic!("{found:?}")
    };
    close(shared, [2.0, 0.95, 1.05, 0.0]);
    assert!(!load_threads_were_full(&analysis));
}

/// As nginx was measured on two CPUs: it used 1.22, the generator 0.7, and 0.08 were idle while both waited for a CPU in
/// turn. 1.92 of 2 CPUs are 96 %, so they are full, although the server left 6 % of what the generator did.
#[test]
fn cpus_are_full_with_the_gaps_that_scheduling_leaves() {
    let analysis = analyze(Shared { busy: [930, 990], generator: 700, waited: 301, ..FULL });
    assert_valid(&analysis);
    assert_eq!(remarks(&analysis, "generator-run-queue").len(), 1);
    close(analysis.load_points[0].attribution.as_ref().unwrap().shared.unwrap(), [2.0, 0.7, 1.22, 0.08]);
    // 1.88 of 2 are 94 %.
    assert_caught(
        &analyze(Shared { busy: [890, 990], generator: 700, waited: 301, ..FULL }),
        "generator-run-queue",
    );
}

/// By hand: CPU 1 is the generator's, of CPU 0 the server used 0.6: 0.45 of 2 CPUs were idle, and the server used 0.6
/// of the 1.05 that were left.
#[test]
fn a_busy_generator_beside_a_server_with_idle_cpus_is_invalid() {
    let analysis = analyze(Shared { busy: [600, 950], generator: 950, ..FULL });
    let found = assert_caught(&analysis, "generator-busy");
    let Finding::GeneratorBusy { server: Some(ServerUse::LeftRest(shared)), .. } = found else {
        panic!("{found:?}")
    };
    close(shared, [2.0, 0.95, 0.6, 0.45]);
    assert!(load_threads_were_full(&analysis));
    let attribution = analysis.load_points[0].attribution.as_ref().unwrap();
    assert_eq!((attribution.bottleneck, attribution.shared), (Bottleneck::Generator, None));
}

/// A server that may use CPU 0 alone: it is full, or the load thread on CPU 1 is, and then more threads may carry more.
#[test]
fn a_busy_generator_beside_a_server_with_a_cpu_of_its_own_is_at_fault_until_that_is_full() {
    let bound = Shared { generator: 950, is_bound: true, watched: Some(990), ..FULL };
    let full = analyze(bound);
    assert_valid(&full);
    assert!(!load_threads_were_full(&full));
    let idle = analyze(Shared { busy: [500, 950], watched: Some(500), ..bound });
    let found = assert_caught(&idle, "generator-busy");
    assert!(matches!(found, Finding::GeneratorBusy { server: Some(ServerUse::Unknown), .. }), "{found:?}");
    assert!(load_threads_were_full(&idle));
}

/// A load thread that waits for a CPU waits for the server, if that takes all the rest, and for nobody if CPUs idle.
#[test]
fn a_generator_that_waits_is_at_fault_only_where_cpus_are_idle() {
    let waiting = Shared { waited: 500, ..FULL };
    assert_valid(&analyze(waiting));
    assert_eq!(remarks(&analyze(waiting), "generator-run-queue").len(), 1);
    let found = assert_caught(&analyze(Shared { busy: [1000, 500], ..waiting }), "generator-run-queue");
    assert!(
        matches!(found, Finding::GeneratorRunQueue { server: Some(ServerUse::LeftRest(_)), .. }),
        "{found:?}"
    );
}

/// By hand: the CPUs are full, but other programs had 1.29 of the 1.59 that the generator left, and the server 0.3.
#[test]
fn other_programs_that_take_the_rest_are_no_excuse() {
    let noisy = Shared { waited: 500, watched: Some(300), others: 1290, ..FULL };
    let found = assert_caught(&analyze(noisy), "generator-run-queue");
    let Finding::GeneratorRunQueue { server: Some(ServerUse::LeftRest(shared)), .. } = found else {
        panic!("{found:?}")
    };
    close(shared, [2.0, 0.41, 0.3, 0.0]);
}

/// By hand: the processes of the server had 1.1 CPUs, and the kernel 0.49 for their connections, which is the server's
/// use too: other programs had none.
#[test]
fn the_work_of_the_kernel_for_the_server_is_its_own() {
    let analysis = analyze(Shared { waited: 500, watched: Some(1100), ..FULL });
    assert_valid(&analysis);
    let attribution = analysis.load_points[0].attribution.as_ref().unwrap();
    close(attribution.shared.unwrap(), [2.0, 0.41, 1.59, 0.0]);
}

/// By hand: the server used 1.59 of the 1.59 CPUs that the generator left, which is 0.8 of both CPUs: its processor is
/// full, though no one else would call it so.
#[test]
fn the_bottleneck_is_the_shared_processor() {
    let analysis = analyze(FULL);
    let attribution = analysis.load_points[0].attribution.as_ref().unwrap();
    assert_eq!(attribution.bottleneck, Bottleneck::Processor);
    close(attribution.shared.unwrap(), [2.0, 0.41, 1.59, 0.0]);
    // With idle CPUs it is another, or none: 1.2 of 1.59.
    let half = analyze(Shared { busy: [1000, 610], ..FULL });
    let attribution = half.load_points[0].attribution.as_ref().unwrap();
    assert_eq!((attribution.bottleneck, attribution.shared), (Bottleneck::Undetermined, None));
}
