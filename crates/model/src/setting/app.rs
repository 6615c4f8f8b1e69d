//! The settings of application server workloads.

use languages::Named;

use super::configuration::TIME_LIMIT;
use super::{Configuration, DefinitionKey, Setting, SettingAccess, SettingChoice, SettingKind, SettingValue};
use crate::{APP_BLOCK_BYTES, APP_RANGE_BYTES_MIN, AppFileIo, AppProtocol, AppSuite, AppWorkload, Workload};

/// The longest range of a client's file, in bytes.
const RANGE_BYTES_MAX: u64 = 1 << 40;

const SUITE: &str = "suite";
const RANGE: &str = "range";
const IO: &str = "io";
const COLD: &str = "cold";
pub(super) const PROTOCOL: &str = "protocol";

pub(super) const SETTINGS: &[Setting] = &[
    Setting {
        name: SUITE,
        title: "suite",
        about: "transactions and their weights",
        kind: SettingKind::Choice(&[
            SettingChoice::new("sys", "The system as a whole: CS, PROC, SC, RREAD and RWRITE, 20 % each"),
            SettingChoice::new("net", "The network: CS and SC, 50 % each"),
            SettingChoice::new("cpu", "The processors: PROC"),
            SettingChoice::new(
                "disk",
                "The disks: RREAD 35 %, SREAD 20 %, RWRITE, SWRITE and APPEND 15 % each",
            ),
        ]),
        key: DefinitionKey::Optional("sys"),
        access: SettingAccess::Whole {
            text: |configuration| Some(app(configuration)?.suite.name().to_owned()),
            apply: |configuration, value| apply_to(configuration, SUITE, value),
        },
    },
    Setting {
        name: RANGE,
        title: "range of files",
        about: "part of each client's file that transactions use, rounded down to blocks of 4 KiB; the file is twice as \
                long, and at least 20 MiB; `--set range=auto` takes 0.78 of the server's memory limit ÷ 40 clients",
        kind: SettingKind::Bytes { least: APP_RANGE_BYTES_MIN, most: RANGE_BYTES_MAX, has_auto: true },
        key: DefinitionKey::Optional("10 MiB"),
        access: SettingAccess::Whole {
            // Exact, so that every other range is another text.
            text: |configuration| Some(format!("{} KiB", app(configuration)?.range_bytes / 1024)),
            apply: |configuration, value| match (value, configuration.memory) {
                (SettingValue::Auto, Some(memory)) => {
                    apply_to(configuration, RANGE, &SettingValue::Bytes(auto_range(memory)));
                }
                _ => apply_to(configuration, RANGE, value),
            },
        },
    },
    Setting {
        name: IO,
        title: "file input and output",
        about: "way in which the server reads and writes files",
        kind: SettingKind::Choice(&[
            SettingChoice::new("buffered", "Through the page cache; writes reach the disk later"),
            SettingChoice::new("direct", "Past the page cache"),
            SettingChoice::new("durable", "Through the page cache; a write ends when it is on the disk"),
        ]),
        key: DefinitionKey::Optional("buffered"),
        access: SettingAccess::Whole {
            text: |configuration| Some(app(configuration)?.io.name().to_owned()),
            apply: |configuration, value| apply_to(configuration, IO, value),
        },
    },
    Setting {
        name: COLD,
        title: "cold files",
        about: "whether the range begins outside the page cache",
        kind: SettingKind::Choice(&[
            SettingChoice::new("false", "The range is read once before each load point"),
            SettingChoice::new("true", "Nothing of the range is in the page cache when a load point begins"),
        ]),
        key: DefinitionKey::Optional("false"),
        access: SettingAccess::Whole {
            text: |configuration| Some(app(configuration)?.is_cold.to_string()),
            apply: |configuration, value| apply_to(configuration, COLD, value),
        },
    },
    Setting {
        name: PROTOCOL,
        title: "protocol",
        about: "protocol of the application server; a run takes that of the server's target or recipe",
        kind: SettingKind::Choice(&[
            SettingChoice::new("binary", "Binary frames over TCP: the built-in server, `app://` targets"),
            SettingChoice::new("http", "HTTP/1.1: `http://` targets, recipes with the variant `http`"),
        ]),
        key: DefinitionKey::Optional("binary"),
        access: SettingAccess::Whole {
            text: |configuration| Some(app(configuration)?.protocol.name().to_owned()),
            apply: |configuration, value| apply_to(configuration, PROTOCOL, value),
        },
    },
    TIME_LIMIT,
];

