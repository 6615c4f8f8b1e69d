//! Settings: what a run may vary in the benchmarks of a family, declared once in a table.
//!
//! What definitions can say, what is listed as modified, shown, and accepted by `--set NAME=VALUE` follows from the
//! declaration.
//!
//! - `kind`: the values that a setting can have
//! - `configuration`: the part of a benchmark that settings change
//! - `web`, `app`, `file`, `order_entry`, `sql`, `mail`, `echo`: the settings of each family, which [`Family::settings`] returns

pub(crate) mod app;
mod configuration;
#[cfg(feature = "echo")]
pub(crate) mod echo;
pub(crate) mod file;
mod kind;
pub(crate) mod mail;
pub(crate) mod order_entry;
pub(crate) mod sql;
pub(crate) mod web;

use std::fmt;

pub use configuration::Configuration;
pub use kind::{SettingChoice, SettingKind, SettingValue, SettingValueError};

use crate::Family;

/// A setting of the benchmarks of one family.
#[derive(Debug)]
pub struct Setting {
    /// The name that is typed: `connection`. That of a setting with items is followed by the item: `pick.directory`.
    pub name: &'static str,
    /// The name in reports: `HTTP version`.
    pub title: &'static str,
    /// The meaning, in a line.
    pub about: &'static str,
    /// The values that it can have.
    pub kind: SettingKind,
    /// Whether `[protocol]` of a definition has it.
    pub key: DefinitionKey,
    /// The way to its value.
    access: SettingAccess,
}

/// The part that a setting has in `[protocol]` of a definition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DefinitionKey {
    /// A key that every definition has.
    Required,
    /// A key that may be absent, with the value that it has then.
    Optional(&'static str),
    /// None: another part of the definition says it, or only a run does.
    None,
}

/// The way to a setting's value: reading it for people, and changing it.
#[derive(Debug)]
enum SettingAccess {
    /// Anywhere in a configuration; `text` is `None` of another family's.
    Whole { text: fn(&Configuration) -> Option<String>, apply: fn(&mut Configuration, &SettingValue) },
    /// For each of several items, such as the parameters of requests.
    PerItem {
        items: fn(&Configuration) -> Vec<String>,
        text: fn(&Configuration, &str) -> Option<String>,
        apply: fn(&mut Configuration, &str, &SettingValue),
    },
}

/// A setting with the value that a run gives it; the value is one that the setting can have.
#[derive(Debug, Clone, PartialEq)]
pub struct ChosenSetting {
    /// The setting.
    pub setting: &'static Setting,
    /// The item that it is chosen for; empty if the setting has none.
    item: String,
    /// The value.
    value: SettingValue,
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
        name: String,
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

impl Setting {
    /// The name of the setting that all families have, the longest time of one operation.
    pub const TIME_LIMIT: &'static str = configuration::TIME_LIMIT.name;

    /// The name of the setting of application server benchmarks that a run takes from its server.
    pub const APP_PROTOCOL: &'static str = app::PROTOCOL;

    /// The name of the setting of file-server benchmarks for the load file that clients replay.
    pub const FILE_LOADFILE: &'static str = file::LOADFILE;

    /// The name of the setting of file-server benchmarks that a run takes from its target.
    pub const FILE_TRANSPORT: &'static str = file::TRANSPORT;

    /// The name of the setting of mail benchmarks for the encryption of connections, which a run takes from its target.
    pub const MAIL_TLS: &'static str = mail::TLS;

    /// The name of the setting of order-entry benchmarks that a run takes from its server.
    pub const ORDER_SQL: &'static str = order_entry::SQL;

    /// The name of the setting of order-entry benchmarks for the process in which the database runs.
    pub const ORDER_DATABASE: &'static str = order_entry::DATABASE;

    /// The name of the setting of order-entry benchmarks for the state of the data before a load point.
    pub const ORDER_RESET: &'static str = order_entry::RESET;

    /// The name of the setting for the encryption of connections to a database.
    pub const DATABASE_TLS: &'static str = configuration::TLS;

    /// The name of the setting by which a user's own statements may change the database, and the value that allows it.
    pub const SQL_WRITES: (&'static str, &'static str) = (sql::WRITES, sql::ALLOWED);

    /// Returns whether it has a value for each of several items instead of one.
    pub fn has_items(&self) -> bool {
        matches!(self.access, SettingAccess::PerItem { .. })
    }

    /// Returns the name as it is typed: `http`, `pick.NAME`.
    pub fn form(&self) -> String {
        if self.has_items() { format!("{}.NAME", self.name) } else { self.name.to_owned() }
    }

    /// Returns the items of a configuration that have a value each; none of a setting with one value.
    pub fn items(&self, configuration: &Configuration) -> Vec<String> {
        match self.access {
            SettingAccess::PerItem { items, .. } => items(configuration),
            SettingAccess::Whole { .. } => Vec::new(),
        }
    }

    /// Returns the names as they are typed and the values, for people, that a configuration has: one, one for each
    /// item, or none if it is of another family.
    pub fn values(&self, configuration: &Configuration) -> Vec<(String, String)> {
        let text = match self.access {
            SettingAccess::Whole { text, .. } => text(configuration),
            SettingAccess::PerItem { items, text, .. } => {
                let value =
                    |item: String| Some((format!("{}.{item}", self.name), text(configuration, &item)?));
                return items(configuration).into_iter().filter_map(value).collect();
            }
        };
        text.map(|text| (self.name.to_owned(), text)).into_iter().collect()
    }

