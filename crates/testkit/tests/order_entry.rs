//! The order-entry benchmark under a virtual clock: capacity, score, mix and the pauses of its pacings.

use model::{Load, Overrides, Plan, SutPlan};
use testkit::{Law, SimServer, Simulation, benchmark_plan};
use units::Nanos;

/// Returns the plan of a quick run with these users and settings.
fn plan(load: &[u32], steady: u64, settings: &[(&str, &str)]) -> Plan {
    let overrides = Overrides {
        quick: true,
        load: Some(load.to_vec()),
        steady: Some(Nanos::from_secs(steady)),
        ..Overrides::new(SutPlan::of("simulated"))
    };
    benchmark_plan("orderentry", settings, overrides)
}

/// One worker with a service of 2 ms: at 16 users without pauses it makes 500/s, of which 45 % are new orders: 13,500
/// per minute, with a deviation of √(0.45 · 0.55 ÷ 10,000) = 0.5 % of all in 20 s.
#[test]
fn capacity_and_score_are_recovered() {
    let plan = plan(&[16], 20, &[("pacing", "flat")]);
    let server = SimServer::new(Law::Fixed(Nanos::from_millis(2)), Some(1));
    let found = Simulation::new(plan, server).analyze();
    assert!(found.verdict.reasons.is_empty(), "{:?}", found.verdict.reasons);
    let point = &found.load_points[0];
    assert!((point.rate / 500.0 - 1.0).abs() < 0.01, "{}", point.rate);
    let score = point.score.unwrap();
    assert!((score / 13_500.0 - 1.0).abs() < 0.05, "{score}");
    let names: Vec<&str> = point.kinds.iter().map(|kind| kind.name.as_str()).collect();
    let expected =
        ["new-order", "new-order rolled back", "payment", "order-status", "delivery", "stock-level"];
    assert_eq!(names, expected);
}

/// 100 users with 270 ms and a server without a queue, 1 ms each: X = 100 ÷ 0.271 s = 369/s.
#[test]
fn think_times_bound_the_rate() {
    for from in ["done", "due"] {
        let plan = plan(&[100], 20, &[("think-from", from)]);
        let server = SimServer::new(Law::Fixed(Nanos::from_millis(1)), None);
        let found = Simulation::new(plan, server).analyze();
        assert!(found.verdict.reasons.is_empty(), "{from}: {:?}", found.verdict.reasons);
        let expected = if from == "done" { 100.0 / 0.271 } else { 100.0 / 0.27 };
        let rate = found.load_points[0].rate;
        assert!((rate / expected - 1.0).abs() < 0.05, "{from}: {rate}");
    }
}

/// 100 users at 10 warehouses, golden check 9.5 of the specification: a cycle of 20.69565 s from the deck. In 400 s
/// they make 1,933 transactions; the deck has no chance in it but that of the ends.
#[test]
fn the_specified_pacing_has_its_cycle() {
    let plan = plan(&[100], 400, &[("pacing", "spec")]);
    let server = SimServer::new(Law::Fixed(Nanos::from_millis(1)), None);
    let found = Simulation::new(plan, server).analyze();
    let rate = found.load_points[0].rate;
    assert!((rate / (100.0 / 20.695_65) - 1.0).abs() < 0.05, "{rate}");
}

/// In an open loop a transaction belongs to a user, with its home and its choice.
#[test]
fn an_open_loop_has_the_transactions_of_users() {
    let overrides =
        Overrides { quick: true, rates: Some(vec![200.0]), ..Overrides::new(SutPlan::of("simulated")) };
    let plan = benchmark_plan("orderentry", &[], overrides);
    assert!(matches!(plan.load_points[0].load, Load::Rate { .. }));
    let server = SimServer::new(Law::Fixed(Nanos::from_millis(1)), None);
    let found = Simulation::new(plan, server).analyze();
    assert!(found.verdict.reasons.is_empty(), "{:?}", found.verdict.reasons);
    assert!((found.load_points[0].rate / 200.0 - 1.0).abs() < 0.02);
}

/// The plan is stored with the run and read by whoever knows the family.
#[test]
fn the_plan_survives_storage() {
    let plan = plan(&[1], 1, &[("pacing", "spec"), ("divisor", "50")]);
    let stored = serde_json::to_value(&plan).unwrap();
    assert_eq!(stored["workload"]["order-entry"]["scale"]["divisor"], 50);
    assert_eq!(serde_json::from_value::<Plan>(stored).unwrap(), plan);
}
