//! The benchmarks of file servers under a virtual clock: rate, throughput, units and shares.

use model::{Overrides, Plan, SutPlan};
use testkit::{ServiceTimeDistribution, SimServer, Simulation, benchmark_plan};
use units::Nanos;

fn plan(benchmark: &str, load: &[u32], settings: &[(&str, &str)]) -> Plan {
    let simulated = Overrides::new(SutPlan::of("simulated"));
    let overrides = Overrides { quick: true, load: Some(load.to_vec()), ..simulated };
    benchmark_plan(benchmark, settings, overrides)
}

fn server(micros: u64, workers: u32) -> SimServer {
    SimServer::new(ServiceTimeDistribution::Fixed(Nanos(micros * 1000)), Some(workers))
}

/// A worker of 100 µs per operation: 10,000 operations per second, of 5,400 bytes each in the mean, are 432 Mbit/s.
#[test]
fn the_throughput_of_the_disk_mix_is_that_of_its_bytes() {
    let simulation = Simulation::new(plan("netbench", &[1, 4], &[]), server(100, 1));
    let found = simulation.analyze();
    assert!(found.verdict.reasons.is_empty(), "{:?}", found.verdict.reasons);
    let last = &found.load_points[1];
    assert!((last.rate / 10_000.0 - 1.0).abs() < 0.01, "{}", last.rate);
    let score = last.score.unwrap();
    assert!((score / 432.0 - 1.0).abs() < 0.1, "{score}");
    // What is shown has the shares of the cycle.
    for (result, kind) in last.kinds.iter().zip(&simulation.plan.catalog.kinds) {
        let share = result.n as f64 / last.total.n as f64;
        let expected = kind.share.unwrap();
        assert!((share - expected).abs() < 0.015, "{}: {share}, not {expected}", kind.name);
    }
    // 600,000 operations per minute are 169 cycles of 3,550; each client may be within one at either end of the 5 s.
    let cycles = last.units_per_minute.unwrap();
    assert!((120.0..=220.0).contains(&cycles), "{cycles}");
}

#[test]
fn streams_and_micro_tests_are_valid() {
    for (benchmark, settings) in [
        ("seqread", &[][..]),
        ("seqread", &[("files", "many:3"), ("direction", "write-flush")]),
        ("file-micro", &[("test", "rand-write")]),
        ("file-micro", &[("test", "dir-search")]),
        ("file-micro", &[("test", "create-delete"), ("small-file", "4 KiB")]),
        ("file-micro", &[("test", "lock")]),
    ] {
        let found = Simulation::new(plan(benchmark, &[2], settings), server(200, 2)).analyze();
        assert!(found.verdict.reasons.is_empty(), "{settings:?}: {:?}", found.verdict.reasons);
        assert!((found.load_points[0].rate / 10_000.0 - 1.0).abs() < 0.02, "{settings:?}");
    }
}
