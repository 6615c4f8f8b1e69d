//! Reading `[protocol]`, whose keys are settings of the family, by their declarations.

use languages::nearest;
use languages::reader::{TomlTable, ValueError, kind};
use languages::spec::{ValueSpec, size, text, time_above_zero, whole_u32};
use serde_json::{Value, json};
use toml::de::DeValue;
use units::Nanos;

use crate::{
    ChosenSetting, DefinitionKey, Family, Setting, SettingChoice, SettingKind, SettingValue, capitalized,
};

/// Reads the settings of a family that definitions have, those that are absent included.
pub(super) fn read_protocol(mut table: TomlTable, family: Family) -> Option<Vec<ChosenSetting>> {
    table.describe(family.name(), &format!("The settings of the family `{family}`."));
    let mut read = Vec::new();
    for setting in family.settings() {
        let value = match setting.key {
            DefinitionKey::Required => table.required(setting.name, &about(setting), values(setting)),
            DefinitionKey::Optional(default) => {
                let value = table.optional(setting.name, &about(setting), values(setting));
                table.describe_rule(setting.name, "default", default_value(setting, default));
                value.or_else(|| setting.kind.parse(default).ok())
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
        let value = table.optional(setting.name, &about(setting), values(setting))?;
        Some(setting.with_value(value))
    });
    let changed = read.collect();
    table.finish();
    changed
}

fn about(setting: &Setting) -> String {
    format!("{}.", capitalized(setting.about))
}

/// Returns a default as JSON has it.
fn default_value(setting: &Setting, default: &'static str) -> Value {
    let is_count = matches!(setting.kind, SettingKind::Count { .. });
    let count = default.parse::<u32>().ok().filter(|_| is_count);
    count.map_or_else(|| default.into(), Value::from)
}

/// Returns the time limit of an operation; `None` if the settings have none.
pub(super) fn time_limit(settings: &[ChosenSetting]) -> Option<Nanos> {
    settings.iter().find_map(|one| match one.value() {
        SettingValue::Time(time) if one.setting.name == Setting::TIME_LIMIT => Some(*time),
        _ => None,
    })
}

/// The values of a setting as definitions have them: numbers are TOML's, everything else is a text with its unit.
fn values(setting: &Setting) -> ValueSpec<SettingValue> {
    let kind = setting.kind;
    let values = match kind {
        SettingKind::Choice(choices) => {
            let schemas = move || choices.iter().flat_map(choice_schemas).collect::<Vec<Value>>();
            ValueSpec::new(
                move || json!({ "anyOf": schemas() }),
                move |value| read_choice(kind, choices, value),
            )
        }
        SettingKind::Count { least, most } => whole_u32(least..=most).map(SettingValue::Count),
        SettingKind::Bytes { least, most, .. } => size().and_then(move |size| match size.0 {
            bytes if (least..=most).contains(&bytes) => Ok(SettingValue::Bytes(bytes)),
            _ => {
                // A definition knows no server that a size could fit.
                let sizes = SettingKind::Bytes { least, most, has_auto: false };
                Err(ValueError::new(format!("expected {sizes}")))
            }
        }),
        SettingKind::Time => time_above_zero().map(SettingValue::Time),
        SettingKind::Distribution | SettingKind::Text(_) => {
            text().rule("minLength", 1).and_then(move |written| {
                kind.parse(&written).map_err(|_| ValueError::new(format!("expected {kind}")))
            })
        }
    };
    values.rule("title", setting.title)
}

/// Returns the schemas of a choice: its name, and the form with a number if it has one.
fn choice_schemas(choice: &SettingChoice) -> Vec<Value> {
    let name = choice.name;
    let about = capitalized(choice.about);
    let plain = json!({ "const": name, "type": "string", "description": format!("{about}.") });
    let numbered = choice.number.map(|number| {
        let pattern = format!("^{name}:[1-9][0-9]*$");
        let about = format!("{about}; the number is {number}.");
        json!({ "pattern": pattern, "type": "string", "description": about })
    });
    [plain].into_iter().chain(numbered).collect()
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
