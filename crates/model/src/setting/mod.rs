//! Settings: what a run may vary in the workloads of a family, declared once in a table.
//!
//! What is listed as modified, shown, and accepted by `--set NAME=VALUE` follows from the declaration.

#[cfg(feature = "echo")]
mod echo;
mod web;

use std::fmt;

use languages::{nearest, parse_bytes};
use units::Bytes;

use crate::{Family, Workload};

/// A setting of the workloads of one family.
#[derive(Debug)]
pub struct Setting {
    /// The name that is typed: `connection`.
    pub name: &'static str,
    /// The name in reports: `HTTP version`.
    pub title: &'static str,
    /// The meaning, in a line.
    pub about: &'static str,
    /// The values that it can have.
    pub kind: SettingKind,
    /// Returns the value for people; `None` of a workload of another family.
    text: fn(&Workload) -> Option<String>,
    /// Changes the workload, which is of the family.
    apply: fn(&mut Workload, SettingValue),
}

/// The values of a setting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SettingKind {
    /// One of these names.
    Choice(&'static [&'static str]),
    /// A whole number in this range.
    Count {
        /// The least.
        least: u32,
        /// The greatest.
        most: u32,
    },
    /// A size up to this number of bytes.
    Bytes {
        /// The greatest.
        most: u64,
    },
}

/// A value of a setting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SettingValue {
    /// A name.
    Choice(&'static str),
    /// A whole number.
    Count(u32),
    /// A size.
    Bytes(u64),
}

/// A setting with the value that a run gives it.
#[derive(Debug, Clone, Copy)]
pub struct ChosenSetting {
    /// The setting.
    pub setting: &'static Setting,
    /// The value.
    pub value: SettingValue,
}

/// A reason why a setting cannot be changed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SettingError {
    /// The family has no such setting.
    #[error("{family} benchmarks have no setting `{name}`")]
    Unknown {
        /// The name as typed.
        name: String,
        /// The family of the benchmark.
        family: Family,
        /// The remedy.
        hint: String,
    },
    /// The value is not one that the setting can have.
    #[error("`{name}` cannot be `{value}`")]
    Value {
        /// The name of the setting.
        name: &'static str,
        /// The value as typed.
        value: String,
        /// The remedy.
        hint: String,
    },
}

impl SettingError {
    /// Returns the remedy.
    pub fn hint(&self) -> &str {
        match self {
            SettingError::Unknown { hint, .. } | SettingError::Value { hint, .. } => hint,
        }
    }
}

impl Family {
    /// Returns the settings of its workloads.
    pub fn settings(self) -> &'static [Setting] {
        match self {
            Family::Web => web::SETTINGS,
            #[cfg(feature = "echo")]
            Family::Echo => echo::SETTINGS,
        }
    }

    /// Reads a setting and its value as they are typed.
    ///
    /// # Errors
    /// The family has no such setting, or the setting no such value.
    pub fn choose_setting(self, name: &str, value: &str) -> Result<ChosenSetting, SettingError> {
        let Some(setting) = self.settings().iter().find(|setting| setting.name == name) else {
            return Err(self.unknown_setting(name));
        };
        let parsed = setting.kind.parse(value);
        let value = parsed.ok_or_else(|| SettingError::Value {
            name: setting.name,
            value: value.to_owned(),
            hint: format!("write {}", setting.kind),
        })?;
        Ok(ChosenSetting { setting, value })
    }

    fn unknown_setting(self, name: &str) -> SettingError {
        let mut others = Family::ALL.into_iter().filter(|family| *family != self);
        let names = || self.settings().iter().map(|setting| setting.name);
        let is_of = |family: &Family| family.settings().iter().any(|setting| setting.name == name);
        let hint = match (others.find(is_of), nearest(name, names())) {
            (Some(other), _) => format!("it is a setting of {other} benchmarks"),
            (None, Some(near)) => format!("did you mean `{near}`?"),
            (None, None) => format!("there is `{}`", names().collect::<Vec<_>>().join("`, `")),
        };
        SettingError::Unknown { name: name.to_owned(), family: self, hint }
    }
}

