//! Amdahl's law: a share of the work stays serial, however many processors there are.

use units::Ratio;

use super::fit::{FitError, FitQuality, Prediction, ScalingPoint, fit, predict};
use crate::Estimate;

/// The fewest different sizes of a fit with error bars.
///
/// Source: the rules of the CPU-scalability method for order entry: at least 4 points for λ and σ.
pub(super) const N_SIZES_TRUSTED: usize = 4;

/// Amdahl's law fitted to rates: X(p) = λp ÷ (1 + σ(p − 1)).
///
/// Source: Amdahl 1967, Validity of the Single Processor Approach to Achieving Large Scale Computing
/// Capabilities; in the form of Gunther 2007, Guerrilla Capacity Planning, chapter 4.
#[derive(Debug, Clone, PartialEq)]
pub struct Amdahl {
    /// λ, the rate of size 1, in operations/s.
    pub lambda: Estimate,
    /// σ, the serial share, from 0 to 1.
    pub sigma: Estimate,
    /// The quality of the fit.
    pub quality: FitQuality,
}

impl Amdahl {
    /// Fits the law to at least three different sizes by least squares; repeats of a size are points of their own.
    ///
    /// Intervals of the parameters have the given confidence. Fewer than four sizes make
    /// [`FitQuality::few_points`].
    ///
    /// # Errors
    /// See [`FitError`].
    pub fn fit(points: &[ScalingPoint], confidence: Ratio) -> Result<Amdahl, FitError> {
        let found = fit::<2>(points, confidence, N_SIZES_TRUSTED)?;
        let [lambda, sigma] = found.estimates;
        Ok(Amdahl { lambda, sigma, quality: found.quality })
    }

    /// Returns the rate that the law gives for a size above zero.
    pub fn at(&self, size: f64) -> Prediction {
        predict(size, [self.lambda, self.sigma], &self.quality)
    }

