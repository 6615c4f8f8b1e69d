//! Response times of open queues against the formulas of queueing theory.

use model::Arrivals;
use testkit::{ServiceTimeDistribution, SimServer, Simulation, open_plan, phases, with_seed};

use super::{assert_valid, close, us};

/// Length of the steady phase, in s.
const STEADY: u64 = 20;

/// Runs Poisson arrivals at `rate` and checks that the mean response time is `expected` (s).
#[track_caller]
fn check(seed: u64, server: SimServer, rate: f64, expected: Option<f64>) {
    let expected = expected.expect("the queue has a steady state");
    let plan = open_plan(seed, rate, Arrivals::Poisson, phases(1, STEADY));
    let found = Simulation::new(plan, server).analyze();
    assert_valid(&found);
    let point = &found.load_points[0];
    // A Poisson count: three standard deviations.
    let n = rate * STEADY as f64;
    close("rate", point.rate, rate, 3.0 / n.sqrt());
    let (low, high) = point.response.mean_interval.expect("enough seconds");
    let mean = point.response.mean.unwrap();
    // Twice the 95 % interval: nearly four standard errors, one failure in many thousand seeds.
    assert!((expected - mean).abs() <= high - low, "{mean} ({low} to {high}), expected {expected}");
    assert!(high - low <= 0.25 * expected, "the interval {low} to {high} is too wide");
}

/// M/M/1 with S = 400 µs at utilization `rho`: R = S ÷ (1 − ρ).
fn check_one_worker(seed: u64, rho: f64) {
    with_seed(seed, |seed| {
        let server = SimServer::new(ServiceTimeDistribution::Exponential(us(400)), Some(1));
        let rate = rho * server.capacity();
        check(seed, server, rate, testkit::mm1_response(rate, 400e-6));
    });
}

#[test]
fn one_worker_at_30_percent_takes_s_over_0_7() {
    check_one_worker(11, 0.3);
}

#[test]
fn one_worker_at_60_percent_takes_s_over_0_4() {
    check_one_worker(12, 0.6);
}

#[test]
fn one_worker_at_80_percent_takes_s_over_0_2() {
    check_one_worker(13, 0.8);
}

/// M/M/c with S = c · 500 µs at a utilization of 0.7.
fn check_several_workers(seed: u64, workers: u32) {
    with_seed(seed, |seed| {
        let service = us(500 * u64::from(workers));
        let server = SimServer::new(ServiceTimeDistribution::Exponential(service), Some(workers));
        let rate = 0.7 * server.capacity();
        check(seed, server, rate, testkit::mmc_response(rate, service.as_secs_f64(), workers));
    });
}

#[test]
fn two_workers_follow_erlang() {
    check_several_workers(21, 2);
}

#[test]
fn eight_workers_follow_erlang() {
    check_several_workers(22, 8);
}

/// M/G/1 at a utilization of 0.6.
fn check_any_service(seed: u64, law: ServiceTimeDistribution) {
    with_seed(seed, |seed| {
        let rate = 0.6 / law.mean();
        let expected = testkit::mg1_response(rate, law.mean(), law.variation_squared());
        check(seed, SimServer::new(law, Some(1)), rate, expected);
    });
}

/// A tenth takes eleven times as long: v = 2.25.
#[test]
fn two_service_times_follow_pollaczek_and_khinchine() {
    check_any_service(
        31,
        ServiceTimeDistribution::TwoPoint { short: us(200), long: us(2_200), long_share: 0.1 },
    );
}

/// v = 0: half the waiting time of M/M/1.
#[test]
fn a_fixed_service_time_follows_pollaczek_and_khinchine() {
    check_any_service(32, ServiceTimeDistribution::Fixed(us(400)));
}
