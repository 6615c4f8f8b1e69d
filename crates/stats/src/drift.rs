//! Is a steady phase steady? Drift of a series of per-second values, and intervals for its mean.
//!
//! Neighboring seconds resemble each other (queues, caches, flushes), and single seconds are seldom
//! normally distributed. Both tests therefore work on means of batches of consecutive seconds:
//! these are nearly normal by the central limit theorem and nearly independent when a batch is
//! longer than the memory of the system. An interval from short batches is too narrow, never too wide.

use units::Ratio;

use crate::{Estimate, Line};

/// Fewer seconds than this say nothing about drift.
const N_VALUES_MIN: usize = 10;

/// Enough batches for a t quantile near its limit, few enough to keep them long.
///
/// Source: Schmeiser 1982, Batch Size Effects in the Analysis of Simulation Output: more than 30
/// batches gain little, fewer than 10 cost width.
const N_BATCHES_MAX: usize = 20;

/// When a series counts as drifting.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DriftLimit {
    /// The change per minute, relative to the mean, that is tolerated.
    pub per_minute: Ratio,
    /// How sure it must be that the drift is larger than that, between 0 and 1.
    pub confidence: Ratio,
}

/// Whether a series stays where it is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Drift {
    /// No drift beyond the limit is shown; a wide interval means that little could be shown.
    Steady {
        /// Change per minute ÷ mean, as a ratio.
        per_minute: Estimate,
    },
    /// The whole interval of the drift lies beyond the limit.
    Drifting {
        /// Change per minute ÷ mean, as a ratio; negative where the values fall.
        per_minute: Estimate,
    },
    /// There are fewer than ten values, or some that are not finite.
    TooFew,
}

/// Tests whether a series of values, one per second in the order of time, drifts.
///
/// The slope of the least-squares line through the means of at most 20 equal batches, times 60,
/// divided by the mean of the series. Seconds at the end that fill no batch are left out. A series
/// whose mean is zero is steady. The unit of the values does not matter.
///
/// Source: batch means as in Law, Simulation Modeling and Analysis, 5th edition, chapter 9; line: [`Line::fit`].
pub fn drift(values: &[f64], limit: &DriftLimit) -> Drift {
    let still = Estimate { value: 0.0, low: 0.0, high: 0.0 };
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    if values.len() < N_VALUES_MIN || !mean.is_finite() {
        return Drift::TooFew;
    }
    if mean == 0.0 {
        return Drift::Steady { per_minute: still };
    }
    let length = values.len().div_ceil(N_BATCHES_MAX);
    let points: Vec<(f64, f64)> = batch_means(values, length)
        .enumerate()
        .map(|(index, mean)| ((index * length) as f64, mean))
        .collect();
    let slope = Line::fit(&points).and_then(|line| line.slope_interval(limit.confidence));
    let Some(slope) = slope else { return Drift::TooFew };
    let per_minute = slope.relative_to(mean / 60.0);
    if limit.per_minute.0 < per_minute.low || per_minute.high < -limit.per_minute.0 {
        Drift::Drifting { per_minute }
    } else {
        Drift::Steady { per_minute }
    }
}

/// Returns the mean of a series with an interval from the means of `n_batches` equal batches.
///
/// Values at the beginning that fill no batch are left out, being the least steady. `None` with
/// fewer than two batches, fewer values than batches, confidence not between 0 and 1, or values
/// that are not finite.
///
/// With k batch means of mean m and sample variance s²: m ± t(k − 1)·s ÷ √k.
///
/// Source: Law, Simulation Modeling and Analysis, 5th edition, chapter 9.
pub fn batch_mean_interval(values: &[f64], n_batches: usize, confidence: Ratio) -> Option<Estimate> {
    let length = values.len().checked_div(n_batches).filter(|length| 0 < *length)?;
    let means: Vec<f64> = batch_means(&values[values.len() % n_batches..], length).collect();
    let n = means.len() as f64;
    let mean = means.iter().sum::<f64>() / n;
    let variance = means.iter().map(|batch| (batch - mean).powi(2)).sum::<f64>() / (n - 1.0);
    Estimate::from_error(mean, (variance / n).sqrt(), means.len() - 1, confidence)
}

