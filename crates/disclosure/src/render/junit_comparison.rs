//! JUnit XML of a comparison: one suite, with a test case for the verdict of each run and one for each bound.
//!
//! An exceeded bound is a failure; a run that is not valid and a bound that could not be judged are errors. A bound that
//! is undecided is skipped, or in strict mode a failure.

use analysis::VerdictState;
use analysis::compare::{BoundOutcome, Comparison, JudgedBound};

use super::json::state;
use super::junit::{TestCase, TestOutcome, document, suite_xml};
use crate::comparison::{bound_text, found_text, judged_bound_text};

/// Renders a comparison and its bounds as JUnit XML. In strict mode, undecided bounds are failures.
pub fn comparison_junit(comparison: &Comparison, judged: &[JudgedBound], is_strict: bool) -> String {
    let runs = comparison.runs.iter().map(|run| TestCase {
        name: format!("{}: verdict", run.name),
        seconds: 0.0,
        outcome: match run.state {
            VerdictState::Valid => TestOutcome::Pass,
            other => TestOutcome::Error(format!("the run is {}", state(other))),
        },
    });
    let bounds = judged.iter().map(|one| TestCase {
        name: format!("{}: {}", comparison.sides[one.side].name, bound_text(&one.bound)),
        seconds: 0.0,
        outcome: outcome(comparison, one, is_strict),
    });
    let cases: Vec<TestCase> = runs.chain(bounds).collect();
    let names: Vec<&str> = comparison.sides.iter().map(|side| side.name.as_str()).collect();
    let class = comparison.benchmark.short_name();
    let is_named = names.iter().any(|name| name.contains(class));
    let subject = if is_named { String::new() } else { format!("{class}: ") };
    document(&suite_xml(&format!("{subject}{}", names.join(", ")), class, 0.0, &cases))
}

fn outcome(comparison: &Comparison, judged: &JudgedBound, is_strict: bool) -> TestOutcome {
    let text = judged_bound_text(comparison, judged);
    match judged.outcome {
        BoundOutcome::Kept => TestOutcome::Pass,
        BoundOutcome::Exceeded => TestOutcome::Failure(text),
        BoundOutcome::Undecided if is_strict => TestOutcome::Failure(text),
        BoundOutcome::Undecided => TestOutcome::Skipped(format!("undecided: {}", found_text(judged))),
        BoundOutcome::NotMeasured => TestOutcome::Error(text),
    }
}
