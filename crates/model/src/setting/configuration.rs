//! The part of a benchmark that settings change.

use units::Nanos;

use super::{DefinitionKey, Setting, SettingAccess, SettingKind, SettingValue};
use crate::{ChosenSetting, Definition, Workload};

/// The part of a benchmark that settings change, as it is defined or as a run has it.
#[derive(Debug, Clone, PartialEq)]
pub struct Configuration {
    /// The workload.
    pub workload: Workload,
    /// The longest that one operation may take.
    pub time_limit: Nanos,
    /// The filelist that the workload was made from, for people.
    pub filelist: String,
}

impl Configuration {
    /// Returns a benchmark as it is defined, with its own workload or one that was made from another filelist.
    pub fn standard(definition: &Definition, workload: Workload) -> Configuration {
        let filelist = format!("the standard one of {}", definition.id);
        Configuration { workload, time_limit: definition.time_limit, filelist }
    }

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
