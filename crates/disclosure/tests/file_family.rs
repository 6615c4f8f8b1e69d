//! Runs against file servers, from their records to the sentence about their bottleneck.

use analysis::Analyzer;
use analysis::attribute::Bottleneck;
use disclosure::bottleneck_text;
use model::{
    Counter, CounterKind, IntervalRecord, MachineRole, MonitoredSource, Overrides, Plan, ResourceRecord,
    RunEnding, Series, SutPlan, SutUse,
};
use testkit::{ServiceTimeDistribution, SimServer, Simulation, benchmark_plan};
use units::Nanos;

/// The clients of each load point, the reads of the server per second from a disk that allows 80, and its refaults per operation.
type Watched = (u32, u64, f64);

/// Analyzes a run of the Disk Mix against a share whose server is in a group with a limit on its memory, all of which it has,
/// and on reads.
fn analyzed(points: &[Watched]) -> Vec<analysis::LoadPointResult> {
    let load = points.iter().map(|(clients, ..)| *clients).collect();
    let overrides = Overrides { quick: true, load: Some(load), ..Overrides::new(SutPlan::of("a share")) };
    let mut plan: Plan = benchmark_plan("netbench", &[("transport", "smb")], overrides);
    plan.agents[0].threads = 1;
    let law = ServiceTimeDistribution::Fixed(Nanos::from_millis(1));
    let recorded = Simulation::new(plan.clone(), SimServer::new(law, Some(2))).record();
    let mut analyzer = Analyzer::new(&plan);
    analyzer.machine(MonitoredSource { name: "this machine".to_owned(), role: MachineRole::Both });
    let shown = [
        (Counter::CpuUser, "0"),
        (Counter::CpuIdle, "0"),
        (Counter::SutMemoryMax, "port=445"),
        (Counter::SutLimitedMemory, "port=445"),
        (Counter::SutRefaults, "port=445"),
        (Counter::SutReadsMax, "port=445 8:0"),
        (Counter::SutLimitedReads, "port=445 8:0"),
    ];
    for (counter, instance) in shown {
        analyzer.series(Series { machine: 0, counter, instance: instance.to_owned() });
    }
    let length = plan.phases.issuing().as_secs_f64().ceil() as u64;
    for (index, (_, reads, refaults)) in (0..).zip(points) {
        let of_point = recorded.intervals.iter().filter(|record| record.load_point == index);
        for record in of_point {
            let used = SutUse { cpu: Nanos::from_millis(100), throttled: Nanos::ZERO };
            let whole = IntervalRecord { thread: None, sut: Some(used), ..record.clone() };
            analyzer.interval(&whole);
        }
        for second in 0..=length {
            // 2,000 operations per second: two workers of 1 ms.
            let totals = [300_000, 700_000, 1_000_000, 990_000, (2_000.0 * refaults) as u64, 80, *reads];
            let at = |((counter, _), value): (&(Counter, &str), u64)| match counter.kind() {
                CounterKind::Total => value * second,
                CounterKind::Level => value,
            };
            let values = (0..).zip(shown.iter().zip(totals).map(at)).collect();
            analyzer.resource(&ResourceRecord {
                load_point: index,
                machine: 0,
                at: Nanos::from_secs(second),
                values,
            });
        }
    }
    analyzer.finish(RunEnding::Complete).load_points
}

/// As in the report of 1997: with few clients their files fit the server's memory, then they do not, and then the disk is used
/// up.
#[test]
fn a_file_server_is_memory_bound_and_then_disk_bound() {
    let points = analyzed(&[(4, 10, 0.3), (12, 30, 0.4), (20, 78, 0.5), (28, 79, 0.5)]);
    let found: Vec<Bottleneck> =
        points.iter().filter_map(|point| Some(point.attribution.as_ref()?.bottleneck)).collect();
    assert_eq!(found[..2], [Bottleneck::Memory; 2]);
    let client = model::Noun::regular("client");
    assert_eq!(
        bottleneck_text(&points, &client).unwrap(),
        "memory-bound from 4 to 12 clients; disk-bound above 12 clients, by its operations"
    );
    // Bytes and not operations are the score: the rate is what a disk is measured by all the same.
    assert!(points.iter().all(|point| point.score.is_some_and(|score| 0.0 < score)));
}
