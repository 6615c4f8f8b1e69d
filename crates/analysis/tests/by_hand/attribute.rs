//! Bottlenecks named from what machines told.

use analysis::attribute::{Bottleneck, Sign, sentence};
use analysis::{Analysis, Analyzer};
use model::{Counter, Ending, Load, LoadPoint, Machine, MachineRole, ResourceRecord, Series};
use units::Nanos;

use crate::record::{ms, plan, records, s, users};

/// What a machine of two CPUs and one disk shows at a load: busy shares, and threads that want to run.
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

/// Runs load points of (users, response time, what the machine shows), 1 s of settling and 12 s measured, on a server that
/// is watched from outside.
fn run(points: &[(u32, u64, Shown)]) -> Analysis {
    let mut plan = plan(Load::Users(1), 1, 12);
    plan.sut.quota = None;
    plan.load_points =
        (0..).zip(points).map(|(index, (n, ..))| LoadPoint { index, load: Load::Users(*n) }).collect();
    let mut analyzer = Analyzer::new(&plan);
    analyzer.machine(Machine { name: "sut".to_owned(), role: MachineRole::Sut });
    for (counter, instance) in SERIES {
        analyzer.series(Series { machine: 0, counter, instance: instance.to_owned() });
    }
    for (index, (n, response, shown)) in points.iter().enumerate() {
        let operations = users(&plan, *n, |_, _| ms(*response), Nanos::ZERO);
        for mut interval in records(&plan, index, 0, &operations) {
            interval.sut = None;
            let detail = interval.split_detail();
            analyzer.interval(&interval);
            analyzer.detail(&detail);
        }
        (0..=14).for_each(|second| analyzer.resource(&reading(index as u32, second, *shown)));
    }
    analyzer.finish(Ending::Complete)
}

/// Both CPUs are busy alike; the disk takes 100 reads a second.
fn reading(load_point: u32, second: u64, shown: Shown) -> ResourceRecord {
    let micros = |share: f64| (share * second as f64 * 1e6) as u64;
    let (busy, idle) = (micros(shown.cpu), micros(1.0 - shown.cpu));
    let values = [busy, idle, busy, idle, micros(shown.disk), shown.runnable, 100 * second];
    ResourceRecord { load_point, machine: 0, at: s(second), values: (0..).zip(values).collect() }
}

fn named(analysis: &Analysis) -> Vec<Bottleneck> {
    analysis.load_points.iter().map(|point| point.attribution.as_ref().unwrap().bottleneck).collect()
}

/// The example of the order-entry specification, 9.8: one client waits for nothing; then the CPUs are full; then CPUs and disk
/// are half used and more load brings more; above 40 clients the disk is full.
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
    assert_eq!(
        sentence(&analysis.load_points, "client").unwrap(),
        "processor-bound from 4 to 8 clients; mixed from 12 to 40 clients (processor use 78 %, disk busy 71 %); \
         bound by disk operations above 40 clients"
    );
}

/// By hand: 8 users at 110 ms are 72.7/s. CPUs: 2 × 0.98 ÷ 72.7 = 27 ms an operation are not seen from outside; the disk is
/// busy 0.3 ÷ 72.7 = 4.1 ms and takes 100 ÷ 72.7 = 1.375 requests an operation, so it allows 242/s.
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

#[test]
fn evidence_says_what_was_found_and_asked_for() {
    let analysis = run(&[(4, 60, Shown { cpu: 0.97, runnable: 5, disk: 0.2 })]);
    let attribution = analysis.load_points[0].attribution.as_ref().unwrap();
    let found: Vec<(Sign, f64)> =
        attribution.evidence.iter().map(|(condition, value)| (condition.sign, *value)).collect();
    assert_eq!(found, [(Sign::ProcessorUse, 0.97)]);
}

#[test]
fn a_run_that_was_not_watched_names_nothing() {
    let analysis = crate::record::Scene::closed().analyze();
    assert_eq!(analysis.load_points[0].attribution, None);
    assert_eq!(sentence(&analysis.load_points, "client"), None);
}
