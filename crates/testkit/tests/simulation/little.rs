//! Little's law and conservation on clean closed loops.

use model::ThinkTime;
use testkit::{
    ServiceTimeDistribution, SimServer, Simulation, assert_conserved, closed_plan, phases, with_seed,
};

use super::{assert_valid, close, ms, us};

fn check(seed: u64, think: ThinkTime, think_mean: f64) {
    let server = SimServer {
        network: us(100),
        ..SimServer::new(ServiceTimeDistribution::Exponential(ms(5)), Some(4))
    };
    let mut plan = closed_plan(seed, &[20], phases(2, 20));
    plan.agents[0].threads = 2;
    plan.workload.web_mut().unwrap().think = think;
    plan.catalog = plan.workload.catalog();
    let simulation = Simulation::new(plan, server);
    let found = simulation.analyze();
    assert_valid(&found);
    let point = &found.load_points[0];
    assert!(point.little_gap.unwrap().abs() < 0.01, "{:?}", point.little_gap);
    close("users in flight or thinking", point.in_flight_mean + point.thinking_mean, 20.0, 1e-6);
    close("N = X·(R + Z)", point.rate * (point.response.mean.unwrap() + think_mean), 20.0, 0.02);
    assert_conserved(&simulation.record().intervals);
}

#[test]
fn little_closes_without_think_time() {
    with_seed(41, |seed| check(seed, ThinkTime::None, 0.0));
}

#[test]
fn little_closes_with_fixed_think_time() {
    with_seed(42, |seed| check(seed, ThinkTime::Fixed(ms(50)), 0.050));
}

#[test]
fn little_closes_with_exponential_think_time() {
    with_seed(43, |seed| check(seed, ThinkTime::Exponential(ms(50)), 0.050));
}
