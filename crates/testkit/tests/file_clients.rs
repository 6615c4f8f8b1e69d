//! The benchmarks of file servers under a virtual clock: rate, throughput, units and shares, fairness, requests in flight.

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

/// Golden check 21: with no pause, as many operations are in flight as there are clients.
#[test]
fn as_many_operations_are_in_flight_as_there_are_clients() {
    for (benchmark, clients) in [("netbench", 4), ("seqread", 3), ("file-micro", 5)] {
        let found = Simulation::new(plan(benchmark, &[clients], &[]), server(500, 2)).analyze();
        let point = &found.load_points[0];
        let gap = point.in_flight_mean / f64::from(clients) - 1.0;
        assert!(gap.abs() < 0.05, "{benchmark}: {}", point.in_flight_mean);
        assert!(point.little_gap.unwrap().abs() < 0.01, "{benchmark}: {:?}", point.little_gap);
    }
}

/// Golden check 22 with load threads: equal clients have moved the same bytes, whoever serves them, and the bytes of all
/// clients are those of the load point.
#[test]
fn bytes_of_clients_merge_exactly() {
    for threads in 1..=3 {
        let mut plan = plan("seqread", &[4], &[]);
        plan.agents[0].threads = threads;
        let found = Simulation::new(plan, server(1000, 4)).analyze();
        let point = &found.load_points[0];
        let clients = point.clients.unwrap();
        assert_eq!((clients.n, clients.least), (4, clients.greatest), "{threads} threads");
        assert_eq!(clients.fairness, Some(1.0));
        assert_eq!((clients.mean * 4.0).round() as u64, point.total.transferred);
    }
}

/// Streams of one client with n requests in flight, on a server that takes 1 ms for each, whatever else it does. By hand: a
/// pass opens (1 ms), reads 512 blocks in 512 ÷ n rounds of 1 ms, and closes (1 ms). Response times are those of requests,
/// rates and fairness those of clients.
#[test]
fn streams_have_several_requests_in_flight() {
    for in_flight in [1_u32, 2, 4, 8, 16] {
        let n = in_flight.to_string();
        let settings = [("transport", "smb"), ("in-flight", n.as_str()), ("file", "32 MiB")];
        let healthy = SimServer::new(ServiceTimeDistribution::Fixed(Nanos(1_000_000)), None);
        let simulation = Simulation::new(plan("seqread", &[2], &settings), healthy);
        let found = simulation.analyze();
        assert!(found.verdict.reasons.is_empty(), "{n}: {:?}", found.verdict.reasons);
        let point = &found.load_points[0];
        let pass_ms = 2.0 + 512.0 / f64::from(in_flight);
        let rate = 2.0 * 514.0 / pass_ms * 1000.0;
        assert!((point.rate / rate - 1.0).abs() < 0.02, "{n}: {} of {rate}", point.rate);
        assert!((point.response.mean.unwrap() - 0.001).abs() < 1e-9, "{n}");
        let expected = 2.0 * 514.0 / pass_ms;
        assert!((point.in_flight_mean / expected - 1.0).abs() < 0.02, "{n}: {}", point.in_flight_mean);
        // Golden check 21; with 16 the first and the last round weigh as much as 6 % of a pass.
        let gap = point.in_flight_mean / f64::from(2 * in_flight) - 1.0;
        assert!(gap.abs() < if in_flight < 16 { 0.05 } else { 0.07 }, "{n}: {gap}");
        assert!(point.little_gap.unwrap().abs() < 0.01, "{n}: {:?}", point.little_gap);
        let clients = point.clients.unwrap();
        assert_eq!((clients.n, clients.fairness), (2, Some(1.0)), "{n}");
        // Bytes = size × passes; each client may be within one at either end of the 5 s.
        let passes = point.total.transferred as f64 / f64::from(32 << 20);
        let whole = 2.0 * 5_000.0 / pass_ms;
        assert!((passes - whole).abs() < 4.0, "{n}: {passes} of {whole}");
    }
}

/// Replies in another order than that of the requests, some of them wrong, and some too late: every operation is counted once, and
/// Little's law holds.
#[test]
fn requests_in_flight_end_in_any_order() {
    let settings = [("transport", "smb"), ("in-flight", "8"), ("time-limit", "20 ms")];
    let law = ServiceTimeDistribution::Exponential(Nanos(3_000_000));
    let server = SimServer { error_ratio: 0.001, ..SimServer::new(law, None) };
    for seed in 1..=3 {
        let mut plan = plan("seqread", &[3], &settings);
        plan.seed = seed;
        let found = Simulation::new(plan, server).analyze();
        let point = &found.load_points[0];
        assert!(0 < point.total.errors, "seed {seed}");
        assert!((16.0..24.0).contains(&point.in_flight_mean), "seed {seed}: {}", point.in_flight_mean);
        let rules: Vec<&str> = found.verdict.reasons.iter().map(|reason| reason.rule()).collect();
        let of_conservation = ["conservation", "integral", "little", "user-time", "time-axis"];
        assert!(rules.iter().all(|rule| !of_conservation.contains(rule)), "seed {seed}: {rules:?}");
    }
}
