//! Think times: as long as the workload defines, so that users offer the intended load.

use model::{Load, Phase, Think};
use units::Nanos;

use super::{Evidence, RuleFinding};
use crate::finding::Finding;

/// Part of the drawn think time by which the measured one may differ besides chance.
const GAP_MAX: f64 = 0.02;

/// Standard errors of a mean that are chance.
const ERRORS: f64 = 3.0;

/// Compares the think times as drawn with the nominal one, the measured ones with those that were drawn, and the cycle
/// rate of users with its bound.
pub(super) fn check(evidence: &Evidence) -> Vec<RuleFinding> {
    let think = evidence.plan.workload.think();
    let Load::Users(users) = evidence.load() else { return Vec::new() };
    if think.mean() == Nanos::ZERO {
        return Vec::new();
    }
    let differing = drawn(evidence, think).or_else(|| kept(evidence, users));
    differing.into_iter().chain(bound(evidence, think, users)).collect()
}

/// Checks that the n think times that began have the mean of the plan: exactly if that is fixed, else within three of its
/// standard errors, Z ÷ √n.
fn drawn(evidence: &Evidence, think: Think) -> Option<RuleFinding> {
    let totals = &evidence.fold.steady;
    let n = totals.thinks as f64;
    let tolerance = match think {
        Think::Exponential(_) => ERRORS / n.sqrt(),
        Think::Fixed(_) | Think::None => 1e-9,
    };
    differing(totals.think_drawn_ns as f64 / n, think.mean().0 as f64, tolerance)
}

/// Checks that users think as long as was drawn: ∫ thinking − Σ lateness = Σ drawn, but for the think times that the ends
/// of the phase cut. Of N users each may be cut at either end, which moves the sum by up to N·Z, or by the sum of 2·N
/// exponential times, whose standard error is √(2·N)·Z.
///
/// Lateness is the time by which a user is back too late.
fn kept(evidence: &Evidence, users: u32) -> Option<RuleFinding> {
    let totals = &evidence.fold.steady;
    let (n, users) = (totals.thinks as f64, f64::from(users));
    let thinking = totals.thinking_ns as f64 - totals.lateness.sum() as f64;
    let cut = users.max(ERRORS * (2.0 * users).sqrt());
    differing(thinking / n, totals.think_drawn_ns as f64 / n, GAP_MAX + cut / n)
}

/// Returns the finding that a mean think time, in ns, differs from an expected one by more than this part of it.
fn differing(found: f64, expected: f64, tolerance: f64) -> Option<RuleFinding> {
    // No think time at all makes it infinite or not a number; `operations` reports that.
    let gap = (found / expected - 1.0).abs();
    (found.is_finite() && tolerance < gap).then(|| {
        let [found, expected] = [found, expected].map(|mean| Nanos::from_secs_f64((mean / 1e9).max(0.0)));
        RuleFinding::remark(Finding::ThinkTime { found, expected })
    })
}

/// Checks that N users do not complete more than N ÷ Z cycles per second (interactive law, R = 0).
fn bound(evidence: &Evidence, think: Think, users: u32) -> Option<RuleFinding> {
    let (n, length) = (f64::from(users), evidence.figures.length.as_secs_f64());
    let rate = evidence.fold.steady.units() as f64 / length;
    let bound = stats::interactive_bound(n, 0.0, think.mean().as_secs_f64())?;
    // Where no phase precedes it, every user begins in it with a page before which it did not think.
    let is_first = evidence.plan.phases.start_of(Phase::Steady) == Nanos::ZERO;
    let begun = if is_first { n / length } else { 0.0 };
    (bound * (1.0 + tolerance(evidence, think)) + begun < rate)
        .then(|| RuleFinding::invalid(Finding::InteractiveLaw { rate, users, think: think.mean(), bound }))
}

/// Returns the part of the mean by which chance and the ends of the phase may move it.
///
/// n exponential think times have a standard error of Z ÷ √n, also if the ends of the phase cut some of
/// them: ∫ ÷ n is then the estimate for censored times. Fixed ones have none, but each of N users may
/// be cut at either end, which moves the sum by up to N·Z.
fn tolerance(evidence: &Evidence, think: Think) -> f64 {
    let n = evidence.fold.steady.units().max(1) as f64;
    GAP_MAX
        + match think {
            Think::Exponential(_) => ERRORS / n.sqrt(),
            Think::Fixed(_) | Think::None => evidence.load().level() / n,
        }
}
