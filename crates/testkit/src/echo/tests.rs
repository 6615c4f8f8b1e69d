//! A protocol family beside the web under a virtual clock: the analysis knows it by its catalog alone.

use model::echo::echo_measure;
use model::{Headline, Overrides, Plan, SutPlan, Workload};
use units::Nanos;

use crate::{ServiceTimeDistribution, SimServer, Simulation, benchmark_plan};

fn plan() -> Plan {
    let overrides = Overrides { load: Some(vec![1, 4, 16]), ..Overrides::new(SutPlan::of("simulated")) };
    benchmark_plan("echo", &[], overrides)
}

/// One worker with exponential service of 1 ms, think times of 2 ms: at 16 users it is saturated at 1000/s.
#[test]
fn capacity_mix_and_bytes_of_messages_are_recovered() {
    let plan = plan();
    let server = SimServer::new(ServiceTimeDistribution::Exponential(Nanos::from_millis(1)), Some(1));
    let found = Simulation::new(plan.clone(), server).analyze();
    assert!(found.verdict.reasons.is_empty(), "{:?}", found.verdict.reasons);
    let last = &found.load_points[2];
    assert!((last.rate / server.capacity() - 1.0).abs() < 0.02, "{}", last.rate);
    assert_eq!(found.headline.as_ref().unwrap().load_point, 2);
    let [short, long] = &last.kinds[..] else { panic!("two kinds") };
    assert!((short.n as f64 / last.total.n as f64 - 0.9).abs() < 0.02);
    assert_eq!((short.name.as_str(), long.name.as_str()), ("short", "long"));
    assert_eq!(last.total.transferred, 2 * (68 * short.n + 16_388 * long.n));
    assert!(last.web.is_none() && short.web.is_none());
    let first_byte = last.spreads[0].as_ref().unwrap();
    assert_eq!((first_byte.histogram.n(), last.spreads.len()), (last.total.n, 1));
    let mean = last.total.measure(echo_measure::FIRST_BYTE).mean.unwrap();
    assert!((first_byte.mean.unwrap() / mean - 1.0).abs() < 1e-9);
    assert!((last.thinking_mean / last.rate - 0.002).abs() < 0.0001, "{}", last.thinking_mean);
}

/// One user in a closed loop: R = 1 ms and Z = 2 ms, so X = 1 ÷ 3 ms.
#[test]
fn users_think_after_each_message() {
    let server = SimServer::new(ServiceTimeDistribution::Fixed(Nanos::from_millis(1)), Some(1));
    let found = Simulation::new(plan(), server).analyze();
    let first = &found.load_points[0];
    assert!((first.rate * 0.003 - 1.0).abs() < 0.03, "{}", first.rate);
    assert!(first.little_gap.unwrap().abs() < 0.001);
}

/// A long message stands for three.
#[test]
fn a_weighted_score_counts_messages_by_their_weights() {
    let mut plan = plan();
    let Workload::Echo(echo) = &mut plan.workload else { panic!("of echo servers") };
    echo.messages[1].counts_as = 3;
    plan.catalog = Headline::WeightedRate.applied(plan.workload.catalog());
    let server = SimServer::new(ServiceTimeDistribution::Fixed(Nanos::from_millis(1)), Some(1));
    let found = Simulation::new(plan, server).analyze();
    for point in &found.load_points {
        let weighted = (point.kinds[0].n + 3 * point.kinds[1].n) as f64;
        let expected = 60.0 * weighted / point.length.as_secs_f64();
        assert!((point.score.unwrap() / expected - 1.0).abs() < 1e-9, "{:?}", point.score);
    }
    assert_eq!(found.headline.unwrap().name, "weighted messages per minute");
}

/// The plan is stored with the run and read by whoever knows the family.
#[test]
fn the_plan_survives_storage() {
    let plan = plan();
    let stored = serde_json::to_value(&plan).unwrap();
    assert_eq!(stored["workload"]["echo"]["messages"][0]["name"], "short");
    assert_eq!(serde_json::from_value::<Plan>(stored).unwrap(), plan);
    assert_eq!(Headline::OperationRate.applied(plan.workload.catalog()), plan.catalog);
    assert!(matches!(plan.workload, Workload::Echo(_)) && plan.workload.file_set(16.0).files.is_empty());
}
