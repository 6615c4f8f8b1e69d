//! Notices that users get while they think: what is begun has ended, is lost or is pending.

use analysis::NoticeResult;
use model::{Arrivals, NoticeKind, Phases, Plan, ThinkTime, WebWorkload};
use testkit::{
    ServiceTimeDistribution, SimNotices, SimServer, Simulation, assert_conserved, closed_plan, one_object,
    open_plan, phases, with_workload,
};
use units::Nanos;

use super::{assert_valid, ms, s};

/// One user that thinks for 90 ms after each operation of 10 ms: ten operations a second, and a time limit of 1 s.
fn plan(drain: Nanos) -> Plan {
    let workload = WebWorkload { think: ThinkTime::Fixed(ms(90)), ..one_object() };
    with_notices(with_workload(closed_plan(7, &[1], Phases { drain, ..phases(0, 20) }), workload))
}

fn with_notices(mut plan: Plan) -> Plan {
    plan.time_limit = s(1);
    plan.catalog.notices = vec![NoticeKind { name: "delivery".to_owned() }];
    plan
}

/// Returns notices that users see while they rest.
fn notices(after: Nanos, lost_of: u64) -> SimNotices {
    SimNotices { after, lost_of, is_observed: false }
}

fn run(plan: Plan, notices: SimNotices) -> NoticeResult {
    let server =
        SimServer { notices: Some(notices), ..SimServer::new(ServiceTimeDistribution::Fixed(ms(10)), None) };
    let simulation = Simulation::new(plan, server);
    assert_conserved(&simulation.record().intervals);
    let analysis = simulation.analyze();
    assert_valid(&analysis);
    let [notice] = &analysis.load_points[0].notices[..] else { panic!("one kind") };
    assert_eq!(notice.begun, notice.ended + notice.lost + notice.pending);
    notice.clone()
}

/// By hand: operations are done at 10, 110, … 19,910 ms: 200 of them, each with a notice 30 ms later, while the user thinks.
#[test]
fn all_notices_come() {
    let found = run(plan(s(5)), notices(ms(30), u64::MAX));
    assert_eq!((found.begun, found.ended, found.lost, found.pending), (200, 200, 0, 0));
    assert_eq!((found.begun_in_steady, found.mean), (200, Some(0.03)));
    assert_eq!(found.percentile(0.99), Some(ms(30)));
}

/// Every fourth never comes and is lost after a second, within the drain of 5 s.
#[test]
fn a_notice_that_never_comes_is_lost_and_longer_than_all_others() {
    let found = run(plan(s(5)), notices(ms(30), 4));
    assert_eq!((found.begun, found.ended, found.lost, found.pending), (200, 150, 50, 0));
    assert_eq!((found.percentile(0.75), found.percentile(0.76)), (Some(ms(30)), None));
}

/// A notice takes 700 ms, so that the last of them are awaited when operations are no longer started. By hand: the last
/// operation is done at 19,910 ms, its notice comes at 20,610 ms; the drain ends at 20,300 ms, when those of operations done
/// after 19,600 ms are pending: 19,610, 19,710, 19,810 and 19,910 ms.
#[test]
fn a_notice_after_the_drain_is_pending() {
    let late = notices(ms(700), u64::MAX);
    let whole = run(plan(s(5)), late);
    assert_eq!((whole.begun, whole.ended, whole.lost, whole.pending), (200, 200, 0, 0), "the drain waits");
    let cut = run(plan(ms(300)), late);
    assert_eq!((cut.begun, cut.ended, cut.lost, cut.pending), (200, 196, 0, 4));
    assert_eq!(cut.begun_in_steady, 200);
    assert_eq!((cut.percentile(0.98), cut.percentile(0.99)), (Some(ms(700)), None));
}

/// Goal: it makes no difference who sees them, the users or an observer beside them: those that come, are lost and are pending
/// are the same.
#[test]
fn an_observer_sees_what_users_would() {
    for (drain, notices) in
        [(s(5), notices(ms(30), 4)), (s(5), notices(ms(700), 3)), (ms(300), notices(ms(700), u64::MAX))]
    {
        let of_users = run(plan(drain), notices);
        let observed = run(plan(drain), SimNotices { is_observed: true, ..notices });
        assert_eq!(observed, of_users);
    }
}

/// A user that never thinks and the slots of an open loop never rest. By hand: the user's operations of 10 ms are done at 10,
/// 20, … 20,000 ms, the last of them after the steady phase; those of the schedule fall due each 100 ms.
#[test]
fn an_observer_sees_notices_of_users_who_never_rest() {
    let observed = SimNotices { is_observed: true, ..notices(ms(30), u64::MAX) };
    let closed = run(with_notices(closed_plan(7, &[1], phases(0, 20))), observed);
    let open = run(with_notices(open_plan(7, 10.0, Arrivals::Constant, phases(0, 20))), observed);
    for (found, begun, in_steady) in [(closed, 2_000, 1_999), (open, 200, 200)] {
        assert_eq!((found.begun, found.ended, found.lost, found.pending), (begun, begun, 0, 0));
        assert_eq!((found.begun_in_steady, found.mean), (in_steady, Some(0.03)));
        assert_eq!(found.percentile(0.99), Some(ms(30)));
    }
}
