//! Think times: as long as the workload defines, so that users offer the intended load.

use model::{Load, Phase, Think};
use units::Nanos;

use super::{Evidence, RuleFinding};
use crate::finding::Finding;

/// Part of the mean think time by which the measured one may differ besides chance.
const GAP_MAX: f64 = 0.02;

/// Standard errors of a mean that are chance.
const ERRORS: f64 = 3.0;

/// Compares the measured mean think time with the nominal one, and the cycle rate of users with its bound.
pub(super) fn check(evidence: &Evidence) -> Vec<RuleFinding> {
    let think = evidence.plan.workload.think();
    let Load::Users(users) = evidence.load() else { return Vec::new() };
    if think.mean() == Nanos::ZERO {
        return Vec::new();
    }
    mean(evidence, think).into_iter().chain(bound(evidence, think, users)).collect()
}

/// Checks the mean think time; users think after each page: mean = (∫ thinking − Σ lateness) ÷ pages that ended.
///
/// Lateness is the time by which a user is back too late.
fn mean(evidence: &Evidence, think: Think) -> Option<RuleFinding> {
    let totals = &evidence.fold.steady;
    let thinking = totals.thinking_ns as f64 - totals.lateness.sum() as f64;
    let (found, nominal) = (thinking / totals.units() as f64, think.mean().0 as f64);
    // No pages make it infinite or not a number; `operations` reports that.
    let gap = (found / nominal - 1.0).abs();
    (found.is_finite() && tolerance(evidence, think) < gap).then(|| {
        let found = Nanos::from_secs_f64((found / 1e9).max(0.0));
        RuleFinding::remark(Finding::ThinkTime { found, expected: think.mean() })
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
