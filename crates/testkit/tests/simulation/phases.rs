//! Only completions inside steady are measured; the rest is counted.

use analysis::VerdictState;
use model::{Arrivals, Flow, IntervalRecord, Load, Phase, Phases};
use testkit::{
    Recording, ServiceTimeDistribution, SimServer, Simulation, TimeWindow, assert_conserved, closed_plan,
    open_plan, phases, with_seed,
};
use units::Nanos;

use super::{close, ms, s, us};

fn sum(recording: &Recording, phase: Phase, of: fn(&Flow) -> u64) -> u64 {
    recording.intervals.iter().filter(|record| record.phase == phase).map(|record| of(&record.flow)).sum()
}

fn last(recording: &Recording, phase: Phase) -> &IntervalRecord {
    recording.intervals.iter().rfind(|record| record.phase == phase).expect("the phase is recorded")
}

/// Two users, 290 ms each, in lockstep. Settle ends at 1.0, steady at 3.0; inside lie 1.16, 1.45 … 2.9: seven
/// completions each. The pair sent at 2.9 is in flight at the end, and done at 3.19.
#[test]
fn only_what_completes_inside_steady_is_measured() {
    with_seed(71, |seed| {
        let mut plan = closed_plan(seed, &[2], phases(1, 2));
        plan.rules.operations_min = 1;
        let simulation = Simulation::new(plan, SimServer::new(ServiceTimeDistribution::Fixed(ms(290)), None));
        let recording = simulation.record();
        assert_conserved(&recording.intervals);
        assert_eq!(sum(&recording, Phase::Settle, |flow| flow.ok), 6);
        assert_eq!(sum(&recording, Phase::Steady, |flow| flow.ok), 14);
        let end = last(&recording, Phase::Steady).flow;
        assert_eq!((end.in_flight_at_end, end.in_flight_age_ns), (2, 200_000_000));
        assert_eq!(sum(&recording, Phase::Drain, |flow| flow.started), 0, "nothing new in the drain");
        assert_eq!(sum(&recording, Phase::Drain, |flow| flow.ok), 2, "the drain finishes what is in flight");
        let end = last(&recording, Phase::Drain);
        assert_eq!((end.flow.in_flight_at_end, end.flow.abandoned), (0, 0));
        assert!(end.end < ms(3_200), "and ends then");
        let point = &simulation.analyze().load_points[0];
        assert_eq!((point.total.n, point.in_flight_at_end), (14, 2));
        close("rate", point.rate, 7.0, 1e-9);
    });
}

/// With 300 ms a pair is done at 3.0, the very end of steady: that instant belongs to the next phase.
#[test]
fn a_completion_at_the_very_end_of_steady_is_still_in_flight() {
    with_seed(77, |seed| {
        let plan = closed_plan(seed, &[2], phases(1, 2));
        let recording =
            Simulation::new(plan, SimServer::new(ServiceTimeDistribution::Fixed(ms(300)), None)).record();
        assert_eq!(sum(&recording, Phase::Steady, |flow| flow.ok), 12);
        let end = last(&recording, Phase::Steady).flow;
        assert_eq!((end.in_flight_at_end, end.in_flight_age_ns), (2, 600_000_000));
    });
}

/// Nothing completes from 0.4 s on. Three slots; of nine operations, due at 1/6, 3/6, 5/6 s of each second,
/// the first is done, three are in flight at the drain's limit, and five wait.
#[test]
fn operations_unfinished_after_the_drain_are_abandoned_or_skipped() {
    with_seed(72, |seed| {
        for drain in [ms(1_500), s(2)] {
            let mut plan = open_plan(seed, 3.0, Arrivals::Constant, Phases { drain, ..phases(0, 3) });
            plan.load_points[0].load =
                Load::Rate { per_second: 3.0, arrivals: Arrivals::Constant, in_flight_max: 3 };
            let freeze = Some(TimeWindow { from: ms(400), to: s(100) });
            let server = SimServer { freeze, ..SimServer::new(ServiceTimeDistribution::Fixed(ms(10)), None) };
            let recording = Simulation::new(plan, server).record();
            assert_conserved(&recording.intervals);
            assert_eq!(sum(&recording, Phase::Steady, |flow| flow.due), 9);
            let end = last(&recording, Phase::Drain);
            assert_eq!(end.end, s(3) + drain);
            assert_eq!((end.flow.abandoned, end.flow.skipped), (3, 5), "drain of {drain}");
            assert_eq!((end.flow.in_flight_at_end, end.flow.waiting_at_end), (0, 0), "drain of {drain}");
        }
    });
}

