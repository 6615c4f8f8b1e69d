//! The record of tried cases: one line of JSON each, the last of a case counts.

use std::fmt::Display;
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::Path;

use anyhow::{Context, Result};
use serde_json::{Value, json};

use super::case::SampleCase;
use super::proof::CaseProof;
use crate::throttles::attempt::Attempt;

/// A case of a set, with a name of its own.
pub(super) trait RecordedCase: Display {
    /// Tries the case and its proof; returns the line for the record, which tells an error, too.
    fn try_for_record(&self, plimsoll: &Path) -> Value;
}

/// The result of a case, as it is recorded.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct CaseResult {
    /// The bottleneck that was named; empty if the case could not be tried.
    pub named: String,
    /// Its evidence, or why the case could not be tried.
    pub evidence: String,
    /// Whether the proof held.
    pub is_proven: bool,
    /// The rate, and the rate with the named resource relaxed.
    pub rates: [f64; 2],
    /// The greatest rate with another resource relaxed.
    pub other_rate: f64,
}

/// Makes the line of a case.
pub(super) fn line_of(case: &SampleCase, tried: &Result<(Attempt, CaseProof)>) -> Value {
    match tried {
        Ok((attempt, proof)) => json!({
            "case": case.to_string(),
            "named": attempt.named,
            "right": case.is_right(&attempt.named),
            "right_names": case.kind.right_names(),
            "valid": attempt.is_valid,
            "evidence": attempt.evidence,
            "indicators": attempt.indicators,
            "proof": proof.json(),
        }),
        Err(error) => json!({ "case": case.to_string(), "error": format!("{error:#}") }),
    }
}

/// Appends a line.
pub(super) fn append(path: &Path, line: &Value) -> Result<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    let mut file = OpenOptions::new().create(true).append(true).open(path)?;
    writeln!(file, "{line}").with_context(|| path.display().to_string())
}

/// Returns the line of a case in words; those of the load points of a moving case stand before its own.
pub(super) fn said(line: &Value) -> String {
    let text = |key: &str| line[key].as_str().unwrap_or_default();
    if line.get("error").is_some() {
        return format!("{}: not tried: {}", text("case"), text("error"));
    }
    let phases = line["phases"].as_array().into_iter().flatten().map(|phase| format!("  {}\n", said(phase)));
    let word = match (line["proof"]["holds"] == true, line["right"] == true) {
        (false, _) => "unproven",
        (true, true) => "right",
        (true, false) => "WRONG",
    };
    let found = match line.get("sentence") {
        Some(_) => text("sentence").to_owned(),
        None => format!("{} ({}); {}", text("named"), text("evidence"), line["proof"]),
    };
    format!("{}{word}  {}: {found}", phases.collect::<String>(), text("case"))
}

/// Copies the last line of each case that was tried, in the order of the cases.
///
/// # Errors
/// A file cannot be read or written.
pub(super) fn copy_last_lines(from: &Path, to: &Path, cases: &[impl RecordedCase]) -> Result<()> {
    let lines = last_lines(from, cases)?;
    let text: String = lines.iter().flatten().map(|line| format!("{line}\n")).collect();
    fs::write(to, text).with_context(|| to.display().to_string())
}

/// Reads the last line of each case; lines of other sets do not count.
///
/// # Errors
/// The file cannot be read, or holds something else than JSON lines.
pub(super) fn last_lines(path: &Path, cases: &[impl RecordedCase]) -> Result<Vec<Option<Value>>> {
    let mut found = vec![None; cases.len()];
    if !path.exists() {
        return Ok(found);
    }
    let names: Vec<String> = cases.iter().map(ToString::to_string).collect();
    for text in fs::read_to_string(path)?.lines() {
        let line: Value = serde_json::from_str(text).with_context(|| path.display().to_string())?;
        if let Some(place) = names.iter().position(|name| line["case"] == name.as_str()) {
            found[place] = Some(line);
        }
    }
    Ok(found)
}

