//! Open loops whose users have state: operation k belongs to user k mod U, and waits for that user.

use std::collections::BTreeMap;

use model::{
    Arrivals, Load, Mix, Outcome, Page, Phases, Plan, Request, Step, User, UserReply, WebRequest, WebWorkload,
};
use testkit::{
    Recording, ServiceTimeDistribution, SimRequest, SimServer, Simulation, analyze, assert_conserved,
    one_object, open_plan, phases, with_seed, with_workload,
};
use units::{Nanos, Rng};

use super::{assert_valid, ms, remarks, s};

/// Number of different objects.
const OBJECTS: u16 = 4;

/// A user whose next request depends on its number, on its last one, on the answer and on chance, and who would think for a
/// minute before each.
#[derive(Debug, Clone)]
struct Browser {
    object: u16,
    n_failed: u16,
    has_thought: bool,
}

impl User for Browser {
    type Operation = WebRequest;

    fn next(&mut self, last: Option<UserReply>, rng: &mut Rng) -> Step<WebRequest> {
        if let Some(answer) = last {
            self.n_failed += u16::from(answer.outcome != Outcome::Ok);
            self.has_thought = false;
            return Step::Unit { kind: 0, ok: answer.outcome == Outcome::Ok };
        }
        if !self.has_thought {
            self.has_thought = true;
            return Step::think(Nanos::from_secs(60));
        }
        self.object = (self.object + 1 + self.n_failed + rng.below(2) as u16) % OBJECTS;
        Step::Perform(WebRequest::first(self.object))
    }
}

struct Browsers;

impl Mix for Browsers {
    type Operation = WebRequest;
    type User = Browser;

    fn user(&self, user: u32) -> Browser {
        Browser { object: (user % u32::from(OBJECTS)) as u16, n_failed: 0, has_thought: false }
    }

    fn has_user_state(&self) -> bool {
        true
    }

    fn scheduled(&self, _: u64) -> WebRequest {
        unreachable!("users have state")
    }

    fn n_kinds(&self) -> usize {
        OBJECTS.into()
    }

    fn n_units(&self) -> usize {
        1
    }
}

fn workload() -> WebWorkload {
    let object = |index: u64| Request::file(&format!("/{index}"), 100 * index);
    let requests = (0..u64::from(OBJECTS)).map(|index| object(index + 1)).collect();
    WebWorkload { requests, pages: vec![Page { weight: 1, requests: vec![0] }], ..one_object() }
}

/// 200 operations/s for `users` users with state.
fn plan(seed: u64, arrivals: Arrivals, users: u32, threads: u32) -> Plan {
    let phases = Phases { ramp_up: s(1), ramp_down: s(1), ..phases(1, 4) };
    let load = Load::Rate { per_second: 200.0, arrivals, in_flight_max: users };
    let mut plan = open_plan(seed, 200.0, arrivals, phases);
    plan.load_points[0].load = load;
    plan.arrival_lanes = load.arrival_lanes(true);
    plan.agents[0].threads = threads;
    with_workload(plan, workload())
}

fn run(plan: Plan, server: SimServer) -> Recording {
    let recording = Simulation::new(plan, server).record_users(Browsers);
    assert_conserved(&recording.intervals);
    recording
}

/// Returns the requests of each user, in their order.
fn by_user(recording: &Recording) -> BTreeMap<u32, Vec<SimRequest>> {
    let mut users: BTreeMap<u32, Vec<SimRequest>> = BTreeMap::new();
    for request in &recording.requests {
        users.entry(request.user).or_default().push(*request);
    }
    users
}

fn sum(recording: &Recording, of: impl Fn(&model::Flow) -> u64) -> u64 {
    recording.intervals.iter().map(|record| of(&record.flow)).sum()
}

/// 30 ms for 7 users at 200/s: a user is busy for more than 6/7 of the time, so that many operations wait.
#[test]
fn operation_k_is_the_next_of_user_k_mod_u_on_any_number_of_threads() {
    with_seed(91, |seed| {
        for arrivals in [Arrivals::Constant, Arrivals::Poisson] {
            let server = SimServer::new(ServiceTimeDistribution::Fixed(ms(30)), None);
            let one = run(plan(seed, arrivals, 7, 1), server);
            let schedule = plan(seed, arrivals, 7, 1);
            let mut due: BTreeMap<u32, Vec<Nanos>> = BTreeMap::new();
            let whole = schedule.schedule(schedule.load_points[0]).expect("an open loop").whole();
            whole.for_each(|(k, at)| due.entry((k % 7) as u32).or_default().push(at));
            for (user, requests) in by_user(&one) {
                let mut free = Nanos::ZERO;
                assert_eq!(requests.len(), due[&user].len(), "{arrivals}: user {user}");
                for (request, due) in requests.iter().zip(&due[&user]) {
                    assert_eq!(request.sent, free.max(*due), "{arrivals}: user {user}");
                    free = request.sent + ms(30);
                }
            }
            for threads in [2, 3, 7] {
                let several = run(plan(seed, arrivals, 7, threads), server);
                assert_eq!(by_user(&several), by_user(&one), "{arrivals}: {threads} threads");
                let counts = |recording| sum(recording, |flow| flow.user_wait.n + (flow.due << 32));
                assert_eq!(counts(&several), counts(&one));
            }
        }
    });
}

