//! JUnit XML for CI servers: one suite per run, with a test case for its verdict, one for each load point and limit of
//! the user, and one for a search.
//!
//! A missed limit is a failure; a run or load point that is not valid is an error, whatever its numbers are.
//!
//! Source: there is no standard. The elements and attributes are those of Ant's formatter.

use analysis::find_max::{Compliance, comply, comply_stage, counts};
use analysis::{LoadPointResult, Reason, StageResult, UntilResult, Verdict, VerdictState};
use languages::is_terminal_control;
use model::Limit;

use super::json::state;
use crate::{Report, compliance_text, finding_text};

/// A test case.
pub(super) struct TestCase {
    pub(super) name: String,
    /// Length of the measurement, in s.
    pub(super) seconds: f64,
    pub(super) outcome: TestOutcome,
}

/// The outcome of a test case.
pub(super) enum TestOutcome {
    Pass,
    /// Nothing could be decided, for this reason.
    Skipped(String),
    /// A missed limit with the value that was found.
    Failure(String),
    /// The reason for which there is no result.
    Error(String),
}

/// Renders runs as JUnit XML, one suite each.
pub fn junit(reports: &[Report]) -> String {
    document(&reports.iter().map(suite).collect::<String>())
}

/// Returns a document with these suites.
pub(super) fn document(suites: &str) -> String {
    format!("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n{suites}</testsuites>\n")
}

fn suite(report: &Report) -> String {
    let plan = report.plan;
    let run_file = report.provenance.run_file.as_deref();
    let class = plan.benchmark.short_name();
    let mut name =
        if plan.benchmark.is_urls() { class.to_owned() } else { format!("{class} on {}", plan.sut.name) };
    name += &run_file.map_or(String::new(), |file| format!(" ({file})"));
    let cases = cases(report);
    let seconds: f64 = report.analysis.load_points.iter().map(|point| point.length.as_secs_f64()).sum();
    suite_xml(&name, class, seconds, &cases)
}

/// Renders a suite of test cases of one class; `seconds` is its length.
pub(super) fn suite_xml(name: &str, class: &str, seconds: f64, cases: &[TestCase]) -> String {
    let count = |is: fn(&TestOutcome) -> bool| cases.iter().filter(|case| is(&case.outcome)).count();
    let body: String = cases.iter().map(|case| case.xml(class)).collect();
    format!(
        "  <testsuite name=\"{}\" tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\" \
         time=\"{seconds:.3}\">\n{body}  </testsuite>\n",
        escaped(name),
        cases.len(),
        count(|outcome| matches!(outcome, TestOutcome::Failure(_))),
        count(|outcome| matches!(outcome, TestOutcome::Error(_))),
        count(|outcome| matches!(outcome, TestOutcome::Skipped(_))),
    )
}

fn cases(report: &Report) -> Vec<TestCase> {
    let plan = report.plan;
    let analysis = report.analysis;
    let mut cases = vec![TestCase {
        name: "verdict".to_owned(),
        seconds: 0.0,
        outcome: judged(&analysis.verdict, TestOutcome::Pass),
    }];
    if plan.search.is_some() {
        let outcome = match &analysis.found {
            None => TestOutcome::Error("the search did not finish".to_owned()),
            Some(found) if found.max.is_none() => {
                TestOutcome::Failure("the lowest load already misses the limits".to_owned())
            }
            Some(_) => TestOutcome::Pass,
        };
        cases.push(TestCase { name: "highest load".to_owned(), seconds: 0.0, outcome });
    }
    let points = analysis.load_points.iter().filter(|point| counts(plan, analysis.found.as_ref(), point));
    for point in points {
        if let Some(until) = &point.until {
            cases.push(until_case(until, point));
        }
        for limit in &plan.limits {
            if point.is_shaped() {
                cases.extend(point.stages.iter().map(|stage| stage_case(*limit, stage)));
            } else {
                cases.push(limit_case(*limit, point));
            }
        }
    }
    cases
}

