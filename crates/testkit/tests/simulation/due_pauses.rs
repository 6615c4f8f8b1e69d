//! Users whose pauses count from due times: interarrival times, and operations that are owed.

use model::{IntervalRecord, Mix, PauseKind, PauseStart, Plan, Step, ThinkTime, User, UserReply, WebRequest};
use stats::Moments;
use testkit::{
    Recording, ServiceTimeDistribution, SimServer, Simulation, TimeWindow, analyze, assert_conserved,
    closed_plan, mg1_response, phases, with_seed,
};
use units::{Nanos, Rng};

use super::{assert_valid, close, ms, remarks, s};

/// Users who perform an operation after each pause.
#[derive(Debug, Clone, Copy)]
struct Callers {
    pauses: ThinkTime,
    from: PauseStart,
}

#[derive(Debug)]
struct Caller {
    callers: Callers,
    has_paused: bool,
}

impl User for Caller {
    type Operation = WebRequest;

    fn next(&mut self, _: Option<UserReply>, rng: &mut Rng) -> Step<WebRequest> {
        self.has_paused = !self.has_paused;
        match self.callers.pauses.draw(rng).filter(|_| self.has_paused) {
            Some(time) => Step::Think { kind: 0, time, from: self.callers.from },
            None => Step::Perform(WebRequest::first(0)),
        }
    }
}

impl Mix for Callers {
    type Operation = WebRequest;
    type User = Caller;

    fn user(&self, _: u32) -> Caller {
        Caller { callers: *self, has_paused: false }
    }

    fn scheduled(&self, _: u64) -> WebRequest {
        unreachable!("a closed loop")
    }

    fn n_kinds(&self) -> usize {
        1
    }

    fn n_units(&self) -> usize {
        1
    }
}

fn plan(seed: u64, users: u32, callers: Callers, steady: u64) -> Plan {
    let mut plan = closed_plan(seed, &[users], phases(1, steady));
    let name = "interarrival time".to_owned();
    plan.catalog.pauses = vec![PauseKind { name, time: callers.pauses, from: callers.from }];
    plan
}

fn run(plan: &Plan, callers: Callers, server: SimServer) -> Recording {
    let recording = Simulation::new(plan.clone(), server).record_users(callers);
    assert_conserved(&recording.intervals);
    recording
}

fn sum(recording: &Recording, of: impl Fn(&IntervalRecord) -> u128) -> u128 {
    recording.intervals.iter().map(of).sum()
}

/// By hand: one user, an operation due every 100 ms from 0.1 s on, of 30 ms. The server does nothing from 1.0 to 1.5 s: what
/// is due at 1.0 s is done at 1.53 s at the latest, and those that are due at 1.1, 1.2 … are owed until the user is up to
/// date.
#[test]
fn what_fell_due_while_the_user_was_busy_is_sent_at_once() {
    let callers = Callers { pauses: ThinkTime::Fixed(ms(100)), from: PauseStart::Due };
    let freeze = Some(TimeWindow { from: s(1), to: ms(1_500) });
    let server = SimServer { freeze, ..SimServer::new(ServiceTimeDistribution::Fixed(ms(30)), Some(1)) };
    let mut plan = plan(1, 1, callers, 4);
    plan.rules.operations_min = 10;
    let recording = run(&plan, callers, server);
    let sent: Vec<Nanos> = recording.requests.iter().map(|request| request.sent).collect();
    let mut expected = Vec::new();
    let mut free = Nanos::ZERO;
    let mut waits = Moments::default();
    for k in 1..=50 {
        let due = ms(100 * k);
        let begins = due.max(free);
        if due < free {
            waits.record((free - due).0);
        }
        expected.push(begins);
        // Work that is interrupted goes on after the freeze.
        free = if begins < s(1) || ms(1_500) <= begins { begins + ms(30) } else { ms(1_530) };
    }
    expected.retain(|at| *at < s(5));
    assert_eq!(sent, expected);
    let mut recorded = Moments::default();
    recording.intervals.iter().for_each(|record| recorded.merge(&record.flow.user_wait));
    assert_eq!(recorded, waits);
    assert_eq!(waits.n, 7, "due at 1.1 to 1.7 s");
    let response = sum(&recording, |record| record.response.sum());
    assert_eq!(response, sum(&recording, |record| record.flow.in_flight_ns) + waits.sum);
    assert_eq!(sum(&recording, |record| record.lateness.sum()), 0, "nothing was the generator's fault");
    // All due times but the first are 100 ms after the one before, that one after the arrival.
    assert_eq!(sum(&recording, |record| record.flow.due_span_ns), 49 * 100_000_000);
    let drawn = sum(&recording, |record| record.pauses[0].sum);
    assert!(drawn - 49 * 100_000_000 <= 100_000_000, "{drawn}");
    assert_valid(&analyze(&plan, recording.intervals));
}

