//! The table `[workload]` of an order-entry benchmark.

use languages::reader::TomlTable;

use crate::setting::order_entry::apply;
use crate::{ChosenSetting, OrderEntryWorkload};

/// Reads `[workload]`, which has no keys: everything is in the settings of `[protocol]`.
pub(super) fn read(
    workload: Option<TomlTable>,
    protocol: Option<&[ChosenSetting]>,
) -> Option<OrderEntryWorkload> {
    let workload = workload?;
    let about = "The workload of order entry: it has no keys, everything is in `protocol`.";
    workload.describe("OrderEntryWorkload", about);
    workload.finish();
    let mut workload = OrderEntryWorkload::default();
    protocol?.iter().for_each(|setting| apply(&mut workload, setting.setting.name, setting.value()));
    Some(workload)
}