/// Without a drain unfinished operations stay counted as in flight.
#[test]
fn without_a_drain_operations_in_flight_are_counted() {
    with_seed(73, |seed| {
        let plan = closed_plan(seed, &[5], Phases { drain: Nanos::ZERO, ..phases(0, 1) });
        let recording =
            Simulation::new(plan, SimServer::new(ServiceTimeDistribution::Fixed(ms(300)), None)).record();
        assert_conserved(&recording.intervals);
        assert_eq!(recording.intervals.last().unwrap().flow.in_flight_at_end, 5);
        assert_eq!(recording.intervals.last().unwrap().end, s(1));
    });
}

/// Ten users over ramps of 5 s: user u comes at u/2 s and leaves at 15 + u/2 s.
#[test]
fn users_arrive_and_leave_evenly_over_the_ramps() {
    with_seed(74, |seed| {
        let phases = Phases { ramp_up: s(5), ramp_down: s(5), ..phases(0, 10) };
        let recording = Simulation::new(
            closed_plan(seed, &[10], phases),
            SimServer::new(ServiceTimeDistribution::Fixed(ms(20)), None),
        )
        .record();
        assert_conserved(&recording.intervals);
        for user in 0..10 {
            let mut sent =
                recording.requests.iter().filter(|request| request.user == user).map(|request| request.sent);
            let come = ms(500 * u64::from(user));
            let gone = ms(15_000 + 500 * u64::from(user));
            assert_eq!(sent.next(), Some(come));
            let left = sent.next_back().unwrap();
            assert!(left < gone && gone <= left + ms(20), "user {user} leaves at {left}");
        }
        // A ramp has half of the users on average, and steady all: 50 per user and second.
        close("ramp-up", sum(&recording, Phase::RampUp, |flow| flow.ok) as f64, 5.5 * 50.0 * 5.0, 0.02);
        close("steady", sum(&recording, Phase::Steady, |flow| flow.ok) as f64, 10.0 * 50.0 * 10.0, 0.01);
    });
}

#[test]
fn a_run_that_is_asked_to_stop_ends_early_with_a_partial_interval() {
    with_seed(75, |seed| {
        let mut plan = open_plan(seed, 500.0, Arrivals::Poisson, phases(1, 30));
        plan.agents[0].threads = 2;
        let server = SimServer::new(ServiceTimeDistribution::Exponential(us(10_000)), Some(8));
        let simulation = Simulation { stop_at: Some(ms(4_321)), ..Simulation::new(plan, server) };
        let recording = simulation.record();
        assert_conserved(&recording.intervals);
        let end = recording.intervals.last().unwrap();
        assert!(ms(4_321) <= end.end && end.end < ms(4_400), "{}", end.end);
        assert_eq!(end.flow.in_flight_at_end, 0, "operations in flight are abandoned");
        assert!(0 < end.flow.abandoned);
        let found = simulation.analyze();
        assert_eq!(
            (found.verdict.state, found.load_points[0].verdict.state),
            (VerdictState::Incomplete, VerdictState::Incomplete)
        );
        let reasons: Vec<_> =
            found.load_points[0].verdict.reasons.iter().map(|reason| reason.rule()).collect();
        assert_eq!(reasons, ["steady-length"]);
    });
}

/// Load threads leave a drain at different times; that does not mean a missing agent.
#[test]
fn threads_that_leave_the_drain_at_different_times_are_not_missing() {
    with_seed(76, |seed| {
        let mut plan = closed_plan(seed, &[2], Phases { drain: s(20), ..phases(0, 100) });
        plan.agents[0].threads = 2;
        // User 0 and user 1 draw different times; the longest are several seconds.
        let found =
            Simulation::new(plan, SimServer::new(ServiceTimeDistribution::Exponential(ms(1_500)), None))
                .analyze();
        assert_eq!(
            found.load_points[0].verdict.state,
            VerdictState::Valid,
            "{:#?}",
            found.load_points[0].verdict
        );
    });
}
