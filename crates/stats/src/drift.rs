//! Drift of a series of per-second values, and intervals for its mean.
//!
//! Neighboring seconds resemble each other (queues, caches, flushes), and single seconds are seldom
//! normally distributed. Both tests therefore work on means of batches of consecutive seconds:
//! these are nearly normal by the central limit theorem and nearly independent when a batch is
//! longer than the autocorrelation of the system. An interval from short batches is too narrow, never
//! too wide; where batches cannot be long, as in the test for drift, their autocorrelation is corrected for.

use units::{Ratio, saturating_u64};

use crate::Estimate;
use crate::regression::FittedLine;

/// The fewest seconds of a test for drift.
const N_VALUES_MIN: usize = 10;

/// The most batches: enough to estimate their autocorrelation, few enough that long series have long ones.
const N_BATCHES_MAX: usize = 60;

/// The margin added to an autocorrelation because it is only estimated, in its standard errors, 1 ÷ √n.
///
/// Chosen by simulation: with it false alarms stay at the 5 % asked for, see `tests/steadiness.rs`.
pub(crate) const AUTOCORRELATION_MARGIN: f64 = 0.8;

/// A limit beyond which a series counts as drifting.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct DriftLimit {
    /// The change per minute, relative to the mean, that is tolerated.
    pub per_minute: Ratio,
    /// The confidence that the drift is larger than that, between 0 and 1.
    pub confidence: Ratio,
}

/// The result of a test for drift.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Drift {
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
/// The slope of the least-squares line through the means of at most 60 equal batches, times 60,
/// divided by the mean of the series. Seconds at the end that fill no batch are left out. A series
/// whose mean is zero is steady. The unit of the values does not matter.
///
/// The interval allows for autocorrelation: with φ that of neighboring residuals, raised by 0.8 ÷ √n, the effective
/// sample size of n batches is nₑ = n·(1 − φ) ÷ (1 + φ), from 4 to n; the error is that of the line times √((n − 2) ÷
/// (nₑ − 2)), with nₑ − 2 degrees of freedom.
///
/// Source: batch means as in Law, Simulation Modeling and Analysis, 5th edition, chapter 9; line:
/// [`FittedLine::fit`]; adjusted error and degrees of freedom: Santer et al. 2000, Statistical Significance of Trends and
/// Trend Differences in Layer-Average Atmospheric Temperature Time Series.
pub(crate) fn drift(values: &[f64], limit: &DriftLimit) -> Drift {
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
    let Some(slope) = slope_interval(&points, limit.confidence) else { return Drift::TooFew };
    let per_minute = slope.relative_to(mean / 60.0);
    if limit.per_minute.0 < per_minute.low || per_minute.high < -limit.per_minute.0 {
        Drift::Drifting { per_minute }
    } else {
        Drift::Steady { per_minute }
    }
}

/// Returns the slope of points with an interval that allows for autocorrelation, see [`drift`].
fn slope_interval(points: &[(f64, f64)], confidence: Ratio) -> Option<Estimate> {
    let line = FittedLine::fit(points)?;
    let n = points.len() as f64;
    let residuals: Vec<f64> = points.iter().map(|(x, y)| y - line.intercept - line.slope * x).collect();
    let squares: f64 = residuals.iter().map(|residual| residual * residual).sum();
    let neighbors: f64 = residuals.windows(2).map(|pair| pair[0] * pair[1]).sum();
    let autocorrelation =
        AUTOCORRELATION_MARGIN / n.sqrt() + if 0.0 < squares { neighbors / squares } else { 0.0 };
    let n_effective = (n * (1.0 - autocorrelation) / (1.0 + autocorrelation)).clamp(4.0, n);
    let error = line.slope_error * ((n - 2.0) / (n_effective - 2.0)).sqrt();
    let degrees_of_freedom = usize::try_from(saturating_u64(n_effective - 2.0)).ok()?;
    Estimate::from_error(line.slope, error, degrees_of_freedom, confidence)
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
    Estimate::from_error(mean, (variance(&means) / n).sqrt(), means.len() - 1, confidence)
}

