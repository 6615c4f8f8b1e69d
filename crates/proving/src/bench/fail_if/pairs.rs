//! Pairs of sides, and what `compare --fail-if` says of them.

use std::fmt;
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use super::server::{Work, start};
use crate::bench::harness::Case;
use crate::shell::line;

/// The bounds of every comparison.
pub(super) const BOUNDS: [&str; 2] = ["rate<-5%", "cpu>+5%"];

/// Pairs of one kind.
#[derive(Debug)]
pub(in crate::bench) struct PairKind {
    /// The factor by which a page takes more CPU time afterwards.
    pub times: f64,
    /// Number of runs per side.
    pub runs: u32,
    /// Whether the comparison should find the bounds exceeded.
    pub is_slower: bool,
}

/// All cases.
pub(super) const CASES: [Case<PairKind>; 3] = [
    Case::new(&["identical"], "identical code", PairKind { times: 1.0, runs: 1, is_slower: false }),
    Case::new(&["slower-40"], "40 % more time per page", PairKind { times: 1.4, runs: 1, is_slower: true }),
    Case::new(&["slower-15"], "15 % more time per page", PairKind { times: 1.15, runs: 3, is_slower: true }),
];

/// The outcome of a bound that a comparison cannot judge.
pub(super) const NOT_MEASURED: &str = "not-measured";

/// Maximum number of times that a pair is measured again because one of its runs was invalid, as by other programs.
const AGAIN_MAX: u32 = 2;

/// The requirements of runs.
#[derive(Debug)]
pub(super) struct PairSetup {
    /// The program.
    pub plimsoll: PathBuf,
    /// A folder for run files.
    pub folder: PathBuf,
    /// Length of a steady phase in s.
    pub seconds: u32,
    /// The port of all servers: a deployment keeps the address.
    pub port: u16,
}

/// The outcomes of one comparison.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::bench) struct Pair {
    /// An outcome for each bound: `exceeded`.
    pub outcomes: Vec<String>,
    /// The ratio of rates; `None` if it was not measured.
    pub ratio: Option<f64>,
    /// Number of comparisons before this one that could not judge a bound.
    pub again: u32,
}

impl PairSetup {
    /// Returns what a pair says, which is measured again while a run is invalid: `compare` ended with 3, and so would the
    /// CI job, which is then started again.
    pub(super) fn pair(&self, kind: &PairKind, work: &Work) -> Result<Pair> {
        let mut pair = self.measured(kind, work)?;
        while pair.has(NOT_MEASURED) && pair.again < AGAIN_MAX {
            pair = Pair { again: pair.again + 1, ..self.measured(kind, work)? };
        }
        Ok(pair)
    }

    /// Runs both sides, each with a process of its own on the same port, and compares them.
    fn measured(&self, kind: &PairKind, work: &Work) -> Result<Pair> {
        for side in ["before", "after"] {
            let times = if side == "before" { 1.0 } else { kind.times };
            self.run(side, work.rounds(times), kind.runs)?;
        }
        let mut command = Command::new(&self.plimsoll);
        command.current_dir(&self.folder).args(["compare", "before", "after", "--json"]);
        BOUNDS.iter().for_each(|bound| {
            command.args(["--fail-if", bound]);
        });
        Pair::of(&json(&mut command)?)
    }

    /// Loads a new process of the server, and returns the last run; its file goes to the folder `side`.
    pub(super) fn run(&self, side: &str, rounds: f64, runs: u32) -> Result<Value> {
        let folder = self.folder.join(side);
        if folder.exists() {
            std::fs::remove_dir_all(&folder)?;
        }
        std::fs::create_dir(&folder)?;
        let _server = start(&self.folder, self.port, rounds)?;
        let url = format!("http://127.0.0.1:{}/", self.port);
        let seconds = format!("{}s", self.seconds);
        let mut command = Command::new(&self.plimsoll);
        command.current_dir(&self.folder).args(["run", &url, "-c", "20", "--duration", &seconds, "--json"]);
        command.args(["--label", side, "--repeat", &runs.to_string(), "--out"]);
        command.arg(if runs == 1 { folder.join("run.plim") } else { folder });
        json(&mut command)
    }
}

/// Returns what a command prints as JSON, whatever its exit code.
fn json(command: &mut Command) -> Result<Value> {
    let output = command.output().with_context(|| format!("cannot start `{}`", line(command)))?;
    let error = String::from_utf8_lossy(&output.stderr);
    ensure!(!output.stdout.is_empty(), "`{}` ended with {}: {error}", line(command), output.status);
    serde_json::from_slice(&output.stdout).with_context(|| line(command))
}

impl Pair {
    /// Reads a comparison.
    fn of(comparison: &Value) -> Result<Pair> {
        let bounds = comparison["bounds"].as_array().context("a comparison without bounds")?;
        let outcome = |bound: &Value| Some(bound["outcome"].as_str()?.to_owned());
        let outcomes: Option<Vec<String>> = bounds.iter().map(outcome).collect();
        let ratio = bounds.first().and_then(|bound| bound["ratio"].as_f64());
        Ok(Pair { outcomes: outcomes.context("a bound without an outcome")?, ratio, again: 0 })
    }

    /// Returns whether any bound has this outcome.
    pub(super) fn has(&self, outcome: &str) -> bool {
        self.outcomes.iter().any(|one| one == outcome)
    }
}

impl fmt::Display for Pair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ratio = self.ratio.map_or("–".to_owned(), |ratio| format!("{ratio:.3}"));
        write!(f, "rate × {ratio}; {}", self.outcomes.join(", "))?;
        if self.again > 0 { write!(f, "; measured again {} ×", self.again) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_pair_has_the_outcomes_of_its_bounds() {
        let bound = |outcome: &str| json!({ "outcome": outcome, "ratio": 0.71 });
        let pair = Pair::of(&json!({ "bounds": [bound("exceeded"), bound("undecided")] })).unwrap();
        assert!(pair.has("exceeded") && pair.has("undecided") && !pair.has("kept"));
        assert_eq!(pair.to_string(), "rate × 0.710; exceeded, undecided");
        let again = Pair { again: 2, ..pair };
        assert_eq!(again.to_string(), "rate × 0.710; exceeded, undecided; measured again 2 ×");
        assert!(Pair::of(&json!({})).is_err());
    }
}
