//! The expected result of each test: a table that people read, too.

use std::collections::BTreeMap;
use std::fmt;

use anyhow::{Context, Result};

use super::outcome::{SuiteTest, TestKind, TestOutcome};

/// The start of a row of the table.
const ROW_START: &str = "| `";

/// The placeholder for a missing reason.
const NO_REASON: &str = "**no reason is given**";

/// The expected results.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ExpectedResults {
    /// The text before the table.
    introduction: String,
    /// The rows, in the order of the suite.
    rows: Vec<ExpectedResult>,
}

/// The expected result of one test.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ExpectedResult {
    /// The test.
    pub id: String,
    /// Its kind.
    pub kind: TestKind,
    /// Its outcome.
    pub outcome: TestOutcome,
    /// The reason why it differs from what the suite wants; empty if it does not.
    pub reason: String,
}

/// A difference from the expected results.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Difference {
    /// A failure.
    Worse {
        /// The test.
        id: String,
        /// The expected outcome; `None` if there is no row.
        expected: Option<TestOutcome>,
        /// The outcome.
        found: TestOutcome,
    },
    /// A change to be recorded.
    Other {
        /// The test.
        id: String,
        /// As above.
        expected: Option<TestOutcome>,
        /// The outcome; `None` if the suite does not have the test.
        found: Option<TestOutcome>,
    },
}

impl ExpectedResults {
    /// Parses the table of its document; an empty text has no rows.
    ///
    /// # Errors
    /// A row with another number of cells, or with unknown words.
    pub(super) fn parse(text: &str) -> Result<ExpectedResults> {
        let lines = text.lines();
        let rows = lines
            .filter(|line| line.starts_with(ROW_START))
            .map(ExpectedResult::parse)
            .collect::<Result<_>>()?;
        let introduction = text.split("\n## All tests\n").next().unwrap_or_default().trim_end().to_owned();
        Ok(ExpectedResults { introduction, rows })
    }

    /// Writes the document.
    pub(super) fn write(&self) -> String {
        let rows = self.rows.iter().map(|row| {
            let ExpectedResult { id, kind, outcome, reason } = row;
            format!("{ROW_START}{id}` | {} | {} | {reason} |\n", kind.name(), outcome.name())
                .replace("|  |", "| |")
        });
        format!(
            "{}\n\n## All tests\n\n| test | kind | result | reason for the deviation |\n|---|---|---|---|\n{}",
            self.introduction,
            rows.collect::<String>()
        )
    }

    /// Returns the results updated with the given ones; reasons stay with their tests.
    pub(super) fn renewed(&self, found: &[(SuiteTest, TestOutcome)], version: &str) -> ExpectedResults {
        let reasons: BTreeMap<&str, &str> =
            self.rows.iter().map(|row| (row.id.as_str(), row.reason.as_str())).collect();
        let rows = found.iter().map(|(test, outcome)| {
            let known = reasons.get(test.id.as_str()).copied().filter(|reason| !reason.is_empty());
            let reason = if needs_reason(test.kind, *outcome) { known.unwrap_or(NO_REASON) } else { "" };
            ExpectedResult {
                id: test.id.clone(),
                kind: test.kind,
                outcome: *outcome,
                reason: reason.to_owned(),
            }
        });
        let introduction = if self.introduction.is_empty() {
            format!(
                "# Conformance of the accelerator with the public cache tests\n\n`http-cache-tests` {version}"
            )
        } else {
            self.introduction.clone()
        };
        ExpectedResults { introduction, rows: rows.collect() }
    }

    /// Compares with actual results.
    pub(super) fn differences(&self, found: &[(SuiteTest, TestOutcome)]) -> Vec<Difference> {
        let rows: BTreeMap<&str, &ExpectedResult> =
            self.rows.iter().map(|row| (row.id.as_str(), row)).collect();
        let mut differences = Vec::new();
        for (test, found) in found {
            let expected = rows.get(test.id.as_str()).map(|row| row.outcome);
            if expected == Some(*found) {
                continue;
            }
            let id = test.id.clone();
            let found = *found;
            differences.push(if is_worse(test.kind, expected, found) {
                Difference::Worse { id, expected, found }
            } else {
                Difference::Other { id, expected, found: Some(found) }
            });
        }
        let is_found = |row: &&ExpectedResult| found.iter().any(|(test, _)| test.id == row.id);
        let gone = self.rows.iter().filter(|row| !is_found(row));
        differences.extend(gone.map(|row| Difference::Other {
            id: row.id.clone(),
            expected: Some(row.outcome),
            found: None,
        }));
        differences
    }
}

/// Returns whether an outcome needs a reason.
fn needs_reason(kind: TestKind, outcome: TestOutcome) -> bool {
    kind != TestKind::Check && outcome != TestOutcome::Pass
}

/// Returns whether a result is a failure: a test that should pass does not, or a question has another answer.
fn is_worse(kind: TestKind, expected: Option<TestOutcome>, found: TestOutcome) -> bool {
    match (kind, expected) {
        (TestKind::Required, None) => found != TestOutcome::Pass,
        (TestKind::Required | TestKind::Optimal, Some(TestOutcome::Pass)) => true,
        (TestKind::Check, Some(_)) => true,
        _ => false,
    }
}

