//! The error of a figure of one run, estimated from the seconds of its steady phase.

use crate::drift::{batch_means, variance};

/// The most batches: enough to estimate their autocorrelation, few enough that each outlasts most of it.
const N_BATCHES_MAX: usize = 20;

/// The fewest batches: with fewer, the autocorrelation of the seconds cannot be estimated.
const N_BATCHES_MIN: usize = 10;

/// The smallest effective sample size, whatever the autocorrelation: fewer independent values have no meaningful
/// deviation.
const N_EFFECTIVE_MIN: f64 = 3.0;

/// The margin added to an autocorrelation because it is only estimated, in its standard errors, 1 ÷ √k.
///
/// Chosen by simulation: with it intervals of ratios miss the truth in at most the 5 % asked for, see
/// `tests/comparison.rs`.
const AUTOCORRELATION_MARGIN: f64 = 0.4;

/// The standard error of a figure, estimated from its own phase.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StandardError {
    /// Relative to the figure, from 0.
    pub relative: f64,
    /// Its degrees of freedom; above zero, seldom a whole number.
    pub degrees_of_freedom: f64,
}

/// Returns the standard error of Σ numerator ÷ Σ denominator over consecutive seconds (numerator, denominator).
///
/// A rate has operations over 1, a mean response time sums of times over operations, CPU per operation CPU time over
/// operations. With m the ratio and d̄ the mean denominator, each second contributes (numerator − m·denominator) ÷
/// (m·d̄). The contributions are put into k = 10 to 20 batches of equal length; seconds at the beginning that fill
/// none are left out. With s² the sample variance of the batch means and φ their lag-1 autocorrelation, plus 1/k for
/// its bias and 0.4 ÷ √k for its own error, the effective sample size is n = k·(1 − φ) ÷ (1 + φ), from 3 to k: the
/// error is s ÷ √n, with n − 1 degrees of freedom.
///
/// It tells how much the phase would differ if it went on, not how much the next run will: see
/// [`crate::LogRatio::of_runs`]. `None` with fewer than ten seconds, or if a sum is not above zero, or the error not
/// finite.
///
/// Source: ratio estimator and batch means: Law, Simulation Modeling and Analysis, 5th edition, chapter 9; effective
/// sample size of autocorrelated values: Santer et al. 2000, as in [`crate::steadiness`]; bias of φ: Kendall 1954, Note
/// on Bias in the Estimation of Autocorrelation. Coverage: `docs/design/intervals.md`.
pub fn standard_error(seconds: &[(f64, f64)]) -> Option<StandardError> {
    let (above, below) = seconds.iter().fold((0.0, 0.0), |sums, one| (sums.0 + one.0, sums.1 + one.1));
    let positive = |sum: f64| 0.0 < sum && sum.is_finite();
    if seconds.len() < N_BATCHES_MIN || !positive(above) || !positive(below) {
        return None;
    }
    let ratio = above / below;
    let unit = above / seconds.len() as f64;
    let contributions: Vec<f64> = seconds.iter().map(|one| (one.0 - ratio * one.1) / unit).collect();
    let length = contributions.len().div_ceil(N_BATCHES_MAX);
    let left_out = contributions.len() % length;
    let means: Vec<f64> = batch_means(&contributions[left_out..], length).collect();
    let n_effective = effective_sample_size(&means);
    let error = StandardError {
        relative: (variance(&means) / n_effective).sqrt(),
        degrees_of_freedom: n_effective - 1.0,
    };
    error.relative.is_finite().then_some(error)
}

/// Returns the effective sample size: the number of independent values with the same information.
fn effective_sample_size(means: &[f64]) -> f64 {
    let n = means.len() as f64;
    let mean = means.iter().sum::<f64>() / n;
    let squares: f64 = means.iter().map(|one| (one - mean).powi(2)).sum();
    let neighbors: f64 = means.windows(2).map(|pair| (pair[0] - mean) * (pair[1] - mean)).sum();
    let correlation = if 0.0 < squares { neighbors / squares + 1.0 / n } else { 0.0 };
    let autocorrelation = correlation.max(0.0) + AUTOCORRELATION_MARGIN / n.sqrt();
    (n * (1.0 - autocorrelation) / (1.0 + autocorrelation)).clamp(N_EFFECTIVE_MIN, n)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand: ten seconds of 90 and 110 in turns over 1: mean 100, contributions ∓0.1, s² = 10 · 0.01 ÷ 9; neighbors
    /// −9/10 + 1/10 count as none, φ = 0.4 ÷ √10 = 0.126491: effective size 10 · 0.873509 ÷ 1.126491 = 7.75425;
    /// error √(0.0111111 ÷ 7.75425) = 0.0378535.
    #[test]
    fn the_error_of_a_rate_by_hand() {
        let seconds: Vec<(f64, f64)> =
            (0..10).map(|k| (if k % 2 == 0 { 90.0 } else { 110.0 }, 1.0)).collect();
        let error = standard_error(&seconds).unwrap();
        assert!((error.relative - 0.037_853_5).abs() < 1e-6, "{error:?}");
        assert!((error.degrees_of_freedom - 6.754_25).abs() < 1e-4, "{error:?}");
    }

    /// Two halves that differ are correlated but for one step: 20 values, φ = 17/20 + 1/20 + 0.4 ÷ √20 = 0.989,
    /// effective size 0.11, so 3.
    #[test]
    fn autocorrelation_lowers_the_effective_sample_size() {
        let seconds: Vec<(f64, f64)> = (0..20).map(|k| (if k < 10 { 90.0 } else { 110.0 }, 1.0)).collect();
        assert_eq!(standard_error(&seconds).unwrap().degrees_of_freedom, 2.0);
    }

    /// Each second has the same mean, however many operations it has: no error.
    #[test]
    fn a_ratio_that_is_always_the_same_has_no_error() {
        let seconds: Vec<(f64, f64)> = (1..=30).map(|n| (f64::from(n) * 0.25, f64::from(n))).collect();
        assert!(standard_error(&seconds).unwrap().relative < 1e-12);
    }

    #[test]
    fn too_few_seconds_and_nothing_have_no_error() {
        assert_eq!(standard_error(&[(1.0, 1.0); 9]), None);
        assert_eq!(standard_error(&[(0.0, 1.0); 20]), None);
        assert_eq!(standard_error(&[(1.0, 0.0); 20]), None);
        assert_eq!(standard_error(&[(f64::NAN, 1.0); 20]), None);
        assert!(standard_error(&[(1.0, 1.0); 10]).is_some());
    }
}
