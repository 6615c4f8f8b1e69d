//! Drivers that block: a thread per user in place of a task, and otherwise the same run.

use model::{AgentPlan, Arrivals, Outcome, Plan, ThinkTime};
use testkit::{
    Recording, ServiceTimeDistribution, SimServer, Simulation, assert_conserved, closed_plan, one_object,
    open_plan, phases, with_workload,
};

use super::{ms, s};

/// Runs a plan by both loops, and returns the records of tasks and of threads.
fn both(plan: Plan, server: SimServer) -> [Recording; 2] {
    [false, true].map(|blocks| {
        let mut all = Simulation { blocks, ..Simulation::new(plan.clone(), server) }.record();
        // Load threads hand over at the same time, in any order.
        all.examples.sort_by_key(|example| example.at);
        all
    })
}

/// Checks that two runs differ in nothing but in the CPU time of the system under test, which only threads meter.
#[track_caller]
fn assert_alike([tasks, mut threads]: [Recording; 2]) {
    assert!(threads.intervals.iter().all(|record| record.sut.is_some()));
    threads.intervals.iter_mut().for_each(|record| record.sut = None);
    assert_eq!(threads.requests, tasks.requests);
    assert_eq!(threads.examples, tasks.examples);
    for (of_threads, of_tasks) in threads.intervals.iter().zip(&tasks.intervals) {
        assert_eq!(of_threads, of_tasks);
    }
    assert_eq!(threads.intervals.len(), tasks.intervals.len());
    assert_conserved(&threads.intervals);
}

fn server() -> SimServer {
    SimServer { error_ratio: 0.01, ..SimServer::new(ServiceTimeDistribution::Exponential(ms(8)), Some(2)) }
}

#[test]
fn a_closed_loop_of_threads_has_the_records_of_one_of_tasks() {
    for think in [ThinkTime::None, ThinkTime::Exponential(ms(50))] {
        let mut phases = phases(1, 5);
        (phases.ramp_up, phases.ramp_down) = (s(1), s(1));
        let plan = with_workload(closed_plan(7, &[13], phases), model::WebWorkload { think, ..one_object() });
        assert_alike(both(Plan { agents: vec![AgentPlan::only(3)], ..plan }, server()));
    }
}

/// At 90 % of the capacity with 40 slots, operations wait for slots as well.
#[test]
fn an_open_loop_of_threads_has_the_records_of_one_of_tasks() {
    let mut plan = open_plan(8, 225.0, Arrivals::Poisson, phases(1, 5));
    plan.load_points[0].load =
        model::Load::Rate { per_second: 225.0, arrivals: Arrivals::Poisson, in_flight_max: 4 };
    let [tasks, threads] = both(plan, server());
    assert!(threads.intervals.iter().any(|record| record.flow.waiting_at_end != 0), "nothing waited");
    // Which slot takes an operation is free.
    let times =
        |recording: &Recording| recording.requests.iter().map(|request| request.sent).collect::<Vec<_>>();
    assert_eq!(times(&threads), times(&tasks));
    let flows =
        |recording: &Recording| recording.intervals.iter().map(|record| record.flow).collect::<Vec<_>>();
    assert_eq!(flows(&threads), flows(&tasks));
    assert_conserved(&threads.intervals);
}

/// Little's law, to the nanosecond: the integral of the population is the sum of the response times, which is here what
/// the simulated server used of the CPU too. Without a drain and with the operations that are left at the end by their age.
#[test]
fn the_population_is_the_sum_of_response_times_and_of_cpu_time() {
    let plan = closed_plan(9, &[5], phases(0, 4));
    let [_, threads] = both(plan, SimServer { error_ratio: 0.0, ..server() });
    let sum = |of: fn(&model::IntervalRecord) -> u128| threads.intervals.iter().map(of).sum::<u128>();
    let in_flight = sum(|record| record.flow.in_flight_ns);
    let responses = sum(|record| record.kinds[0].response.sum);
    let sut_cpu = sum(|record| u128::from(record.sut.expect("metered by threads").cpu.0));
    let last = threads.intervals.last().unwrap();
    assert_eq!(
        (last.flow.abandoned, last.flow.in_flight_at_end),
        (0, 0),
        "all operations ended in the drain"
    );
    assert_eq!(in_flight, responses);
    assert_eq!(in_flight, sut_cpu);
}

/// A call cannot be cut off: with a limit of 10 ms it is timed out when it returns after 30 ms, and the user goes on then.
#[test]
fn an_operation_that_takes_too_long_is_timed_out_when_it_returns() {
    let plan = Plan { time_limit: ms(10), ..closed_plan(10, &[1], phases(0, 3)) };
    let simulation = Simulation {
        blocks: true,
        ..Simulation::new(plan, SimServer::new(ServiceTimeDistribution::Fixed(ms(30)), Some(1)))
    };
    let recording = simulation.record();
    let timed_out: u64 = recording.intervals.iter().map(|record| record.flow.timed_out).sum();
    assert_eq!(timed_out, 100);
    assert_eq!(recording.examples.len(), 1);
    assert_eq!(recording.examples[0].outcome, Outcome::TimedOut);
    assert_eq!(recording.examples[0].at, ms(30));
    assert_conserved(&recording.intervals);
}

#[test]
fn a_stop_ends_threads_while_they_think() {
    let think = ThinkTime::Exponential(s(100));
    let plan =
        with_workload(closed_plan(11, &[20], phases(1, 5)), model::WebWorkload { think, ..one_object() });
    let simulation = Simulation { blocks: true, stop_at: Some(ms(2_345)), ..Simulation::new(plan, server()) };
    let recording = simulation.record();
    assert_eq!(recording.intervals.last().unwrap().end, ms(2_350));
    assert_conserved(&recording.intervals);
}
