//! Changes that keep a record as plausible as the mistake they stand for.

use model::{IntervalRecord, Phase};
use stats::Histogram;

use crate::record::Scene;

/// Recomputes what depends on the kinds' histograms after they were tampered with.
pub fn rebuild_response(record: &mut IntervalRecord) {
    record.response = Histogram::new();
    for kind in &record.kinds {
        record.response.merge(&kind.ok.response_histogram);
    }
}

/// The records of the steady phase.
pub fn steady(scene: &mut Scene) -> impl Iterator<Item = &mut IntervalRecord> {
    scene.records.iter_mut().filter(|record| record.phase == Phase::Steady)
}
