//! Endings of runs, and their verdicts.

use analysis::finding::{LocatedFault, MeasureMismatch, SteadyFigure};
use analysis::{Analysis, Analyzer, Finding, VerdictState};
use model::{
    CONNECTIONS_LOST, CheckMoment, ConsistencyCheck, Load, LoadPoint, Modification, NamedCount, RunEnding,
    web_measure,
};
use stats::Steadiness;
use units::{Nanos, Ratio};

use crate::record::{
    Operation, RecordedRun, assert_caught, assert_valid, ms, plan, records, remarks, rules_broken, scheduled,
    users,
};

/// Two load points of 4 and 8 users.
fn two_load_points() -> RecordedRun {
    let mut plan = plan(Load::Users(4), 1, 6);
    plan.load_points.push(LoadPoint { index: 1, load: Load::Users(8) });
    let mut all = records(&plan, 0, 0, &users(&plan, 4, |_, _| ms(70), ms(0)));
    all.extend(records(&plan, 1, 0, &users(&plan, 8, |_, _| ms(70), ms(0))));
    RecordedRun { plan, records: all, ending: RunEnding::Complete }
}

/// Analyzes them with what `add` adds beside the records.
fn two_load_points_with(add: impl FnOnce(&mut Analyzer)) -> Analysis {
    let recorded = two_load_points();
    let mut analyzer = Analyzer::new(&recorded.plan);
    recorded.records.iter().for_each(|record| analyzer.interval(record));
    add(&mut analyzer);
    analyzer.finish(recorded.ending)
}

/// Cut after 4 s of the second load point: its steady phase has 3 s of 6, the first is as good as ever.
#[test]
fn a_run_that_died_is_incomplete_and_keeps_its_finished_load_points() {
    let mut recorded = two_load_points();
    assert_valid(&recorded.analyze());
    recorded.records.retain(|record| record.load_point == 0 || record.index < 4);
    recorded.ending = RunEnding::Missing;
    let analysis = recorded.analyze();
    assert_eq!(analysis.verdict.state, VerdictState::Incomplete);
    let states: Vec<VerdictState> = analysis.load_points.iter().map(|point| point.verdict.state).collect();
    assert_eq!(states, [VerdictState::Valid, VerdictState::Incomplete]);
    assert_eq!(rules_broken(&analysis), ["ending", "steady-length"]);
    assert_eq!(analysis.load_points[1].length, Nanos::from_secs(3));
    // 8 users ÷ 70 ms: what was recorded is divided by what was recorded.
    assert!((analysis.load_points[1].rate - 114.3).abs() < 3.0, "{}", analysis.load_points[1].rate);
    assert_eq!(analysis.headline.unwrap().load_point, 0);
    assert_eq!(analysis.curve.peak, Some(0));
}

#[test]
fn a_run_stopped_between_load_points_is_incomplete() {
    let mut recorded = two_load_points();
    recorded.records.retain(|record| record.load_point == 0);
    recorded.ending = RunEnding::Stopped("interrupted".to_owned());
    let analysis = recorded.analyze();
    assert_eq!(analysis.verdict.state, VerdictState::Incomplete);
    assert_eq!(analysis.verdict.reasons[0].finding, Finding::Stopped { reason: "interrupted".to_owned() });
    assert_eq!(rules_broken(&analysis), ["ending"]);
    recorded.ending = RunEnding::Complete;
    assert_caught(&recorded.analyze(), "load-points");
}

#[test]
fn a_run_whose_end_lacks_only_the_ramp_down_keeps_its_last_load_point() {
    let mut recorded = two_load_points();
    recorded.records.retain(|record| record.load_point == 0 || record.index < 7);
    recorded.ending = RunEnding::Missing;
    assert_eq!(recorded.analyze().load_points[1].verdict.state, VerdictState::Valid);
}

#[test]
fn a_record_of_an_unplanned_load_point_is_found() {
    let mut recorded = two_load_points();
    recorded.plan.load_points.pop();
    let found = assert_caught(&recorded.analyze(), "load-points");
    let Finding::UnplannedLoadPoint(found) = found else { panic!("{found:?}") };
    assert!(found.first == 1 && 0 < found.n_more, "{found:?}");
}

