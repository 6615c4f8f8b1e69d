//! The settings of application server workloads.

use languages::NamedValues;
use units::Bytes;

use super::configuration::TIME_LIMIT;
use super::{Configuration, DefinitionKey, Setting, SettingAccess, SettingChoice, SettingKind, SettingValue};
use crate::workload::RANGE_BYTES_MAX;
use crate::{
    APP_BLOCK_BYTES, APP_RANGE_BYTES_MIN, AppFileIo, AppProtocol, AppSuite, AppWorkload, AutoRange, Plan,
    Workload,
};

const SUITE: &str = "suite";
const RANGE: &str = "range";
const RANGE_TITLE: &str = "range of files";
const IO: &str = "io";
const COLD: &str = "cold";
pub(super) const PROTOCOL: &str = "protocol";

pub(crate) const SETTINGS: &[Setting] = &[
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
            SettingChoice::new("cs", "Messages to the server: CS"),
        ]),
        key: DefinitionKey::Optional("sys"),
        access: SettingAccess::Whole {
            text: |configuration| Some(app(configuration)?.suite.name().to_owned()),
            apply: |configuration, value| apply_to(configuration, SUITE, value),
        },
    },
    Setting {
        name: RANGE,
        title: RANGE_TITLE,
        about: "part of each client's file that transactions use, rounded down to blocks of 4 KiB; the file is twice as \
                long, and at least 20 MiB; `--set range=auto` takes 0.78 of the server's memory limit in force ÷ 40 clients",
        kind: SettingKind::Bytes { least: APP_RANGE_BYTES_MIN, most: RANGE_BYTES_MAX, has_auto: true },
        key: DefinitionKey::Optional("10 MiB"),
        access: SettingAccess::Whole {
            text: |configuration| Some(range_text(app(configuration)?)),
            apply: |configuration, value| apply_to(configuration, RANGE, value),
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
        (RANGE, SettingValue::Bytes(bytes)) => {
            (app.range_bytes, app.auto_range) = (bytes / APP_BLOCK_BYTES * APP_BLOCK_BYTES, None);
        }
        (RANGE, SettingValue::Auto) => app.auto_range = Some(AutoRange::default()),
        (IO, SettingValue::Choice(io, _)) => app.io = AppFileIo::named(io).unwrap_or(app.io),
        (COLD, SettingValue::Choice(is_cold, _)) => app.is_cold = *is_cold == "true",
        (PROTOCOL, SettingValue::Choice(name, _)) => {
            app.protocol = AppProtocol::named(name).unwrap_or(app.protocol);
        }
        _ => {}
    }
}

/// Writes the range of a workload, exactly, so that every other range is another text.
fn range_text(app: &AppWorkload) -> String {
    match app.auto_range {
        Some(AutoRange { memory_bytes: None }) => "auto".to_owned(),
        Some(AutoRange { memory_bytes: Some(memory) }) => {
            format!("{} KiB, auto for a memory limit of {}", app.range_bytes / 1024, Bytes(memory))
        }
        None => format!("{} KiB", app.range_bytes / 1024),
    }
}

impl Plan {
    /// Fits sizes that follow from the server's memory to its limit in force, in bytes, and says so in the modifications; a
    /// plan without such sizes stays as it is.
    pub fn fit_to_memory(&mut self, memory: u64) {
        let Workload::App(app) = &mut self.workload else { return };
        app.fit_to_memory(memory);
        let ours = range_text(app);
        self.modifications
            .iter_mut()
            .filter(|one| one.what == RANGE_TITLE)
            .for_each(|one| one.ours.clone_from(&ours));
    }
}

fn apply_to(configuration: &mut Configuration, name: &str, value: &SettingValue) {
    if let Workload::App(app) = &mut configuration.workload {
        apply(app, name, value);
    }
}

fn app(configuration: &Configuration) -> Option<&AppWorkload> {
    if let Workload::App(app) = &configuration.workload { Some(app) } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Family, ThinkTime};

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
        assert_eq!(choices(SUITE), names::<AppSuite>());
        assert_eq!(choices(IO), names::<AppFileIo>());
        assert_eq!(choices(PROTOCOL), names::<AppProtocol>());
    }

    #[test]
    fn every_setting_has_an_effect() {
        let applied = |name: &str, value: &str| {
            let mut app = AppWorkload {
                suite: AppSuite::System,
                payloads: Vec::new(),
                rounds: 1,
                range_bytes: 0,
                auto_range: None,
                io: AppFileIo::Buffered,
                is_cold: false,
                protocol: AppProtocol::Binary,
                think: ThinkTime::None,
            };
            apply(&mut app, name, Family::App.choose_setting(name, value).unwrap().value());
            app
        };
        assert_eq!(applied("suite", "disk").suite, AppSuite::Disk);
        assert_eq!(applied("range", "33 KiB").range_bytes, 32 << 10);
        assert!(applied("range", "auto").needs_memory_limit());
        assert_eq!(applied("io", "durable").io, AppFileIo::Durable);
        assert!(applied("cold", "true").is_cold);
        assert_eq!(applied("protocol", "http").protocol, AppProtocol::Http);
        let error = Family::App.choose_setting("range", "15 KiB").unwrap_err();
        assert_eq!(error.hint(), "write `auto` or a size such as `4 KiB`, from 16.0 KiB up to 1.0 TiB");
    }
}
