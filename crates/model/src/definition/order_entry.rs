//! The table `[workload]` of an order-entry benchmark.

use languages::reader::TomlTable;

use super::WorkloadDefinition;
use super::family_spec::{FamilySpec, WorkloadParts};
use super::values::server_url;
use crate::setting::order_entry::{SETTINGS, apply};
use crate::{ChosenSetting, Headline, OrderEntryWorkload, Workload};

/// The answers of servers of order-entry data.
pub(super) static SPEC: FamilySpec = FamilySpec {
    is_started: true,
    is_described: true,
    own_headline: Some(Headline::NewOrderRate),
    settings: SETTINGS,
    target: server_url,
    no_use: |_| Vec::new(),
    read: |WorkloadParts { workload, protocol, .. }| {
        read(workload, protocol).map(Workload::OrderEntry).map(WorkloadDefinition::Complete)
    },
};

/// Reads `[workload]`, which has no keys: everything is in the settings of `[protocol]`.
fn read(workload: Option<TomlTable>, protocol: Option<&[ChosenSetting]>) -> Option<OrderEntryWorkload> {
    let workload = workload?;
    let about = "The workload of order entry: it has no keys, everything is in `protocol`.";
    workload.describe("OrderEntryWorkload", about);
    workload.finish();
    let mut workload = OrderEntryWorkload::default();
    protocol?.iter().for_each(|setting| apply(&mut workload, setting.setting.name, setting.value()));
    Some(workload)
}