#[test]
fn deviations_from_the_benchmark_are_a_remark() {
    let mut recorded = two_load_points();
    let modification =
        |what: &str| Modification { what: what.to_owned(), standard: "a".to_owned(), ours: "b".to_owned() };
    recorded.plan.modifications = vec![modification("load"), modification("steady phase")];
    let analysis = recorded.analyze();
    assert_valid(&analysis);
    let settings = ["load", "steady phase"].map(str::to_owned).to_vec();
    assert_eq!(remarks(&analysis, "modified"), [Finding::Modified { settings }]);
    assert_eq!(analysis.modifications.len(), 2);
}

#[test]
fn a_certificate_that_was_not_verified_is_a_remark() {
    let mut recorded = two_load_points();
    recorded.plan.sut.certificates = model::CertificateCheck::Off;
    assert!(remarks(&recorded.analyze(), "certificate").is_empty(), "there is none without TLS");
    recorded.plan.workload.web_mut().unwrap().protocol.tls = model::Tls::Full;
    let analysis = recorded.analyze();
    assert_valid(&analysis);
    assert_eq!(remarks(&analysis, "certificate"), [Finding::CertificateUnverified]);
    recorded.plan.sut.certificates = model::CertificateCheck::System;
    assert!(remarks(&recorded.analyze(), "certificate").is_empty());
}

/// Goal: connections left open are reported. Method: in two steady seconds of the first load point the server left 3
/// and 4 open.
#[test]
fn connections_left_open_are_a_remark_with_their_number() {
    let mut recorded = two_load_points();
    assert!(remarks(&recorded.analyze(), "left-open").is_empty());
    let steady = |record: &&mut model::IntervalRecord| {
        record.load_point == 0 && record.phase == model::Phase::Steady && 4 <= record.flow.ok
    };
    let mut seconds = recorded.records.iter_mut().filter(steady);
    seconds.next().unwrap().flow.left_open = 3;
    seconds.next().unwrap().flow.left_open = 4;
    let analysis = recorded.analyze();
    assert_valid(&analysis);
    let point = &analysis.load_points[0];
    let found = remarks(&analysis, "left-open");
    assert_eq!((point.left_open, analysis.load_points[1].left_open), (7, 0));
    assert_eq!(found, [Finding::LeftOpen { n: 7, ok: point.total.n }]);
}

/// Goal: few connections that are lost between requests are noticed, many are a remark; the count is a figure of the load
/// point.
#[test]
fn connections_lost_between_requests_are_counted_and_many_are_a_remark() {
    let lost = |n: u64| {
        let count = NamedCount { load_point: 0, name: CONNECTIONS_LOST.to_owned(), n };
        let analysis = two_load_points_with(|analyzer| analyzer.count(count));
        assert_valid(&analysis);
        let figure = |point: usize| analysis.load_points[point].web.as_ref().unwrap().connections_lost;
        assert_eq!((figure(0), figure(1)), (n, 0));
        remarks(&analysis, "connections-lost")
    };
    let completed = two_load_points().analyze().load_points[0].total.n;
    assert_eq!(lost(completed / 100), []);
    let many = completed / 100 + 1;
    assert_eq!(lost(many), [Finding::ConnectionsLost { n: many, completed }]);
}

/// Goal: replies that change with time are a remark that says when and how; with the load, they make it invalid.
#[test]
fn replies_that_change_are_a_remark_or_break_consistency() {
    let check = |holds: bool| {
        let name = "replies of GET /".to_owned();
        let found = "differ since 3.2 s".to_owned();
        let check = ConsistencyCheck { load_point: 0, moment: CheckMoment::After, name, holds, found };
        two_load_points_with(|analyzer| analyzer.check(check))
    };
    let found = remarks(&check(true), "replies-changed");
    let name = "replies of GET /".to_owned();
    let text = "differ since 3.2 s".to_owned();
    assert_eq!(found, [Finding::RepliesChanged { name, found: text }]);
    let invalid = check(false);
    assert!(remarks(&invalid, "replies-changed").is_empty());
    assert_eq!(invalid.load_points[0].verdict.state, VerdictState::Invalid);
}

/// 200/s offered, 20 slots, 125 ms each: 160/s can be delivered.
#[test]
fn an_open_loop_that_is_not_delivered_is_invalid() {
    let plan = RecordedRun::open(Nanos::ZERO).plan;
    let operations = scheduled(&plan, 0, ms(125), Nanos::ZERO);
    let analysis = RecordedRun::of(plan, &operations).analyze();
    let found = assert_caught(&analysis, "delivered");
    let Finding::Delivered { rate, offered, limit } = found else { panic!("{found:?}") };
    assert!((rate - 160.0).abs() < 0.05, "{rate}");
    assert_eq!((offered, limit), (200.0, Ratio(0.95)));
    // They were late because the places were taken, which is no fault of the generator.
    assert_eq!(rules_broken(&analysis), ["delivered"]);
}