    /// Returns the upper limit of the rate, λ ÷ σ, in operations/s. `None` if σ is zero: then there is no limit.
    pub fn limit(&self) -> Option<f64> {
        (0.0 < self.sigma.value).then(|| self.lambda.value / self.sigma.value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scaling::fit::rate_at;

    const CONFIDENCE: Ratio = Ratio(0.95);

    fn points(rates: &[(f64, f64)]) -> Vec<ScalingPoint> {
        rates.iter().map(|(size, rate)| ScalingPoint { size: *size, rate: *rate, error: None }).collect()
    }

    /// Golden check: σ = 0.1 at 1, 2, 4, 8.
    #[test]
    fn a_serial_tenth_gives_these_speed_ups() {
        for (size, speed_up, efficiency) in
            [(1.0, 1.0, 1.0), (2.0, 1.8182, 0.9091), (4.0, 3.0769, 0.7692), (8.0, 4.7059, 0.5882)]
        {
            let found = rate_at(size, &[1.0, 0.1]);
            assert!((found - speed_up).abs() < 5e-5 && (found / size - efficiency).abs() < 5e-5, "{size}");
        }
    }

    #[test]
    fn the_true_parameters_are_recovered() {
        let rates = [1.0, 2.0, 4.0, 8.0].map(|size| (size, rate_at(size, &[700.0, 0.1])));
        let found = Amdahl::fit(&points(&rates), CONFIDENCE).unwrap();
        assert!(
            (found.lambda.value - 700.0).abs() < 1e-6 && (found.sigma.value - 0.1).abs() < 1e-9,
            "{found:?}"
        );
        assert!(found.sigma.high - found.sigma.low < 1e-6 && !found.quality.few_points, "{found:?}");
        assert!((found.limit().unwrap() - 7_000.0).abs() < 1e-4);
        assert_eq!((found.at(16.0).extrapolated, found.at(16.1).extrapolated), (false, true));
    }

    /// Golden check: 1,000, 1,900, 3,400, 5,200 at 1, 2, 4, 8.
    #[test]
    fn four_measured_rates_give_the_golden_parameters() {
        let rates = [(1.0, 1_000.0), (2.0, 1_900.0), (4.0, 3_400.0), (8.0, 5_200.0)];
        let found = Amdahl::fit(&points(&rates), CONFIDENCE).unwrap();
        assert!((found.lambda.value - 1_050.559).abs() < 5e-4, "{found:?}");
        assert!((found.sigma.value - 0.087_094_5).abs() < 5e-8, "{found:?}");
        assert!(found.sigma.low < found.sigma.value && found.sigma.value < found.sigma.high, "{found:?}");
        assert_eq!((found.quality.degrees_of_freedom, found.quality.few_points), (2, false));
        // By hand: 1,000 − 1,050.559.
        assert!((found.quality.residuals[0] + 50.559).abs() < 1e-3, "{found:?}");
        let three = Amdahl::fit(&points(&rates[..3]), CONFIDENCE).unwrap();
        assert_eq!((three.quality.degrees_of_freedom, three.quality.few_points), (1, true));
    }

    /// By hand: 10, 20 and 40 at 1, 2 and 4 have no serial share; 10, 10 and 10 nothing else.
    #[test]
    fn shares_end_at_zero_and_one() {
        let straight = Amdahl::fit(&points(&[(1.0, 10.0), (2.0, 20.0), (4.0, 40.0)]), CONFIDENCE).unwrap();
        assert!(straight.sigma.value < 1e-9, "{straight:?}");
        let faster = Amdahl::fit(&points(&[(1.0, 10.0), (2.0, 25.0), (4.0, 60.0)]), CONFIDENCE).unwrap();
        assert_eq!((faster.sigma.value, faster.sigma.low, faster.limit()), (0.0, 0.0, None));
        let flat = Amdahl::fit(&points(&[(1.0, 10.0), (2.0, 10.0), (4.0, 10.0)]), CONFIDENCE).unwrap();
        assert!((flat.sigma.value - 1.0).abs() < 1e-9 && flat.quality.r_squared.is_none(), "{flat:?}");
    }

    /// By hand: a rate that is known a hundred times better counts alone, so λ ÷ (1 + σ) · 2 = 15 and λ = 10: σ = 1/3.
    #[test]
    fn rates_with_smaller_errors_weigh_more() {
        let weighted = |size, rate, error| ScalingPoint { size, rate, error: Some(error) };
        let points = [weighted(1.0, 10.0, 0.001), weighted(2.0, 15.0, 0.001), weighted(4.0, 10.0, 1e3)];
        let found = Amdahl::fit(&points, CONFIDENCE).unwrap();
        assert!((found.sigma.value - 1.0 / 3.0).abs() < 1e-4, "{found:?}");
        let unweighted = points.map(|point| ScalingPoint { error: None, ..point });
        assert!(0.5 < Amdahl::fit(&unweighted, CONFIDENCE).unwrap().sigma.value);
    }

    #[test]
    fn a_failed_fit_has_a_reason() {
        let fit =
            |rates: &[(f64, f64)], confidence| Amdahl::fit(&points(rates), Ratio(confidence)).unwrap_err();
        assert_eq!(fit(&[], 0.95), FitError::TooFew { found: 0, needed: 3 });
        let repeated = [(1.0, 10.0), (2.0, 18.0), (2.0, 19.0), (1.0, 11.0)];
        assert_eq!(fit(&repeated, 0.95), FitError::TooFew { found: 2, needed: 3 });
        let good = [(1.0, 10.0), (2.0, 18.0), (4.0, 30.0)];
        assert_eq!(fit(&good, 1.0), FitError::Confidence(1.0));
        for bad in [0.0, -1.0, f64::INFINITY] {
            assert_eq!(fit(&[(bad, 1.0)], 0.95), FitError::Impossible { size: bad, rate: 1.0 });
            assert_eq!(fit(&[(1.0, bad)], 0.95), FitError::Impossible { size: 1.0, rate: bad });
        }
        assert!(matches!(fit(&[(1.0, f64::NAN)], 0.95), FitError::Impossible { .. }));
    }
}