/// Returns the case of limits that were to end a load point: a failure if one broke, an error if none could be judged.
fn until_case(until: &UntilResult, point: &LoadPointResult) -> TestCase {
    let outcome = match (until.broken, until.held) {
        (Some(broken), _) => {
            let metric = broken.limit.metric();
            let level = broken.window.level_mean;
            let value = metric.text(broken.value);
            TestOutcome::Failure(format!(
                "{metric} was {value} at a load of {level:.1}, limit {}",
                broken.limit
            ))
        }
        (None, Some(_)) => TestOutcome::Pass,
        (None, None) => TestOutcome::Error("no 5 s in a row had enough operations".to_owned()),
    };
    let name = format!("until {}", model::limits_text(&until.limits));
    TestCase { name, seconds: point.length.as_secs_f64(), outcome: judged(&point.verdict, outcome) }
}

fn stage_case(limit: Limit, stage: &StageResult) -> TestCase {
    TestCase {
        name: format!(
            "stage {}, load {} to {}: {limit}",
            u64::from(stage.index) + 1,
            stage.planned.from,
            stage.planned.to
        ),
        seconds: stage.length.as_secs_f64(),
        outcome: judged(&stage.verdict, limit_outcome(&comply_stage(limit, stage))),
    }
}

fn limit_case(limit: Limit, point: &LoadPointResult) -> TestCase {
    TestCase {
        name: format!("load point {}, {}: {limit}", u64::from(point.index) + 1, point.load),
        seconds: point.length.as_secs_f64(),
        outcome: judged(&point.verdict, limit_outcome(&comply(limit, point))),
    }
}

fn limit_outcome(found: &Compliance) -> TestOutcome {
    if !found.is_decided() {
        TestOutcome::Error(compliance_text(found))
    } else if found.is_met() {
        TestOutcome::Pass
    } else {
        TestOutcome::Failure(compliance_text(found))
    }
}

/// Returns `outcome` if the verdict is valid, otherwise an error with the reasons.
fn judged(verdict: &Verdict, outcome: TestOutcome) -> TestOutcome {
    let text = |reason: &Reason| format!("{} (rule `{}`)", finding_text(&reason.finding), reason.rule());
    match verdict.state {
        VerdictState::Valid => outcome,
        other => {
            let reasons: Vec<String> = verdict.reasons.iter().map(text).collect();
            TestOutcome::Error(format!("{}: {}", state(other), reasons.join("; ")))
        }
    }
}

impl TestCase {
    fn xml(&self, class: &str) -> String {
        let class = escaped(class);
        let name = escaped(&self.name);
        let head =
            format!("    <testcase classname=\"{class}\" name=\"{name}\" time=\"{:.3}\"", self.seconds);
        let with = |element: &str, kind: &str, message: &str| {
            let message = escaped(message);
            format!("{head}>\n      <{element} type=\"{kind}\" message=\"{message}\"/>\n    </testcase>\n")
        };
        match &self.outcome {
            TestOutcome::Pass => format!("{head}/>\n"),
            TestOutcome::Skipped(message) => {
                let message = escaped(message);
                format!("{head}>\n      <skipped message=\"{message}\"/>\n    </testcase>\n")
            }
            TestOutcome::Failure(message) => with("failure", "limit", message),
            TestOutcome::Error(message) => with("error", "verdict", message),
        }
    }
}

/// Escapes a text for an attribute. Characters that XML 1.0 forbids even as references are replaced.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            // As they are, a reader would make blanks of them.
            '\t' | '\n' | '\r' => out.push_str(&format!("&#{};", letter as u32)),
            '\u{fffe}' | '\u{ffff}' => out.push('\u{fffd}'),
            command if is_terminal_control(command) => out.push('\u{fffd}'),
            other => out.push(other),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whatever_a_text_holds_the_xml_stays_well_formed() {
        assert_eq!(escaped("p99<50ms & \"more\""), "p99&lt;50ms &amp; &quot;more&quot;");
        assert_eq!(escaped("a\nb\tc"), "a&#10;b&#9;c");
        assert_eq!(escaped("\0\u{1b}[1m\u{ffff}é\u{1f600}"), "\u{fffd}\u{fffd}[1m\u{fffd}é\u{1f600}");
    }
}
