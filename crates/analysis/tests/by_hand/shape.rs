//! Load points with a shape: figures and verdicts of their stages, and the limits that end them early.

use analysis::audit::{StatedRow, audit_results};
use analysis::{Analyzer, LoadPointResult, METRICS, MetricValue, StageResult, VerdictState, comply_stage};
use model::{Arrivals, Load, Outcome, Plan, RunEnding, Shape, Stage, parse_limits};
use units::{Nanos, Ratio};

use crate::record::{Operation, RecordedRun, ms, plan, s};

/// A plan of one load point: stages of (seconds, from, to), and the limits that end it.
fn shaped(load: Load, stages: &[(u64, f64, f64)], until: &str) -> Plan {
    let stage = |&(seconds, from, to): &(u64, f64, f64)| Stage { length: s(seconds), from, to };
    let until = if until.is_empty() { Vec::new() } else { parse_limits(until).unwrap() };
    let shape = Shape { stages: stages.iter().map(stage).collect(), until };
    let mut plan = plan(load, 0, stages.iter().map(|stage| stage.0).sum());
    plan.sut.quota = Some(4.0);
    plan.shape = Some(shape);
    plan
}

fn open(stages: &[(u64, f64, f64)], until: &str) -> Plan {
    let most = stages.iter().map(|stage| stage.1.max(stage.2)).fold(0.0, f64::max);
    shaped(
        Load::Rate { per_second: most, arrivals: Arrivals::Constant, in_flight_max: 100_000 },
        stages,
        until,
    )
}

fn operation(due: Nanos, response: Nanos) -> Operation {
    Operation {
        kind: (due.0 / 1_000_000 % 2) as usize,
        drawn: Nanos::ZERO,
        due_span: Nanos::ZERO,
        free: Nanos::ZERO,
        due,
        sent: due,
        done: due + response,
        connect: ms(1),
        outcome: Outcome::Ok,
    }
}

/// In each second as many operations as the mean level in it says, at equal intervals; `response` of (second, k).
fn arrivals(plan: &Plan, response: impl Fn(u64, u64) -> Nanos) -> Vec<Operation> {
    let shape = plan.shape.as_ref().unwrap();
    let mut operations = Vec::new();
    for second in 0..shape.length().0 / 1_000_000_000 {
        let n = shape.level_mean(s(second)..s(second + 1)).round() as u64;
        operations
            .extend((0..n).map(|k| operation(s(second) + Nanos(1_000_000_000 * k / n), response(second, k))));
    }
    operations
}

/// Operations of users who are there as the shape says, one after the other, and nothing in between.
fn visits(plan: &Plan, response: Nanos) -> Vec<Operation> {
    let shape = plan.shape.as_ref().unwrap();
    let users = shape.level_max() as u32;
    let mut operations = Vec::new();
    for span in (0..users).flat_map(|user| shape.presences(user)) {
        let mut due = span.start;
        while due + response <= span.end {
            operations.push(operation(due, response));
            due += response;
        }
    }
    operations
}

fn recorded(plan: Plan, operations: &[Operation]) -> RecordedRun {
    let mut recorded = RecordedRun::of(plan, operations);
    // Who is neither in flight nor present does not think.
    recorded.records.iter_mut().for_each(|record| record.flow.thinking_ns = 0);
    recorded
}

fn point(recorded: &RecordedRun) -> LoadPointResult {
    recorded.analyze().load_points.remove(0)
}

/// Returns the rules that a stage breaks.
fn broken(point: &LoadPointResult, stage: usize) -> Vec<&'static str> {
    point.stages[stage].verdict.reasons.iter().map(|reason| reason.rule()).collect()
}

