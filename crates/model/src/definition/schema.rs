//! The published JSON Schema of the definition language.
//!
//! The types here stand for how a value is written where the value itself has another shape in memory.

#![allow(dead_code, reason = "only the shape of these types is used")]

use schemars::transform::{RecursiveTransform, Transform};
use schemars::{JsonSchema, Schema};

use super::Definition;

/// Returns the JSON Schema (2020-12) of benchmark definitions.
pub fn definition_schema() -> Schema {
    let mut schema = schemars::schema_for!(Definition);
    RecursiveTransform(forbid_null).transform(&mut schema);
    schema
}

/// Takes out that a value may be null, which schemars says of every `Option`: TOML has no null.
fn forbid_null(schema: &mut Schema) {
    if let Some(types) = schema.get_mut("type").and_then(|types| types.as_array_mut()) {
        types.retain(|name| name != "null");
        let only = types.first().cloned().expect("no value is null alone");
        schema.insert("type".to_owned(), only);
    }
    let Some(choices) = schema.get_mut("anyOf").and_then(|choices| choices.as_array_mut()) else { return };
    choices.retain(|choice| choice["type"] != "null");
    if let [serde_json::Value::Object(only)] = choices.as_slice() {
        let only = only.clone();
        schema.remove("anyOf");
        only.into_iter().for_each(|(key, value)| _ = schema.insert(key, value));
    }
}