/// Returns the means of consecutive batches of `length` values, above zero; an incomplete last one is left out.
fn batch_means(values: &[f64], length: usize) -> impl Iterator<Item = f64> + '_ {
    values.chunks_exact(length).map(move |batch| batch.iter().sum::<f64>() / length as f64)
}

#[cfg(test)]
mod tests {
    use units::{Dice, Purpose};

    use super::*;

    const LIMIT: DriftLimit = DriftLimit { per_minute: Ratio(0.01), confidence: Ratio(0.95) };

    /// A rate of 1,000/s that changes by `per_minute`, with noise of ±100 that keeps `memory` of itself each second.
    fn series(seed: u64, n: usize, per_minute: f64, memory: f64) -> Vec<f64> {
        let mut dice = Dice::new(seed, Purpose::Simulation, 0);
        let mut noise = 0.0;
        let middle = n as f64 / 2.0;
        let at = |second: usize| 1_000.0 * (1.0 + per_minute * (second as f64 - middle) / 60.0);
        (0..n)
            .map(|second| {
                noise = memory * noise + 200.0 * (dice.uniform() - 0.5);
                at(second) + noise
            })
            .collect()
    }

    fn share_drifting(n: usize, per_minute: f64, memory: f64) -> f64 {
        let drifting = |seed: &u64| {
            matches!(drift(&series(*seed, n, per_minute, memory), &LIMIT), Drift::Drifting { .. })
        };
        (0..200).filter(drifting).count() as f64 / 200.0
    }

    /// By hand: 0, 1, …, 59: mean 29.5, slope 1/s, so 60 ÷ 29.5 of the mean per minute, without any residual.
    #[test]
    fn a_straight_rise_drifts_by_its_slope() {
        let values: Vec<f64> = (0..60).map(f64::from).collect();
        let Drift::Drifting { per_minute } = drift(&values, &LIMIT) else { panic!("it drifts") };
        assert!((per_minute.value - 60.0 / 29.5).abs() < 1e-9, "{per_minute:?}");
        let falling: Vec<f64> = values.iter().rev().copied().collect();
        assert!(matches!(drift(&falling, &LIMIT), Drift::Drifting { per_minute } if per_minute.high < -2.0));
    }

    #[test]
    fn a_constant_series_is_steady() {
        for value in [0.0, 0.1, 1e9] {
            assert!(matches!(drift(&[value; 300], &LIMIT), Drift::Steady { .. }), "{value}");
        }
    }

    #[test]
    fn too_few_values_say_nothing() {
        assert_eq!(drift(&[1.0; 9], &LIMIT), Drift::TooFew);
        assert_eq!(drift(&[], &LIMIT), Drift::TooFew);
        assert_eq!(drift(&[f64::NAN; 20], &LIMIT), Drift::TooFew);
        assert!(matches!(drift(&[1.0; 10], &LIMIT), Drift::Steady { .. }));
    }

    /// Goal: false alarms stay rare, also where a second remembers the one before; a leak of 3 % per
    /// minute over five minutes is found. Seeds 0 to 199.
    #[test]
    fn noise_is_steady_and_a_leak_is_found() {
        for memory in [0.0, 0.5, 0.8] {
            let alarms = share_drifting(300, 0.0, memory);
            assert!(alarms <= 0.05, "memory {memory}: {alarms}");
        }
        let found = share_drifting(300, -0.03, 0.5);
        assert!(0.9 <= found, "{found}");
    }

    /// By hand: batches (1, 3), (5, 7), (6, 8) after the left-over 100: means 2, 6, 7; mean 5, variance
    /// (9 + 1 + 4) ÷ 2 = 7; t(2) at 0.975 = 4.30265; 4.30265·√(7 ÷ 3) = 6.5724.
    #[test]
    fn a_batch_mean_interval_by_hand() {
        let values = [100.0, 1.0, 3.0, 5.0, 7.0, 6.0, 8.0];
        let mean = batch_mean_interval(&values, 3, Ratio(0.95)).unwrap();
        assert!((mean.value - 5.0).abs() < 1e-12 && (mean.high - 11.5724).abs() < 1e-3, "{mean:?}");
    }

    #[test]
    fn a_batch_mean_needs_two_batches_with_values() {
        for (n_values, n_batches) in [(0, 5), (4, 5), (9, 1), (9, 0)] {
            assert_eq!(batch_mean_interval(&vec![1.0; n_values], n_batches, Ratio(0.95)), None);
        }
    }
}
