//! Closed loops: the maximum number of users that pass, and the peak of throughput.

use analysis::{LevelKind, SearchEnd, SearchGoal, SearchResult};
use testkit::{ServiceTimeDistribution, SimServer, TimeWindow, phases};
use units::Nanos;

use super::scenario::{Noise, Scenario};

const fn ms(milliseconds: u64) -> Nanos {
    Nanos::from_millis(milliseconds)
}

#[track_caller]
fn check(name: &'static str, seed: u64, limits: &'static str, server: fn(f64) -> SimServer) -> SearchResult {
    let goal = if limits.is_empty() { SearchGoal::PeakThroughput } else { SearchGoal::HighestPass };
    let kind = LevelKind::Users;
    let phases = phases(2, 10);
    let noise = Noise::Shared;
    let least = 1.0;
    let most = 150.0;
    let found = Scenario { name, seed, kind, goal, limits, least, most, phases, server, noise }.check();
    assert_eq!(found.end, SearchEnd::Server);
    found
}

/// Eight workers, 40 ms each: X = min(N, 8) ÷ S.
fn eight(_: f64) -> SimServer {
    SimServer::new(ServiceTimeDistribution::Fixed(ms(40)), Some(8))
}

#[test]
fn one_worker_with_random_service() {
    check("closed, M/M/1, p95<400ms", 11, "p95<400ms", |_| {
        SimServer::new(ServiceTimeDistribution::Exponential(ms(8)), Some(1))
    });
}

#[test]
fn several_workers_with_random_service() {
    let server = |_| SimServer::new(ServiceTimeDistribution::Exponential(ms(40)), Some(8));
    check("closed, M/M/8, p99<500ms", 12, "p99<500ms", server);
}

/// R = N·S ÷ 8 < 501 ms: 100 users.
#[test]
fn a_fixed_service_with_a_limit() {
    let found = check("closed, fixed service, mean<501ms", 13, "mean<501ms", eight);
    assert!(found.max.is_some_and(|max| (98.0..=100.0).contains(&max.level)), "{found:?}");
}

#[test]
fn the_peak_of_a_plateau() {
    let found = check("closed, fixed service, peak", 14, "", eight);
    assert!(found.max.is_some_and(|max| max.level == 8.0), "{found:?}");
}

#[test]
fn the_peak_of_random_service() {
    check("closed, M/M/8, peak", 15, "", |_| {
        SimServer::new(ServiceTimeDistribution::Exponential(ms(40)), Some(8))
    });
}

/// Every user slows down the others, and every pair twice: X(N) = N ÷ S(N) is greatest at √(0.98 ÷ 0.0004) =
/// 49.5.
///
/// Source: the universal scalability law (Gunther 2007), α = 0.02, β = 0.0004.
fn thrashing(users: f64) -> SimServer {
    let growth = 1.0 + 0.02 * (users - 1.0) + 0.0004 * users * (users - 1.0);
    SimServer::new(ServiceTimeDistribution::Exponential(Nanos::from_secs_f64(0.050 * growth)), None)
}

#[test]
fn the_peak_of_a_server_that_collapses() {
    check("closed, collapses from 50 users, peak", 16, "", thrashing);
}

#[test]
fn a_limit_on_a_server_that_collapses() {
    check("closed, collapses from 50 users, p90<300ms", 17, "p90<300ms", thrashing);
}

fn failing(users: f64) -> SimServer {
    let error_ratio = if 60.0 < users { 0.05 } else { 0.0 };
    SimServer { error_ratio, ..SimServer::new(ServiceTimeDistribution::Exponential(ms(40)), Some(8)) }
}

#[test]
fn a_server_with_errors_above_a_load() {
    let found = check("closed, errors from 60 users, errors<0.5%", 18, "errors<0.5%", failing);
    assert!(found.max.is_some_and(|max| (59.0..=60.0).contains(&max.level)), "{found:?}");
}

/// Frozen for 400 ms, in which all users wait: one reply each of those of 10 s.
fn freezing(users: f64) -> SimServer {
    let freeze = Some(TimeWindow { from: ms(5_000), to: ms(5_400) });
    SimServer { freeze, ..eight(users) }
}

#[test]
fn a_server_that_freezes() {
    check("closed, freezes for 400 ms, p99<500ms", 19, "p99<500ms", freezing);
}
