//! The settings of echo workloads.

use units::Bytes;

use super::{Setting, SettingKind, SettingValue};
use crate::Workload;

pub(super) const SETTINGS: &[Setting] = &[Setting {
    name: "bytes",
    title: "message length",
    about: "length of every message",
    kind: SettingKind::Bytes { most: 1 << 20 },
    text: |workload| match workload {
        Workload::Echo(echo) => {
            let lengths = echo.messages.iter().map(|message| Bytes(message.bytes.into()).to_string());
            Some(lengths.collect::<Vec<_>>().join(", "))
        }
        Workload::Web(_) => None,
    },
    apply: |workload, value| {
        if let (Workload::Echo(echo), SettingValue::Bytes(bytes)) = (workload, value) {
            let bytes = u32::try_from(bytes).unwrap_or(u32::MAX);
            echo.messages.iter_mut().for_each(|message| message.bytes = bytes);
        }
    },
}];
