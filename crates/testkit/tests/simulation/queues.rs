//! Response times of open queues against the formulas of queueing theory.

use model::Arrivals;
use testkit::{Law, Server, Simulation, open_plan, phases, with_seed};

use crate::{assert_valid, close, us};

/// Length of the steady phase, in s.
const STEADY: u64 = 20;

/// Runs Poisson arrivals at `rate` and checks that the mean response time is `expected` (s).
#[track_caller]
fn check(seed: u64, server: Server, rate: f64, expected: Option<f64>) {
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
    assert!(high - low <= 0.25 * expected, "the interval {low} to {high} says too little");
}

#[test]
fn one_worker_follows_s_over_one_minus_rho() {
    for (seed, rho) in [(11, 0.3), (12, 0.6), (13, 0.8)] {
        with_seed(seed, |seed| {
            let server = Server::new(Law::Exponential(us(300)), Some(1));
            let rate = rho * server.capacity();
            check(seed, server, rate, stats::mm1_response(rate, 300e-6));
        });
    }
}

#[test]
fn several_workers_follow_erlang() {
    for (seed, workers) in [(21, 2), (22, 8)] {
        with_seed(seed, |seed| {
            let server = Server::new(Law::Exponential(us(1_000)), Some(workers));
            let rate = 0.7 * server.capacity();
            check(seed, server, rate, stats::mmc_response(rate, 1e-3, workers));
        });
    }
}

/// Two points, 100 µs and 1,100 µs, a tenth of them long: v = 2.25; a fixed service: v = 0.
#[test]
fn any_service_follows_pollaczek_and_khinchine() {
    let two_points = Law::TwoPoint { short: us(100), long: us(1_100), long_share: 0.1 };
    for (seed, law) in [(31, two_points), (32, Law::Fixed(us(200)))] {
        with_seed(seed, |seed| {
            let rate = 0.6 / law.mean();
            let expected = stats::mg1_response(rate, law.mean(), law.variation_squared());
            check(seed, Server::new(law, Some(1)), rate, expected);
        });
    }
}
