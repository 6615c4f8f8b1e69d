//! Open loops: operations and their due times follow from plan and seed alone.

use benchmarks::web::pages::PageSchedule;
use model::{Arrivals, Load, Page, Phases, Plan, Request, WebWorkload};
use testkit::{
    Recording, ServiceTimeDistribution, SimServer, Simulation, assert_conserved, one_object, open_plan,
    phases, with_seed, with_workload,
};
use units::Nanos;

use super::{ms, s};

fn workload() -> WebWorkload {
    let object = |index: u64| Request::file(&format!("/{index}"), 100 * index);
    let page = |object| Page { weight: 1 + u64::from(object), requests: vec![object] };
    WebWorkload { requests: (1..=4).map(object).collect(), pages: (0..4).map(page).collect(), ..one_object() }
}

fn plan(seed: u64, threads: u32) -> Plan {
    let phases = Phases { ramp_up: s(2), ramp_down: s(2), ..phases(1, 5) };
    let mut plan = open_plan(seed, 200.0, Arrivals::Poisson, phases);
    plan.agents[0].threads = threads;
    with_workload(plan, workload())
}

fn run(plan: Plan) -> Recording {
    let recording =
        Simulation::new(plan, SimServer::new(ServiceTimeDistribution::Exponential(ms(8)), Some(4))).record();
    assert_conserved(&recording.intervals);
    recording
}

/// Returns due time and object of every operation of the plan.
fn planned(plan: &Plan) -> Vec<(Nanos, u32)> {
    let due = plan.schedule(plan.load_points[0]).expect("an open loop").whole();
    let objects = PageSchedule::new(plan.workload.web().unwrap(), plan.seed, 200.0);
    due.map(|(k, due)| (due, u32::from(objects.operation(k).kind))).collect()
}

/// Returns time and object of every operation sent.
fn sent(recording: &Recording) -> Vec<(Nanos, u32)> {
    let mut sent: Vec<_> = recording.requests.iter().map(|request| (request.sent, request.object)).collect();
    sent.sort();
    sent
}

#[test]
fn operations_and_due_times_follow_from_the_seed_however_many_slices() {
    with_seed(81, |seed| {
        let expected = planned(&plan(seed, 1));
        assert!(1_000 < expected.len());
        for threads in [1, 2, 3] {
            assert_eq!(sent(&run(plan(seed, threads))), expected, "{threads} slices");
        }
        assert_ne!(sent(&run(plan(seed + 1, 1))), expected);
    });
}

#[test]
fn the_same_plan_seed_and_server_give_the_same_records() {
    with_seed(82, |seed| {
        let one = run(plan(seed, 2));
        let other = run(plan(seed, 2));
        assert_eq!(one.requests, other.requests);
        assert!(one.intervals == other.intervals);
    });
}

/// The server carries half of the offered load, with four slots in total: operations without a slot wait, in
/// due order, and none is lost. The drain is long enough for the rest.
#[test]
fn the_number_in_flight_is_bounded_and_nothing_is_dropped() {
    with_seed(83, |seed| {
        for threads in [1, 2] {
            let mut plan = plan(seed, threads);
            plan.phases.drain = s(30);
            plan.load_points[0].load =
                Load::Rate { per_second: 200.0, arrivals: Arrivals::Poisson, in_flight_max: 4 };
            let expected = planned(&plan);
            let recording =
                Simulation::new(plan, SimServer::new(ServiceTimeDistribution::Fixed(ms(40)), None)).record();
            assert_conserved(&recording.intervals);
            let mut in_flight = 0;
            for record in &recording.intervals {
                in_flight = in_flight.max(record.flow.in_flight_at_end);
                // The integral over a second cannot exceed the slots either.
                let length = u128::from((record.end - record.start).0);
                assert!(record.flow.in_flight_ns <= length * 4 / u128::from(threads));
            }
            assert_eq!(in_flight, 4 / u64::from(threads), "all slots of a slice were in use");
            let total = |of: fn(&model::Flow) -> u64| {
                recording.intervals.iter().map(|record| of(&record.flow)).sum::<u64>()
            };
            assert_eq!(total(|flow| flow.ok), expected.len() as u64);
            assert_eq!((total(|flow| flow.skipped), total(|flow| flow.abandoned)), (0, 0));
            let objects = |list: &[(Nanos, u32)]| list.iter().map(|(_, object)| *object).collect::<Vec<_>>();
            if threads == 1 {
                let in_order: Vec<u32> = recording.requests.iter().map(|request| request.object).collect();
                assert_eq!(in_order, objects(&expected), "in the order in which they fell due");
            }
            let (response, service) =
                recording.intervals.iter().fold((0, 0), |(response, service), record| {
                    (response + record.response.sum(), service + record.service.sum())
                });
            let lateness: u128 = recording.intervals.iter().map(|record| record.lateness.sum()).sum();
            assert_eq!(response, service + lateness, "response time runs from due");
        }
    });
}