/// A time: a number and a unit (ns, us, ms, s, min, h), such as `600 s`; at most 30 days.
#[derive(JsonSchema)]
#[schemars(rename = "Time")]
pub(super) struct TimeText(#[schemars(regex(pattern = r"^[0-9.]+ ?(ns|us|µs|ms|s|min|h)$"))] String);

/// Load levels: a range with a step such as `10..200/10`, a list such as `1,2,5`, or both.
#[derive(JsonSchema)]
#[schemars(rename = "LoadLevels")]
pub(super) struct LoadText(#[schemars(regex(pattern = r"^[0-9]+[0-9., /]*$"))] String);

/// What is fetched: either `filelist` or `requests`.
#[derive(JsonSchema)]
#[schemars(rename = "Workload", rename_all = "kebab-case", deny_unknown_fields)]
pub(super) struct WorkloadTable {
    /// The files, their sizes and weights.
    filelist: Option<super::FilelistSource>,
    /// Seed of the files' content: a constant of the benchmark's version.
    #[schemars(range(max = 9_223_372_036_854_775_807u64))]
    content_seed: u64,
    /// Whether the benchmark counts pages besides requests.
    counts_pages: bool,
}

/// The load points: either `users` or `rate`.
#[derive(JsonSchema)]
#[schemars(rename = "Load", rename_all = "kebab-case", deny_unknown_fields)]
pub(super) struct LoadTable {
    /// Numbers of users of a closed loop.
    users: Option<LevelsText>,
    /// Operations per second of an open loop.
    rate: Option<LevelsText>,
}

/// Levels of load: one by one, or in equal steps up to a maximum that a run may choose.
#[derive(JsonSchema)]
#[schemars(rename = "Levels", untagged)]
pub(super) enum LevelsText {
    List(LoadText),
    Steps(StepsTable),
}

/// Levels in equal steps.
#[derive(JsonSchema)]
#[schemars(rename = "Steps", rename_all = "kebab-case", deny_unknown_fields)]
pub(super) struct StepsTable {
    /// How many levels.
    #[schemars(range(min = 1, max = 1000))]
    steps: u32,
    /// The highest level.
    max: f64,
}

/// The short form of a benchmark, for a first look. Phases that are left out are as in the full form.
#[derive(JsonSchema)]
#[schemars(rename = "Quick", rename_all = "kebab-case", deny_unknown_fields)]
pub(super) struct QuickTable {
    /// Numbers of users, if the full form has users.
    users: Option<LevelsText>,
    /// Operations per second, if the full form has a rate.
    rate: Option<LevelsText>,
    /// A pause before each load point.
    quiet: Option<TimeText>,
    /// Load rising.
    ramp_up: Option<TimeText>,
    /// Full load, not measured.
    settle: Option<TimeText>,
    /// Measured; above zero.
    steady: TimeText,
    /// Load falling.
    ramp_down: Option<TimeText>,
    /// The longest time in which operations in flight may finish afterwards.
    drain: Option<TimeText>,
}

/// Returns what stands for a protocol that says nothing of encryption.
pub(super) fn tls_off() -> crate::Tls {
    crate::Tls::Off
}

/// How long the phases of a load point are; those that are left out have no length.
#[derive(JsonSchema)]
#[schemars(rename = "Phases", rename_all = "kebab-case", deny_unknown_fields)]
pub(super) struct PhasesText {
    /// A pause before the load point.
    quiet: Option<TimeText>,
    /// Load rising.
    ramp_up: Option<TimeText>,
    /// Full load, not measured.
    settle: Option<TimeText>,
    /// Measured; above zero.
    steady: TimeText,
    /// Load falling.
    ramp_down: Option<TimeText>,
    /// The longest time in which operations in flight may finish afterwards; without it they are given up.
    drain: Option<TimeText>,
}

/// How long a connection lives.
#[derive(JsonSchema)]
#[schemars(rename = "Connection", untagged)]
pub(super) enum ConnectionText {
    Word(ConnectionWord),
    Limited(ConnectionLimits),
}

/// How long a connection lives.
#[derive(JsonSchema)]
#[schemars(rename_all = "kebab-case")]
pub(super) enum ConnectionWord {
    /// A new one for every request; the body ends with it.
    PerRequest,
    /// Kept until one side closes it.
    KeepAlive,
    /// Kept for sessions of SPECweb99's lengths.
    Sessions,
}

/// A connection that is kept within limits.
#[derive(JsonSchema)]
#[schemars(rename_all = "kebab-case", deny_unknown_fields)]
pub(super) struct ConnectionLimits {
    /// Kept until one side closes it or it has carried so many requests.
    keep_alive: KeepAliveText,
}

/// Limits of a kept connection.
#[derive(JsonSchema)]
#[schemars(rename = "KeepAlive", rename_all = "kebab-case", deny_unknown_fields)]
pub(super) struct KeepAliveText {
    /// Requests per connection at most; no limit if absent.
    #[schemars(range(min = 1))]
    requests_max: Option<u32>,
}

/// When the operations of an open loop fall due.
#[derive(JsonSchema)]
#[schemars(rename = "Arrivals", rename_all = "kebab-case")]
pub(super) enum ArrivalsText {
    /// At equal distances.
    Constant,
    /// At random, with exponential distances.
    Poisson,
}

/// Limits that the verdict of a load point depends on. Ratios are from 0 to 1.
#[derive(JsonSchema)]
#[schemars(rename = "Rules", rename_all = "kebab-case", deny_unknown_fields)]
pub(super) struct RulesText {
    /// Failed ÷ completed operations above which a load point is not valid.
    error_ratio_max: Option<RatioText>,
    /// Relative gap in N = X·(R + Z) above which a load point must explain itself.
    little_gap_max: Option<RatioText>,
    /// Busy part of the load CPUs from which the generator counts as the bottleneck.
    generator_busy_max: Option<RatioText>,
    /// 99th percentile of lateness above which the generator counts as the bottleneck (open loop).
    lateness_p99_max: Option<TimeText>,
    /// Time that load threads waited for a CPU, as a part of the run's length, above which the generator counts
    /// as the bottleneck.
    run_queue_ratio_max: Option<RatioText>,
    /// Part of its own CPU allowance from which the SUT counts as saturated.
    sut_saturated_min: Option<RatioText>,
    /// Fewest completed operations for which a load point's numbers mean anything.
    operations_min: Option<u64>,
    /// Delivered ÷ offered rate below which an open-loop load point is not valid.
    delivered_ratio_min: Option<RatioText>,
}

/// A ratio from 0 to 1.
#[derive(JsonSchema)]
#[schemars(rename = "Ratio")]
pub(super) struct RatioText(#[schemars(range(min = 0.0, max = 1.0))] f64);

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use toml::de::{DeTable, DeValue};

    use super::*;
    use crate::definition::parse::EVERY_KEY;

    /// Collects the keys of every table of a TOML text, by dotted path.
    fn keys(path: &str, table: &DeTable, found: &mut BTreeMap<String, Vec<String>>) {
        for (key, value) in table {
            found.entry(path.to_owned()).or_default().push(key.get_ref().to_string());
            if let DeValue::Table(inner) = value.get_ref() {
                keys(&format!("{path}/{}", key.get_ref()), inner, found);
            }
        }
    }

    /// Returns what a schema says after following its references.
    fn resolve<'a>(root: &'a serde_json::Value, schema: &'a serde_json::Value) -> Vec<&'a serde_json::Value> {
        let mut found = vec![schema];
        if let Some(name) = schema["$ref"].as_str() {
            found.extend(resolve(root, root.pointer(&name[1..]).expect("references lead somewhere")));
        }
        for any in ["anyOf", "oneOf"] {
            let choices = schema[any].as_array().into_iter().flatten();
            found.extend(choices.flat_map(|choice| resolve(root, choice)));
        }
        found
    }

    /// Collects the properties of every object of a schema, by path.
    fn properties(
        root: &serde_json::Value,
        path: &str,
        schema: &serde_json::Value,
        found: &mut BTreeMap<String, Vec<String>>,
    ) {
        for part in resolve(root, schema) {
            for (key, inner) in part["properties"].as_object().into_iter().flatten() {
                found.entry(path.to_owned()).or_default().push(key.clone());
                properties(root, &format!("{path}/{key}"), inner, found);
            }
            if part["properties"].is_object() {
                assert_eq!(part["additionalProperties"], false, "{path}");
            }
        }
    }

    /// Goal: the schema and the reading code, two lists of the same keys, stay the same. The definition with every
    /// key is read without complaint, and unknown keys are refused everywhere (tests of `parse`).
    #[test]
    fn the_schema_names_the_keys_that_are_read_and_no_others() {
        let table = DeTable::parse(EVERY_KEY).unwrap();
        let mut read = BTreeMap::new();
        keys("", table.get_ref(), &mut read);
        // Of the two ways to give a filelist only one can be in the text.
        read.get_mut("/workload/filelist").unwrap().insert(0, "file".to_owned());
        let schema = definition_schema().to_value();
        let mut named = BTreeMap::new();
        properties(&schema, "", &schema, &mut named);
        for names in named.values_mut().chain(read.values_mut()) {
            names.sort();
        }
        assert_eq!(read, named);
    }

    #[test]
    fn the_published_schema_is_the_one_of_this_program() {
        let schema = serde_json::to_string_pretty(&definition_schema()).unwrap() + "\n";
        let published = concat!(env!("CARGO_MANIFEST_DIR"), "/../../schemas/benchmark.schema.json");
        if std::fs::read_to_string(published).unwrap_or_default() != schema {
            let generated = std::env::temp_dir().join("benchmark.schema.json");
            std::fs::write(&generated, schema).unwrap();
            panic!("the language has changed: `cp {} schemas/`", generated.display());
        }
    }
}
