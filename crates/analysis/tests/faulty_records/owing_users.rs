//! Users whose pauses count from due times: they may owe operations, so that N = X·(R + Z) does not hold for them.

use analysis::Finding;
use analysis::finding::LittlePopulation;
use model::{Load, Outcome, PauseStart, Plan, ThinkTime};
use units::Nanos;

use super::tamper::set_think;
use crate::record::{Operation, RecordedRun, assert_caught, assert_valid, ms, plan, remarks};

/// Ten users, each with an operation due every 100 ms, that take 60 ms; one in twenty takes 260 ms, so that two more are
/// owed.
fn recorded() -> RecordedRun {
    let mut plan = plan(Load::Users(10), 2, 20);
    set_think(&mut plan, ThinkTime::Fixed(ms(100)));
    plan.catalog.pauses[0].from = PauseStart::Due;
    let operations = operations(&plan);
    RecordedRun::of(plan, &operations)
}

fn operations(plan: &Plan) -> Vec<Operation> {
    let mut operations = Vec::new();
    for user in 0..10u64 {
        let mut due = ms(7 * user);
        let mut free = Nanos::ZERO;
        for k in user.. {
            let (drawn, due_span) = if k == user { (Nanos::ZERO, Nanos::ZERO) } else { (ms(100), ms(100)) };
            due += due_span;
            let sent = due.max(free);
            if plan.phases.issuing() <= sent {
                break;
            }
            let done = sent + if k % 20 == 19 { ms(260) } else { ms(60) };
            let kind = user as usize % 2;
            let connect = ms(1);
            let outcome = Outcome::Ok;
            operations.push(Operation { kind, drawn, free, due_span, due, sent, done, connect, outcome });
            free = done;
        }
    }
    operations
}

/// By hand: after an operation of 260 ms those that are due 100, 200, 300 and 400 ms after it are sent at 260, 320, 380 and
/// 440 ms, the fifth in time. Per 20 operations that is a response time of 15 · 60 + 260 + 220 + 180 + 140 + 100 ms = 1.8 s,
/// or 90 ms on average: at 100 operations per second nine wait or are in flight.
#[test]
fn who_owes_operations_is_valid() {
    let analysis = recorded().analyze();
    assert_valid(&analysis);
    assert_eq!((remarks(&analysis, "think"), remarks(&analysis, "little")), (vec![], vec![]));
    assert_eq!(remarks(&analysis, "busy-users"), [], "a closed loop");
    let point = &analysis.load_points[0];
    assert!((point.rate - 100.0).abs() < 0.5, "{}", point.rate);
    assert!((point.response.mean.unwrap() - 0.090).abs() < 0.001, "{:?}", point.response.mean);
    assert!(point.little_gap.unwrap() < 0.01, "{:?}", point.little_gap);
    assert_eq!(point.pauses[0].drawn.mean, Some(0.1));
}

/// A tool that takes the service time for the response time: 70 of 90 ms.
#[test]
fn waits_that_are_left_out_are_caught() {
    let mut recorded = recorded();
    let wrong: Vec<Operation> = operations(&recorded.plan)
        .into_iter()
        .map(|one| Operation { due: one.sent, free: one.sent, ..one })
        .collect();
    let responses = RecordedRun::of(recorded.plan.clone(), &wrong);
    for (record, other) in recorded.records.iter_mut().zip(responses.records) {
        (record.kinds, record.response, record.detail) = (other.kinds, other.response, other.detail);
    }
    let analysis = recorded.analyze();
    let found = assert_caught(&analysis, "little");
    let Finding::LittleGap { found, population: LittlePopulation::Operations(n), .. } = found else {
        panic!("{found:?}")
    };
    assert!((found - 7.0).abs() < 0.1 && (n - 9.0).abs() < 0.1, "{found} of {n}");
    assert_caught(&analysis, "response-integral");
}

/// Due times that follow each other after 90 ms where 100 ms were drawn.
#[test]
fn due_times_that_are_not_those_that_were_drawn_are_a_remark() {
    let mut recorded = recorded();
    recorded.records.iter_mut().for_each(|record| record.flow.due_span_ns = record.flow.due_span_ns * 9 / 10);
    let analysis = recorded.analyze();
    assert_valid(&analysis);
    let [Finding::ThinkTime { pause: None, found, expected }] = &remarks(&analysis, "think")[..] else {
        panic!("no remark")
    };
    assert!((ms(89)..ms(91)).contains(found) && *expected == ms(100), "{found}, {expected} expected");
}

#[test]
fn pauses_whose_details_are_lost_are_caught() {
    let recorded = recorded();
    let lost = recorded.analyze_details(|detail| detail.pauses[0].clear());
    assert_caught(&lost, "conservation");
}
