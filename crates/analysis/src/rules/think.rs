//! Think times: as long as the workload says, so that users are no more and no less eager than meant.

use model::{Phase, Think};
use units::Nanos;

use super::{Evidence, Finding};

/// Part of the mean think time by which the measured one may differ besides chance.
const GAP_MAX: f64 = 0.02;

/// Standard errors of a mean that are chance.
const ERRORS: f64 = 3.0;

/// Compares the measured mean think time with the nominal one, and the turns of users with their bound.
pub(super) fn check(evidence: &Evidence) -> Vec<Finding> {
    let think = evidence.plan.workload.think;
    if !evidence.result.load.is_closed() || think.mean() == Nanos::ZERO {
        return Vec::new();
    }
    mean(evidence, think).into_iter().chain(bound(evidence, think)).collect()
}

/// Users think after each page: mean = (∫ thinking − Σ lateness) ÷ pages that ended.
///
/// Lateness is what a user is back later than it should.
fn mean(evidence: &Evidence, think: Think) -> Option<Finding> {
    let totals = &evidence.fold.steady;
    let thinking = totals.thinking_ns as f64 - totals.lateness().sum() as f64;
    let (found, nominal) = (thinking / totals.units() as f64, think.mean().0 as f64);
    // No pages make it infinite or not a number; `operations` reports that.
    let gap = (found / nominal - 1.0).abs();
    (found.is_finite() && tolerance(evidence, think) < gap).then(|| {
        let found = Nanos::from_secs_f64((found / 1e9).max(0.0));
        let text = format!("users thought for {found} on the mean, {} are meant", think.mean());
        Finding::remark("think", text).hint("the generator was late, or the steady phase is short")
    })
}

/// No server can make N users turn more often than N ÷ Z times per second (interactive law, R = 0).
fn bound(evidence: &Evidence, think: Think) -> Option<Finding> {
    let (users, length) = (evidence.result.load.level(), evidence.result.length.as_secs_f64());
    let rate = evidence.fold.steady.units() as f64 / length;
    let bound = stats::interactive_bound(users, 0.0, think.mean().as_secs_f64())?;
    // Where nothing precedes the phase, every user begins in it with a page for which it did not think.
    let is_first = evidence.plan.phases.start_of(Phase::Steady) == Nanos::ZERO;
    let begun = if is_first { users / length } else { 0.0 };
    (bound * (1.0 + tolerance(evidence, think)) + begun < rate).then(|| {
        let text = format!(
            "users turned {rate:.2} times per second; {users} users who think for {} can turn {bound:.2} times at most",
            think.mean()
        );
        Finding::invalid("interactive-law", text).hint("users did not think as long as they should")
    })
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
            Think::Fixed(_) | Think::None => evidence.result.load.level() / n,
        }
}
