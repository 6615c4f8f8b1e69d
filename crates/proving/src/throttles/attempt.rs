//! The result of one run of Plimsoll, read from its JSON.

use std::process::{Command, Output};

use anyhow::{Context, Result, ensure};
use serde_json::{Map, Value};

use crate::shell::line;

/// The result of a throttle that this machine's kernel does not enforce.
pub(super) const LEFT_OUT: &str = "left out, not enforced here";

/// Reasons why a run is refused before load begins, by a part of the error, and the bottleneck that this is: without ports
/// for its connections, the generator does not begin; without sessions, the users of a database do not.
const REFUSALS: [(&str, &str); 2] =
    [("error: local ports: ", "generator"), (" has too few connections: ", "connection limit")];

/// The result of one attempt, for a load point.
#[derive(Debug)]
pub(super) struct Attempt {
    /// The bottleneck that was reported.
    pub named: String,
    /// The evidence for it; all known indicators if there is none.
    pub evidence: String,
    /// All known indicators, by their names.
    pub indicators: Map<String, Value>,
    /// Whether the load point is valid.
    pub is_valid: bool,
    /// The rules that the run broke.
    pub rules: Vec<String>,
    /// The rate in operations per second.
    pub rate: f64,
}

impl Attempt {
    /// Runs a command of Plimsoll that prints JSON; the last load point counts.
    ///
    /// # Errors
    /// The command cannot be started, prints no result, or its memory limit does not bind.
    pub(super) fn of(command: &mut Command) -> Result<Attempt> {
        let output = command.output().with_context(|| format!("cannot start `{}`", line(command)))?;
        let said = String::from_utf8_lossy(&output.stderr);
        if said.contains("server not limited") || said.contains("cannot enforce the") {
            return Ok(Attempt::without_run(LEFT_OUT, said.into_owned()));
        }
        if let Some((named, why)) = refusal(&said) {
            return Ok(Attempt::without_run(named, format!("refused: {why}")));
        }
        let points = Attempt::of_each_point(&printed_run(command, &output)?)?;
        points.into_iter().next_back().context("no load point")
    }

    /// Makes the result of a run whose load did not begin.
    pub(super) fn without_run(named: &str, evidence: String) -> Attempt {
        Attempt {
            named: named.to_owned(),
            evidence,
            indicators: Map::new(),
            is_valid: false,
            rules: Vec::new(),
            rate: 0.0,
        }
    }

    /// Reads the results of all load points of a run from its JSON.
    pub(super) fn of_each_point(run: &Value) -> Result<Vec<Attempt>> {
        let points = run["load_points"].as_array().context("no load points")?;
        let rules = rules_of(run);
        let of = |point: &Value| Attempt {
            named: point["bottleneck"]["name"].as_str().unwrap_or("not watched").to_owned(),
            evidence: evidence(&point["bottleneck"]),
            indicators: point["bottleneck"]["signs"].as_object().cloned().unwrap_or_default(),
            is_valid: point["verdict"]["state"] == "valid",
            rules: rules.clone(),
            rate: point["rate_per_s"].as_f64().unwrap_or(0.0),
        };
        Ok(points.iter().map(of).collect())
    }
}

/// Returns the JSON of a run that a command has printed; of one that is compared with others, the first.
///
/// # Errors
/// It printed no JSON, or the memory limit did not bind.
pub(super) fn printed_run(command: &Command, output: &Output) -> Result<Value> {
    let said = String::from_utf8_lossy(&output.stderr);
    // A server that is not throttled has no bottleneck to report; that is a different error from a wrong result.
    ensure!(!said.contains("memory does not bind"), "the memory limit does not bind: {said}");
    let mut printed: Value = serde_json::from_slice(&output.stdout)
        .with_context(|| format!("`{}` printed no JSON: {said}", line(command)))?;
    let first = printed.get_mut("runs").and_then(|runs| runs.get_mut(0)).map(Value::take);
    Ok(first.unwrap_or(printed))
}

/// Returns the bottleneck by which a run was refused, with the error; `None` of any other run.
fn refusal(said: &str) -> Option<(&'static str, &str)> {
    let mut errors = said.lines().filter_map(|line| Some((line, line.strip_prefix("error: ")?)));
    errors.find_map(|(line, why)| {
        let known = REFUSALS.iter().find(|(part, _)| line.contains(part));
        known.map(|(_, named)| (*named, why))
    })
}

/// Returns the rules behind a run's verdict, from its JSON.
pub fn rules_of(run: &Value) -> Vec<String> {
    let reasons = run["verdict"]["reasons"].as_array().into_iter().flatten();
    reasons.filter_map(|reason| Some(reason["rule"].as_str()?.to_owned())).collect()
}

/// Returns the evidence for a bottleneck; all known indicators if there is none.
fn evidence(bottleneck: &Value) -> String {
    let found = bottleneck["evidence"].as_array().map(Vec::as_slice).unwrap_or_default();
    let named = found.iter().filter_map(|one| Some((one["sign"].as_str()?, one["value"].as_f64()?)));
    let mut texts: Vec<String> = named.map(|(sign, value)| format!("{sign} {value:.3}")).collect();
    if texts.is_empty() {
        let signs = bottleneck["signs"].as_object().into_iter().flatten();
        texts = signs.map(|(sign, value)| format!("{sign} {:.3}", value.as_f64().unwrap_or(0.0))).collect();
    }
    texts.join(", ")
}

#[cfg(test)]
mod tests {
    use std::process::ExitStatus;

    use super::*;

    #[test]
    fn every_load_point_of_a_run_has_a_result() {
        let point = |name: &str, state: &str| {
            let signs = serde_json::json!({ "processor use": 0.5 });
            serde_json::json!({ "bottleneck": { "name": name, "signs": signs }, "verdict": { "state": state },
                "rate_per_s": 10.0 })
        };
        let points = [point("none", "valid"), point("generator", "invalid")];
        let run = serde_json::json!({ "load_points": points,
            "verdict": { "reasons": [{ "rule": "generator-busy" }] } });
        let stdout = serde_json::json!({ "runs": [run] }).to_string().into_bytes();
        let output = Output { status: ExitStatus::default(), stdout, stderr: Vec::new() };
        let read = Attempt::of_each_point(&printed_run(&Command::new("plimsoll"), &output).unwrap()).unwrap();
        let told: Vec<(&str, bool)> = read.iter().map(|one| (&*one.named, one.is_valid)).collect();
        assert_eq!(told, [("none", true), ("generator", false)]);
        assert_eq!((read[1].evidence.as_str(), read[1].rate), ("processor use 0.500", 10.0));
        assert_eq!(read[0].rules, ["generator-busy"]);
        let refused = Output { stderr: b"error: memory does not bind".to_vec(), ..output };
        assert!(printed_run(&Command::new("plimsoll"), &refused).is_err());
    }

    #[test]
    fn refused_runs_name_their_bottleneck() {
        let ports = "warning: a\nerror: local ports: 5 for 9 connections\nhint: b";
        assert_eq!(refusal(ports), Some(("generator", "local ports: 5 for 9 connections")));
        let full =
            "error: x has too few connections: its `max_connections` of 100 leaves 97 for the 120 users";
        assert_eq!(refusal(full).map(|(named, _)| named), Some("connection limit"));
        assert_eq!(refusal("hint: x has too few connections: y\nerror: something else"), None);
    }
}
