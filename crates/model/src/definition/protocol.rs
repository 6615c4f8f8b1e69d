//! Reading `[protocol]`, whose keys are settings of the family, by their declarations.

use languages::nearest;
use languages::reader::{TomlTable, ValueError, kind, size, text, time_above_zero, whole_u32};
use toml::de::DeValue;
use units::Nanos;

use crate::{ChosenSetting, DefinitionKey, Family, Setting, SettingChoice, SettingKind, SettingValue};

/// Reads the settings of a family that definitions have, those that are absent included.
pub(super) fn read_protocol(mut table: TomlTable, family: Family) -> Option<Vec<ChosenSetting>> {
    let mut read = Vec::new();
    for setting in family.settings() {
        let value_of = |value: &DeValue| read_value(setting.kind, value);
        let value = match setting.key {
            DefinitionKey::Required => table.required_undescribed(setting.name, value_of),
            DefinitionKey::Optional(default) => {
                table.optional_undescribed(setting.name, value_of).or_else(|| setting.kind.parse(default).ok())
            }
            DefinitionKey::None => continue,
        };
        read.push(value.map(|value| setting.with_value(value)));
    }
    table.finish();
    read.into_iter().collect()
}

/// Reads those settings of a family that a table has, as changes of others.
pub(super) fn read_changed(mut table: TomlTable, family: Family) -> Vec<ChosenSetting> {
    let settings = family.settings().iter().filter(|setting| setting.key != DefinitionKey::None);
    let read = settings.filter_map(|setting| {
        let value = table.optional_undescribed(setting.name, |value: &DeValue| read_value(setting.kind, value))?;
        Some(setting.with_value(value))
    });
    let changed = read.collect();
    table.finish();
    changed
}

/// Returns the time limit of an operation; `None` if the settings have none.
pub(super) fn time_limit(settings: &[ChosenSetting]) -> Option<Nanos> {
    settings.iter().find_map(|one| match one.value() {
        SettingValue::Time(time) if one.setting.name == Setting::TIME_LIMIT => Some(*time),
        _ => None,
    })
}

/// Reads a value as definitions have it: numbers are TOML's, everything else is a text with its unit.
fn read_value(kind: SettingKind, value: &DeValue) -> Result<SettingValue, ValueError> {
    match kind {
        SettingKind::Choice(choices) => read_choice(kind, choices, value),
        SettingKind::Count { least, most } => whole_u32(least..=most)(value).map(SettingValue::Count),
        SettingKind::Bytes { least, most, .. } => match size(value)?.0 {
            bytes if (least..=most).contains(&bytes) => Ok(SettingValue::Bytes(bytes)),
            _ => {
                // A definition knows no server that a size could fit.
                let sizes = SettingKind::Bytes { least, most, has_auto: false };
                Err(ValueError::new(format!("expected {sizes}")))
            }
        },
        SettingKind::Time => time_above_zero(value).map(SettingValue::Time),
        SettingKind::Distribution | SettingKind::Text(_) => {
            kind.parse(&text(value)?).map_err(|_| ValueError::new(format!("expected {kind}")))
        }
    }
}

fn read_choice(
    setting: SettingKind,
    choices: &[SettingChoice],
    value: &DeValue,
) -> Result<SettingValue, ValueError> {
    let DeValue::String(written) = value else {
        let error = ValueError::new(format!("expected a string, found {}", kind(value)));
        let numbered = choices.iter().find(|choice| choice.number.is_some());
        return Err(match numbered {
            Some(choice) => error.hint(format!("write a number after a colon: `\"{}:100\"`", choice.name)),
            None => error,
        });
    };
    setting.parse(written).map_err(|_| {
        let error = ValueError::new(format!("expected {setting}, found `{written}`"));
        match nearest(written, choices.iter().map(|choice| choice.name)) {
            Some(near) if near != written => error.hint(format!("did you mean `{near}`?")),
            _ => error,
        }
    })
}