/// By hand: one user, an operation every 5 ms, each of which takes 8 ms: operation k is due at 2.5 + 5·k ms and sent at
/// 2.5 + 8·k ms, so that it waits for 3·k ms.
#[test]
fn the_wait_for_a_user_is_counted_and_no_lateness() {
    let mut plan = plan(1, Arrivals::Constant, 1, 1);
    plan.phases = Phases { drain: s(10), ..phases(0, 4) };
    let recording = run(plan, SimServer::new(ServiceTimeDistribution::Fixed(ms(8)), None));
    let flow = recording.intervals.iter().fold(model::Flow::default(), |mut all, record| {
        all.merge(&record.flow).unwrap();
        all
    });
    assert_eq!((flow.started, flow.user_wait.n), (800, 799));
    assert_eq!((flow.user_wait.min, flow.user_wait.max), (3_000_000, 799 * 3_000_000));
    assert_eq!((flow.skipped, flow.abandoned), (0, 0), "the drain is long enough for all");
    let lateness: u128 = recording.intervals.iter().map(|record| record.lateness.sum()).sum();
    assert_eq!(lateness, 0);
    let response: u128 = recording.intervals.iter().map(|record| record.response.sum()).sum();
    assert_eq!(response, flow.in_flight_ns + flow.user_wait.sum);
}

/// Units are counted as operations end, and pauses are neither made nor recorded.
#[test]
fn units_are_counted_and_pauses_are_skipped() {
    let recording =
        run(plan(2, Arrivals::Constant, 50, 2), SimServer::new(ServiceTimeDistribution::Fixed(ms(8)), None));
    let units: u64 = recording.intervals.iter().map(|record| record.units[0].ok).sum();
    let ok = sum(&recording, |flow| flow.ok);
    let pauses = recording.intervals.iter().flat_map(|record| &record.pauses);
    assert_eq!((ok, pauses.count()), (1_200, 0));
    // The answers to the last operations come when users have nothing to do any more.
    assert_eq!(units, ok - 50);
}

/// At 90 % of the capacity, with failures that change what users do next.
#[test]
fn threads_that_block_have_the_records_of_tasks() {
    for arrivals in [Arrivals::Constant, Arrivals::Poisson] {
        let server = SimServer {
            error_ratio: 0.05,
            ..SimServer::new(ServiceTimeDistribution::Exponential(ms(9)), Some(2))
        };
        let [tasks, mut threads] = [false, true].map(|blocks| {
            let plan = plan(3, arrivals, 5, 3);
            Simulation { blocks, ..Simulation::new(plan, server) }.record_users(Browsers)
        });
        assert_eq!(threads.requests, tasks.requests);
        threads.intervals.iter_mut().for_each(|record| record.sut = None);
        assert!(threads.intervals == tasks.intervals, "{arrivals}");
        assert!(0 < sum(&tasks, |flow| flow.user_wait.n), "{arrivals}: nothing waited");
        assert_conserved(&threads.intervals);
    }
}

/// With 200 users who are busy for 1 % of the time, an arrival of a Poisson process finds its user busy in 1 % of the
/// cases at most, since U·(1 ÷ λ) ≫ R; with 20 users in 8 %: R·λ ÷ U = 8 ms · 200/s ÷ 20.
#[test]
fn too_few_users_are_a_remark() {
    for (users, is_remark) in [(400, false), (20, true)] {
        let mut plan = plan(4, Arrivals::Poisson, users, 2);
        plan.phases = phases(1, 30);
        let recording = run(plan.clone(), SimServer::new(ServiceTimeDistribution::Fixed(ms(8)), None));
        let analysis = analyze(&plan, recording.intervals);
        assert_valid(&analysis);
        let found = remarks(&analysis.load_points[0]);
        assert_eq!(found.contains(&"busy-users"), is_remark, "{users} users: {found:?}");
    }
}
