//! Pauses: as long as the catalog says, so that users offer the intended load.

use model::{Load, PauseKind, PauseStart, Phase, ThinkTime};
use units::Nanos;

use super::{Evidence, JudgedPart, RuleFinding};
use crate::finding::Finding;
use crate::fold::PauseSums;

/// Part of the drawn think time by which the measured one may differ besides chance.
const GAP_MAX: f64 = 0.02;

/// Standard errors of a mean that are chance.
const ERRORS: f64 = 3.0;

/// Compares the pauses as drawn with those of the catalog, the measured ones with those that were drawn, and the cycle rate
/// of users with its bound.
pub(super) fn check(evidence: &Evidence) -> Vec<RuleFinding> {
    let Load::Users(users) = evidence.load() else { return Vec::new() };
    let kinds = &evidence.plan.catalog.pauses;
    let mut found: Vec<RuleFinding> = kinds
        .iter()
        .zip(&evidence.fold.steady.pauses)
        .filter_map(|(kind, sums)| drawn(kinds, kind, sums))
        .collect();
    // Users of a shape come and go: how often that cuts a pause is not known, nor how many of them there are.
    if evidence.part == JudgedPart::Shaped {
        return found;
    }
    if found.is_empty() {
        found.extend(kept(evidence, users));
    }
    // With several kinds it is not known how many of each a cycle has, and who owes operations may catch up.
    if let [PauseKind { time, from: PauseStart::Done, .. }] = kinds[..] {
        found.extend(bound(evidence, time, users));
    }
    found
}

/// Checks that the n pauses of a kind that began have the mean of the catalog: exactly if that is fixed, else within three
/// of its standard errors, Z ÷ √n.
fn drawn(kinds: &[PauseKind], kind: &PauseKind, sums: &PauseSums) -> Option<RuleFinding> {
    let n = sums.drawn.n as f64;
    let tolerance = match kind.time {
        ThinkTime::Exponential(_) => ERRORS / n.sqrt(),
        ThinkTime::Fixed(_) | ThinkTime::None => 1e-9,
        // Each has a length of its own, or one of several distributions.
        ThinkTime::Recorded | ThinkTime::Scripted(_) => return None,
    };
    let name = (1 < kinds.len()).then(|| kind.name.clone());
    differing(name, sums.drawn.sum as f64 / n, kind.time.mean().0 as f64, tolerance)
}

/// Checks that users pause as long as was drawn, but for the pauses that the ends of the phase cut. Of N users each may be
/// cut at either end, which moves the sum by up to N·Z, or by the sum of 2·N exponential times, whose standard error is
/// √(2·N)·Z, with Z the mean of the longest kind.
fn kept(evidence: &Evidence, users: u32) -> Option<RuleFinding> {
    let pauses = &evidence.fold.steady.pauses;
    let n = pauses.iter().map(|sums| sums.drawn.n as f64).sum::<f64>();
    let mean = pauses.iter().map(|sums| sums.drawn.sum as f64).sum::<f64>() / n;
    let longest = pauses.iter().filter_map(|sums| sums.drawn.mean()).fold(0.0, f64::max);
    let users = f64::from(users);
    let cut = users.max(ERRORS * (2.0 * users).sqrt()) * longest / mean;
    differing(None, paused(evidence)? / n, mean, GAP_MAX + cut / n)
}

/// Returns the sum of pauses as they were made, in ns: ∫ thinking − Σ lateness, lateness being the time by which a user is
/// back too late; or the times from due time to due time, where pauses count from those. `None` where some do and others do
/// not.
fn paused(evidence: &Evidence) -> Option<f64> {
    let totals = &evidence.fold.steady;
    let kinds = &evidence.plan.catalog.pauses;
    if !evidence.plan.catalog.counts_from_due() {
        return Some(totals.thinking_ns as f64 - totals.lateness.sum() as f64);
    }
    kinds.iter().all(|kind| kind.from == PauseStart::Due).then_some(totals.due_span_ns as f64)
}

/// Returns the finding that a mean pause, in ns, differs from an expected one by more than this part of it.
fn differing(pause: Option<String>, found: f64, expected: f64, tolerance: f64) -> Option<RuleFinding> {
    // No pause at all makes it infinite or not a number; `operations` reports that.
    let gap = (found / expected - 1.0).abs();
    (found.is_finite() && tolerance < gap).then(|| {
        let [found, expected] = [found, expected].map(|mean| Nanos::from_secs_f64((mean / 1e9).max(0.0)));
        RuleFinding::remark(Finding::ThinkTime { pause, found, expected })
    })
}

/// Checks that N users do not complete more than N ÷ Z cycles per second (interactive law, R = 0).
fn bound(evidence: &Evidence, think: ThinkTime, users: u32) -> Option<RuleFinding> {
    let n = f64::from(users);
    let length = evidence.figures.length.as_secs_f64();
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
fn tolerance(evidence: &Evidence, think: ThinkTime) -> f64 {
    let n = evidence.fold.steady.units().max(1) as f64;
    GAP_MAX
        + match think {
            ThinkTime::Exponential(_) => ERRORS / n.sqrt(),
            ThinkTime::Fixed(_) | ThinkTime::None | ThinkTime::Recorded | ThinkTime::Scripted(_) => {
                evidence.load().level() / n
            }
        }
}
