//! Two error counters that disagree: the summary says fewer failures than the list of them.

use analysis::Finding;
use analysis::finding::{DetailDifference, EqualTotals};
use model::{Example, Load, Outcome};
use units::Ratio;

use super::tamper::steady;
use crate::record::{RecordedRun, assert_caught, assert_valid, ms, plan, users};

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
    let found = assert_caught(&recorded.analyze(), "conservation");
    let Finding::Totals(unequal) = found else { panic!("{found:?}") };
    assert_eq!(unequal.first.fault.totals, EqualTotals::Failures);
    assert_eq!((unequal.first.fault.expected, 0 < unequal.first.fault.found), (0, true));
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
    let found = assert_caught(&recorded.analyze_details(|detail| detail.failed.clear()), "conservation");
    let Finding::Details { difference, .. } = found else { panic!("{found:?}") };
    let DetailDifference::Failures { kind, outcome, details, intervals } = difference else {
        panic!("{difference:?}")
    };
    assert_eq!((kind, outcome, details, 0 < intervals), (0, Outcome::Reset, 0, true));
}

#[test]
fn too_many_failures_and_any_of_our_own_are_invalid() {
    let mut strict = recorded(Outcome::Reset);
    strict.plan.rules.error_ratio_max = 0.01;
    let found = assert_caught(&strict.analyze(), "errors");
    let Finding::Errors { n, completed, ratio, limit, most_frequent } = found else { panic!("{found:?}") };
    assert_eq!((ratio.0, limit), (n as f64 / completed as f64, Ratio(0.01)));
    assert!((0.095..0.105).contains(&ratio.0), "{ratio}");
    assert_eq!(most_frequent, Some(Outcome::Reset));
    let found = assert_caught(&recorded(Outcome::NoLocalPort).analyze(), "generator-fault");
    let Finding::GeneratorFault { outcome, n } = found else { panic!("{found:?}") };
    assert!(outcome == Outcome::NoLocalPort && 0 < n, "{n}");
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
