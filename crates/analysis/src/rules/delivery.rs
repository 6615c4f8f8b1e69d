//! Open loop: all scheduled operations fell due, and enough of them were delivered.

use units::Ratio;

use super::{Evidence, JudgedPart, RuleFinding};
use crate::finding::Finding;

/// Standard deviations that are chance.
const DEVIATIONS: f64 = 3.0;

/// Reports a number of due operations that differs from the schedule, a pure function of plan and seed.
pub(super) fn schedule(evidence: &Evidence) -> Vec<RuleFinding> {
    let Some(schedule) = evidence.plan.schedule(evidence.fold.point) else { return Vec::new() };
    let totals = &evidence.fold.steady;
    let Some(start) = totals.start else { return Vec::new() };
    let mut operations = schedule.whole();
    operations.pass_before(start);
    // Load threads that are stopped early end at slightly different times, all of them after the limit broke.
    let least = evidence.broken_at.map_or(0, |end| operations.pass_before(end));
    let scheduled = least + operations.pass_before(totals.end);
    let due = totals.due;
    let is_cut_short = evidence.broken_at.is_some() && (least..=scheduled).contains(&due);
    if due == scheduled || is_cut_short {
        return Vec::new();
    }
    vec![RuleFinding::invalid(Finding::Schedule { due, scheduled })]
}

/// Returns whether the operations that cross the ends of the phase so far, or wait, can no longer decide whether enough
/// of those that fell due were delivered.
///
/// Their number at a moment varies by chance like a Poisson count, by its root, if the server keeps up.
pub(super) fn is_decided(evidence: &Evidence) -> bool {
    let totals = &evidence.fold.steady;
    let (at_start, at_end) = totals.in_flight_at_ends();
    let crossing = at_start as f64 + at_end as f64 + totals.waiting_at_end() as f64;
    let limit = evidence.plan.rules.delivered_ratio_min;
    let margin = (evidence.figures.n as f64 - limit * totals.due as f64).abs();
    DEVIATIONS * crossing.sqrt() < margin
}

/// Reports a rate of successes too far below the rate at which operations fell due.
pub(super) fn delivered(evidence: &Evidence) -> Vec<RuleFinding> {
    let Some(offered) = evidence.figures.offered_rate else { return Vec::new() };
    let rate = evidence.figures.rate;
    let limit = evidence.plan.rules.delivered_ratio_min;
    let expected = offered - in_flight_growth(evidence);
    if evidence.is_idle() || (limit * expected <= rate && 0.0 < offered) {
        return Vec::new();
    }
    vec![RuleFinding::invalid(Finding::Delivered { rate, offered, limit: Ratio(limit) })]
}

/// The greatest response time by which a rising load may be ahead of what is delivered, as a part of the stage: with a server
/// that takes longer, operations that wait for it cannot be told from those that any load has in flight.
const LAG_MAX: f64 = 0.1;

/// Returns the operations per second by which a stage fills up with operations in flight, as it must where its load is higher
/// at the end than just before it: ΔL ÷ T, by Little's law with ΔL = Δλ·R. Zero elsewhere.
fn in_flight_growth(evidence: &Evidence) -> f64 {
    let JudgedPart::Stage { stage, level_before, .. } = evidence.part else { return 0.0 };
    let length = stage.length.as_secs_f64();
    let response = evidence.fold.steady.response.mean().unwrap_or_default().as_secs_f64();
    (stage.to - level_before).max(0.0) * response.min(LAG_MAX * length) / length
}
