//! The table `[workload]` of an application server benchmark.

use languages::reader::TomlTable;
use languages::spec::{whole, whole_u32};

use super::WorkloadDefinition;
use super::family_spec::{FamilySpec, WorkloadParts};
use super::think::read_think;
use super::values::server_url;
use crate::setting::app::{SETTINGS, apply};
use crate::{
    APP_RANGE_BYTES_MIN, AppFileIo, AppPayload, AppProtocol, AppSuite, AppWorkload, ChosenSetting, Workload,
};

/// The answers of application servers.
pub(super) static SPEC: FamilySpec = FamilySpec {
    is_started: true,
    is_described: true,
    own_headline: None,
    settings: SETTINGS,
    target: server_url,
    no_use: |_| Vec::new(),
    read: |WorkloadParts { workload, protocol, .. }| {
        read(workload, protocol).map(Workload::App).map(WorkloadDefinition::Complete)
    },
};

/// The longest message, in bytes: that of the protocol.
const PAYLOAD_BYTES_MAX: u32 = 128 << 10;

/// The most rounds of a computation: those of the protocol.
const ROUNDS_MAX: u32 = 50_000_000;

/// Reads `[workload]`; the rest is in the settings of `[protocol]`.
fn read(workload: Option<TomlTable>, protocol: Option<&[ChosenSetting]>) -> Option<AppWorkload> {
    let mut table = workload?;
    let about =
        "The workload of an application server: transactions, which are those of the suite in `protocol`.";
    table.describe("AppWorkload", about);
    let rounds = table.required("rounds", "The rounds of a computation.", whole_u32(0..=ROUNDS_MAX));
    let payloads = table.required_tables("payloads", "The lengths of messages.");
    let about = "The pause of clients after each transaction; if absent: `none`.";
    let think = read_think(&mut table, about);
    table.finish();
    let payloads: Vec<_> = payloads?.into_iter().map(read_payload).collect();
    let mut workload = AppWorkload {
        suite: AppSuite::System,
        payloads: payloads.into_iter().collect::<Option<_>>()?,
        rounds: rounds?,
        range_bytes: APP_RANGE_BYTES_MIN,
        auto_range: None,
        io: AppFileIo::Buffered,
        is_cold: false,
        protocol: AppProtocol::Binary,
        think,
    };
    protocol?.iter().for_each(|setting| apply(&mut workload, setting.setting.name, setting.value()));
    Some(workload)
}

fn read_payload(mut table: TomlTable) -> Option<AppPayload> {
    table.describe("Payload", "A length of messages.");
    let bytes = table.required("bytes", "The length in bytes.", whole_u32(1..=PAYLOAD_BYTES_MAX));
    let about = "Its share of all messages is this divided by the sum of all weights.";
    let weight = table.required("weight", about, whole(1..=u64::from(u32::MAX)));
    table.finish();
    Some(AppPayload { bytes: bytes?, weight: weight? })
}