/// With exponential interarrival times of mean Z and a fixed service time S, each of N users is an M/D/1 queue of its own:
/// R = S + ρS ÷ (2·(1 − ρ)), ρ = S ÷ Z.
#[test]
fn exponential_interarrival_times_make_a_queue_of_each_user() {
    with_seed(92, |seed| {
        let callers = Callers { pauses: ThinkTime::Exponential(ms(100)), from: PauseStart::Due };
        let plan = plan(seed, 40, callers, 100);
        let analysis = analyze(
            &plan,
            run(&plan, callers, SimServer::new(ServiceTimeDistribution::Fixed(ms(70)), None)).intervals,
        );
        assert_valid(&analysis);
        let point = &analysis.load_points[0];
        let expected = mg1_response(10.0, 0.070, 0.0).expect("a steady state");
        close("rate", point.rate, 400.0, 0.02);
        close("response time", point.response.mean.unwrap(), expected, 0.05);
        close("pauses", point.pauses[0].drawn.mean.unwrap(), 0.1, 0.02);
        assert!(point.little_gap.unwrap() < 0.01, "{:?}", point.little_gap);
        let found = remarks(point);
        assert!(!found.iter().any(|rule| ["little", "think", "busy-users"].contains(rule)), "{found:?}");
    });
}

/// The same pauses from the end of the operation before make N = X·(R + Z) of a closed loop.
#[test]
fn from_the_end_of_operations_users_owe_nothing() {
    let callers = Callers { pauses: ThinkTime::Exponential(ms(100)), from: PauseStart::Done };
    let plan = plan(3, 40, callers, 100);
    let recording = run(&plan, callers, SimServer::new(ServiceTimeDistribution::Fixed(ms(70)), None));
    assert_eq!(sum(&recording, |record| record.flow.user_wait.n.into()), 0);
    let analysis = analyze(&plan, recording.intervals);
    assert_valid(&analysis);
    let point = &analysis.load_points[0];
    close("rate", point.rate, 40.0 / 0.17, 0.02);
    assert_eq!(point.response.mean, Some(0.07));
}

#[test]
fn threads_that_block_have_the_records_of_tasks() {
    for from in [PauseStart::Due, PauseStart::Done] {
        let callers = Callers { pauses: ThinkTime::Exponential(ms(20)), from };
        let mut plan = plan(4, 13, callers, 5);
        plan.agents[0].threads = 3;
        (plan.phases.ramp_up, plan.phases.ramp_down) = (s(1), s(1));
        let server = SimServer {
            error_ratio: 0.01,
            ..SimServer::new(ServiceTimeDistribution::Exponential(ms(9)), Some(10))
        };
        let [tasks, mut threads] = [false, true].map(|blocks| {
            Simulation { blocks, ..Simulation::new(plan.clone(), server) }.record_users(callers)
        });
        assert_eq!(threads.requests, tasks.requests);
        threads.intervals.iter_mut().for_each(|record| record.sut = None);
        assert!(threads.intervals == tasks.intervals, "{from}");
        let owed = sum(&tasks, |record| record.flow.user_wait.n.into());
        assert_eq!(0 < owed, from == PauseStart::Due);
    }
}
