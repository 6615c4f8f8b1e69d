//! What a result of the suite means, by the kind of the test.

use std::collections::BTreeMap;

use anyhow::{Context, Result, bail};
use serde_json::{Map, Value};

/// How binding a test is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// What a cache must do.
    Required,
    /// What a good cache does.
    Optimal,
    /// A question, to which no answer is wrong.
    Check,
}

impl Kind {
    /// Returns the kind's name, as the suite has it.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Required => "required",
            Kind::Optimal => "optimal",
            Kind::Check => "check",
        }
    }
}

impl TryFrom<&str> for Kind {
    type Error = anyhow::Error;

    fn try_from(name: &str) -> Result<Kind> {
        let kinds = [Kind::Required, Kind::Optimal, Kind::Check];
        kinds
            .into_iter()
            .find(|kind| kind.name() == name)
            .with_context(|| format!("`{name}` is no kind of test"))
    }
}

/// A test of the suite.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Test {
    /// Its name, such as `freshness-max-age`.
    pub id: String,
    /// The part of the suite that it belongs to.
    pub part: String,
    /// How binding it is.
    pub kind: Kind,
    /// Tests without which it says nothing.
    pub depends_on: Vec<String>,
}

/// What came of a test.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// It does what the test wants.
    Pass,
    /// It does not.
    Fail,
    /// The answer to a question.
    Yes,
    /// As above.
    No,
    /// The test did not come to what it is about.
    Setup,
    /// A test that it depends on did not pass.
    Dependency,
}

impl Outcome {
    /// All of them.
    pub const ALL: [Outcome; 6] =
        [Outcome::Pass, Outcome::Fail, Outcome::Yes, Outcome::No, Outcome::Setup, Outcome::Dependency];

    /// Returns the outcome's name.
    pub fn name(self) -> &'static str {
        match self {
            Outcome::Pass => "pass",
            Outcome::Fail => "fail",
            Outcome::Yes => "yes",
            Outcome::No => "no",
            Outcome::Setup => "setup failed",
            Outcome::Dependency => "dependency failed",
        }
    }

    /// Tells whether tests that depend on it say something.
    fn is_passed(self) -> bool {
        matches!(self, Outcome::Pass | Outcome::Yes)
    }
}

/// Returns what came of each test that was run, in the order of the suite.
///
/// # Errors
/// No result at all, or one that is neither `true` nor a name and a message.
pub fn outcomes(tests: &[Test], results: &Map<String, Value>) -> Result<Vec<(Test, Outcome)>> {
    let by_id: BTreeMap<&str, &Test> = tests.iter().map(|test| (test.id.as_str(), test)).collect();
    let run = tests.iter().filter(|test| results.contains_key(&test.id));
    let found: Vec<_> =
        run.map(|test| Ok((test.clone(), outcome(test, &by_id, results, 0)?))).collect::<Result<_>>()?;
    if found.is_empty() {
        bail!("the suite gave no result");
    }
    Ok(found)
}

/// The longest chain of tests that depend on each other; the suite has some four.
const DEPTH_MAX: usize = 50;

fn outcome(
    test: &Test,
    tests: &BTreeMap<&str, &Test>,
    results: &Map<String, Value>,
    depth: usize,
) -> Result<Outcome> {
    if DEPTH_MAX < depth {
        bail!("`{}` depends on itself", test.id);
    }
    for id in &test.depends_on {
        let is_passed = match tests.get(id.as_str()).filter(|_| results.contains_key(id)) {
            Some(dependency) => outcome(dependency, tests, results, depth + 1)?.is_passed(),
            None => false,
        };
        if !is_passed {
            return Ok(Outcome::Dependency);
        }
    }
    let result = results.get(&test.id).context("a result")?;
    let is_true = result == &Value::Bool(true);
    if !is_true && !result.get(0).is_some_and(Value::is_string) {
        bail!("expected `true`, or what failed and why, as result of `{}`, found {result}", test.id);
    }
    Ok(match (test.kind, is_true) {
        (_, false) if result[0] == "Setup" => Outcome::Setup,
        (Kind::Check, true) => Outcome::Yes,
        (Kind::Check, false) => Outcome::No,
        (_, true) => Outcome::Pass,
        (_, false) => Outcome::Fail,
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn test(id: &str, kind: Kind, depends_on: &[&str]) -> Test {
        let depends_on = depends_on.iter().map(|id| (*id).to_owned()).collect();
        Test { id: id.to_owned(), part: "p".to_owned(), kind, depends_on }
    }

    #[test]
    fn results_mean_what_the_suite_means_by_them() {
        let tests = [
            test("a", Kind::Required, &[]),
            test("b", Kind::Optimal, &["a"]),
            test("c", Kind::Check, &["a"]),
            test("d", Kind::Check, &["a"]),
            test("e", Kind::Required, &[]),
            test("f", Kind::Required, &["b"]),
            test("g", Kind::Required, &["d"]),
            test("not-run", Kind::Required, &[]),
            test("h", Kind::Required, &["not-run"]),
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
    fn nothing_and_nonsense_are_no_results() {
        let tests = [test("a", Kind::Required, &[])];
        for results in [json!({}), json!({ "a": false }), json!({ "a": [] }), json!({ "b": true })] {
            assert!(outcomes(&tests, results.as_object().unwrap()).is_err(), "{results}");
        }
        let circle = [test("a", Kind::Required, &["b"]), test("b", Kind::Required, &["a"])];
        assert!(outcomes(&circle, json!({ "a": true, "b": true }).as_object().unwrap()).is_err());
    }
}