/// Rates offered in turn with 20 slots, 125 ms each: more than 160/s cannot be delivered.
fn sweep(rates: &[f64]) -> RecordedRun {
    let mut plan = RecordedRun::open(Nanos::ZERO).plan;
    let load = |per_second| Load::Rate { per_second, arrivals: model::Arrivals::Constant, in_flight_max: 20 };
    plan.load_points = (0..).zip(rates).map(|(index, rate)| LoadPoint { index, load: load(*rate) }).collect();
    let of_point = |index: usize| {
        let operations = scheduled(&plan, index, ms(125), Nanos::ZERO);
        records(&plan, index, 0, &operations)
    };
    let records = (0..rates.len()).flat_map(of_point).collect();
    RecordedRun { plan, records, ending: RunEnding::Complete }
}

fn states(analysis: &analysis::Analysis) -> Vec<VerdictState> {
    analysis.load_points.iter().map(|point| point.verdict.state).collect()
}

/// The reported case: a sweep that was meant to pass the capacity was called invalid. Load points above it show where
/// it ends, and are never the headline.
#[test]
fn load_above_the_capacity_is_overload_and_leaves_the_run_valid() {
    let analysis = sweep(&[100.0, 200.0]).analyze();
    assert_valid(&analysis);
    assert_eq!(states(&analysis), [VerdictState::Valid, VerdictState::Overloaded]);
    assert_eq!(remarks(&analysis, "delivered").len(), 1);
    assert_eq!(analysis.headline.unwrap().load_point, 0);
    let several = sweep(&[300.0, 50.0, 100.0, 200.0]).analyze();
    assert_valid(&several);
    assert_eq!(
        states(&several),
        [VerdictState::Overloaded, VerdictState::Valid, VerdictState::Valid, VerdictState::Overloaded]
    );
}

#[test]
fn a_load_that_fails_where_more_was_delivered_or_nothing_was_is_no_overload() {
    // Nothing shows that the server can do anything.
    let alone = sweep(&[200.0, 300.0]).analyze();
    assert_eq!(states(&alone), [VerdictState::Invalid, VerdictState::Invalid]);
    assert_caught(&alone, "delivered");
    // Something else is wrong with it.
    let mut broken = sweep(&[100.0, 200.0]);
    broken.records.last_mut().unwrap().flow.due += 1;
    let broken = broken.analyze();
    assert_eq!(rules_broken(&broken), ["conservation", "delivered"]);
    assert_eq!(states(&broken), [VerdictState::Valid, VerdictState::Invalid]);
    // Something is wrong with a lower load, so that it is not the load that decides.
    let mut below = sweep(&[50.0, 100.0, 200.0]);
    below.records[0].flow.due += 1;
    assert_eq!(states(&below.analyze()), [VerdictState::Invalid, VerdictState::Valid, VerdictState::Invalid]);
}

/// One operation that never fell due, and one that fell due twice.
#[test]
fn an_open_loop_that_leaves_its_schedule_is_invalid() {
    let plan = RecordedRun::open(Nanos::ZERO).plan;
    let right = scheduled(&plan, 0, ms(5), Nanos::ZERO);
    let mut fewer = right.clone();
    fewer.remove(2_000);
    let found = assert_caught(&RecordedRun::of(plan.clone(), &fewer).analyze(), "schedule");
    assert_eq!(found, Finding::Schedule { due: 3999, scheduled: 4000 });
    let mut more = right;
    more.push(Operation { ..more[2_000] });
    assert_eq!(rules_broken(&RecordedRun::of(plan, &more).analyze()), ["schedule"]);
}

/// Ten users whose response time is `response` of the time in s, over settle 2 s and a steady phase.
fn responding_in(steady: u64, response: impl Fn(f64) -> Nanos) -> RecordedRun {
    let plan = plan(Load::Users(10), 2, steady);
    let mut operations = Vec::new();
    for user in 0..10 {
        let mut due = Nanos::ZERO;
        while due < plan.phases.issuing() {
            let done = due + response(due.as_secs_f64());
            let outcome = model::Outcome::Ok;
            operations.push(Operation {
                kind: user % 2,
                drawn: Nanos::ZERO,
                free: Nanos::ZERO,
                due_span: Nanos::ZERO,
                due,
                sent: due,
                done,
                connect: ms(1),
                outcome,
            });
            due = done;
        }
    }
    RecordedRun::of(plan, &operations)
}

