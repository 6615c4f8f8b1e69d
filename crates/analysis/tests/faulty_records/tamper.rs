//! Changes that keep a record as plausible as the published mistake.

use model::{IntervalRecord, Phase, Plan, ThinkTime};
use stats::Histogram;

use crate::record::RecordedRun;

/// Recomputes the values that depend on the kinds' histograms after a change of them.
pub(crate) fn rebuild_response(record: &mut IntervalRecord) {
    record.response = Histogram::new();
    for response in &record.detail.as_ref().unwrap().response {
        record.response.merge(response).unwrap();
    }
}

/// The records of the steady phase.
pub(crate) fn steady(recorded: &mut RecordedRun) -> impl Iterator<Item = &mut IntervalRecord> {
    recorded.records.iter_mut().filter(|record| record.phase == Phase::Steady)
}

/// Sets the think time of a plan.
pub(crate) fn set_think(plan: &mut Plan, think: ThinkTime) {
    plan.workload.web_mut().unwrap().think = think;
    plan.catalog = plan.workload.catalog();
}
