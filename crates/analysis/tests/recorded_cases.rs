//! The rules for bottlenecks on the recorded cases of the throttle samples: servers that were held back on purpose, each with
//! the indicators of its run.

use std::fs;
use std::path::Path;

use analysis::attribute::{Bottleneck, CAUSES, Indicator, Indicators};
use serde_json::Value;

/// The samples with recorded indicators. Source: `cargo xtask throttles --sample --seed N --write`, and `--moving`.
const SAMPLES: [&str; 3] = ["throttle-sample-18.jsonl", "throttle-sample-19.jsonl", "throttle-moving.jsonl"];

/// The least number of cases that say something about the rules.
const CASES_MIN: usize = 60;

/// A case whose proof held and whose load began.
struct RecordedCase {
    name: String,
    right_names: Vec<String>,
    was_right: bool,
    indicators: Indicators,
}

impl RecordedCase {
    /// Reads a line of a record: a case, or the load points of one whose bottleneck moves, as cases of their own. Those that say
    /// nothing about the rules are left out.
    fn read(line: &str) -> Vec<RecordedCase> {
        let line: Value = serde_json::from_str(line).unwrap();
        match line["phases"].as_array() {
            Some(phases) => phases.iter().filter_map(RecordedCase::of).collect(),
            None => RecordedCase::of(&line).into_iter().collect(),
        }
    }

    fn of(line: &Value) -> Option<RecordedCase> {
        let found = line["indicators"].as_object().filter(|found| !found.is_empty())?;
        if line["proof"]["holds"] != true {
            return None;
        }
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        let indicator = |(name, value): (&String, &Value)| {
            let known = Indicator::ALL.iter().find(|one| one.name() == name);
            let known =
                known.unwrap_or_else(|| panic!("`{name}` is no indicator any more: rename it in the record"));
            (*known, value.as_f64().unwrap())
        };
        Some(RecordedCase {
            name: text(&line["case"]),
            right_names: line["right_names"].as_array().unwrap().iter().map(text).collect(),
            was_right: line["right"].as_bool().unwrap(),
            indicators: found.iter().map(indicator).collect(),
        })
    }

    fn named(&self) -> &'static str {
        let cause = CAUSES.iter().find(|cause| cause.holds(&self.indicators));
        cause.map_or(Bottleneck::Undetermined, |cause| cause.bottleneck).name()
    }
}

/// Goal: a rule that mends one case and breaks others is noticed without hours of tries.
#[test]
fn no_recorded_case_loses_its_right_name() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/recorded");
    let read =
        |name: &str| fs::read_to_string(folder.join(name)).unwrap_or_else(|error| panic!("{name}: {error}"));
    let text: String = SAMPLES.map(read).concat();
    let cases: Vec<RecordedCase> = text.lines().flat_map(RecordedCase::read).collect();
    assert!(CASES_MIN <= cases.len(), "{} cases", cases.len());
    let is_lost =
        |case: &&RecordedCase| case.was_right && !case.right_names.iter().any(|name| name == case.named());
    let lost: Vec<String> =
        cases.iter().filter(is_lost).map(|case| format!("{}: {}", case.name, case.named())).collect();
    assert!(lost.is_empty(), "named wrong now: {lost:#?}");
}