/// By hand: 72 ms at the beginning of the steady phase, 112 ms at its end: 40 of 92 ms on average. The rate falls
/// from 139 to 89, by 50 of 110.
#[test]
fn a_drift_is_a_remark() {
    let recorded = responding_in(40, |time| Nanos::from_secs_f64(0.070 + 0.001 * time));
    let analysis = recorded.analyze();
    assert_valid(&analysis);
    let found = remarks(&analysis, "steady-state");
    let [Finding::Drift { figure: one, by: fall }, Finding::Drift { figure: other, by: rise }] = found[..]
    else {
        panic!("{found:?}")
    };
    assert_eq!([one, other], [SteadyFigure::Rate, SteadyFigure::ResponseMean]);
    assert!((-0.5..-0.4).contains(&fall.value) && (0.4..0.5).contains(&rise.value), "{found:?}");
}

/// A mean response time of 140 ms, but 165 for a fifth of the phase, in its middle: no trend, but no steady state.
/// Times are spread over 120 ms, so that the two steps are not all that varies.
#[test]
fn a_hump_is_a_remark() {
    let recorded = responding_in(120, |time| {
        let least = if (50.0..74.0).contains(&time) { 105 } else { 80 };
        ms(least + ((time * 1e6) as u64).wrapping_mul(2_654_435_761) / 65_536 % 121)
    });
    let analysis = recorded.analyze();
    assert_valid(&analysis);
    let found = remarks(&analysis, "steady-state");
    let [
        Finding::Variation { figure: one, variation: rate, .. },
        Finding::Variation { figure: other, variation: mean, .. },
    ] = found[..]
    else {
        panic!("{found:?}")
    };
    assert_eq!([one, other], [SteadyFigure::Rate, SteadyFigure::ResponseMean]);
    assert!((0.11..0.12).contains(&rate.0) && (0.13..0.14).contains(&mean.0), "{found:?}");
}

#[test]
fn a_steady_phase_and_one_too_short_to_tell_have_no_remark() {
    let steady =
        responding_in(40, |time| if ((time * 40.0) as u64).is_multiple_of(3) { ms(90) } else { ms(70) })
            .analyze();
    let state = steady.load_points[0].steadiness;
    assert!(matches!(state.rate, Steadiness::Steady { .. }), "{state:?}");
    assert!(matches!(state.response, Steadiness::Steady { .. }), "{state:?}");
    let short = RecordedRun::closed().analyze();
    assert_eq!(short.load_points[0].steadiness.rate, Steadiness::TooFew);
    for analysis in [steady, short] {
        assert!(remarks(&analysis, "steady-state").is_empty());
    }
}

/// By hand: of 60 s at full load the first 12 are slower, 10 of them in the steady phase of 58 s: more than a tenth.
/// Of 4 s, 2 are. The cut goes in steps of 5 s.
#[test]
fn a_warm_up_that_reaches_into_the_steady_phase_is_a_remark() {
    let warm_up_of = |end: f64| {
        let recorded = responding_in(58, |time| if time < end { ms(125) } else { ms(50) });
        let analysis = recorded.analyze();
        (analysis.load_points[0].warm_up, remarks(&analysis, "warm-up"))
    };
    let (end, found) = warm_up_of(12.0);
    assert_eq!(end, Some(Nanos::from_secs(15)));
    let [reach, length] = [13, 58].map(Nanos::from_secs);
    assert_eq!(found, [Finding::WarmUp { reach, length }]);
    assert_eq!(warm_up_of(4.0), (Some(Nanos::from_secs(5)), vec![]));
    // The replies of the very first operations are missing in the first second, of which the cut takes five.
    assert_eq!(warm_up_of(0.0), (Some(Nanos::from_secs(5)), vec![]));
    let short = RecordedRun::closed().analyze();
    assert_eq!(short.load_points[0].warm_up, None);
}

