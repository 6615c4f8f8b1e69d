//! What is expected of each test: a table that people read too.

use std::collections::BTreeMap;
use std::fmt;

use anyhow::{Context, Result};

use super::outcome::{Kind, Outcome, Test};

/// What a line of the table begins with.
const ROW: &str = "| `";

/// What stands in the place of a reason that nobody has written yet.
const NO_REASON: &str = "**no reason is given**";

/// What is expected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Expected {
    /// What stands before the table.
    introduction: String,
    /// The rows, in the order of the suite.
    rows: Vec<Row>,
}

/// What is expected of one test.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// The test.
    pub id: String,
    /// How binding it is.
    pub kind: Kind,
    /// What comes of it.
    pub outcome: Outcome,
    /// Why it is not what the suite wants; empty if it is.
    pub reason: String,
}

/// What is not as expected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Difference {
    /// A failure.
    Worse {
        /// The test.
        id: String,
        /// What was expected; `None` if it is in no row.
        expected: Option<Outcome>,
        /// What came of it.
        found: Outcome,
    },
    /// To be written down.
    Other {
        /// The test.
        id: String,
        /// As above.
        expected: Option<Outcome>,
        /// As above; `None` if the suite does not have the test.
        found: Option<Outcome>,
    },
}

impl Expected {
    /// Reads the table out of its document; an empty text has no rows.
    ///
    /// # Errors
    /// A row with another number of cells, or with words that are not known.
    pub fn parse(text: &str) -> Result<Expected> {
        let lines = text.lines();
        let rows = lines.filter(|line| line.starts_with(ROW)).map(Row::parse).collect::<Result<_>>()?;
        let introduction = text.split("\n## All tests\n").next().unwrap_or_default().trim_end().to_owned();
        Ok(Expected { introduction, rows })
    }

    /// Writes the document.
    pub fn write(&self) -> String {
        let rows = self.rows.iter().map(|row| {
            let Row { id, kind, outcome, reason } = row;
            format!("{ROW}{id}` | {} | {} | {reason} |\n", kind.name(), outcome.name()).replace("|  |", "| |")
        });
        format!(
            "{}\n\n## All tests\n\n| test | kind | result | reason for the deviation |\n|---|---|---|---|\n{}",
            self.introduction,
            rows.collect::<String>()
        )
    }

    /// Returns the same with what was found; reasons stay with their tests.
    pub fn renewed(&self, found: &[(Test, Outcome)], version: &str) -> Expected {
        let reasons: BTreeMap<&str, &str> =
            self.rows.iter().map(|row| (row.id.as_str(), row.reason.as_str())).collect();
        let rows = found.iter().map(|(test, outcome)| {
            let known = reasons.get(test.id.as_str()).copied().filter(|reason| !reason.is_empty());
            let reason = if needs_reason(test.kind, *outcome) { known.unwrap_or(NO_REASON) } else { "" };
            Row { id: test.id.clone(), kind: test.kind, outcome: *outcome, reason: reason.to_owned() }
        });
        let introduction = match self.introduction.is_empty() {
            true => format!(
                "# Conformance of the accelerator with the public cache tests\n\n`http-cache-tests` {version}"
            ),
            false => self.introduction.clone(),
        };
        Expected { introduction, rows: rows.collect() }
    }

    /// Compares with what was found.
    pub fn differences(&self, found: &[(Test, Outcome)]) -> Vec<Difference> {
        let rows: BTreeMap<&str, &Row> = self.rows.iter().map(|row| (row.id.as_str(), row)).collect();
        let mut differences = Vec::new();
        for (test, found) in found {
            let expected = rows.get(test.id.as_str()).map(|row| row.outcome);
            if expected == Some(*found) {
                continue;
            }
            let (id, found) = (test.id.clone(), *found);
            differences.push(match is_worse(test.kind, expected, found) {
                true => Difference::Worse { id, expected, found },
                false => Difference::Other { id, expected, found: Some(found) },
            });
        }
        let is_found = |row: &&Row| found.iter().any(|(test, _)| test.id == row.id);
        let gone = self.rows.iter().filter(|row| !is_found(row));
        differences.extend(gone.map(|row| Difference::Other {
            id: row.id.clone(),
            expected: Some(row.outcome),
            found: None,
        }));
        differences
    }
}

/// Tells whether an outcome has to be explained.
fn needs_reason(kind: Kind, outcome: Outcome) -> bool {
    kind != Kind::Check && outcome != Outcome::Pass
}

