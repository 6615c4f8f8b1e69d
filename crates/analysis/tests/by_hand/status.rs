//! The status of a load point while its records come in, and when it is over.

use analysis::finding::ServerUse;
use analysis::{Analyzer, Finding, GroupStanding, LoadPointStatus, RuleGroup, StandingState};
use model::{Load, Outcome};
use units::Ratio;

use crate::record::{RecordedRun, ms, plan, users};

use RuleGroup::{Errors, Generator, Little, Record, Sample, Steady};
use StandingState::{Broken, Holds, Notice, Pending, Remark};

/// Returns the status before the first record and after each of them, and that at the end.
fn statuses(recorded: &RecordedRun, is_cut_short: bool) -> (Vec<LoadPointStatus>, LoadPointStatus) {
    let mut analyzer = Analyzer::new(&recorded.plan);
    let mut running = vec![analyzer.status(0).unwrap()];
    for record in &recorded.records {
        analyzer.interval(record);
        running.push(analyzer.status(0).unwrap());
    }
    let at_end = analyzer.final_status(0, is_cut_short).unwrap();
    (running, at_end)
}

fn states(status: &LoadPointStatus) -> Vec<(RuleGroup, StandingState)> {
    status.standings.iter().map(|standing| (standing.group, standing.state)).collect()
}

#[track_caller]
fn standing(status: &LoadPointStatus, group: RuleGroup) -> &GroupStanding {
    status.standings.iter().find(|standing| standing.group == group).expect("it applies")
}

/// By hand: settle 2 s, steady 20 s. Sums over the phase stand from its first second, those of operations that cross its
/// ends from the tenth on, 2 s; 133 operations in a second are enough; the test for a steady state needs 30 s.
#[test]
fn rules_are_pending_until_they_can_be_judged() {
    let (running, at_end) = statuses(&RecordedRun::closed(), false);
    let of = |little, generator, errors, sample, steady| {
        [
            (Record, Holds),
            (Little, little),
            (Generator, generator),
            (Errors, errors),
            (Sample, sample),
            (Steady, steady),
        ]
    };
    for before in &running[..3] {
        assert_eq!(states(before), of(Pending, Pending, Pending, Pending, Pending));
    }
    assert_eq!(states(&running[3]), of(Pending, Holds, Holds, Holds, Pending));
    for later in &running[4..] {
        assert_eq!(states(later), of(Holds, Holds, Holds, Holds, Pending));
    }
    // 2,667 operations are too few for p99.9.
    assert_eq!(states(&at_end), of(Holds, Holds, Holds, Remark, Holds));
    assert_eq!(standing(&at_end, Sample).reason.as_ref().unwrap().rule(), "percentiles");
    assert!(at_end.is_over && !running.iter().any(|status| status.is_over));
}

#[test]
fn the_figures_at_the_end_are_those_of_the_result() {
    for recorded in [RecordedRun::closed(), RecordedRun::open(ms(2_000))] {
        let (running, at_end) = statuses(&recorded, false);
        let result = &recorded.analyze().load_points[0];
        assert_eq!((at_end.ok, at_end.errors), (result.total.n, result.total.errors));
        assert_eq!((at_end.rate, at_end.length), (result.rate, result.length));
        assert_eq!(at_end.in_flight_mean, result.in_flight_mean);
        assert_eq!(at_end.p50, result.response.percentile(0.5).map(|found| found.value));
        assert_eq!(at_end.p99, result.response.percentile(0.99).map(|found| found.value));
        let last = running.last().unwrap();
        let as_at_end =
            LoadPointStatus { is_over: true, standings: at_end.standings.clone(), ..last.clone() };
        assert_eq!(as_at_end, at_end);
    }
}

/// An open loop is asked for delivery instead of Little's law.
#[test]
fn groups_depend_on_the_load() {
    let groups = |recorded: &RecordedRun| {
        let standings = statuses(recorded, false).1.standings;
        standings.iter().map(|standing| standing.group).collect::<Vec<_>>()
    };
    assert_eq!(groups(&RecordedRun::closed()), [Record, Little, Generator, Errors, Sample, Steady]);
    let open = [Record, Generator, Errors, RuleGroup::Delivery, Sample, Steady];
    assert_eq!(groups(&RecordedRun::open(ms(0))), open);
}

