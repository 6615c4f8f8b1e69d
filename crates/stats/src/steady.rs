//! The test for a steady state: a phase is steady, drifting or unsteady, by its slices.
//!
//! The rule is simple: cut the phase into ten slices; the trend may change the value by 2 % from
//! begin to end, and the slices may scatter by 5 %. But slices of a short phase scatter by chance
//! alone, the more the noisier the values and the longer their autocorrelation. So both limits must be
//! exceeded by more than chance explains:
//!
//! - the trend, when zero lies outside its interval ([`drift()`]);
//! - the scatter s² of the slices, when it is beyond Fisher's quantile of the variance of a slice by
//!   chance. That is estimated from short distances only, so that a trend over the phase is not
//!   taken for noise. It is the larger of two estimates, each blind where the other is not:
//!   the two halves of each slice (any noise whose autocorrelation is shorter than half a slice), and
//!   the differences of neighbors up to three values apart (an AR(1) process, also a longer one).
//!
//! Its error rates are tested on simulated series: `tests/steadiness.rs`, with a table in
//! `docs/design/intervals.md`.

use statrs::distribution::{ContinuousCDF, FisherSnedecor};
use units::Ratio;

use crate::Estimate;
use crate::drift::{AUTOCORRELATION_MARGIN, Drift, DriftLimit, drift, variance};

/// Number of slices of a phase.
///
/// Source: the house rule for a steady state: 10 equal slices, slope below 2 % of the mean over the
/// window, variation of the slices below 5 %.
const N_SLICES: usize = 10;

/// The fewest values of a test: with fewer, a slice has less than three.
const N_VALUES_MIN: usize = 3 * N_SLICES;

/// The share of the allowed false alarms that the scatter may cause; the trend has the rest.
const SCATTER_SHARE: f64 = 0.1;

/// The highest autocorrelation: beyond it a series is as good as a random walk; keeps formulas finite.
const AUTOCORRELATION_MAX: f64 = 0.95;

/// A limit beyond which a phase is not steady.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SteadyLimit {
    /// The change over the phase, relative to the mean, that is tolerated.
    pub change: Ratio,
    /// The variation of the slices, deviation ÷ mean, that is tolerated.
    pub variation: Ratio,
    /// The confidence that chance does not explain the deviation, between 0 and 1.
    pub confidence: Ratio,
}

impl SteadyLimit {
    /// The house rule, with 95 % confidence.
    pub const DEFAULT: SteadyLimit =
        SteadyLimit { change: Ratio(0.02), variation: Ratio(0.05), confidence: Ratio(0.95) };
}

/// The result of a test for a steady state.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Steadiness {
    /// No change and no scatter beyond the limits is shown; a wide interval means that little could be shown.
    Steady {
        /// Change over the phase ÷ mean, as a ratio.
        change: Estimate,
        /// Variation of the slices, deviation ÷ mean.
        variation: Ratio,
    },
    /// The values rise or fall over the phase.
    Drifting {
        /// Change over the phase ÷ mean, as a ratio; negative where the values fall.
        by: Estimate,
    },
    /// The slices differ without a trend: a dip, a hump, waves.
    Unsteady {
        /// Variation of the slices, deviation ÷ mean.
        variation: Ratio,
        /// The part that chance explains, deviation ÷ mean.
        by_chance: Ratio,
    },
    /// There are fewer than thirty values, or some that are not finite.
    TooFew,
}

/// Tests whether a phase is steady, from a value per second in the order of time.
///
/// The unit of the values does not matter. A phase whose values are all zero is steady.
pub fn steadiness(values: &[f64], limit: &SteadyLimit) -> Steadiness {
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    if values.len() < N_VALUES_MIN || !mean.is_finite() {
        return Steadiness::TooFew;
    }
    let Some((change, is_shown)) = change(values, limit.confidence) else { return Steadiness::TooFew };
    if is_shown && limit.change.0 <= change.value.abs() {
        return Steadiness::Drifting { by: change };
    }
    let scatter = variance(&slices(values, N_SLICES));
    let chance = slice_variance_by_chance(values);
    let ratio = |variance: f64| if 0.0 < variance { Ratio(variance.sqrt() / mean.abs()) } else { Ratio(0.0) };
    let variation = ratio(scatter);
    if limit.variation <= variation && explained_ratio(limit.confidence) * chance < scatter {
        return Steadiness::Unsteady { variation, by_chance: ratio(chance) };
    }
    Steadiness::Steady { change, variation }
}

