//! The part of a benchmark that settings change.

use units::Nanos;

use super::{DefinitionKey, Setting, SettingAccess, SettingChoice, SettingKind, SettingValue};
use crate::{ChosenSetting, Workload};

/// The part of a benchmark that settings change, as it is defined or as a run has it.
#[derive(Debug, Clone, PartialEq)]
pub struct Configuration {
    /// The workload.
    pub workload: Workload,
    /// The longest that one operation may take.
    pub time_limit: Nanos,
    /// The filelist that the workload was made from, for people.
    pub filelist: String,
    /// The load file that the workload was made from, for people.
    pub loadfile: String,
}

impl Configuration {
    /// Returns it with settings of the workload's family.
    pub fn with(mut self, settings: &[ChosenSetting]) -> Configuration {
        settings.iter().for_each(|setting| setting.apply(&mut self));
        self
    }
}

/// The setting that the benchmarks of all families have.
pub(super) const TIME_LIMIT: Setting = Setting {
    name: "time-limit",
    title: "time limit",
    about: "longest time of one operation, from its sending",
    kind: SettingKind::Time,
    key: DefinitionKey::Optional("60 s"),
    access: SettingAccess::Whole {
        text: |configuration| Some(languages::time_text(configuration.time_limit)),
        apply: |configuration, value| {
            if let SettingValue::Time(time) = value {
                configuration.time_limit = *time;
            }
        },
    },
};

/// The name of the setting of those that connect to a database.
pub(crate) const TLS: &str = "tls";

const DATABASE_ENCRYPTION: &[SettingChoice] = &[
    SettingChoice::new("off", "None"),
    SettingChoice::new("on", "TLS 1.2 or 1.3, and the server's certificate is verified"),
];

/// Returns that setting of a family, whose workloads have it in this way.
pub(super) const fn database_encryption(about: &'static str, access: SettingAccess) -> Setting {
    Setting {
        name: TLS,
        title: "TLS",
        about,
        kind: SettingKind::Choice(DATABASE_ENCRYPTION),
        key: DefinitionKey::Optional("off"),
        access,
    }
}

/// Returns the value of the setting where connections are encrypted, or are not.
pub(super) fn encryption_text(is_encrypted: bool) -> String {
    if is_encrypted { "on" } else { "off" }.to_owned()
}