impl ExpectedResult {
    fn parse(line: &str) -> Result<ExpectedResult> {
        let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
        let [id, kind, outcome, reason] = cells[..] else {
            anyhow::bail!("expected test, kind, result and reason, found `{line}`");
        };
        let found = TestOutcome::ALL.into_iter().find(|one| one.name() == outcome);
        let outcome = found.with_context(|| format!("`{outcome}` is not a result: `{line}`"))?;
        let id = id.trim_matches('`').to_owned();
        let reason = reason.to_owned();
        Ok(ExpectedResult { id, kind: TestKind::try_from(kind)?, outcome, reason })
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = |outcome: &Option<TestOutcome>| outcome.map_or("nothing", TestOutcome::name);
        match self {
            Difference::Worse { id, expected, found } => {
                write!(f, "FAILED {id}: expected {}, found {}", name(expected), found.name())
            }
            Difference::Other { id, expected, found: None } => {
                write!(f, "differs {id}: expected {}, but this suite does not contain it", name(expected))
            }
            Difference::Other { id, expected, found } => {
                write!(
                    f,
                    "differs {id}: expected {}, found {}; record it with `--write`",
                    name(expected),
                    name(found)
                )
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::EXPECTED;
    use super::*;
    use crate::shell::root;

    const TEXT: &str = "# Title\n\nText.\n\n## All tests\n\n\
                        | test | kind | result | reason for the deviation |\n|---|---|---|---|\n\
                        | `a` | required | pass | |\n| `b` | optimal | fail | by choice |\n| `c` | check | no | |\n";

    fn found(outcomes: &[(&str, TestKind, TestOutcome)]) -> Vec<(SuiteTest, TestOutcome)> {
        let test = |id: &str, kind| SuiteTest {
            id: id.to_owned(),
            part: String::new(),
            kind,
            depends_on: Vec::new(),
        };
        outcomes.iter().map(|(id, kind, outcome)| (test(id, *kind), *outcome)).collect()
    }

    #[test]
    fn the_document_round_trips() {
        let expected = ExpectedResults::parse(TEXT).unwrap();
        assert_eq!((expected.rows.len(), expected.write().as_str()), (3, TEXT));
        assert_eq!(expected.rows[1].reason, "by choice");
        for line in ["| `a` | required | pass |", "| `a` | required | good | |", "| `a` | x | pass | |"] {
            assert!(ExpectedResults::parse(line).is_err(), "{line}");
        }
    }

    #[test]
    fn failures_are_distinguished_from_other_differences() {
        use TestKind::{Check, Optimal, Required};
        use TestOutcome::{Fail, No, Pass, Setup, Yes};
        let expected = ExpectedResults::parse(TEXT).unwrap();
        let of = |outcomes: &[(&str, TestKind, TestOutcome)]| {
            let all = expected.differences(&found(outcomes));
            all.iter().map(ToString::to_string).collect::<Vec<_>>()
        };
        assert_eq!(of(&[("a", Required, Pass), ("b", Optimal, Fail), ("c", Check, No)]), [""; 0]);
        assert_eq!(
            of(&[("a", Required, Setup), ("b", Optimal, Pass), ("c", Check, Yes), ("d", Required, Fail)]),
            [
                "FAILED a: expected pass, found setup failed",
                "differs b: expected fail, found pass; record it with `--write`",
                "FAILED c: expected no, found yes",
                "FAILED d: expected nothing, found fail",
            ]
        );
        assert_eq!(
            of(&[("a", Required, Pass), ("b", Optimal, Fail), ("e", Optimal, Fail), ("f", Required, Pass)]),
            [
                "differs e: expected nothing, found fail; record it with `--write`",
                "differs f: expected nothing, found pass; record it with `--write`",
                "differs c: expected no, but this suite does not contain it",
            ]
        );
    }

    #[test]
    fn reasons_stay_with_their_tests_and_missing_ones_are_marked() {
        let new = found(&[
            ("b", TestKind::Optimal, TestOutcome::Fail),
            ("a", TestKind::Required, TestOutcome::Fail),
        ]);
        let renewed = ExpectedResults::parse(TEXT).unwrap().renewed(&new, "1");
        assert_eq!(renewed.introduction, "# Title\n\nText.");
        let reasons: Vec<_> = renewed.rows.iter().map(|row| row.reason.as_str()).collect();
        assert_eq!(reasons, ["by choice", NO_REASON]);
    }

    #[test]
    fn every_deviation_has_a_reason() {
        let text = std::fs::read_to_string(root().join(EXPECTED)).unwrap();
        let expected = ExpectedResults::parse(&text).unwrap();
        assert_eq!(expected.write(), text, "the document is as `--write` writes it");
        assert!(300 < expected.rows.len(), "{}", expected.rows.len());
        for row in &expected.rows {
            let has_reason = !row.reason.is_empty() && row.reason != NO_REASON;
            assert_eq!(has_reason, needs_reason(row.kind, row.outcome), "{row:?}");
        }
    }
}
