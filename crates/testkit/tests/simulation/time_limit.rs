//! Operations that exceed the time limit.

use model::{Outcome, Phases};
use testkit::{
    ServiceTimeDistribution, SimServer, Simulation, TimeWindow, assert_conserved, closed_plan, phases,
    with_seed,
};
use units::Nanos;

use super::{ms, s};

/// Interval at which the engine checks time limits.
const SWEEP: Nanos = ms(50);

/// A freeze from 2 to 4.9 s and a limit of 1 s: each user gives up at about 3 and 4 s, then succeeds.
#[test]
fn an_operation_past_its_limit_is_given_up_and_the_user_goes_on() {
    with_seed(61, |seed| {
        let freeze = Some(TimeWindow { from: s(2), to: ms(4_900) });
        let server = SimServer { freeze, ..SimServer::new(ServiceTimeDistribution::Fixed(ms(10)), None) };
        let mut plan = closed_plan(seed, &[8], Phases { drain: s(2), ..phases(0, 8) });
        plan.time_limit = s(1);
        let recording = Simulation::new(plan, server).record();
        assert_conserved(&recording.intervals);
        let timed_out = recording.intervals.iter().map(|record| record.flow.timed_out);
        assert_eq!(timed_out.sum::<u64>(), 16);
        let details = recording.intervals.iter().filter_map(|record| record.detail.as_ref());
        for times in details.filter_map(|detail| detail.failed.get(&(0, Outcome::TimedOut))) {
            let min = times.min().unwrap();
            let max = times.max().unwrap();
            assert!(s(1) <= min && max <= s(1) + SWEEP, "given up after {min} to {max}");
        }
        let per_user = |user| recording.requests.iter().filter(move |request| request.user == user);
        for user in 0..8 {
            assert!(per_user(user).any(|request| s(6) < request.sent), "user {user} goes on");
        }
        assert_eq!(recording.examples.len(), 1);
    });
}