/// Gives a workload the value of a setting by its name.
pub(crate) fn apply(app: &mut AppWorkload, name: &str, value: &SettingValue) {
    match (name, value) {
        (SUITE, SettingValue::Choice(suite, _)) => app.suite = AppSuite::named(suite).unwrap_or(app.suite),
        (RANGE, SettingValue::Bytes(bytes)) => app.range_bytes = bytes / APP_BLOCK_BYTES * APP_BLOCK_BYTES,
        (IO, SettingValue::Choice(io, _)) => app.io = AppFileIo::named(io).unwrap_or(app.io),
        (COLD, SettingValue::Choice(is_cold, _)) => app.is_cold = *is_cold == "true",
        (PROTOCOL, SettingValue::Choice(name, _)) => {
            app.protocol = AppProtocol::named(name).unwrap_or(app.protocol);
        }
        _ => {}
    }
}

/// Returns the range at which the files of 40 clients fill 0.78 of the server's memory, so that disks are expected to take
/// over near that many clients: 400 MB of 512 MB, where a test of the original saw it.
fn auto_range(memory: u64) -> u64 {
    (memory / 100 * 78 / 40).max(APP_RANGE_BYTES_MIN)
}

fn apply_to(configuration: &mut Configuration, name: &str, value: &SettingValue) {
    if let Workload::App(app) = &mut configuration.workload {
        apply(app, name, value);
    }
}

fn app(configuration: &Configuration) -> Option<&AppWorkload> {
    match &configuration.workload {
        Workload::App(app) => Some(app),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Family, Think};

    #[test]
    fn choices_are_the_names_of_the_model() {
        fn names<T: Named>() -> Vec<&'static str> {
            T::NAMES.iter().map(|(name, _)| *name).collect()
        }
        let choices = |name: &str| -> Vec<&'static str> {
            let setting = SETTINGS.iter().find(|setting| setting.name == name).unwrap();
            let SettingKind::Choice(choices) = setting.kind else { panic!("{name}") };
            choices.iter().map(|choice| choice.name).collect()
        };
        assert_eq!(choices(SUITE), names::<AppSuite>());
        assert_eq!(choices(IO), names::<AppFileIo>());
        assert_eq!(choices(PROTOCOL), names::<AppProtocol>());
    }

    /// 512 MiB · 0.78 ÷ 40 = 10.48 MB, in whole blocks.
    #[test]
    fn a_range_of_auto_follows_the_memory() {
        let range = |memory| auto_range(memory) / APP_BLOCK_BYTES * APP_BLOCK_BYTES;
        assert_eq!(range(512 << 20), 2555 * 4096);
        assert_eq!(range(1 << 10), APP_RANGE_BYTES_MIN);
    }

    #[test]
    fn every_setting_has_an_effect() {
        let applied = |name: &str, value: &str| {
            let mut app = AppWorkload {
                suite: AppSuite::System,
                payloads: Vec::new(),
                rounds: 1,
                range_bytes: 0,
                io: AppFileIo::Buffered,
                is_cold: false,
                protocol: AppProtocol::Binary,
                think: Think::None,
            };
            apply(&mut app, name, Family::App.choose_setting(name, value).unwrap().value());
            app
        };
        assert_eq!(applied("suite", "disk").suite, AppSuite::Disk);
        assert_eq!(applied("range", "33 KiB").range_bytes, 32 << 10);
        assert_eq!(applied("io", "durable").io, AppFileIo::Durable);
        assert!(applied("cold", "true").is_cold);
        assert_eq!(applied("protocol", "http").protocol, AppProtocol::Http);
        let error = Family::App.choose_setting("range", "15 KiB").unwrap_err();
        assert_eq!(error.hint(), "write `auto` or a size such as `4 KiB`, from 16.0 KiB up to 1.0 TiB");
    }
}
