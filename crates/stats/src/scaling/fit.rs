//! The fit that both laws share: X(p) = λp ÷ (1 + σ(p − 1) + κp(p − 1)).
//!
//! Amdahl's law is the one with κ = 0, so that both are one fit with two or three parameters.

use std::array::from_fn;

use thiserror::Error;
use units::Ratio;

use crate::Estimate;
use crate::least_squares::{Observation, Problem, Solution};

/// The largest size, as a multiple of the largest measured one, for which a law predicts without a warning.
const TRUSTED_RANGE: f64 = 2.0;

/// The smallest and largest λ, σ and κ.
const BOUNDS: [(f64, f64); 3] = [(f64::MIN_POSITIVE, f64::INFINITY), (0.0, 1.0), (0.0, f64::INFINITY)];

/// The rate at one size.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ScalingPoint {
    /// The size p, in processors or operations in service.
    pub size: f64,
    /// The rate X, in operations/s.
    pub rate: f64,
    /// The standard error s of the rate, in operations/s; a fit weighs by 1/s² if all points have one above zero.
    pub error: Option<f64>,
}

/// A reason why a law could not be fitted.
#[derive(Debug, Clone, Copy, PartialEq, Error)]
pub enum FitError {
    /// There are not more sizes than parameters, so that nothing would be left to judge the fit by.
    #[error("a fit needs at least {needed} different sizes, found {found}")]
    TooFew {
        /// Number of sizes found.
        found: usize,
        /// Number of sizes needed.
        needed: usize,
    },
    /// A size or a rate is not a number above zero.
    #[error("a point needs a size and a rate above zero, found size {size} and rate {rate}")]
    Impossible {
        /// The size.
        size: f64,
        /// The rate.
        rate: f64,
    },
    /// No size was measured more than once, so that nothing can be resampled.
    #[error("an interval by repeats needs a size with at least two rates")]
    NoRepeats,
    /// The confidence is not between 0 and 1.
    #[error("confidence must lie between 0 and 1, found {0}")]
    Confidence(f64),
    /// The sizes are too close together, or the rates too far from any law.
    #[error("the points do not determine the parameters")]
    Undetermined,
}

/// The quality of a fit.
#[derive(Debug, Clone, PartialEq)]
pub struct FitQuality {
    /// Measured less fitted rate, in operations/s, in the order of the points.
    pub residuals: Vec<f64>,
    /// Degrees of freedom: points less parameters, at least 1.
    pub degrees_of_freedom: usize,
    /// R² = 1 − Σw·residual² ÷ Σw·(X − X̄)²; `None` if all rates are equal.
    pub r_squared: Option<f64>,
    /// There are fewer different sizes than it takes to trust the parameters and their intervals:
    /// the ratios of the rates say as much.
    pub few_points: bool,
    /// The largest size.
    pub size_max: f64,
}

/// A prediction of a law for a size.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Prediction {
    /// The size p.
    pub size: f64,
    /// The rate X(p), in operations/s.
    pub rate: f64,
    /// The size is more than twice the largest measured one: not to be shown without a warning.
    pub extrapolated: bool,
}

/// The law's parameters λ, σ and, with three, κ.
pub(super) struct Fit<const N: usize> {
    pub(super) estimates: [Estimate; N],
    pub(super) quality: FitQuality,
}

/// Fits a law with N parameters; with fewer than `n_trusted` different sizes, the quality is marked.
///
/// Intervals are value ± t·error, t Student's quantile for the degrees of freedom, cut off at the
/// bounds of the parameter. At a bound they are wider than need be, never narrower.
///
/// Source of the errors: s²(JᵀWJ)⁻¹, Seber and Wild, Nonlinear Regression, chapter 2; good as far as the
/// law is nearly straight within the interval.
pub(super) fn fit<const N: usize>(
    points: &[ScalingPoint],
    confidence: Ratio,
    n_trusted: usize,
) -> Result<Fit<N>, FitError> {
    let n_sizes = count_sizes(points)?;
    if n_sizes <= N {
        return Err(FitError::TooFew { found: n_sizes, needed: N + 1 });
    }
    if !(0.0 < confidence.0 && confidence.0 < 1.0) {
        return Err(FitError::Confidence(confidence.0));
    }
    let observations = observations(points);
    let solution = solve::<N>(&observations).ok_or(FitError::Undetermined)?;
    let quality = quality(&observations, &solution, n_sizes < n_trusted);
    let estimate = |i: usize| {
        let value = solution.parameters[i];
        let error = solution.errors[i];
        let estimate = Estimate::from_error(value, error, quality.degrees_of_freedom, confidence)?;
        Some(clipped(i, estimate))
    };
    let estimates: Vec<Estimate> = (0..N).map_while(estimate).collect();
    let estimates = <[Estimate; N]>::try_from(estimates).map_err(|_| FitError::Undetermined)?;
    Ok(Fit { estimates, quality })
}

/// Cuts an interval of parameter `i` off at its bounds.
pub(super) fn clipped(i: usize, estimate: Estimate) -> Estimate {
    let (least, most) = BOUNDS[i];
    Estimate { low: estimate.low.clamp(least, most), high: estimate.high.clamp(least, most), ..estimate }
}

