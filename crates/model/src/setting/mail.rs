//! The settings of mail workloads.

use languages::NamedValues;

use super::configuration::TIME_LIMIT;
use super::{Configuration, DefinitionKey, Setting, SettingAccess, SettingChoice, SettingKind, SettingValue};
use crate::{MailAcknowledge, MailBodies, MailLoop, MailSecurity, MailWorkload, Workload};

const LOOP: &str = "loop";
const PACE: &str = "pace";
const BODIES: &str = "bodies";
const RECIPIENTS: &str = "recipients";
const DOCUMENTS: &str = "documents";
pub(crate) const SHARED: &str = "shared-documents";
pub(super) const TLS: &str = "tls";
const ACKNOWLEDGE: &str = "acknowledge";

/// The fewest documents of a mailbox: the two pages that users read.
const DOCUMENTS_MIN: u32 = 40;

/// The fewest documents of a shared mailbox: the three pages that users read.
const SHARED_MIN: u32 = 60;

/// The most documents of a mailbox.
const DOCUMENTS_MAX: u32 = 100_000;

/// The most recipients of a message.
const RECIPIENTS_MAX: u32 = mail::RECIPIENTS_MAX as u32;

pub(crate) const SETTINGS: &[Setting] = &[
    Setting {
        name: LOOP,
        title: "loop of users",
        about: "operations of users, one after another",
        kind: SettingKind::Choice(&[
            SettingChoice::new("mail", "Reading, filing and sending in mailboxes of their own"),
            SettingChoice::new("maildb", "The same, and a mailbox that all of them share"),
        ]),
        key: DefinitionKey::Optional("mail"),
        access: SettingAccess::Whole {
            text: |configuration| Some(mail(configuration)?.of_loop.name().to_owned()),
            apply: |configuration, value| apply_to(configuration, LOOP, value),
        },
    },
    Setting {
        name: PACE,
        title: "divisor of pauses",
        about: "divisor of all pauses of users",
        kind: SettingKind::Choice(&[
            SettingChoice::new("1", "The pauses of the script: 15 minutes in each loop"),
            SettingChoice::new("16", "A sixteenth: 56 s in each loop"),
        ]),
        key: DefinitionKey::Optional("1"),
        access: SettingAccess::Whole {
            text: |configuration| Some(mail(configuration)?.pace.to_string()),
            apply: |configuration, value| apply_to(configuration, PACE, value),
        },
    },
    Setting {
        name: BODIES,
        title: "sizes of messages",
        about: "sizes of messages",
        kind: SettingKind::Choice(&[
            SettingChoice::new("1k", "Bodies of 1,000 bytes"),
            SettingChoice::new("10k", "Bodies of 10,000 bytes"),
            SettingChoice::new(
                "r6",
                "Sent messages of 500 bytes to 10 MB, 97 KB on average; documents of 50,000 bytes",
            ),
        ]),
        key: DefinitionKey::Optional("1k"),
        access: SettingAccess::Whole {
            text: |configuration| Some(mail(configuration)?.bodies.name().to_owned()),
            apply: |configuration, value| apply_to(configuration, BODIES, value),
        },
    },
    Setting {
        name: RECIPIENTS,
        title: "recipients of memos",
        about: "number of recipients of a memo and of an invitation",
        kind: SettingKind::Count { least: 1, most: RECIPIENTS_MAX },
        key: DefinitionKey::Optional("3"),
        access: SettingAccess::Whole {
            text: |configuration| Some(mail(configuration)?.recipients.to_string()),
            apply: |configuration, value| apply_to(configuration, RECIPIENTS, value),
        },
    },
    Setting {
        name: DOCUMENTS,
        title: "documents of a mailbox",
        about: "number of documents in each mailbox before load",
        kind: SettingKind::Count { least: DOCUMENTS_MIN, most: DOCUMENTS_MAX },
        key: DefinitionKey::Optional("100"),
        access: SettingAccess::Whole {
            text: |configuration| Some(mail(configuration)?.documents.to_string()),
            apply: |configuration, value| apply_to(configuration, DOCUMENTS, value),
        },
    },
    Setting {
        name: SHARED,
        title: "documents of the shared mailbox",
        about: "number of documents in the shared mailbox before load, with `loop=maildb`",
        kind: SettingKind::Count { least: SHARED_MIN, most: DOCUMENTS_MAX },
        key: DefinitionKey::Optional("300"),
        access: SettingAccess::Whole {
            text: |configuration| Some(mail(configuration)?.shared_documents.to_string()),
            apply: |configuration, value| apply_to(configuration, SHARED, value),
        },
    },
    Setting {
        name: TLS,
        title: "TLS",
        about: "encryption of connections; `imaps://` targets have it from the first byte",
        kind: SettingKind::Choice(&[
            SettingChoice::new("off", "None"),
            SettingChoice::new("starttls", "TLS that the client asks for"),
            SettingChoice::new("on", "TLS from the first byte"),
        ]),
        key: DefinitionKey::Optional("off"),
        access: SettingAccess::Whole {
            text: |configuration| Some(mail(configuration)?.security.name().to_owned()),
            apply: |configuration, value| apply_to(configuration, TLS, value),
        },
    },
    Setting {
        name: ACKNOWLEDGE,
        title: "acknowledgment",
        about: "acknowledgment of the parts of a reply",
        kind: SettingKind::Choice(&[
            SettingChoice::new("at-once", "At once, so that a server that waits for it does not wait 40 ms"),
            SettingChoice::new("as-system", "When the system chooses"),
        ]),
        key: DefinitionKey::Optional("at-once"),
        access: SettingAccess::Whole {
            text: |configuration| Some(mail(configuration)?.acknowledge.name().to_owned()),
            apply: |configuration, value| apply_to(configuration, ACKNOWLEDGE, value),
        },
    },
    TIME_LIMIT,
];