/// Returns the change over the phase ÷ mean, and whether zero lies outside its interval.
fn change(values: &[f64], confidence: Ratio) -> Option<(Estimate, bool)> {
    let (per_minute, is_shown) = match drift(values, &DriftLimit { per_minute: Ratio(0.0), confidence }) {
        Drift::TooFew => return None,
        Drift::Steady { per_minute } => (per_minute, false),
        Drift::Drifting { per_minute } => (per_minute, true),
    };
    Some((per_minute.relative_to(60.0 / values.len() as f64), is_shown))
}

/// Returns the largest ratio of the scatter to that by chance: Fisher's quantile for ten slices and ten differences.
fn explained_ratio(confidence: Ratio) -> f64 {
    let fisher = FisherSnedecor::new((N_SLICES - 1) as f64, N_SLICES as f64);
    let p = 1.0 - SCATTER_SHARE * (1.0 - confidence.0);
    fisher.map_or(f64::INFINITY, |fisher| fisher.inverse_cdf(p))
}

/// Returns the variance of the mean of a slice by chance.
fn slice_variance_by_chance(values: &[f64]) -> f64 {
    variance_by_halves(values).max(variance_by_autocorrelation(values))
}

/// Returns the same from the differences of the halves of each slice: the mean of (h₁ − h₂)² ÷ 4.
///
/// If halves are independent, each varies by 2·v, v being the variance of their mean, and their
/// difference by 4·v.
fn variance_by_halves(values: &[f64]) -> f64 {
    let halves = slices(values, 2 * N_SLICES);
    halves.chunks_exact(2).map(|half| (half[0] - half[1]).powi(2) / 4.0).sum::<f64>() / N_SLICES as f64
}

/// Returns the same from the differences of neighbors, for an autocorrelation φ from one value to the next (AR(1)).
///
/// With V(h) half the mean squared difference of values h apart: V(3) ÷ V(1) = 1 + φ + φ² gives φ, and
/// V(1) ÷ (1 − φ) the variance g of a value. φ is then raised as in [`drift()`], since it is only
/// estimated. The mean of m values varies by g/m·((1 + φ) ÷ (1 − φ) − 2φ(1 − φᵐ) ÷ (m(1 − φ)²)).
///
/// Source: the autocovariance g·φʰ of AR(1) (Box and Jenkins, Time Series Analysis, section 3.2), summed
/// over a slice.
fn variance_by_autocorrelation(values: &[f64]) -> f64 {
    let n = values.len() as f64;
    let apart = |h: usize| {
        let squares = values.iter().zip(&values[h..]).map(|(one, other)| (one - other).powi(2));
        squares.sum::<f64>() / (2.0 * (n - h as f64))
    };
    let near = apart(1);
    let far = apart(3);
    if near == 0.0 {
        return 0.0;
    }
    let autocorrelation =
        (((4.0 * far / near - 3.0).max(0.0).sqrt() - 1.0) / 2.0).clamp(0.0, AUTOCORRELATION_MAX);
    let variance = near / (1.0 - autocorrelation);
    let autocorrelation = (autocorrelation + AUTOCORRELATION_MARGIN / n.sqrt()).min(AUTOCORRELATION_MAX);
    let m = n / N_SLICES as f64;
    let complement = 1.0 - autocorrelation;
    variance / m
        * ((1.0 + autocorrelation) / complement
            - 2.0 * autocorrelation * (1.0 - autocorrelation.powf(m)) / (m * complement * complement))
}