/// Tells whether what was found is a failure: what should pass does not, or a question has another answer.
fn is_worse(kind: Kind, expected: Option<Outcome>, found: Outcome) -> bool {
    match (kind, expected) {
        (Kind::Required, None) => found != Outcome::Pass,
        (Kind::Required | Kind::Optimal, Some(Outcome::Pass)) => true,
        (Kind::Check, Some(_)) => true,
        _ => false,
    }
}

impl Row {
    fn parse(line: &str) -> Result<Row> {
        let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
        let [id, kind, outcome, reason] = cells[..] else {
            anyhow::bail!("expected test, kind, result and reason, found `{line}`");
        };
        let found = Outcome::ALL.into_iter().find(|one| one.name() == outcome);
        let outcome = found.with_context(|| format!("`{outcome}` is no result: `{line}`"))?;
        let (id, reason) = (id.trim_matches('`').to_owned(), reason.to_owned());
        Ok(Row { id, kind: Kind::try_from(kind)?, outcome, reason })
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = |outcome: &Option<Outcome>| outcome.map_or("nothing", Outcome::name);
        match self {
            Difference::Worse { id, expected, found } => {
                write!(f, "FAILED {id}: expected {}, found {}", name(expected), found.name())
            }
            Difference::Other { id, expected, found: None } => {
                write!(f, "differs {id}: expected {}, and this suite does not have it", name(expected))
            }
            Difference::Other { id, expected, found } => {
                write!(
                    f,
                    "differs {id}: expected {}, found {}; `--write` takes note",
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

    fn found(outcomes: &[(&str, Kind, Outcome)]) -> Vec<(Test, Outcome)> {
        let test =
            |id: &str, kind| Test { id: id.to_owned(), part: String::new(), kind, depends_on: Vec::new() };
        outcomes.iter().map(|(id, kind, outcome)| (test(id, *kind), *outcome)).collect()
    }

    #[test]
    fn the_document_is_read_as_it_was_written() {
        let expected = Expected::parse(TEXT).unwrap();
        assert_eq!((expected.rows.len(), expected.write().as_str()), (3, TEXT));
        assert_eq!(expected.rows[1].reason, "by choice");
        for line in ["| `a` | required | pass |", "| `a` | required | good | |", "| `a` | x | pass | |"] {
            assert!(Expected::parse(line).is_err(), "{line}");
        }
    }

    #[test]
    fn what_is_worse_than_expected_is_told_from_what_only_differs() {
        use Kind::{Check, Optimal, Required};
        use Outcome::{Fail, No, Pass, Setup, Yes};
        let expected = Expected::parse(TEXT).unwrap();
        let of = |outcomes: &[(&str, Kind, Outcome)]| {
            let all = expected.differences(&found(outcomes));
            all.iter().map(ToString::to_string).collect::<Vec<_>>()
        };
        assert_eq!(of(&[("a", Required, Pass), ("b", Optimal, Fail), ("c", Check, No)]), [""; 0]);
        assert_eq!(
            of(&[("a", Required, Setup), ("b", Optimal, Pass), ("c", Check, Yes), ("d", Required, Fail)]),
            [
                "FAILED a: expected pass, found setup failed",
                "differs b: expected fail, found pass; `--write` takes note",
                "FAILED c: expected no, found yes",
                "FAILED d: expected nothing, found fail",
            ]
        );
        assert_eq!(
            of(&[("a", Required, Pass), ("b", Optimal, Fail), ("e", Optimal, Fail), ("f", Required, Pass)]),
            [
                "differs e: expected nothing, found fail; `--write` takes note",
                "differs f: expected nothing, found pass; `--write` takes note",
                "differs c: expected no, and this suite does not have it",
            ]
        );
    }

    #[test]
    fn reasons_stay_with_their_tests_and_missing_ones_are_seen() {
        let new = found(&[("b", Kind::Optimal, Outcome::Fail), ("a", Kind::Required, Outcome::Fail)]);
        let renewed = Expected::parse(TEXT).unwrap().renewed(&new, "1");
        assert_eq!(renewed.introduction, "# Title\n\nText.");
        let reasons: Vec<_> = renewed.rows.iter().map(|row| row.reason.as_str()).collect();
        assert_eq!(reasons, ["by choice", NO_REASON]);
    }

    #[test]
    fn every_deviation_has_its_reason() {
        let text = std::fs::read_to_string(root().join(EXPECTED)).unwrap();
        let expected = Expected::parse(&text).unwrap();
        assert_eq!(expected.write(), text, "the document is as `--write` writes it");
        assert!(300 < expected.rows.len(), "{}", expected.rows.len());
        for row in &expected.rows {
            let has_reason = !row.reason.is_empty() && row.reason != NO_REASON;
            assert_eq!(has_reason, needs_reason(row.kind, row.outcome), "{row:?}");
        }
    }
}
