//! Two error counters that disagree: the summary says fewer failures than the list of them.

use model::{Example, Load, Outcome};

use crate::record::{RecordedRun, assert_caught, assert_valid, ms, plan, users};
use crate::tamper::steady;

fn recorded(outcome: Outcome) -> RecordedRun {
    let mut plan = plan(Load::Users(10), 2, 20);
    plan.rules.error_ratio_max = 0.2;
    let mut operations = users(&plan, 10, |_, _| ms(70), ms(0));
    operations.iter_mut().step_by(10).for_each(|operation| operation.outcome = outcome);
    RecordedRun::of(plan, &operations)
}

#[test]
fn totals_that_leave_out_failures_are_caught() {
    let mut recorded = recorded(Outcome::WrongStatus);
    assert_valid(&recorded.analyze());
    steady(&mut recorded).for_each(|record| {
        // They vanish from the summary, and the flow is made to fit.
        record.flow.started -= record.flow.failed;
        record.flow.due -= record.flow.failed;
        record.flow.failed = 0;
    });
    let text = assert_caught(&recorded.analyze(), "conservation");
    assert!(text.contains("failures of all kinds and their total differ"), "{text}");
}

#[test]
fn a_timeout_counted_as_another_failure_is_caught() {
    let mut recorded = recorded(Outcome::TimedOut);
    assert_valid(&recorded.analyze());
    let record = steady(&mut recorded).next().unwrap();
    (record.flow.failed, record.flow.timed_out) = (record.flow.timed_out, 0);
    assert_caught(&recorded.analyze(), "conservation");
}

#[test]
fn details_with_fewer_failures_than_the_intervals_are_caught() {
    let recorded = recorded(Outcome::Reset);
    let text = assert_caught(&recorded.analyze_details(|detail| detail.failed.clear()), "conservation");
    assert!(text.contains("failures `reset` of kind 0: 0 in details"), "{text}");
}

#[test]
fn too_many_failures_and_any_of_our_own_are_invalid() {
    let mut strict = recorded(Outcome::Reset);
    strict.plan.rules.error_ratio_max = 0.01;
    let text = assert_caught(&strict.analyze(), "errors");
    assert!(text.contains("(10.0 %), mostly `reset`; at most 1.0 % are allowed"), "{text}");
    let text = assert_caught(&recorded(Outcome::NoLocalPort).analyze(), "generator-fault");
    assert!(text.ends_with("operations failed on the generator's side: `no local port`"), "{text}");
}

#[test]
fn failures_come_with_their_first_example() {
    let recorded = recorded(Outcome::Reset);
    let mut analyzer = analysis::Analyzer::new(&recorded.plan);
    for at in [900, 300, 600] {
        let text = format!("at {at}");
        analyzer.example(Example { load_point: 0, at: ms(at), kind: 0, outcome: Outcome::Reset, text });
    }
    let analysis = analyzer.finish(recorded.ending.clone());
    let texts: Vec<&str> = analysis.load_points[0].examples.iter().map(|one| one.text.as_str()).collect();
    assert_eq!(texts, ["at 300"]);
}
