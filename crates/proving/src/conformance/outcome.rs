//! Outcomes of the suite's tests, by their kind.

use std::collections::BTreeMap;

use anyhow::{Context, Result, bail};
use serde_json::{Map, Value};

/// The kind of a test.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TestKind {
    /// A requirement for caches.
    Required,
    /// A desirable behavior of a cache.
    Optimal,
    /// A question without wrong answers.
    Check,
}

impl TestKind {
    /// Returns the kind's name, as the suite has it.
    pub(super) fn name(self) -> &'static str {
        match self {
            TestKind::Required => "required",
            TestKind::Optimal => "optimal",
            TestKind::Check => "check",
        }
    }
}

impl TryFrom<&str> for TestKind {
    type Error = anyhow::Error;

    fn try_from(name: &str) -> Result<TestKind> {
        let kinds = [TestKind::Required, TestKind::Optimal, TestKind::Check];
        kinds
            .into_iter()
            .find(|kind| kind.name() == name)
            .with_context(|| format!("`{name}` is not a kind of test"))
    }
}

/// A test of the suite.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SuiteTest {
    /// Its name, such as `freshness-max-age`.
    pub id: String,
    /// The part of the suite that it belongs to.
    pub part: String,
    /// Its kind.
    pub kind: TestKind,
    /// Tests that it depends on.
    pub depends_on: Vec<String>,
}

/// The outcome of a test.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TestOutcome {
    /// The test passed.
    Pass,
    /// The test failed.
    Fail,
    /// The answer "yes" to a question.
    Yes,
    /// The answer "no" to a question.
    No,
    /// The setup of the test failed.
    Setup,
    /// A test that it depends on did not pass.
    Dependency,
}

impl TestOutcome {
    /// All of them.
    pub(super) const ALL: [TestOutcome; 6] = [
        TestOutcome::Pass,
        TestOutcome::Fail,
        TestOutcome::Yes,
        TestOutcome::No,
        TestOutcome::Setup,
        TestOutcome::Dependency,
    ];

    /// Returns the outcome's name.
    pub(super) fn name(self) -> &'static str {
        match self {
            TestOutcome::Pass => "pass",
            TestOutcome::Fail => "fail",
            TestOutcome::Yes => "yes",
            TestOutcome::No => "no",
            TestOutcome::Setup => "setup failed",
            TestOutcome::Dependency => "dependency failed",
        }
    }

    /// Returns whether dependent tests are meaningful.
    fn is_passed(self) -> bool {
        matches!(self, TestOutcome::Pass | TestOutcome::Yes)
    }
}

/// Returns the outcome of each test that was run, in the order of the suite.
///
/// # Errors
/// No result at all, or one that is neither `true` nor a name and a message.
pub(super) fn outcomes(
    tests: &[SuiteTest],
    results: &Map<String, Value>,
) -> Result<Vec<(SuiteTest, TestOutcome)>> {
    let by_id: BTreeMap<&str, &SuiteTest> = tests.iter().map(|test| (test.id.as_str(), test)).collect();
    let run = tests.iter().filter(|test| results.contains_key(&test.id));
    let found: Vec<_> =
        run.map(|test| Ok((test.clone(), outcome(test, &by_id, results, 0)?))).collect::<Result<_>>()?;
    if found.is_empty() {
        bail!("the suite gave no result");
    }
    Ok(found)
}

/// The maximum length of a dependency chain; the suite has some four.
const DEPTH_MAX: usize = 50;

fn outcome(
    test: &SuiteTest,
    tests: &BTreeMap<&str, &SuiteTest>,
    results: &Map<String, Value>,
    depth: usize,
) -> Result<TestOutcome> {
    if DEPTH_MAX < depth {
        bail!("`{}` depends on itself", test.id);
    }
    for id in &test.depends_on {
        let is_passed = match tests.get(id.as_str()).filter(|_| results.contains_key(id)) {
            Some(dependency) => outcome(dependency, tests, results, depth + 1)?.is_passed(),
            None => false,
        };
        if !is_passed {
            return Ok(TestOutcome::Dependency);
        }
    }
    let result = results.get(&test.id).context("a result")?;
    let is_true = result == &Value::Bool(true);
    if !is_true && !result.get(0).is_some_and(Value::is_string) {
        bail!("expected `true`, or what failed and why, as result of `{}`, found {result}", test.id);
    }
    Ok(match (test.kind, is_true) {
        (_, false) if result[0] == "Setup" => TestOutcome::Setup,
        (TestKind::Check, true) => TestOutcome::Yes,
        (TestKind::Check, false) => TestOutcome::No,
        (_, true) => TestOutcome::Pass,
        (_, false) => TestOutcome::Fail,
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn test(id: &str, kind: TestKind, depends_on: &[&str]) -> SuiteTest {
        let depends_on = depends_on.iter().map(|id| (*id).to_owned()).collect();
        SuiteTest { id: id.to_owned(), part: "p".to_owned(), kind, depends_on }
    }

    #[test]
    fn results_are_interpreted_as_by_the_suite() {
        let tests = [
            test("a", TestKind::Required, &[]),
            test("b", TestKind::Optimal, &["a"]),
            test("c", TestKind::Check, &["a"]),
            test("d", TestKind::Check, &["a"]),
            test("e", TestKind::Required, &[]),
            test("f", TestKind::Required, &["b"]),
            test("g", TestKind::Required, &["d"]),
            test("not-run", TestKind::Required, &[]),
            test("h", TestKind::Required, &["not-run"]),
        ];
        let results = json!({
            "a": true, "b": ["Assertion", "no"], "c": true, "d": ["Assertion", "no"], "e": ["Setup", "no"], "f": true,
            "g": true, "h": true,
        });
        let found = outcomes(&tests, results.as_object().unwrap()).unwrap();
        let text: Vec<_> =
            found.iter().map(|(test, outcome)| format!("{} {}", test.id, outcome.name())).collect();
        let expected = [
            "a pass",
            "b fail",
            "c yes",
            "d no",
            "e setup failed",
            "f dependency failed",
            "g dependency failed",
            "h dependency failed",
        ];
        assert_eq!(text, expected);
    }

    #[test]
    fn missing_and_invalid_results_are_errors() {
        let tests = [test("a", TestKind::Required, &[])];
        for results in [json!({}), json!({ "a": false }), json!({ "a": [] }), json!({ "b": true })] {
            assert!(outcomes(&tests, results.as_object().unwrap()).is_err(), "{results}");
        }
        let circle = [test("a", TestKind::Required, &["b"]), test("b", TestKind::Required, &["a"])];
        assert!(outcomes(&circle, json!({ "a": true, "b": true }).as_object().unwrap()).is_err());
    }
}
