//! The status of a load point, asked for every second: no rule is broken in the middle that holds at the end.

use analysis::{Analyzer, StandingState};
use model::{Arrivals, Plan};
use testkit::{ServiceTimeDistribution, SimServer, Simulation, closed_plan, open_plan, phases, with_seed};

use super::{ms, us};

/// Runs a plan whose load point is valid, and checks that it never looked invalid before.
#[track_caller]
fn check(plan: &Plan, server: SimServer) {
    let mut analyzer = Analyzer::new(plan);
    for record in Simulation::new(plan.clone(), server).record().intervals {
        analyzer.interval(&record);
        let status = analyzer.status(0).unwrap();
        let broken = status.standings.iter().find(|standing| standing.state == StandingState::Broken);
        assert_eq!(broken, None, "after {}", status.length);
    }
    let at_end = analyzer.final_status(0, false).unwrap();
    let broken = at_end.standings.iter().find(|standing| standing.state == StandingState::Broken);
    assert_eq!(broken, None, "at the end");
}

#[test]
fn a_closed_loop_gives_no_false_alarm() {
    with_seed(61, |seed| {
        check(
            &closed_plan(seed, &[20], phases(1, 30)),
            SimServer::new(ServiceTimeDistribution::Exponential(ms(40)), Some(4)),
        );
    });
}

/// Some operations take longer than several seconds of the phase.
#[test]
fn long_operations_at_the_ends_of_the_phase_give_no_false_alarm() {
    let law = ServiceTimeDistribution::TwoPoint { short: ms(20), long: ms(3_000), long_share: 0.01 };
    with_seed(62, |seed| check(&closed_plan(seed, &[20], phases(5, 30)), SimServer::new(law, None)));
}

#[test]
fn a_busy_open_loop_gives_no_false_alarm() {
    with_seed(63, |seed| {
        let server = SimServer::new(ServiceTimeDistribution::Exponential(us(2_000)), Some(1));
        check(&open_plan(seed, 400.0, Arrivals::Poisson, phases(2, 30)), server);
    });
}

/// Ten operations a second of 800 ms each: what is in flight weighs much in the first seconds.
#[test]
fn a_slow_open_loop_gives_no_false_alarm() {
    with_seed(64, |seed| {
        let server = SimServer::new(ServiceTimeDistribution::Exponential(ms(800)), None);
        check(&open_plan(seed, 10.0, Arrivals::Poisson, phases(5, 60)), server);
    });
}