/// The load threads use 1.9 of 2 s, the server half of its allowance; or 1.5 of 2 s, where nine tenths are allowed.
#[test]
fn a_busy_generator_is_found_at_once_by_the_rule_of_the_verdict() {
    let busy = |milliseconds| {
        let mut recorded = RecordedRun::closed();
        recorded.records.iter_mut().for_each(|record| record.health.cpu = ms(milliseconds));
        recorded
    };
    let recorded = busy(1_900);
    let (running, at_end) = statuses(&recorded, false);
    let reason = recorded.analyze().load_points[0].verdict.reasons[0].clone();
    let [part, limit, server] = [0.95, 0.9, 0.5].map(Ratio);
    let server = Some(ServerUse::Part(server));
    let expected = Finding::GeneratorBusy { agent: 0, busy: part, limit, server };
    assert_eq!(reason.finding, expected);
    for status in [&running[3], &at_end] {
        let found = standing(status, Generator);
        assert_eq!((found.state, found.reason.as_ref()), (Broken, Some(&reason)));
    }
    let recorded = busy(1_500);
    let found = standing(&statuses(&recorded, false).1, Generator).clone();
    let near = Finding::GeneratorBusy { agent: 0, busy: Ratio(0.75), limit, server: None };
    assert_eq!((found.state, found.reason.unwrap().finding), (Notice, near));
    let verdict = recorded.analyze().load_points[0].verdict.clone();
    assert!(verdict.reasons.iter().chain(&verdict.remarks).all(|one| one.rule() != "generator-busy"));
}

/// One of about 2,667 operations fails, in the steady phase; 1 % is allowed.
#[test]
fn failures_within_the_limit_are_a_notice() {
    let plan = RecordedRun::closed().plan;
    let mut operations = users(&plan, 10, |_, k| if k % 2 == 0 { ms(100) } else { ms(50) }, ms(0));
    let one = operations.iter_mut().find(|one| ms(5_000) < one.due).unwrap();
    one.outcome = Outcome::Reset;
    let (running, at_end) = statuses(&RecordedRun::of(plan, &operations), false);
    assert_eq!(standing(&running[3], Errors).state, Holds);
    let found = standing(&at_end, Errors);
    let Some(Finding::Errors { n, ratio, limit, most_frequent, .. }) =
        found.reason.as_ref().map(|reason| &reason.finding)
    else {
        panic!("{found:?}")
    };
    assert_eq!((found.state, *n, *limit), (Notice, 1, Ratio(0.01)));
    assert_eq!(*most_frequent, Some(Outcome::Reset));
    assert!((0.0003..0.0005).contains(&ratio.0), "{ratio}");
}

/// By hand: one user and 1 s for each operation make 20, where 100 are needed.
#[test]
fn too_few_operations_are_pending_until_the_end() {
    let plan = plan(Load::Users(1), 2, 20);
    let operations = users(&plan, 1, |_, _| ms(1_000), ms(0));
    let (running, at_end) = statuses(&RecordedRun::of(plan, &operations), false);
    assert!(running.iter().all(|status| standing(status, Sample).state == Pending));
    let found = standing(&at_end, Sample);
    assert_eq!((found.state, at_end.ok, at_end.ok_needed), (Broken, 20, 100));
    assert_eq!(found.reason.as_ref().unwrap().rule(), "operations");
}

#[test]
fn a_load_point_that_is_cut_short_is_broken_by_its_length() {
    let mut recorded = RecordedRun::closed();
    recorded.records.truncate(10);
    let (running, at_end) = statuses(&recorded, true);
    assert_eq!(standing(running.last().unwrap(), Record).state, Holds);
    let found = standing(&at_end, Record);
    assert_eq!((found.state, found.reason.as_ref().unwrap().rule()), (Broken, "steady-length"));
}

#[test]
fn a_load_point_that_is_not_planned_has_no_status() {
    let mut analyzer = Analyzer::new(&RecordedRun::closed().plan);
    assert_eq!(analyzer.status(1), None);
    assert_eq!(analyzer.final_status(0, false), None, "it has no records");
}
