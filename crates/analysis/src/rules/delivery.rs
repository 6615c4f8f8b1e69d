//! Open loop: all scheduled operations fell due, and enough of them were delivered.

use units::Ratio;

use super::{Evidence, RuleFinding};
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
    let scheduled = operations.pass_before(totals.end);
    let due = totals.due;
    if due == scheduled {
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
    if limit * offered <= rate && 0.0 < offered {
        return Vec::new();
    }
    vec![RuleFinding::invalid(Finding::Delivered { rate, offered, limit: Ratio(limit) })]
}
