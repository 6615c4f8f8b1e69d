//! The pause of users, `think`.

use languages::reader::TomlTable;
use languages::spec::{ValueSpec, time_above_zero};
use serde_json::json;
use toml::de::DeValue;

use crate::ThinkTime;

/// Reads `think`; none if it is absent.
pub(super) fn read_think(table: &mut TomlTable, about: &str) -> ThinkTime {
    table.optional_either("think", about, fixed_think(), exponential_think).unwrap_or(ThinkTime::None)
}

/// `"none"`, or times such as `"270 ms"`.
fn fixed_think() -> ValueSpec<ThinkTime> {
    let none = ValueSpec::new(
        || json!({ "type": "string", "const": "none", "description": "None at all." }),
        |_| Ok(ThinkTime::None),
    );
    let hint = "write `\"none\"`, `\"270 ms\"` or `{ exponential = \"270 ms\" }`";
    let time = time_above_zero();
    let fixed = time.map(ThinkTime::Fixed).map_error(move |error| error.hint(hint));
    fixed.or(none, |value| matches!(value, DeValue::String(word) if word.as_ref() == "none"))
}

/// Reads `{ exponential = "270 ms" }`.
fn exponential_think(mut table: TomlTable) -> Option<ThinkTime> {
    table.describe("VaryingThink", "A pause that varies.");
    let about = "Negative exponential with this mean, not truncated.";
    let mean = table.required("exponential", about, time_above_zero());
    table.finish();
    Some(ThinkTime::Exponential(mean?))
}
