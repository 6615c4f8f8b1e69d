//! Settings on the command line: `--set NAME=VALUE`, and the flags that are shorthands for it.

use std::ffi::OsStr;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use languages::NamedValues;
use model::{ChosenSetting, Family, Setting, SettingChoice, SettingKind, SettingValue};

use crate::argument_error::ArgumentError;
use crate::exit::Failure;

/// A setting as it is typed.
#[derive(Debug, Clone)]
pub(crate) struct SettingArgument {
    /// The name.
    name: String,
    /// The value, or several, separated by commas.
    text: String,
    /// Whether commas separate values.
    is_list: bool,
}

impl SettingArgument {
    /// Makes the setting that a flag with one value stands for.
    pub(crate) fn of_flag(name: impl Into<String>, value: impl Into<String>) -> SettingArgument {
        SettingArgument { name: name.into(), text: value.into(), is_list: false }
    }

    /// Returns its values, which the server is loaded with in turn; there is at least one.
    fn choose(&self, family: Family) -> Result<Vec<ChosenSetting>, Failure> {
        let chosen = if self.is_list {
            family.choose_settings(&self.name, &self.text)
        } else {
            family.choose_setting(&self.name, &self.text).map(|one| vec![one])
        };
        chosen.map_err(|error| Failure::usage(&error).hint(error.hint()))
    }
}

/// One of the combinations of values that settings have in turn.
#[derive(Debug, Clone, Default)]
pub(crate) struct SettingCombination {
    /// The settings, each with one value.
    pub settings: Vec<ChosenSetting>,
    /// The settings that other combinations have with another value, as the end of a label: `, tls full`.
    pub label: String,
}

/// Returns every combination of the values of the settings; there is at least one.
///
/// # Errors
/// If the family does not have a setting, or the setting does not have a value.
pub(crate) fn combinations(
    arguments: &[SettingArgument],
    family: Family,
) -> Result<Vec<SettingCombination>, Failure> {
    let mut all = vec![SettingCombination::default()];
    for argument in arguments {
        let chosen = argument.choose(family)?;
        let with = |before: &SettingCombination, setting: &ChosenSetting| {
            let label = match chosen.len() {
                1 => before.label.clone(),
                _ => format!("{}, {setting}", before.label),
            };
            let settings = before.settings.iter().chain([setting]).cloned().collect();
            SettingCombination { settings, label }
        };
        all = all.iter().flat_map(|one| chosen.iter().map(move |setting| with(one, setting))).collect();
    }
    Ok(all)
}

/// Returns the filelist that settings name.
pub(crate) fn filelist(settings: &[ChosenSetting]) -> Option<&str> {
    text(settings, "filelist")
}

/// Returns the load file that settings name.
pub(crate) fn loadfile(settings: &[ChosenSetting]) -> Option<&str> {
    text(settings, Setting::FILE_LOADFILE)
}

/// Returns the text of a setting.
fn text<'a>(settings: &'a [ChosenSetting], name: &str) -> Option<&'a str> {
    settings.iter().find(|one| one.setting.name == name).and_then(|one| match one.value() {
        SettingValue::Text(text) => Some(text.as_str()),
        _ => None,
    })
}

/// A parser of `--set`, whose values completion offers from the declarations.
#[derive(Clone)]
pub(crate) struct SettingParser;

impl TypedValueParser for SettingParser {
    type Value = SettingArgument;

    fn parse_ref(
        &self,
        command: &clap::Command,
        argument: Option<&clap::Arg>,
        value: &OsStr,
    ) -> Result<SettingArgument, clap::Error> {
        read.parse_ref(command, argument, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        let settings = Family::NAMES.iter().flat_map(|(_, family)| family.settings());
        Some(Box::new(settings.flat_map(|setting| {
            let values: Vec<&str> = match setting.kind {
                SettingKind::Choice(choices) => choices.iter().map(|choice| choice.name).collect(),
                _ => vec![""],
            };
            let form = setting.form();
            let value = move |value| PossibleValue::new(format!("{form}={value}")).help(setting.about);
            values.into_iter().map(value)
        })))
    }
}

fn read(text: &str) -> Result<SettingArgument, ArgumentError> {
    let form = "NAME=VALUE, for example `tls=full`";
    let (name, values) = text.split_once('=').ok_or_else(|| ArgumentError::expected(form))?;
    Ok(SettingArgument { name: name.trim().to_owned(), text: values.trim().to_owned(), is_list: true })
}

/// A parser of a flag that is the shorthand for a setting. The value stays a text, which the setting reads.
#[derive(Clone)]
pub(crate) struct ShorthandParser(SettingKind);

impl ShorthandParser {
    /// Makes the parser of the flag for a setting of web benchmarks.
    ///
    /// # Panics
    /// There is no such setting.
    pub(crate) fn of(name: &str) -> ShorthandParser {
        let setting = Family::Web.settings().iter().find(|setting| setting.name == name);
        ShorthandParser(setting.expect("shorthands are for settings").kind)
    }
}

impl TypedValueParser for ShorthandParser {
    type Value = String;

    fn parse_ref(
        &self,
        command: &clap::Command,
        argument: Option<&clap::Arg>,
        value: &OsStr,
    ) -> Result<String, clap::Error> {
        let read = |text: &str| self.0.parse(text).map(|_| text.to_owned());
        match (self.0, value.to_str().map(read)) {
            (SettingKind::Choice(choices), Some(Err(_))) => {
                PossibleValuesParser::new(choices.iter().map(possible)).parse_ref(command, argument, value)
            }
            _ => {
                let kind = self.0;
                let read = move |text: &str| kind.parse(text).map(|_| text.to_owned());
                read.parse_ref(command, argument, value)
            }
        }
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        match self.0 {
            SettingKind::Choice(choices) => Some(Box::new(choices.iter().map(possible))),
            _ => None,
        }
    }
}

fn possible(choice: &SettingChoice) -> PossibleValue {
    PossibleValue::new(choice.name).help(choice.about)
}

/// Reads `--pick NAME=HOW`.
///
/// # Errors
/// If it has no name, or the distribution is not one.
pub(crate) fn pick(text: &str) -> Result<(String, String), ArgumentError> {
    let form = "NAME=HOW, for example `directory=uniform`";
    let (name, how) = text.split_once('=').ok_or_else(|| ArgumentError::expected(form))?;
    SettingKind::Distribution.parse(how)?;
    Ok((name.to_owned(), how.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_combined_and_labeled_by_what_differs() {
        let all = ["tls=off,full", "connection=keep-alive", "streams=1,2"].map(|text| read(text).unwrap());
        let labels = |arguments: &[SettingArgument]| -> Vec<String> {
            let all = combinations(arguments, Family::Web).unwrap();
            all.into_iter().map(|one| one.label).collect()
        };
        assert_eq!(
            labels(&all),
            [
                ", tls off, streams 1",
                ", tls off, streams 2",
                ", tls full, streams 1",
                ", tls full, streams 2"
            ]
        );
        assert_eq!(labels(&[]), [""]);
        // A flag has one value, whatever it contains.
        let flag = SettingArgument::of_flag("filelist", "a,b.txt");
        let flagged = combinations(&[flag], Family::Web).unwrap();
        assert_eq!((flagged.len(), filelist(&flagged[0].settings)), (1, Some("a,b.txt")));
    }
}
