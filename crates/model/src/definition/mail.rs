//! The table `[workload]` of a mail benchmark.

use languages::reader::{TomlTable, ValueError};
use languages::spec::{ValueSpec, line};

use super::WorkloadDefinition;
use super::family_spec::{FamilySpec, WorkloadParts};
use crate::setting::mail::{SETTINGS, SHARED, apply};
use crate::{ChosenSetting, Headline, MailLoop, MailWorkload, Workload};

/// The answers of mail servers.
pub(super) static SPEC: FamilySpec = FamilySpec {
    is_started: true,
    is_described: true,
    own_headline: Some(Headline::WeightedRate),
    settings: SETTINGS,
    target,
    no_use,
    read: |WorkloadParts { workload, protocol, .. }| {
        read(workload, protocol).map(Workload::Mail).map(WorkloadDefinition::Complete)
    },
};

/// URLs of mail servers, with a file that has the accounts of users.
fn target() -> ValueSpec<String> {
    line().and_then(|written| {
        let scheme = written.split_once("://").map_or("", |(scheme, _)| scheme);
        if ["imap", "imaps"].iter().any(|known| known.eq_ignore_ascii_case(scheme)) {
            Ok(written)
        } else {
            Err(ValueError::new("expected the URL of a mail server")
                .hint("write `imap://HOST:PORT?submission=PORT&accounts=FILE`"))
        }
    })
}

/// Returns the settings that a workload has no use for.
fn no_use(definition: &WorkloadDefinition) -> Vec<&'static str> {
    let WorkloadDefinition::Complete(Workload::Mail(mail)) = definition else { return Vec::new() };
    if mail.of_loop == MailLoop::Mail { vec![SHARED] } else { Vec::new() }
}

/// Reads `[workload]`, which has no keys: everything is in the settings of `[protocol]`.
fn read(workload: Option<TomlTable>, protocol: Option<&[ChosenSetting]>) -> Option<MailWorkload> {
    let workload = workload?;
    workload.describe("MailWorkload", "The workload of mail: it has no keys, everything is in `protocol`.");
    workload.finish();
    let mut workload = MailWorkload::default();
    protocol?.iter().for_each(|setting| apply(&mut workload, setting.setting.name, setting.value()));
    Some(workload)
}
