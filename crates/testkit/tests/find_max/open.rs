//! Open loops: the highest rate that passes.

use analysis::{LevelKind, SearchEnd, SearchGoal, SearchResult};
use testkit::{ServiceTimeDistribution, SimServer, TimeWindow, phases};
use units::Nanos;

use super::scenario::{Noise, Scenario};

/// Service time of all servers here: one worker carries 500/s.
const SERVICE: Nanos = Nanos::from_millis(2);

#[track_caller]
fn check(name: &'static str, seed: u64, limits: &'static str, server: fn(f64) -> SimServer) -> SearchResult {
    check_for(10, name, seed, limits, server)
}

/// Checks with load points of this many seconds.
#[track_caller]
fn check_for(
    steady: u64,
    name: &'static str,
    seed: u64,
    limits: &'static str,
    server: fn(f64) -> SimServer,
) -> SearchResult {
    let kind = LevelKind::Rate;
    let goal = SearchGoal::HighestPass;
    let phases = phases(1, steady);
    let least = 150.0;
    let most = 900.0;
    let noise = Noise::Shared;
    let found = Scenario { name, seed, kind, goal, limits, least, most, phases, server, noise }.check();
    assert_eq!(found.end, SearchEnd::Server);
    found
}

#[test]
fn one_worker_with_random_service() {
    check("open, M/M/1, p99<50ms", 1, "p99<50ms", |_| {
        SimServer::new(ServiceTimeDistribution::Exponential(SERVICE), Some(1))
    });
}

#[test]
fn four_workers_with_random_service() {
    let server = |_| SimServer::new(ServiceTimeDistribution::Exponential(Nanos::from_millis(8)), Some(4));
    check("open, M/M/4, p95<50ms", 2, "p95<50ms", server);
}

#[test]
fn a_fixed_service_without_limits() {
    check("open, fixed service, no limit", 3, "", |_| {
        SimServer::new(ServiceTimeDistribution::Fixed(SERVICE), Some(1))
    });
}

#[test]
fn a_fixed_service_with_a_limit() {
    check("open, fixed service, mean<6ms", 4, "mean<6ms", |_| {
        SimServer::new(ServiceTimeDistribution::Fixed(SERVICE), Some(1))
    });
}

/// Beyond 400/s each further 50/s lengthen the work by a quarter, so that ever less is delivered.
fn collapsing(rate: f64) -> SimServer {
    let service = SERVICE.as_secs_f64() * (1.0 + (rate - 400.0).max(0.0) / 200.0);
    SimServer::new(ServiceTimeDistribution::Exponential(Nanos::from_secs_f64(service)), Some(1))
}

#[test]
fn a_server_that_collapses_under_overload() {
    check("open, collapses from 400/s, p99<100ms", 5, "p99<100ms", collapsing);
}

/// Beyond 350/s a tenth of all replies is wrong.
fn failing(rate: f64) -> SimServer {
    let error_ratio = if 350.0 < rate { 0.10 } else { 0.0 };
    SimServer { error_ratio, ..SimServer::new(ServiceTimeDistribution::Exponential(SERVICE), Some(1)) }
}

#[test]
fn a_server_with_errors_above_a_load() {
    let found = check("open, errors from 350/s, errors<0.5%", 6, "p99<100ms,errors<0.5%", failing);
    assert!(found.max.is_some_and(|max| 343.0 <= max.level && max.level <= 350.0));
}

/// Frozen for 200 ms: an operation that arrives t later finds V(t) = 200 ms − (1 − ρ)·t of work before it.
/// That is more than 100 ms for t < 100 ms ÷ (1 − ρ), which is 1 % of 40 s at ρ = 0.75.
fn freezing(_: f64) -> SimServer {
    let freeze = Some(TimeWindow { from: Nanos::from_secs(20), to: Nanos::from_millis(20_200) });
    SimServer { freeze, ..SimServer::new(ServiceTimeDistribution::Fixed(SERVICE), Some(1)) }
}

#[test]
fn a_server_that_freezes() {
    let found = check_for(40, "open, freezes for 200 ms, p99<100ms", 7, "p99<100ms", freezing);
    assert!(found.max.is_some_and(|max| max.level < 0.85 * freezing(0.0).capacity()), "{found:?}");
}
