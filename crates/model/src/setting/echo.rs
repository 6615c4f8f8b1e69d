//! The settings of echo workloads.

use units::Bytes;

use super::configuration::TIME_LIMIT;
use super::{DefinitionKey, Setting, SettingAccess, SettingKind, SettingValue};
use crate::Workload;
use crate::workload::echo::EchoWorkload;

pub(crate) const SETTINGS: &[Setting] = &[
    Setting {
        name: "bytes",
        title: "message length",
        about: "length of every message",
        kind: SettingKind::Bytes { least: 0, most: 1 << 20, has_auto: false },
        key: DefinitionKey::None,
        access: SettingAccess::Whole {
            text: |configuration| {
                let Workload::Echo(echo) = &configuration.workload else { return None };
                Some(lengths(echo))
            },
            apply: |configuration, value| {
                if let (Workload::Echo(echo), SettingValue::Bytes(bytes)) =
                    (&mut configuration.workload, value)
                {
                    let bytes = u32::try_from(*bytes).unwrap_or(u32::MAX);
                    echo.messages.iter_mut().for_each(|message| message.bytes = bytes);
                }
            },
        },
    },
    TIME_LIMIT,
];

fn lengths(echo: &EchoWorkload) -> String {
    let lengths = echo.messages.iter().map(|message| Bytes(message.bytes.into()).to_string());
    lengths.collect::<Vec<_>>().join(", ")
}