/// By hand: 10 users for 10 s and 40 for 10 s, each operation 100 ms: 100/s and 400/s, and Little's law closes with the users
/// of each stage. A rate of all would be 250/s, which the server never had.
#[test]
fn every_stage_has_its_own_rate_and_percentiles_and_the_load_point_has_none() {
    let plan = shaped(Load::Users(40), &[(10, 10.0, 10.0), (10, 40.0, 40.0)], "");
    let operations = visits(&plan, ms(100));
    let recorded = recorded(plan, &operations);
    let analysis = recorded.analyze();
    assert_eq!(analysis.verdict.state, VerdictState::Valid, "{:#?}", analysis.verdict);
    let point = &analysis.load_points[0];
    let figures: Vec<(u64, f64, f64)> = point
        .stages
        .iter()
        .map(|stage| (stage.n, stage.rate.round(), stage.users_mean.unwrap().round()))
        .collect();
    // The operations of the last tenth end with the stage, at its very end, and count for the next second.
    assert_eq!(figures, [(990, 99.0, 10.0), (3970, 397.0, 40.0)]);
    assert!(point.stages.iter().all(|stage| stage.little_gap.unwrap().abs() < 0.03));
    assert_eq!(point.stages[0].response.percentile(0.99).unwrap().value, ms(100));
    assert_eq!(point.total.n, 4960);
    assert_eq!((point.response.mean, point.response.percentiles.len(), point.score), (None, 0, None));
    assert!(analysis.headline.is_none() && analysis.curve.peak.is_none());
    for metric in METRICS {
        let name = metric.stated.unwrap_or_default();
        let is_absent =
            matches!(metric.value(point), MetricValue::Number(None) | MetricValue::Interval(None));
        let is_sum = matches!(metric.value(point), MetricValue::Count(_)) || name == "length_s";
        assert!(is_absent || is_sum || name.is_empty(), "{name}: {:?}", metric.value(point));
    }
}

/// Only the second stage has failures: 1 of 10 operations, of which 1 % may fail.
#[test]
fn a_stage_that_breaks_a_rule_is_named_and_spoils_the_load_point() {
    let plan = open(&[(10, 50.0, 50.0), (10, 100.0, 100.0), (10, 50.0, 50.0)], "");
    let mut operations = arrivals(&plan, |_, _| ms(5));
    let second = operations.iter_mut().filter(|one| (s(10)..s(20)).contains(&one.due));
    second.step_by(10).for_each(|one| one.outcome = Outcome::Reset);
    let point = point(&recorded(plan, &operations));
    assert_eq!([0, 1, 2].map(|stage| broken(&point, stage)), [&[][..], &["errors", "delivered"], &[]]);
    assert_eq!(point.stages[1].errors, 100);
    let of_stages = point.verdict.reasons.iter().filter_map(|reason| reason.stage);
    assert_eq!(of_stages.count(), 0);
    assert_eq!(point.stages[1].verdict.state, VerdictState::Overloaded, "less load was delivered");
}

/// The same in a closed loop, where nothing is overload.
#[test]
fn a_stage_of_a_closed_loop_that_breaks_a_rule_makes_the_load_point_invalid() {
    let plan = shaped(Load::Users(10), &[(10, 5.0, 5.0), (10, 10.0, 10.0)], "");
    let mut operations = visits(&plan, ms(20));
    let second = operations.iter_mut().filter(|one| s(10) <= one.due);
    second.step_by(10).for_each(|one| one.outcome = Outcome::Reset);
    let point = point(&recorded(plan, &operations));
    assert_eq!([0, 1].map(|stage| broken(&point, stage)), [&[][..], &["errors"]]);
    assert_eq!(point.verdict.state, VerdictState::Invalid);
    let reason = &point.verdict.reasons[0];
    assert_eq!((reason.load_point, reason.stage, reason.rule()), (Some(0), Some(1), "errors"));
}

