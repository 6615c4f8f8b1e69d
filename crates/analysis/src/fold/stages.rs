//! The stages of a load point with a shape: each has the fold of its own seconds.

use std::ops::Range;

use model::{IntervalRecord, LoadPoint, Phase, Plan, Stage};
use stats::HistogramOverflow;
use units::Nanos;

use super::PointFold;
use super::time_axis::LastInterval;

/// The fold of one stage. Details come as spans of several seconds, which may be of two stages, so that a stage has none.
#[derive(Debug)]
pub(crate) struct StageFold {
    /// Index in the shape.
    pub(crate) index: u32,
    /// The load as planned.
    pub(crate) stage: Stage,
    /// The level of load just before it; 0 of the first.
    pub(crate) level_before: f64,
    /// The times from the start of the load point between which it is planned.
    pub(crate) span: Range<Nanos>,
    /// Totals and seconds of the stage; the bookkeeping of whole records is that of the load point.
    pub(crate) fold: PointFold,
}

/// Makes the empty folds of all stages of a plan; none without a shape.
pub(super) fn stages(plan: &Plan, point: LoadPoint) -> Vec<StageFold> {
    let start = plan.phases.start_of(Phase::Steady);
    let spans = plan.shape.iter().flat_map(|shape| shape.spans());
    let ends = plan.shape.iter().flat_map(|shape| &shape.stages).map(|stage| stage.to);
    let levels_before = [0.0].into_iter().chain(ends);
    let stages =
        (0..).zip(spans).zip(levels_before).map(|((index, (span, stage)), level_before)| StageFold {
            index,
            stage: *stage,
            level_before,
            span: start + span.start..start + span.end,
            fold: PointFold::uniform(plan, point),
        });
    stages.collect()
}

/// Adds an interval of the steady phase to the stage in which it begins. The stages before it are over.
pub(super) fn add(
    stages: &mut [StageFold],
    record: &IntervalRecord,
    before: Option<LastInterval>,
    places_full: bool,
) -> Result<(), HistogramOverflow> {
    let Some(index) = stages.iter().position(|stage| stage.span.contains(&record.start)) else {
        return Ok(());
    };
    let (over, rest) = stages.split_at_mut(index);
    over.iter_mut().for_each(StageFold::close);
    let fold = &mut rest[0].fold;
    let seconds = fold.seconds.interval(record);
    fold.steady.interval(record, before, places_full).and(seconds)
}

impl StageFold {
    /// Returns whether there is a record of it.
    pub(crate) fn has_begun(&self) -> bool {
        self.fold.steady.start.is_some()
    }

    /// Ends the fold: no record of this stage follows.
    pub(super) fn close(&mut self) {
        self.fold.seconds.close();
    }
}
