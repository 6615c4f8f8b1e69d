//! Warm-up: it must end before the steady phase begins, or soon after.

use model::Phase;
use stats::warm_up_errors;

use super::{Evidence, RuleFinding};
use crate::finding::Finding;
use crate::fold::SecondTotals;

/// Part of the steady phase into which the warm-up may reach: the rest outweighs it ninefold.
const REACH_MAX: f64 = 0.1;

/// The least difference between the warm-up and the rest, in standard errors.
///
/// The cut alone reaches this far in 18 to 34 % of simulated series of 60 s that have no warm-up, and in 9 to 13 % of
/// 120 s. With this it does so in at most 3 %, and in 4 to 7 % with autocorrelation (φ = 0.8): see the tests.
const ERRORS_MIN: f64 = 4.0;

/// Reports a warm-up that reaches into the steady phase by more than a tenth of it, beyond chance.
pub(super) fn check(evidence: &Evidence) -> Vec<RuleFinding> {
    let length = evidence.figures.length;
    let Some(end) = evidence.figures.warm_up else { return Vec::new() };
    let begin = evidence.plan.phases.start_of(Phase::Steady);
    let reach = end.saturating_sub(begin);
    let is_tolerated = reach.as_secs_f64() <= REACH_MAX * length.as_secs_f64();
    let rates: Vec<f64> = evidence.fold.seconds.full_load().map(SecondTotals::rate).collect();
    let n_before = evidence.fold.seconds.full_load().filter(|second| second.start < end).count();
    if is_tolerated || !is_shown(&rates, n_before) {
        return Vec::new();
    }
    vec![RuleFinding::remark(Finding::WarmUp { reach, length })]
}

/// Returns whether the first `n_before` rates differ from the rest by more than chance.
fn is_shown(rates: &[f64], n_before: usize) -> bool {
    warm_up_errors(rates, n_before).is_some_and(|errors| ERRORS_MIN < errors)
}

#[cfg(test)]
mod tests {
    use stats::warm_up_cut;
    use units::{Rng, StreamPurpose};

    use super::*;

    /// Seconds with noise of 10 % and this correlation of neighbors, the first `n_slow` of them slower by `missing`.
    fn rates(seed: u64, n: usize, memory: f64, (n_slow, missing): (usize, f64)) -> Vec<f64> {
        let mut rng = Rng::new(seed, StreamPurpose::Simulation, 1);
        // The sum of twelve uniform numbers has variance 1.
        let mut normal = || 0.1 * ((0..12).map(|_| rng.uniform()).sum::<f64>() - 6.0);
        let mut noise = normal();
        let value = |second: usize| {
            noise = memory * noise + (1.0 - memory * memory).sqrt() * normal();
            1.0 + noise - if second < n_slow { missing } else { 0.0 }
        };
        (0..n).map(value).collect()
    }

    /// Returns, of 1,000 series, the share whose cut reaches too far into the steady phase and the share in which
    /// that is shown.
    fn parts((settle, steady): (usize, usize), memory: f64, slow: (usize, f64)) -> (f64, f64) {
        let mut n_cut = 0;
        let mut n_shown = 0;
        for seed in 0..1_000 {
            let rates = rates(seed, settle + steady, memory, slow);
            let limit = settle as f64 + REACH_MAX * steady as f64;
            let Some(cut) = warm_up_cut(&rates).filter(|cut| limit < *cut as f64) else { continue };
            n_cut += 1;
            n_shown += u32::from(is_shown(&rates, cut));
        }
        println!("{settle} s + {steady} s, memory {memory}, slow {slow:?}: {n_cut} cut, {n_shown} shown");
        (f64::from(n_cut) / 1_000.0, f64::from(n_shown) / 1_000.0)
    }

    /// The figures at `ERRORS_MIN`.
    #[test]
    fn steady_minutes_are_seldom_called_a_warm_up() {
        for phases in [(2, 60), (5, 60), (10, 120)] {
            for (memory, most) in [(0.0, 0.05), (0.5, 0.05), (0.8, 0.1)] {
                let (cut, shown) = parts(phases, memory, (0, 0.0));
                assert!((0.05..0.4).contains(&cut) && shown <= most, "{phases:?} {memory}: {cut} {shown}");
            }
        }
    }

    /// A fifth is missing for 14 s: two standard deviations of a second.
    #[test]
    fn a_warm_up_that_noise_does_not_hide_is_shown() {
        let (cut, shown) = parts((2, 60), 0.0, (14, 0.2));
        assert!(0.75 <= shown && shown <= cut, "{cut} {shown}");
    }
}
