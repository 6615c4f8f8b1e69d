//! The table `[workload]` of an echo benchmark.

use std::collections::BTreeSet;

use languages::reader::{TomlTable, ValueError, line, whole, whole_u32};

use super::think::read_think;
use crate::{EchoMessageKind, EchoWorkload};

/// The longest message, in bytes.
const MESSAGE_MAX: u32 = 1 << 20;

/// Reads `[workload]`.
pub(super) fn read(workload: Option<TomlTable>) -> Option<EchoWorkload> {
    let mut table = workload?;
    let tables = table.optional_tables("messages");
    let think = read_think(&mut table);
    if table.value("messages").is_none() {
        table.reject_all(ValueError::new("`messages` must be given here"));
    }
    table.finish();
    let (mut messages, mut names) = (Vec::new(), BTreeSet::new());
    for table in tables? {
        let message = read_message(table, &mut names);
        messages.push(message);
    }
    Some(EchoWorkload { messages: messages.into_iter().collect::<Option<_>>()?, think })
}

fn read_message(mut table: TomlTable, names: &mut BTreeSet<String>) -> Option<EchoMessageKind> {
    let name = table.required("name", line);
    let bytes = table.required("bytes", whole_u32(0..=MESSAGE_MAX));
    let weight = table.required("weight", whole(1..=u64::from(u32::MAX)));
    if let Some(name) = name.as_ref().filter(|name| !names.insert((*name).clone())) {
        table.reject("name", ValueError::new(format!("another message is called `{name}`")));
    }
    table.finish();
    Some(EchoMessageKind { name: name?, bytes: bytes?, weight: weight? })
}