/// A body that is shorter than its object would have been a wrong length, not a success.
#[test]
fn bytes_that_are_not_those_of_the_objects_are_caught() {
    let mut recorded = two_load_points();
    recorded.records[3].kinds[1].measures[web_measure::BODY_BYTES].sum -= 1;
    let found = assert_caught(&recorded.analyze(), "conservation");
    let Finding::Measure(found) = found else { panic!("{found:?}") };
    let LocatedFault { interval, agent, fault } = found.first;
    assert_eq!((interval, agent, fault.kind, fault.measure.as_str()), (3, 0, 1, "body bytes"));
    let MeasureMismatch::Expected { sum, least, most, .. } = fault.fault else { panic!("{fault:?}") };
    assert_eq!((sum, most), (least - 1, least));
}

/// Times that a server states as parts of the response time, which are longer than it: of one kind, in one second.
#[test]
fn parts_that_are_longer_than_the_response_time_are_caught() {
    let mut recorded = two_load_points();
    recorded.plan.catalog.response_parts = vec![web_measure::CONNECT, web_measure::FIRST_BYTE];
    let totals = &mut recorded.records[3].kinds[1];
    let response = totals.response.sum;
    totals.measures[web_measure::CONNECT].sum = 1;
    totals.measures[web_measure::FIRST_BYTE].sum = response;
    let found = assert_caught(&recorded.analyze(), "conservation");
    let Finding::Measure(found) = found else { panic!("{found:?}") };
    let LocatedFault { interval, fault, .. } = found.first;
    let expected =
        MeasureMismatch::Part { sum: response + 1, whole: "response time".to_owned(), whole_sum: response };
    assert_eq!((interval, fault.kind, fault.measure.as_str()), (3, 1, "connect + first byte"));
    assert_eq!(fault.fault, expected);
}

/// Each field of the flow, one too many in one second of the steady phase.
#[test]
fn every_miscount_of_the_flow_is_caught() {
    type Count = fn(&mut model::Flow) -> &mut u64;
    let counts: [Count; 11] = [
        |flow| &mut flow.waiting_at_start,
        |flow| &mut flow.due,
        |flow| &mut flow.started,
        |flow| &mut flow.skipped,
        |flow| &mut flow.waiting_at_end,
        |flow| &mut flow.in_flight_at_start,
        |flow| &mut flow.ok,
        |flow| &mut flow.failed,
        |flow| &mut flow.timed_out,
        |flow| &mut flow.abandoned,
        |flow| &mut flow.in_flight_at_end,
    ];
    let right = two_load_points();
    for (index, count) in counts.iter().enumerate() {
        let mut wrong = right.clone();
        *count(&mut wrong.records[3].flow) += 1;
        assert!(rules_broken(&wrong.analyze()).contains(&"conservation"), "count {index}");
    }
    let mut wrong = right.clone();
    wrong.records[3].flow.left_open = wrong.records[3].flow.ok + 1;
    assert!(rules_broken(&wrong.analyze()).contains(&"conservation"), "more left open than succeeded");
}

/// Goal: no panic on any numbers that a damaged file may bring. Everything is as large as it can be.
#[test]
fn damaged_records_are_invalid_and_no_more() {
    let mut recorded = two_load_points();
    for record in &mut recorded.records {
        let most = u64::MAX;
        let moments =
            stats::Moments { n: most, sum: u128::MAX, sum_squares: u128::MAX, min: most, max: most };
        for kind in &mut record.kinds {
            kind.response = moments;
            kind.measures[web_measure::CONNECT] = moments;
            kind.measures[web_measure::BODY_BYTES] = moments;
            kind.failed.insert(model::Outcome::Reset, most);
        }
        record.units.iter_mut().for_each(|unit| unit.ok = most);
        (record.start, record.end) = (Nanos(most), Nanos(most - 1));
        record.flow = model::Flow {
            due: most,
            ok: most,
            failed: most,
            in_flight_at_end: most,
            in_flight_age_ns: u128::MAX,
            in_flight_ns: u128::MAX,
            thinking_ns: u128::MAX,
            ..record.flow
        };
        record.health = model::Health { threads: u32::MAX, cpu: Nanos::MAX, run_queue: Nanos::MAX };
        record.sut = Some(model::SutUse { cpu: Nanos::MAX, throttled: Nanos::MAX });
    }
    assert_caught(&recorded.analyze(), "time-axis");
    recorded.records.iter_mut().for_each(|record| record.kinds.clear());
    assert_caught(&recorded.analyze(), "conservation");
    recorded.records.iter_mut().for_each(|record| (record.start, record.end) = (Nanos::ZERO, Nanos::MAX));
    recorded.records.reverse();
    assert_caught(&recorded.analyze(), "time-axis");
}
