//! Capacity, saturation point and knee of closed loops.

use model::Plan;
use model::ThinkTime;
use stats::CurvePoint;
use testkit::{ServiceTimeDistribution, SimServer, Simulation, closed_plan, phases, with_seed};

use super::{assert_valid, close, ms};

const USERS: [u32; 6] = [1, 2, 4, 8, 16, 32];

fn plan(seed: u64, steady: u64) -> Plan {
    closed_plan(seed, &USERS, phases(1, steady))
}

/// Eight workers, 20 ms each: X = min(N, 8) ÷ S and R = max(S, N·S ÷ 8). Rate ÷ response rises to N = 8 and
/// falls beyond, so peak, saturation and knee all lie there.
#[test]
fn the_capacity_of_a_fixed_service_is_recovered() {
    with_seed(1, |seed| {
        let server = SimServer::new(ServiceTimeDistribution::Fixed(ms(20)), Some(8));
        let found = Simulation::new(plan(seed, 10), server).analyze();
        assert_valid(&found);
        for (point, users) in found.load_points.iter().zip(USERS.map(f64::from)) {
            close("rate", point.rate, users.min(8.0) / 0.020, 0.01);
            close("response", point.response.mean.unwrap(), 0.020_f64.max(users * 0.020 / 8.0), 0.01);
        }
        close("capacity", found.headline.unwrap().value, server.capacity(), 0.01);
        assert_eq!([found.curve.saturation, found.curve.knee], [Some(3), Some(3)]);
    });
}

/// One worker with exponential service and users with exponential think times: mean value analysis is exact.
#[test]
fn the_curve_with_think_time_matches_mean_value_analysis() {
    with_seed(2, |seed| {
        let service = ms(2);
        let think = ms(18);
        let server = SimServer::new(ServiceTimeDistribution::Exponential(service), Some(1));
        let mut plan = plan(seed, 20);
        plan.workload.web_mut().unwrap().think = ThinkTime::Exponential(think);
        plan.catalog = plan.workload.catalog();
        let found = Simulation::new(plan, server).analyze();
        assert_valid(&found);
        let expected: Vec<CurvePoint> =
            USERS.map(|users| mean_value_analysis(users, service.as_secs_f64(), think.as_secs_f64())).into();
        for (point, expected) in found.load_points.iter().zip(&expected) {
            close("rate", point.rate, expected.rate, 0.04);
            close("response", point.response.mean.unwrap(), expected.response, 0.10);
        }
        let load = |index: Option<usize>| found.load_points[index.unwrap()].load.level();
        assert_eq!(load(found.curve.saturation), stats::saturation_point(&expected).unwrap().load);
        assert_eq!(load(found.curve.knee), stats::knee(&expected).unwrap().load);
    });
}

/// R(n) = S·(1 + Q(n − 1)), X(n) = n ÷ (R(n) + Z), Q(n) = X(n)·R(n); times in s.
///
/// Source: Reiser and Lavenberg 1980, Mean-Value Analysis of Closed Multichain Queuing Networks.
fn mean_value_analysis(users: u32, service: f64, think: f64) -> CurvePoint {
    let mut rate = 0.0;
    let mut response = 0.0;
    let mut queue = 0.0;
    for n in 1..=users {
        response = service * (1.0 + queue);
        rate = f64::from(n) / (response + think);
        queue = rate * response;
    }
    CurvePoint { load: users.into(), rate, response, interval: None }
}
