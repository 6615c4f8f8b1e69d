//! The settings of a user's own statements.

use super::configuration::{TIME_LIMIT, TLS, database_encryption, encryption_text};
use super::{Configuration, DefinitionKey, Setting, SettingAccess, SettingChoice, SettingKind, SettingValue};
use crate::{SqlWorkload, Workload};

pub(crate) const WRITES: &str = "writes";
const REFUSED: &str = "refused";
pub(crate) const ALLOWED: &str = "allowed";

pub(crate) const SETTINGS: &[Setting] = &[
    Setting {
        name: WRITES,
        title: "writes",
        about: "whether statements may change the database",
        kind: SettingKind::Choice(&[
            SettingChoice::new(REFUSED, "No: sessions are read-only, and the server refuses changes"),
            SettingChoice::new(ALLOWED, "Yes; Plimsoll restores nothing"),
        ]),
        // Whoever runs a definition says so, and not whoever has written it.
        key: DefinitionKey::None,
        access: SettingAccess::Whole {
            text: |configuration| {
                Some(if sql(configuration)?.allows_writes { ALLOWED } else { REFUSED }.to_owned())
            },
            apply: |configuration, value| apply_to(configuration, WRITES, value),
        },
    },
    database_encryption(
        "encryption of the connections to the database",
        SettingAccess::Whole {
            text: |configuration| Some(encryption_text(sql(configuration)?.is_encrypted)),
            apply: |configuration, value| apply_to(configuration, TLS, value),
        },
    ),
    TIME_LIMIT,
];

/// Gives a workload the value of a setting by its name.
pub(crate) fn apply(workload: &mut SqlWorkload, name: &str, value: &SettingValue) {
    match (name, value) {
        (WRITES, SettingValue::Choice(name, _)) => workload.allows_writes = *name == ALLOWED,
        (TLS, SettingValue::Choice(name, _)) => workload.is_encrypted = *name == "on",
        _ => {}
    }
}

fn apply_to(configuration: &mut Configuration, name: &str, value: &SettingValue) {
    if let Workload::Sql(sql) = &mut configuration.workload {
        apply(sql, name, value);
    }
}

fn sql(configuration: &Configuration) -> Option<&SqlWorkload> {
    if let Workload::Sql(sql) = &configuration.workload { Some(sql) } else { None }
}
