//! Reading the pause of users, `think`.

use languages::reader::{TomlTable, ValueError, time_above_zero};
use toml::de::DeValue;
use units::Nanos;

use crate::Think;

/// Reads `think`; none if it is absent.
pub(super) fn read_think(table: &mut TomlTable) -> Think {
    let think = match table.value("think") {
        Some(DeValue::Table(_)) => table.optional_table_undescribed("think").and_then(exponential_think),
        _ => table.optional_undescribed("think", fixed_think),
    };
    think.unwrap_or(Think::None)
}

/// Reads `"none"` or `"270 ms"`.
fn fixed_think(value: &DeValue) -> Result<Think, ValueError> {
    match value {
        DeValue::String(word) if word.as_ref() == "none" => Ok(Think::None),
        _ => {
            let hint = "write `\"none\"`, `\"270 ms\"` or `{ exponential = \"270 ms\" }`";
            time_above_zero(value).map(Think::Fixed).map_err(|error| error.hint(hint))
        }
    }
}

/// Reads `{ exponential = "270 ms" }`.
fn exponential_think(mut table: TomlTable) -> Option<Think> {
    let mean: Option<Nanos> = table.required_undescribed("exponential", time_above_zero);
    table.finish();
    Some(Think::Exponential(mean?))
}