    /// Returns the names in reports and the values as [`Setting::values`] does.
    pub(crate) fn titled_values(&self, configuration: &Configuration) -> Vec<(String, String)> {
        let title = |name: String| match name.split_once('.') {
            Some((_, item)) => format!("{} `{item}`", self.title),
            None => self.title.to_owned(),
        };
        self.values(configuration).into_iter().map(|(name, text)| (title(name), text)).collect()
    }

    /// Returns it with a value of its kind.
    pub(crate) fn with_value(&'static self, value: SettingValue) -> ChosenSetting {
        ChosenSetting { setting: self, item: String::new(), value }
    }

    /// Chooses a value as it is typed, for an item if the setting has any.
    ///
    /// # Errors
    /// The setting has no such value.
    pub(crate) fn choose(&'static self, item: &str, value: &str) -> Result<ChosenSetting, SettingError> {
        match self.kind.parse(value) {
            Ok(value) => Ok(ChosenSetting { setting: self, item: item.to_owned(), value }),
            Err(error) => {
                let name =
                    if item.is_empty() { self.name.to_owned() } else { format!("{}.{item}", self.name) };
                Err(SettingError::Value { name, value: value.to_owned(), hint: error.to_string() })
            }
        }
    }
}

impl ChosenSetting {
    /// Returns the name as it is typed: `http`, `pick.directory`.
    pub fn name(&self) -> String {
        match self.item.as_str() {
            "" => self.setting.name.to_owned(),
            item => format!("{}.{item}", self.setting.name),
        }
    }

    /// Returns the item that it is chosen for; `None` if the setting has none.
    pub fn item(&self) -> Option<&str> {
        (!self.item.is_empty()).then_some(self.item.as_str())
    }

    /// Returns the value.
    pub fn value(&self) -> &SettingValue {
        &self.value
    }

    /// Gives a configuration of the setting's family the value.
    pub(crate) fn apply(&self, configuration: &mut Configuration) {
        match self.setting.access {
            SettingAccess::Whole { apply, .. } => apply(configuration, &self.value),
            SettingAccess::PerItem { apply, .. } => apply(configuration, &self.item, &self.value),
        }
    }
}

/// Settings are the same if they have the same declaration.
impl PartialEq for Setting {
    fn eq(&self, other: &Setting) -> bool {
        std::ptr::eq(self, other)
    }
}

/// Writes it as in a label: `tls full`.
impl fmt::Display for ChosenSetting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.name(), self.value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(name: &str, value: &str) -> String {
        let error = Family::Web.choose_settings(name, value).unwrap_err();
        format!("{error}; {}", error.hint())
    }

    #[test]
    fn settings_are_read_and_mistakes_have_a_remedy() {
        let chosen = Family::Web.choose_setting("tls", "full").unwrap();
        assert_eq!((chosen.to_string().as_str(), chosen.item()), ("tls full", None));
        let chosen = Family::Web.choose_settings("pick.file", "uniform,weights:1,2").unwrap();
        let texts: Vec<String> = chosen.iter().map(ToString::to_string).collect();
        assert_eq!(texts, ["pick.file uniform", "pick.file weights:1,2"]);
        assert_eq!(chosen[0].item(), Some("file"));
        let found = [
            refused("htpp", "2"),
            refused("warehouses", "5"),
            refused("tls", "on"),
            refused("tls", "off,on"),
            refused("streams", "0"),
            refused("streams", "many"),
            refused("connection", "keep-alive:0"),
            refused("time-limit", "0"),
            refused("pick", "uniform"),
            refused("pick.file", "often"),
            refused("http.x", "2"),
        ];
        insta::assert_snapshot!(found.join("\n"), @r"
        web benchmarks have no setting `htpp`; did you mean `http`?
        web benchmarks have no setting `warehouses`; it is a setting of order-entry benchmarks; there is `http`, `tls`, `streams`, `connection`, `time-limit`, `filelist`, `pick.NAME`
        `tls` cannot be `on`; write off, full or resumed
        `tls` cannot be `on`; write off, full or resumed
        `streams` cannot be `0`; write a whole number from 1 to 1000
        `streams` cannot be `many`; write a whole number from 1 to 1000
        `connection` cannot be `keep-alive:0`; write per-request, keep-alive, keep-alive:N or sessions
        `time-limit` cannot be `0`; write a time above zero
        web benchmarks have no setting `pick`; write `pick.NAME`
        `pick.file` cannot be `often`; write `uniform`, `zipf:1.0`, `poisson:5` or `weights:3,2,1`
        web benchmarks have no setting `http.x`; write `http`
        ");
    }

    #[test]
    fn names_are_unique_and_choices_are_not_empty() {
        for family in Family::ALL {
            for (index, setting) in family.settings().iter().enumerate() {
                assert!(family.settings()[..index].iter().all(|other| other.name != setting.name));
                assert_ne!(setting.kind, SettingKind::Choice(&[]));
                assert!(!setting.name.contains('.'), "an item follows the period");
            }
        }
    }

    /// The value of a setting that a definition leaves out is one that the setting accepts.
    #[test]
    fn defaults_of_definitions_are_values() {
        for setting in Family::ALL.into_iter().flat_map(Family::settings) {
            if let DefinitionKey::Optional(value) = setting.key {
                assert!(setting.kind.parse(value).is_ok(), "{}", setting.name);
            }
        }
    }
}