/// The user's limits are judged per stage: 30 ms is too long, 4 ms is not; a stage of nobody is not judged.
#[test]
fn limits_of_the_user_are_judged_per_stage() {
    let mut plan = open(&[(10, 100.0, 100.0), (5, 0.0, 0.0), (10, 200.0, 200.0)], "");
    plan.limits = parse_limits("p99<20ms").unwrap();
    let operations = arrivals(&plan, |second, _| if second < 15 { ms(4) } else { ms(30) });
    let point = point(&recorded(plan, &operations));
    let missed = |stage: &StageResult| {
        let remarks = stage.verdict.remarks.iter().map(|remark| remark.rule());
        (stage.verdict.state, remarks.collect::<Vec<_>>())
    };
    let valid = |rules: &[&'static str]| (VerdictState::Valid, rules.to_vec());
    let found: Vec<_> = point.stages.iter().map(missed).collect();
    assert_eq!(found, [valid(&[]), valid(&[]), valid(&["limits"])]);
    let limit = point.verdict.remarks.iter().find(|remark| remark.rule() == "limits").unwrap();
    assert_eq!(limit.stage, Some(2));
    let compliances =
        point.stages.iter().map(|stage| comply_stage(parse_limits("p99<20ms").unwrap()[0], stage));
    assert_eq!(compliances.map(|one| one.is_met()).collect::<Vec<_>>(), [true, false, false]);
    assert_eq!(point.stages[1].n, 0);
}

/// By hand: 100/s for 5 s after nothing, each operation 300 ms: 470 of 500 are done in it (94 %), and 30 are in flight, as must
/// be at 100/s. One that takes 3 s is not excused by more than a tenth of the stage.
#[test]
fn a_load_that_rises_may_fill_up_with_operations_in_flight() {
    let of = |response| {
        let plan = open(&[(5, 100.0, 100.0), (5, 100.0, 100.0)], "");
        let operations = arrivals(&plan, |_, _| response);
        let point = point(&recorded(plan, &operations));
        [0, 1].map(|stage| (point.stages[stage].n, broken(&point, stage).contains(&"delivered")))
    };
    assert_eq!(of(ms(300)), [(470, false), (500, false)]);
    assert_eq!(of(ms(3_000))[0], (200, true));
}

/// A rate that rises is no drift of a ramp.
#[test]
fn a_ramp_is_not_tested_for_a_steady_state() {
    let plan = open(&[(40, 10.0, 200.0), (40, 200.0, 200.0)], "");
    let operations = arrivals(&plan, |_, _| ms(5));
    let point = point(&recorded(plan, &operations));
    assert!(
        point.stages.iter().all(|stage| stage.verdict.remarks.is_empty()),
        "{:#?}",
        point.stages[0].verdict
    );
    assert_eq!(point.stages.iter().map(|stage| stage.little_gap).collect::<Vec<_>>(), [None, None]);
}

/// By hand: 100/s to 300/s in 20 s, 10/s more every second. From second 12 on every operation takes 300 ms. The last second of
/// the window from 7 s to 12 s has only fast ones; that from 8 s to 13 s has 70 % of those that began in second 12, about 157
/// of some 1000, so that p99 is 300 ms: broken at 205/s on average, held at 195/s.
fn ramp_that_breaks() -> RecordedRun {
    let plan = open(&[(10, 100.0, 200.0), (10, 200.0, 300.0)], "p99<200ms");
    let operations = arrivals(&plan, |second, _| if second < 12 { ms(5) } else { ms(300) });
    recorded(plan, &operations)
}

#[test]
fn the_first_window_that_breaks_a_limit_tells_the_load() {
    let until = point(&ramp_that_breaks()).until.unwrap();
    let broken = until.broken.unwrap();
    assert_eq!((broken.limit.to_string(), broken.value.round()), ("p99<200ms".to_owned(), 0.0));
    assert!((0.29..0.31).contains(&broken.value), "{}", broken.value);
    assert_eq!((broken.window.start, broken.window.end), (s(8), s(13)));
    assert!((broken.window.level_mean - 205.0).abs() < 1e-6, "{:?}", broken.window);
    assert!((broken.window.level_from - 180.0).abs() < 1e-6 && (broken.window.level_to - 230.0).abs() < 1e-6);
    let held = until.held.unwrap();
    assert!((held.level_mean - 195.0).abs() < 1e-6, "{held:?}");
    assert_eq!((held.end, until.windows_judged), (s(12), 8));
}

/// Whoever stops the load asks after every second; the record that ends there gives the same answer, and is valid.
#[test]
fn a_record_that_ends_where_the_limit_broke_gives_the_same_answer_and_is_not_incomplete() {
    let mut recorded = ramp_that_breaks();
    let mut analyzer = Analyzer::new(&recorded.plan);
    let mut stopped = None;
    for record in &recorded.records {
        analyzer.interval(record);
        let status = analyzer.status(0).unwrap();
        if let Some(broken) = status.broken {
            stopped = Some((record.index, broken, status.stage.unwrap()));
            break;
        }
    }
    let (last, live, stage) = stopped.expect("it breaks");
    assert_eq!((last, stage.index, stage.n_stages), (12, 1, 2));
    assert!((stage.level - 230.0).abs() < 1e-6);
    // The load is stopped in the second after that, in the middle of it.
    recorded.records.truncate(14);
    recorded.records[13].end = recorded.records[13].start + ms(50);
    let analysis = recorded.analyze();
    let point = &analysis.load_points[0];
    assert_eq!(point.until.as_ref().unwrap().broken, Some(live));
    assert_eq!(point.stages.len(), 2);
    assert_eq!(point.stages[1].length, s(3) + ms(50));
    let rules: Vec<&str> = point.verdict.reasons.iter().map(|reason| reason.rule()).collect();
    for rule in ["steady-length", "time-axis", "response-integral"] {
        assert!(!rules.contains(&rule), "{rules:?}");
    }
    assert_ne!(point.verdict.state, VerdictState::Incomplete);
    // The audit recomputes the same.
    let row = StatedRow::of(point);
    assert_eq!(row.cells["until_broken_level"], live.window.level_mean);
    assert_eq!((row.cells["stage_1_operations"], row.cells.contains_key("response_p99_s")), (1500.0, false));
    assert_eq!(audit_results(std::slice::from_ref(&row), &analysis, Ratio(1e-9)), []);
    let mut wrong = row;
    wrong.cells.insert("stage_2_rate_per_s".to_owned(), 999.0);
    assert_eq!(audit_results(&[wrong], &analysis, Ratio(1e-9)).len(), 1);
}

#[test]
fn limits_that_hold_to_the_end_are_told_with_the_highest_load() {
    let plan = open(&[(10, 100.0, 200.0), (10, 200.0, 300.0)], "p99<200ms");
    let operations = arrivals(&plan, |_, _| ms(5));
    let until = point(&recorded(plan, &operations)).until.unwrap();
    assert_eq!(until.broken, None);
    // The last window: from 250/s to 300/s.
    assert!((until.held.unwrap().level_mean - 275.0).abs() < 1e-6);
    assert_eq!(until.windows_judged, 16);
}

/// 20 operations a second are 100 in a window: too few for p99, which is then neither broken nor held.
#[test]
fn a_percentile_of_too_few_operations_decides_nothing() {
    let plan = open(&[(20, 20.0, 20.0)], "p99<1ms,errors<1%");
    let operations = arrivals(&plan, |_, _| ms(5));
    let until = point(&recorded(plan, &operations)).until.unwrap();
    assert_eq!((until.broken, until.held, until.windows_judged), (None, None, 0));
}

/// A server that does nothing any more completes nothing: the operations in flight tell how long they take at least.
#[test]
fn a_server_that_hangs_breaks_a_limit_on_response_time() {
    let plan = open(&[(20, 100.0, 100.0)], "p99<200ms");
    let operations = arrivals(&plan, |second, _| if second < 8 { ms(5) } else { s(60) });
    let broken = point(&recorded(plan, &operations)).until.unwrap().broken.unwrap();
    // From second 8 to 13: the oldest have been in flight for 5 s, the youngest for none.
    assert_eq!(broken.window.end, s(13));
    assert!((broken.value - 2.5).abs() < 0.02, "{}", broken.value);
}

/// An interrupted run stays incomplete: its last stage is, those before it are not.
#[test]
fn a_run_that_is_interrupted_in_a_stage_keeps_the_stages_before() {
    let plan = shaped(Load::Users(40), &[(10, 10.0, 10.0), (10, 40.0, 40.0), (10, 10.0, 10.0)], "");
    let operations = visits(&plan, ms(100));
    let mut recorded = recorded(plan, &operations);
    recorded.records.truncate(15);
    recorded.ending = RunEnding::Stopped("interrupted".to_owned());
    let analysis = recorded.analyze();
    let states: Vec<VerdictState> =
        analysis.load_points[0].stages.iter().map(|stage| stage.verdict.state).collect();
    assert_eq!(states, [VerdictState::Valid, VerdictState::Incomplete]);
    assert_eq!(analysis.load_points[0].verdict.state, VerdictState::Incomplete);
}