/// Returns X(p).
pub(super) fn rate_at<const N: usize>(size: f64, parameters: &[f64; N]) -> f64 {
    law(size, parameters).0
}

/// Returns the law's prediction for a size.
pub(super) fn predict<const N: usize>(
    size: f64,
    estimates: [Estimate; N],
    quality: &FitQuality,
) -> Prediction {
    let rate = rate_at(size, &estimates.map(|estimate| estimate.value));
    Prediction { size, rate, extrapolated: TRUSTED_RANGE * quality.size_max < size }
}

/// Returns the parameters and their errors. `None` if the observations do not determine them.
pub(super) fn solve<const N: usize>(observations: &[Observation]) -> Option<Solution<N>> {
    let bounds = from_fn(|i| BOUNDS[i]);
    Problem { observations, model: &law, bounds }.minimize(start(observations)?)
}

/// Returns the observations of points, weighted by their errors if all have one.
pub(super) fn observations(points: &[ScalingPoint]) -> Vec<Observation> {
    let weight =
        |point: &ScalingPoint| point.error.filter(|s| 0.0 < *s && s.is_finite()).map(|s| (s * s).recip());
    let weighted = points.iter().all(|point| weight(point).is_some());
    let weight = |point| weight(point).filter(|_| weighted).unwrap_or(1.0);
    points.iter().map(|point| Observation { x: point.size, y: point.rate, weight: weight(point) }).collect()
}

/// Returns the number of different sizes.
fn count_sizes(points: &[ScalingPoint]) -> Result<usize, FitError> {
    let positive = |value: f64| 0.0 < value && value.is_finite();
    if let Some(point) = points.iter().find(|point| !(positive(point.size) && positive(point.rate))) {
        return Err(FitError::Impossible { size: point.size, rate: point.rate });
    }
    let mut sizes: Vec<f64> = points.iter().map(|point| point.size).collect();
    sizes.sort_by(f64::total_cmp);
    sizes.dedup();
    Ok(sizes.len())
}

/// Returns the terms of p ÷ X(p) · λ that belong to 1, σ and κ.
fn terms<const N: usize>(p: f64) -> [f64; N] {
    from_fn(|i| [1.0, p - 1.0, p * (p - 1.0)][i])
}

/// Returns X(p) and its derivatives; no number where the divisor is not above zero.
fn law<const N: usize>(p: f64, parameters: &[f64; N]) -> (f64, [f64; N]) {
    let terms = terms::<N>(p);
    let divisor = (1..N).fold(1.0, |sum, i| sum + parameters[i] * terms[i]);
    let divisor = if 0.0 < divisor { divisor } else { f64::NAN };
    let value = parameters[0] * p / divisor;
    (value, from_fn(|i| if i == 0 { p / divisor } else { -value * terms[i] / divisor }))
}

/// Returns the starting parameters: the fit to p ÷ X, which is linear in 1/λ, σ/λ and κ/λ.
///
/// Weighted by X⁴ ÷ p², so that residuals count about as those of X do.
fn start<const N: usize>(observations: &[Observation]) -> Option<[f64; N]> {
    let inverse =
        |o: &Observation| Observation { x: o.x, y: o.x / o.y, weight: o.weight * o.y.powi(4) / (o.x * o.x) };
    let observations: Vec<Observation> = observations.iter().map(inverse).collect();
    let least = observations.iter().map(|o| o.y).fold(f64::INFINITY, f64::min);
    let model = |p: f64, parameters: &[f64; N]| {
        let terms = terms::<N>(p);
        ((0..N).map(|i| parameters[i] * terms[i]).sum(), terms)
    };
    // λ is near max X/p, or above it where size 1 is missing.
    let bounds = from_fn(|i| if i == 0 { (1e-3 * least, 10.0 * least) } else { (0.0, f64::INFINITY) });
    let problem = Problem { observations: &observations, model: &model, bounds };
    let found = problem.minimize(from_fn(|i| if i == 0 { least } else { 0.0 }))?.parameters;
    Some(from_fn(|i| if i == 0 { 1.0 / found[0] } else { (found[i] / found[0]).min(BOUNDS[i].1) }))
}

fn quality<const N: usize>(
    observations: &[Observation],
    solution: &Solution<N>,
    few_points: bool,
) -> FitQuality {
    let residual = |o: &Observation| o.y - rate_at(o.x, &solution.parameters);
    let sum =
        |term: &dyn Fn(&Observation) -> f64| observations.iter().map(|o| o.weight * term(o)).sum::<f64>();
    let mean = sum(&|o| o.y) / sum(&|_| 1.0);
    let total = sum(&|o| (o.y - mean).powi(2));
    FitQuality {
        residuals: observations.iter().map(residual).collect(),
        degrees_of_freedom: observations.len() - N,
        r_squared: (0.0 < total).then(|| 1.0 - solution.sum_squares / total),
        few_points,
        size_max: observations.iter().map(|o| o.x).fold(0.0, f64::max),
    }
}