impl Setting {
    /// Returns the value that a workload has, for people; `None` if it is of another family.
    pub fn text(&self, workload: &Workload) -> Option<String> {
        (self.text)(workload)
    }
}

impl ChosenSetting {
    /// Gives a workload of the setting's family the value.
    pub(crate) fn apply(self, workload: &mut Workload) {
        (self.setting.apply)(workload, self.value);
    }
}

/// Writes it as in a label: `tls full`.
impl fmt::Display for ChosenSetting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.setting.name, self.value)
    }
}

impl SettingKind {
    /// Reads a value; `None` if it is not one of the kind.
    fn parse(self, text: &str) -> Option<SettingValue> {
        match self {
            SettingKind::Choice(names) => {
                names.iter().find(|name| **name == text).map(|name| SettingValue::Choice(name))
            }
            SettingKind::Count { least, most } => {
                let count = text.parse().ok().filter(|count| (least..=most).contains(count))?;
                Some(SettingValue::Count(count))
            }
            SettingKind::Bytes { most } => {
                let bytes = parse_bytes(text).ok().filter(|bytes| bytes.0 <= most)?;
                Some(SettingValue::Bytes(bytes.0))
            }
        }
    }
}

/// Writes the values that can be typed: `off, full or resumed`.
impl fmt::Display for SettingKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SettingKind::Choice([first @ .., last]) if !first.is_empty() => {
                write!(f, "{} or {last}", first.join(", "))
            }
            SettingKind::Choice(names) => f.write_str(&names.join(", ")),
            SettingKind::Count { least, most } => write!(f, "a whole number from {least} to {most}"),
            SettingKind::Bytes { most } => write!(f, "a size such as `4 KiB`, up to {}", Bytes(*most)),
        }
    }
}

impl fmt::Display for SettingValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SettingValue::Choice(name) => f.write_str(name),
            SettingValue::Count(count) => write!(f, "{count}"),
            SettingValue::Bytes(bytes) => write!(f, "{}", Bytes(*bytes)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(name: &str, value: &str) -> String {
        let error = Family::Web.choose_setting(name, value).unwrap_err();
        format!("{error}; {}", error.hint())
    }

    #[test]
    fn settings_are_read_and_mistakes_have_a_remedy() {
        let chosen = Family::Web.choose_setting("tls", "full").unwrap();
        assert_eq!((chosen.to_string().as_str(), chosen.value), ("tls full", SettingValue::Choice("full")));
        assert_eq!(Family::Web.choose_setting("streams", "100").unwrap().value, SettingValue::Count(100));
        let found = [
            refused("htpp", "2"),
            refused("warehouses", "5"),
            refused("tls", "on"),
            refused("streams", "0"),
            refused("streams", "many"),
        ];
        insta::assert_snapshot!(found.join("\n"), @r"
        web benchmarks have no setting `htpp`; did you mean `http`?
        web benchmarks have no setting `warehouses`; there is `http`, `tls`, `streams`, `connection`
        `tls` cannot be `on`; write off, full or resumed
        `streams` cannot be `0`; write a whole number from 1 to 1000
        `streams` cannot be `many`; write a whole number from 1 to 1000
        ");
    }

    /// Bytes have no setting of the web, and are read for others.
    #[test]
    fn sizes_have_units_and_a_limit() {
        let kind = SettingKind::Bytes { most: 1 << 20 };
        assert_eq!(kind.parse("4 KiB"), Some(SettingValue::Bytes(4096)));
        assert_eq!([kind.parse("4"), kind.parse("2 MiB"), kind.parse("-1 B")], [None; 3]);
        assert_eq!(kind.to_string(), "a size such as `4 KiB`, up to 1.0 MiB");
        assert_eq!(SettingValue::Bytes(4096).to_string(), "4.0 KiB");
    }

    #[test]
    fn names_are_unique_and_choices_are_not_empty() {
        for family in Family::ALL {
            for (index, setting) in family.settings().iter().enumerate() {
                assert!(family.settings()[..index].iter().all(|other| other.name != setting.name));
                assert_ne!(setting.kind, SettingKind::Choice(&[]));
            }
        }
    }
}