impl CaseResult {
    /// Reads the line of a case, or of a load point of a moving case.
    pub(super) fn of(line: &Value) -> CaseResult {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let number = |value: &Value| value.as_f64().unwrap_or(0.0);
        let proof = &line["proof"];
        let others = proof["others"].as_object().into_iter().flatten().map(|(_, rate)| number(rate));
        CaseResult {
            named: text(&line["named"]),
            evidence: text(line.get("error").unwrap_or(&line["evidence"])),
            is_proven: proof["holds"] == true,
            rates: [number(&proof["rate"]), number(&proof["relaxed"])],
            other_rate: others.fold(0.0, f64::max),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::case::{SEED, sample};
    use super::super::kind::ThrottleKind;
    use super::*;

    #[test]
    fn the_last_line_of_a_case_counts_and_errors_are_unproven() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("new/record.jsonl");
        let sample = sample(SEED);
        let read = |path: &Path, cases: &[SampleCase]| -> Result<Vec<Option<CaseResult>>> {
            let lines = last_lines(path, cases)?;
            Ok(lines.iter().map(|line| line.as_ref().map(CaseResult::of)).collect())
        };
        assert_eq!(read(&path, &sample).unwrap(), vec![None; sample.len()]);
        append(&path, &line_of(&sample[0], &Err(anyhow::anyhow!("no disk")))).unwrap();
        append(&path, &json!({ "case": "007 of another sample" })).unwrap();
        let first = read(&path, &sample).unwrap()[0].clone().unwrap();
        assert_eq!((first.is_proven, first.named.as_str(), first.evidence.as_str()), (false, "", "no disk"));
        let indicators = json!({ "processor use": 1.0 }).as_object().unwrap().clone();
        let attempt =
            Attempt { indicators, ..Attempt::without_run("processor", "processor use 1.0".to_owned()) };
        let proof = CaseProof { rate: 10.0, relaxed: 20.0, others: vec![(ThrottleKind::WorkerPool, 10.5)] };
        append(&path, &line_of(&sample[0], &Ok((attempt, proof)))).unwrap();
        let results = read(&path, &sample).unwrap();
        let first = results[0].clone().unwrap();
        assert!(first.is_proven);
        assert_eq!((first.rates, first.other_rate, first.named.as_str()), ([10.0, 20.0], 10.5, "processor"));
        assert!(results[1..].iter().all(Option::is_none));
        let copy = folder.path().join("copy.jsonl");
        copy_last_lines(&path, &copy, &sample).unwrap();
        let copied: Value = serde_json::from_str(&fs::read_to_string(&copy).unwrap()).unwrap();
        assert_eq!(copied["case"], sample[0].to_string());
        assert_eq!(copied["indicators"]["processor use"], 1.0);
    }

    #[test]
    fn lines_are_told_in_words() {
        let sample = sample(SEED);
        let proof = |relaxed| CaseProof { rate: 10.0, relaxed, others: vec![] };
        let line = |named: &str, relaxed| {
            line_of(&sample[0], &Ok((Attempt::without_run(named, "x 1.0".to_owned()), proof(relaxed))))
        };
        let name = sample[0].to_string();
        assert!(said(&line("network", 20.0)).starts_with(&format!("right  {name}: network (x 1.0); {{")));
        assert!(said(&line("none", 20.0)).starts_with("WRONG  "));
        assert!(said(&line("network", 11.0)).starts_with("unproven  "));
        let failed = line_of(&sample[0], &Err(anyhow::anyhow!("no disk")));
        assert_eq!(said(&failed), format!("{name}: not tried: no disk"));
        let phases = [line("network", 20.0)];
        let moving = json!({ "case": "01 x", "sentence": "network-bound", "right": true, "proof": { "holds": true },
            "phases": phases });
        let told = said(&moving);
        assert!(told.starts_with("  right  0") && told.ends_with("}\nright  01 x: network-bound"), "{told}");
    }
}
