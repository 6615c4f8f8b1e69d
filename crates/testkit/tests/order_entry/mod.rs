//! The order-entry benchmark under a virtual clock: capacity, score, mix, the pauses of its pacings, and scaling.

mod scaling;

use analysis::Finding;
use model::{Load, Overrides, Plan, SutPlan};
use testkit::{ServiceTimeDistribution, SimServer, Simulation, benchmark_plan};
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
    let server = SimServer::new(ServiceTimeDistribution::Fixed(Nanos::from_millis(2)), Some(1));
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
        let server = SimServer::new(ServiceTimeDistribution::Fixed(Nanos::from_millis(1)), None);
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
    let server = SimServer::new(ServiceTimeDistribution::Fixed(Nanos::from_millis(1)), None);
    let found = Simulation::new(plan, server).analyze();
    let point = &found.load_points[0];
    assert!((point.rate / (100.0 / 20.695_65) - 1.0).abs() < 0.05, "{}", point.rate);
    let per_warehouse = point.score_per_part.unwrap();
    assert!((per_warehouse / 12.605 - 1.0).abs() < 0.05, "{per_warehouse}");
    let remarks = point.verdict.reasons.iter().chain(&point.verdict.remarks);
    assert!(remarks.map(|remark| remark.rule()).all(|rule| rule != "sizing"));
}

/// The same terminals wait for 25 s: 12.605 · 20.7 ÷ 45.7 = 5.7 new orders per minute and warehouse, too few for a server that
/// carries them, by more than chance (21 %).
#[test]
fn a_server_that_does_not_carry_the_terminals_is_named() {
    let plan = plan(&[100], 400, &[("pacing", "spec")]);
    let server = SimServer::new(ServiceTimeDistribution::Fixed(Nanos::from_secs(25)), None);
    let found = Simulation::new(plan, server).analyze();
    let floors = found.load_points[0].verdict.remarks.iter().filter_map(|remark| match &remark.finding {
        Finding::SizingFloor(of_part) => Some(of_part),
        _ => None,
    });
    let [floor] = floors.collect::<Vec<_>>()[..] else { panic!("{:?}", found.load_points[0].verdict) };
    assert_eq!((floor.part.as_str(), floor.users, floor.bound), ("warehouse", 10, 9.0));
    assert!((floor.score / 5.7 - 1.0).abs() < 0.1, "{}", floor.score);
}

/// 500/s for 60 s have 12,900 payments of 30,000 transactions: enough to judge how customers are named and where they
/// belong; by weight 15 % of the payments are remote, with a deviation of √(0.15 · 0.85 ÷ 12,900) = 0.3 %.
#[test]
fn payments_are_as_the_benchmark_wants_them() {
    let plan = plan(&[16], 60, &[("pacing", "flat")]);
    let measure = |name: &str| plan.catalog.measures.iter().position(|one| one.name == name).unwrap();
    let measures = ["remote payments", "payments by last name"].map(measure);
    let server = SimServer::new(ServiceTimeDistribution::Fixed(Nanos::from_millis(2)), Some(1));
    let found = Simulation::new(plan, server).analyze();
    let point = &found.load_points[0];
    assert!(point.verdict.reasons.is_empty(), "{:?}", point.verdict.reasons);
    let [remote, by_name] = measures.map(|measure| point.kinds[2].measure(measure).mean.unwrap());
    assert!((remote - 0.15).abs() < 0.01 && (by_name - 0.6).abs() < 0.03, "{remote}, {by_name}");
    let unjudged = point.verdict.remarks.iter().find_map(|remark| match &remark.finding {
        Finding::InputBandsNotJudged { bands } => Some(bands),
        _ => None,
    });
    let names: Vec<&str> = unjudged.unwrap().iter().map(|band| band.name.as_str()).collect();
    assert_eq!(names, ["new orders rolled back", "lines of other warehouses"]);
    assert!(point.verdict.remarks.iter().all(|one| !matches!(one.finding, Finding::InputBand { .. })));
}

/// In an open loop a transaction belongs to a user, with its home and its choice.
#[test]
fn an_open_loop_has_the_transactions_of_users() {
    let overrides =
        Overrides { quick: true, rates: Some(vec![200.0]), ..Overrides::new(SutPlan::of("simulated")) };
    let plan = benchmark_plan("orderentry", &[], overrides);
    assert!(matches!(plan.load_points[0].load, Load::Rate { .. }));
    let server = SimServer::new(ServiceTimeDistribution::Fixed(Nanos::from_millis(1)), None);
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
