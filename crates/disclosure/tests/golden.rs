//! Simulated runs whose every number is kept: whoever rewords, renames or rebuilds must not move one.
//!
//! `PLIMSOLL_GOLDEN=write` keeps what is found; the difference then shows in review. Where it was meant, the versions of
//! the benchmarks concerned rise.

use std::path::PathBuf;

use disclosure::{Provenance, Report, render};
use model::{Arrivals, Load, LoadPoint, Plan, SutPlan, Testbed, ThinkTime};
use serde_json::Value;
use testkit::{
    ServiceTimeDistribution, SimServer, Simulation, TimeWindow, closed_plan, golden, open_plan, phases,
};
use units::Nanos;

/// Checks a simulated run against the numbers that were kept under a name.
#[track_caller]
fn check(name: &str, simulation: &Simulation) {
    let mut found = report(simulation);
    // Plan and testbed are what went in.
    for key in ["plan", "testbed", "provenance"] {
        found.as_object_mut().unwrap().remove(key);
    }
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(format!("tests/golden/{name}.json"));
    golden::assert_kept(&path, &format!("{found:#}\n"));
}

fn report(simulation: &Simulation) -> Value {
    let testbed = Testbed::default();
    let provenance = Provenance::default();
    let report = Report {
        analysis: &simulation.analyze(),
        plan: &simulation.plan,
        testbed: &testbed,
        provenance: &provenance,
        price: None,
    };
    render::json(&report)
}

const fn ms(milliseconds: u64) -> Nanos {
    Nanos::from_millis(milliseconds)
}

/// Gives a plan several load points with arrivals at these rates.
fn at_rates(plan: Plan, rates: &[f64], arrivals: Arrivals, in_flight_max: u32) -> Plan {
    let load = |per_second| Load::Rate { per_second, arrivals, in_flight_max };
    let load_points = (0..).zip(rates).map(|(index, rate)| LoadPoint { index, load: load(*rate) }).collect();
    Plan { load_points, ..plan }
}

#[test]
fn a_closed_loop_up_to_saturation() {
    let plan = closed_plan(11, &[1, 4, 16], phases(1, 4));
    check("closed", &Simulation::new(plan, SimServer::new(ServiceTimeDistribution::Fixed(ms(20)), Some(8))));
}

#[test]
fn thinking_users_on_three_threads() {
    let mut plan = closed_plan(12, &[3, 10], phases(1, 4));
    plan.agents[0].threads = 3;
    plan.workload.web_mut().unwrap().think = ThinkTime::Exponential(ms(18));
    plan.catalog = plan.workload.catalog();
    let server =
        SimServer { network: ms(1), ..SimServer::new(ServiceTimeDistribution::Exponential(ms(2)), Some(1)) };
    check("thinking", &Simulation::new(plan, server));
}

#[test]
fn constant_arrivals_into_overload() {
    let plan = open_plan(13, 1.0, Arrivals::Constant, phases(1, 4));
    let plan = at_rates(plan, &[100.0, 200.0, 400.0], Arrivals::Constant, 50);
    check(
        "constant",
        &Simulation::new(plan, SimServer::new(ServiceTimeDistribution::Fixed(ms(10)), Some(3))),
    );
}

#[test]
fn poisson_arrivals_on_two_threads() {
    let mut plan = open_plan(14, 1.0, Arrivals::Poisson, phases(1, 4));
    plan.agents[0].threads = 2;
    let plan = at_rates(plan, &[150.0, 600.0], Arrivals::Poisson, 1_000);
    let law = ServiceTimeDistribution::TwoPoint { short: ms(1), long: ms(11), long_share: 0.1 };
    check("poisson", &Simulation::new(plan, SimServer::new(law, Some(2))));
}

#[test]
fn errors_refusals_a_freeze_and_a_leak() {
    let plan = closed_plan(15, &[8, 8], phases(1, 5));
    let server = SimServer {
        network: ms(1),
        freeze: Some(TimeWindow { from: ms(2_500), to: ms(3_100) }),
        leak: 0.05,
        error_ratio: 0.02,
        refusal_ratio: 0.01,
        ..SimServer::new(ServiceTimeDistribution::Exponential(ms(10)), Some(4))
    };
    check("faulty", &Simulation::new(plan, server));
}

#[test]
fn a_generator_that_stands_still() {
    let plan = open_plan(16, 500.0, Arrivals::Constant, phases(1, 4));
    let mut simulation = Simulation::new(
        Plan { sut: SutPlan::of("simulated"), ..plan },
        SimServer::new(ServiceTimeDistribution::Exponential(ms(1)), Some(2)),
    );
    simulation.generator_pause = Some(TimeWindow { from: ms(2_000), to: ms(2_200) });
    check("generator-pause", &simulation);
}