/// Returns the means of consecutive batches of `length` values, above zero; an incomplete last one is left out.
pub(crate) fn batch_means(values: &[f64], length: usize) -> impl Iterator<Item = f64> + '_ {
    values.chunks_exact(length).map(move |batch| batch.iter().sum::<f64>() / length as f64)
}

/// Returns the sample variance of at least two values.
pub fn variance(values: &[f64]) -> f64 {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (n - 1.0)
}

#[cfg(test)]
mod tests {
    use units::{Rng, StreamPurpose};

    use super::*;

    const LIMIT: DriftLimit = DriftLimit { per_minute: Ratio(0.01), confidence: Ratio(0.95) };

    /// A rate of 1,000/s that changes by `per_minute`, with noise of ±100 and this lag-1 autocorrelation.
    fn series(seed: u64, n: usize, per_minute: f64, autocorrelation: f64) -> Vec<f64> {
        let mut rng = Rng::new(seed, StreamPurpose::Simulation, 0);
        let mut noise = 0.0;
        let middle = n as f64 / 2.0;
        let at = |second: usize| 1_000.0 * (1.0 + per_minute * (second as f64 - middle) / 60.0);
        (0..n)
            .map(|second| {
                noise = autocorrelation * noise + 200.0 * (rng.uniform() - 0.5);
                at(second) + noise
            })
            .collect()
    }

    fn share_drifting(n: usize, per_minute: f64, autocorrelation: f64) -> f64 {
        let drifting = |seed: &u64| {
            matches!(drift(&series(*seed, n, per_minute, autocorrelation), &LIMIT), Drift::Drifting { .. })
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
    fn too_few_values_decide_nothing() {
        assert_eq!(drift(&[1.0; 9], &LIMIT), Drift::TooFew);
        assert_eq!(drift(&[], &LIMIT), Drift::TooFew);
        assert_eq!(drift(&[f64::NAN; 20], &LIMIT), Drift::TooFew);
        assert!(matches!(drift(&[1.0; 10], &LIMIT), Drift::Steady { .. }));
    }

    /// Goal: false alarms stay rare, also with autocorrelation; a leak of 3 % per
    /// minute over five minutes is found. Seeds 0 to 199.
    #[test]
    fn noise_is_steady_and_a_leak_is_found() {
        for autocorrelation in [0.0, 0.5, 0.8] {
            let alpha = share_drifting(300, 0.0, autocorrelation);
            assert!(alpha <= 0.05, "autocorrelation {autocorrelation}: {alpha}");
        }
        let found = share_drifting(300, -0.03, 0.5);
        assert!(0.9 <= found, "{found}");
    }

    /// By hand: y 1, 0, 0, 1, 1, 0, 0, 1 at x 0 … 7: slope 0, residuals ±½, squares 2, neighbors −1/4: −1/8,
    /// raised by 0.8 ÷ √8 = 0.28284 to 0.15784: effective size 8 · 0.84216 ÷ 1.15784 = 5.8188. The error of the line,
    /// √(2 ÷ 6 ÷ 42) = 0.0890871, times √(6 ÷ 3.8188) = 0.111667; t(3) at 0.975 is 3.18245.
    #[test]
    fn autocorrelation_widens_the_interval_of_a_slope() {
        let points: Vec<(f64, f64)> =
            (0..).map(f64::from).zip([1.0, 0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 1.0]).collect();
        let slope = slope_interval(&points, Ratio(0.95)).unwrap();
        assert!(slope.value.abs() < 1e-12 && (slope.high - 0.355_374).abs() < 1e-5, "{slope:?}");
        // Two halves that differ are correlated but for one step: the effective size is small, so that nothing is
        // shown.
        let halves: Vec<(f64, f64)> = (0..8).map(|x| (f64::from(x), f64::from(x / 4))).collect();
        let line = FittedLine::fit(&halves).unwrap();
        let plain = Estimate::from_error(line.slope, line.slope_error, 6, Ratio(0.95)).unwrap();
        let slope = slope_interval(&halves, Ratio(0.95)).unwrap();
        assert!(slope.low < 0.0 && 0.0 < plain.low, "{slope:?} {plain:?}");
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
