//! An open loop with too few users: those who have state perform their operations one after another.

use analysis::Finding;
use model::{Arrivals, Load, Outcome, Plan};
use units::Nanos;

use crate::record::{Operation, RecordedRun, assert_caught, assert_valid, ms, plan, remarks, s};

/// 200 operations/s at equal distances for 20 users, 5 ms each, with a server that does nothing for `stall` from second 10.
fn recorded(stall: Nanos) -> RecordedRun {
    let load = Load::Rate { per_second: 200.0, arrivals: Arrivals::Constant, in_flight_max: 20 };
    let plan = plan(load, 2, 20);
    let operations = scheduled_by_users(&plan, ms(5), stall);
    RecordedRun::of(plan, &operations)
}

/// Operations on the schedule of a load point: operation k belongs to user k mod U, who performs them one after another. Each
/// takes `service`, and nothing is done while the server stalls.
fn scheduled_by_users(plan: &Plan, service: Nanos, stall: Nanos) -> Vec<Operation> {
    let point = plan.load_points[0];
    let n_users = point.load.in_flight_max() as usize;
    let schedule = plan.schedule(point).expect("an open loop");
    let from = s(10);
    let to = s(10) + stall;
    let mut free_from: Vec<Nanos> = vec![Nanos::ZERO; n_users];
    let mut operations = Vec::new();
    for (k, due) in schedule.whole() {
        let user = &mut free_from[k as usize % n_users];
        let free = *user;
        let sent = due.max(*user);
        let undisturbed = sent + service;
        let is_stalled = from < to && sent < to && from < undisturbed;
        let done = if is_stalled { to + service } else { undisturbed };
        *user = done;
        let kind = k as usize % 2;
        let drawn = Nanos::ZERO;
        let connect = ms(1);
        operations.push(Operation {
            kind,
            drawn,
            free,
            due_span: drawn,
            due,
            sent,
            done,
            connect,
            outcome: Outcome::Ok,
        });
    }
    operations
}

/// A user has an operation every 100 ms. By hand: in a stall of 1.1 s each has one in flight, done at 11.105 s. Until then ten
/// more fall due for 18 of the users and eleven for the two whose operations are due at 9.9975 and 10.0025 s. While those
/// ten are done, every 5 ms until 11.155 s, an eleventh falls due for the ten users with the earliest of them.
#[test]
fn operations_that_wait_for_their_users_are_a_remark() {
    let analysis = recorded(ms(1_100)).analyze();
    assert_valid(&analysis);
    let [Finding::BusyUsers { n, started, users: 20 }] = remarks(&analysis, "busy-users")[..] else {
        panic!("{:#?}", analysis.verdict.remarks)
    };
    assert_eq!((n, started), (18 * 10 + 2 * 11 + 10, 4_000));
}

/// In 0.19 s one or two per user, fewer than 40 of 4,000.
#[test]
fn a_hundredth_of_them_may_wait() {
    for stall in [ms(0), ms(190)] {
        let analysis = recorded(stall).analyze();
        assert_valid(&analysis);
        assert_eq!(remarks(&analysis, "busy-users"), [], "{stall}");
    }
}

#[test]
fn a_wait_for_the_user_that_is_not_recorded_is_missing_in_the_integral() {
    let mut recorded = recorded(s(1));
    recorded.records.iter_mut().for_each(|record| record.flow.user_wait = stats::Moments::default());
    assert_caught(&recorded.analyze(), "response-integral");
}
