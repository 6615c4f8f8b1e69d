//! A number of operations in all, against simulated servers: exact, and judged as any load point.

use analysis::{Finding, LoadPointResult, VerdictState};
use model::{AgentPlan, IntervalRecord, Phase, Phases, Plan};
use testkit::{ServiceTimeDistribution, SimServer, Simulation, analyze, closed_plan, phases};
use units::Nanos;

const S: fn(u64) -> Nanos = Nanos::from_secs;

/// A plan of so many operations, users and load threads, for an hour at most.
fn plan(operations: u64, users: u32, n_threads: u32, steady: Nanos) -> Plan {
    let phases = Phases { steady, drain: S(60), ..phases(0, 1) };
    let agents = vec![AgentPlan::only(n_threads)];
    Plan { operations: Some(operations), agents, ..closed_plan(11, &[users], phases) }
}

/// A server that serves so many at once, about 10 ms each.
fn server() -> SimServer {
    SimServer::new(ServiceTimeDistribution::Exponential(Nanos::from_millis(10)), Some(4))
}

fn started(records: &[IntervalRecord]) -> u64 {
    records.iter().map(|record| record.flow.started).sum()
}

/// Returns the findings that make a load point invalid, and the remarks.
fn findings(point: &LoadPointResult) -> (Vec<&Finding>, Vec<&Finding>) {
    let reasons = point.verdict.reasons.iter().map(|reason| &reason.finding).collect();
    (reasons, point.verdict.remarks.iter().map(|reason| &reason.finding).collect())
}

/// Goal: the server gets the operations that were asked for, and none more, whatever the number of load threads, in both
/// loops of the engine; the steady phase ends when the first user finds nothing to start, and the load point when all are done.
/// By hand: four at once of 10 ms each are 400/s.
#[test]
fn all_operations_and_no_more_are_started() {
    for (operations, users, n_threads) in [(1_000, 8, 1), (1_001, 8, 3), (997, 5, 4), (4, 4, 2), (7, 1, 2)] {
        for blocks in [false, true] {
            let case = format!("{operations} of {users} users, {n_threads} threads, blocks: {blocks}");
            let plan = plan(operations, users, n_threads, S(3600));
            let simulation = Simulation { blocks, ..Simulation::new(plan.clone(), server()) };
            let recording = simulation.record();
            assert_eq!(recording.requests.len() as u64, operations, "{case}");
            assert_eq!(started(&recording.intervals), operations, "{case}");
            let ok: u64 = recording.intervals.iter().map(|record| record.flow.ok).sum();
            assert_eq!(ok, operations, "{case}: those in flight are finished");
            let steady = recording.intervals.iter().filter(|record| record.phase == Phase::Steady);
            let ends: Vec<Nanos> = steady.clone().map(|record| record.end).collect();
            let end = ends.iter().max().copied().unwrap();
            let last = recording.intervals.iter().map(|record| record.end).max().unwrap();
            assert!(end <= last && last <= S(5), "{case}: {end}, {last}");
            let of_threads = steady.filter(|record| record.end == end).count();
            assert_eq!(of_threads as u32, n_threads, "{case}: all end at the same time");
        }
    }
}

/// By hand: at 400/s, 2,000 operations take 5 s; the rate is that of the time in which all users had some to start.
#[test]
fn a_load_point_that_ends_with_its_operations_is_valid() {
    for n_threads in [1, 2] {
        let analysis = Simulation::new(plan(2_000, 8, n_threads, S(3600)), server()).analyze();
        let point = &analysis.load_points[0];
        let (reasons, remarks) = findings(point);
        assert_eq!((reasons.len(), point.verdict.state), (0, VerdictState::Valid), "{reasons:?}");
        let is_of_sample = |finding: &&Finding| matches!(finding, Finding::MissingPercentiles { .. });
        assert!(remarks.iter().all(is_of_sample), "{remarks:?}");
        assert!((380.0..420.0).contains(&point.rate), "{}", point.rate);
        assert!(S(4) < point.length && point.length < S(6), "{}", point.length);
        let measured = point.rate * point.length.as_secs_f64();
        assert!((1_990.0..=2_000.0).contains(&measured), "{measured} of 2,000 operations are measured");
        assert!(analysis.verdict.reasons.is_empty(), "{:?}", analysis.verdict);
    }
}

/// Goal: fifty operations are too few for a valid load point, and have a rate and response times all the same.
#[test]
fn few_operations_are_measured_and_too_few() {
    let analysis = Simulation::new(plan(50, 2, 1, S(3600)), server()).analyze();
    let point = &analysis.load_points[0];
    let (reasons, _) = findings(point);
    assert!(matches!(reasons[..], [Finding::TooFewOperations { n: 49 | 50, needed: 100 }]), "{reasons:?}");
    assert!((100.0..300.0).contains(&point.rate) && point.response.mean.is_some(), "{}", point.rate);
}

/// By hand: in 2 s at 400/s, some 800 of 5,000 are started.
#[test]
fn a_load_point_whose_time_ends_first_says_how_many() {
    let point = Simulation::new(plan(5_000, 8, 2, S(2)), server()).analyze().load_points.remove(0);
    let (reasons, remarks) = findings(&point);
    assert_eq!((reasons.len(), point.length), (0, S(2)), "{reasons:?}");
    let started = remarks.iter().find_map(|finding| match finding {
        Finding::OperationsStarted { started, planned: 5_000 } => Some(*started),
        _ => None,
    });
    assert!(started.is_some_and(|started| (750..850).contains(&started)), "{remarks:?}");
}

/// Goal: a record of more operations than the plan gives contradicts it.
#[test]
fn more_operations_than_planned_are_a_contradiction() {
    let plan = plan(500, 8, 1, S(3600));
    let records = Simulation::new(plan.clone(), server()).record().intervals;
    let fewer = Plan { operations: Some(499), ..plan };
    let point = analyze(&fewer, records).load_points.remove(0);
    assert_eq!(findings(&point).0, [&Finding::OperationsStarted { started: 500, planned: 499 }]);
}

/// By hand: five users with pauses of 1 s have 25 operations done after 5 to 6 s, and the last pause ends a second later.
#[test]
fn users_that_think_leave_when_nothing_is_left() {
    let thinking = model::ThinkTime::Fixed(S(1));
    let workload = model::WebWorkload { think: thinking, ..testkit::one_object() };
    let plan = testkit::with_workload(plan(25, 5, 2, S(3600)), workload);
    let recording = Simulation::new(plan, server()).record();
    assert_eq!((recording.requests.len(), started(&recording.intervals)), (25, 25));
    let last = recording.intervals.iter().map(|record| record.end).max().unwrap();
    assert!(last < S(8), "{last}");
}