/// Gives a workload the value of a setting by its name.
pub(crate) fn apply(mail: &mut MailWorkload, name: &str, value: &SettingValue) {
    match (name, value) {
        (LOOP, SettingValue::Choice(name, _)) => mail.of_loop = MailLoop::named(name).unwrap_or(mail.of_loop),
        (PACE, SettingValue::Choice(pace, _)) => mail.pace = pace.parse().unwrap_or(mail.pace),
        (BODIES, SettingValue::Choice(name, _)) => {
            mail.bodies = MailBodies::named(name).unwrap_or(mail.bodies);
        }
        (RECIPIENTS, SettingValue::Count(n)) => mail.recipients = *n,
        (DOCUMENTS, SettingValue::Count(n)) => mail.documents = *n,
        (SHARED, SettingValue::Count(n)) => mail.shared_documents = *n,
        (TLS, SettingValue::Choice(name, _)) => {
            mail.security = MailSecurity::named(name).unwrap_or(mail.security)
        }
        (ACKNOWLEDGE, SettingValue::Choice(name, _)) => {
            mail.acknowledge = MailAcknowledge::named(name).unwrap_or(mail.acknowledge);
        }
        _ => {}
    }
}

fn apply_to(configuration: &mut Configuration, name: &str, value: &SettingValue) {
    if let Workload::Mail(mail) = &mut configuration.workload {
        apply(mail, name, value);
    }
}

fn mail(configuration: &Configuration) -> Option<&MailWorkload> {
    if let Workload::Mail(mail) = &configuration.workload { Some(mail) } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Family;

    #[test]
    fn every_setting_has_an_effect() {
        let standard = MailWorkload::default();
        for (name, value) in [
            (LOOP, "maildb"),
            (PACE, "16"),
            (BODIES, "r6"),
            (RECIPIENTS, "4"),
            (DOCUMENTS, "40"),
            (SHARED, "60"),
            (TLS, "starttls"),
            (ACKNOWLEDGE, "as-system"),
        ] {
            let mut changed = standard.clone();
            apply(&mut changed, name, Family::Mail.choose_setting(name, value).unwrap().value());
            assert_ne!(changed, standard, "{name}");
            assert!(changed.population(1).is_ok(), "{name}");
        }
    }

    #[test]
    fn choices_are_the_names_of_the_model() {
        fn names<T: NamedValues>() -> Vec<&'static str> {
            T::NAMES.iter().map(|(name, _)| *name).collect()
        }
        let choices = |name: &str| -> Vec<&'static str> {
            let setting = SETTINGS.iter().find(|setting| setting.name == name).unwrap();
            let SettingKind::Choice(choices) = setting.kind else { panic!("{name}") };
            choices.iter().map(|choice| choice.name).collect()
        };
        assert_eq!(choices(LOOP), names::<MailLoop>());
        assert_eq!(choices(BODIES), names::<MailBodies>());
        assert_eq!(choices(TLS), names::<MailSecurity>());
        assert_eq!(choices(ACKNOWLEDGE), names::<MailAcknowledge>());
    }
}
