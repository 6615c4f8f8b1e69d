//! Two ways to the same integral: the sum of response times, and the integral of operations in flight.

use units::Nanos;

use super::{Evidence, RuleFinding};
use crate::finding::Finding;

/// Part of the larger value by which the two may differ.
const GAP_MAX: f64 = 0.01;

/// Compares Σ response time with ∫ in flight + Σ lateness + Σ wait for users.
///
/// An operation is in flight from sent to done, and before that, from due on, it waits for its user and is then late, so
/// over a phase Σr(ok) + Σr(failed) + age(end) − age(start) = ∫ in flight + Σ lateness + Σ wait, but for what the
/// operations in flight at either end were late and had waited, which is allowed for by their number times the greatest.
pub(super) fn check(evidence: &Evidence) -> Vec<RuleFinding> {
    // Where a limit ended the load point, operations in flight were given up: they have no response time.
    if evidence.broken_at.is_some() {
        return Vec::new();
    }
    let totals = &evidence.fold.steady;
    let (age_start, age_end) = totals.ages_at_ends_ns();
    let (flying_start, flying_end) = totals.in_flight_at_ends();
    let lateness = &totals.lateness;
    let user_wait = &totals.user_wait;
    let seconds = |ns: u128| ns as f64 / 1e9;
    let summed = totals.response_seconds() + totals.failed_seconds() + seconds(age_end) - seconds(age_start);
    let integrated = seconds(totals.in_flight_ns) + seconds(lateness.sum()) + seconds(user_wait.sum);
    let before_max = lateness.max().unwrap_or_default().saturating_add(Nanos(user_wait.max));
    let edges = flying_start.saturating_add(flying_end) as f64 * before_max.as_secs_f64();
    let allowed = GAP_MAX * summed.max(integrated) + edges;
    if (summed - integrated).abs() <= allowed {
        return Vec::new();
    }
    vec![RuleFinding::invalid(Finding::ResponseIntegral { summed, integrated, allowed })]
}