/// Returns the means of `n` slices whose lengths differ by at most one value.
fn slices(values: &[f64], n: usize) -> Vec<f64> {
    let end = |slice: usize| slice * values.len() / n;
    let mean = |slice: &[f64]| slice.iter().sum::<f64>() / slice.len() as f64;
    (0..n).map(|slice| mean(&values[end(slice)..end(slice + 1)])).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(values: &[f64]) -> Steadiness {
        steadiness(values, &SteadyLimit::DEFAULT)
    }

    /// 100 ± 1, alternating, times `shape` of the time from 0 to 1.
    fn shaped(n: usize, shape: impl Fn(f64) -> f64) -> Vec<f64> {
        let value = |second: usize| 100.0 + if second.is_multiple_of(2) { 1.0 } else { -1.0 };
        (0..n).map(|second| value(second) * shape((second as f64 + 0.5) / n as f64)).collect()
    }

    /// By hand: 98, 99, …, 107, each six times: slices 98 … 107, mean 102.5, variance 82.5 ÷ 9 = 9.1667;
    /// the halves of a slice are equal. Per value the line rises by about 1 ÷ 6, over 60 by 10: 9.8 %.
    #[test]
    fn stairs_drift_by_their_height() {
        let values: Vec<f64> = (0..60).map(|second| f64::from(98 + second / 6)).collect();
        assert!((variance(&slices(&values, 10)) - 82.5 / 9.0).abs() < 1e-9);
        assert_eq!(variance_by_halves(&values), 0.0);
        let Steadiness::Drifting { by } = judged(&values) else { panic!("it drifts") };
        assert!((by.value - 10.0 / 102.5).abs() < 0.002, "{by:?}");
    }

    /// By hand: slices of (1, 2, 5, 6): halves 1.5 and 5.5, (4)² ÷ 4 = 4.
    #[test]
    fn variance_by_halves_by_hand() {
        let values: Vec<f64> = [1.0, 2.0, 5.0, 6.0].repeat(10);
        assert!((variance_by_halves(&values) - 4.0).abs() < 1e-12);
    }

    /// By hand: +1, −1, … : V(1) = 2, V(3) = 2, so φ = 0 and g = 2. With n = 400 the margin is 0.04, and
    /// 2 ÷ 40 · (1.04 ÷ 0.96 − 2 · 0.04 ÷ (40 · 0.96²)) = 0.054058.
    #[test]
    fn variance_by_autocorrelation_by_hand() {
        let values = [1.0, -1.0].repeat(200);
        let found = variance_by_autocorrelation(&values);
        assert!((found - 0.054_058).abs() < 5e-6, "{found}");
    }

    #[test]
    fn alternating_values_are_steady() {
        for values in [vec![0.0; 60], vec![0.1; 300], shaped(60, |_| 1.0), shaped(601, |_| 1.0)] {
            let Steadiness::Steady { change, variation } = judged(&values) else { panic!("{values:?}") };
            assert!(change.low <= 0.0 && 0.0 <= change.high && variation.0 < 0.01, "{change:?} {variation}");
        }
    }

    #[test]
    fn a_trend_beyond_two_percent_drifts_and_a_smaller_one_does_not() {
        let judged = |rise: f64| judged(&shaped(120, |time| 1.0 + rise * (time - 0.5)));
        assert!(matches!(judged(0.03), Steadiness::Drifting { by } if (by.value - 0.03).abs() < 0.003));
        assert!(matches!(judged(-0.03), Steadiness::Drifting { by } if (by.value + 0.03).abs() < 0.003));
        assert!(matches!(judged(0.015), Steadiness::Steady { change, .. } if 0.0 < change.low));
    }

    #[test]
    fn a_dip_or_waves_without_a_trend_are_unsteady() {
        let dip = |time: f64| if (0.4..0.6).contains(&time) { 0.8 } else { 1.0 };
        let waves = |time: f64| 1.0 + 0.1 * (time * 2.0 * std::f64::consts::TAU).sin();
        for values in [shaped(300, dip), shaped(300, waves)] {
            let found = judged(&values);
            let Steadiness::Unsteady { variation, by_chance } = found else { panic!("{found:?}") };
            assert!(0.05 < variation.0 && by_chance.0 < 0.03, "{found:?}");
        }
    }

    #[test]
    fn too_few_values_decide_nothing() {
        for values in [vec![], vec![1.0; 29], vec![f64::NAN; 60], vec![f64::INFINITY; 60]] {
            assert_eq!(judged(&values), Steadiness::TooFew);
        }
        assert!(matches!(judged(&[1.0; 30]), Steadiness::Steady { .. }));
        let sure = SteadyLimit { confidence: Ratio(1.0), ..SteadyLimit::DEFAULT };
        assert_eq!(steadiness(&[1.0; 60], &sure), Steadiness::TooFew);
    }
}
