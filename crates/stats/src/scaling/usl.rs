//! The Universal Scalability Law: besides contention, every pair of processors costs coherency.

use units::Ratio;

use super::fit::{FitError, FitQuality, Prediction, ScalingPoint, fit, predict};
use crate::Estimate;

/// The fewest different sizes of a fit with error bars.
///
/// Source: the rules of the CPU-scalability method for order entry: at least 6 points for λ, σ and κ.
pub(super) const N_SIZES_TRUSTED: usize = 6;

/// The Universal Scalability Law fitted to rates: X(p) = λp ÷ (1 + σ(p − 1) + κp(p − 1)).
///
/// Source: Gunther 2007, Guerrilla Capacity Planning, chapter 4 and 5.
#[derive(Debug, Clone, PartialEq)]
pub struct Usl {
    /// λ, the rate of size 1, in operations/s.
    pub lambda: Estimate,
    /// σ, contention: the share that waits for others, from 0 to 1.
    pub sigma: Estimate,
    /// κ, coherency: the cost of each pair, relative to an operation; 0 or more.
    pub kappa: Estimate,
    /// The quality of the fit.
    pub quality: FitQuality,
}

impl Usl {
    /// Fits the law to at least four different sizes by least squares; repeats of a size are points of their own.
    ///
    /// Intervals of the parameters have the given confidence. Fewer than six sizes make
    /// [`FitQuality::few_points`].
    ///
    /// # Errors
    /// See [`FitError`].
    pub fn fit(points: &[ScalingPoint], confidence: Ratio) -> Result<Usl, FitError> {
        let found = fit::<3>(points, confidence, N_SIZES_TRUSTED)?;
        let [lambda, sigma, kappa] = found.estimates;
        Ok(Usl { lambda, sigma, kappa, quality: found.quality })
    }

    /// Returns the rate that the law gives for a size above zero.
    pub fn at(&self, size: f64) -> Prediction {
        predict(size, [self.lambda, self.sigma, self.kappa], &self.quality)
    }

    /// Returns the size p* = √((1 − σ) ÷ κ) with the highest rate, and that rate, the ceiling.
    ///
    /// `None` if κ is zero: then the rate never falls. Size 1 where p* is below 1: then it falls from the start.
    ///
    /// Source: the derivative of X(p) set to zero; Gunther 2007, section 5.2.
    pub fn peak(&self) -> Option<Prediction> {
        let sigma = self.sigma.value;
        let kappa = self.kappa.value;
        (0.0 < kappa).then(|| self.at(((1.0 - sigma) / kappa).sqrt().max(1.0)))
    }
}

#[cfg(test)]
mod tests {
    use units::{Rng, StreamPurpose};

    use super::*;
    use crate::scaling::fit::rate_at;

    const CONFIDENCE: Ratio = Ratio(0.95);
    const SIZES: [f64; 7] = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0];

    fn fitted(rates: impl IntoIterator<Item = (f64, f64)>) -> Usl {
        let point = |(size, rate)| ScalingPoint { size, rate, error: None };
        Usl::fit(&rates.into_iter().map(point).collect::<Vec<_>>(), CONFIDENCE).expect("it can be fitted")
    }

    #[track_caller]
    fn check(found: &Usl, expected: [f64; 3], within: [f64; 3]) {
        let found_values = [found.lambda, found.sigma, found.kappa];
        for i in 0..3 {
            let apart = (found_values[i].value - expected[i]).abs();
            assert!(apart <= within[i], "parameter {i}: {found:?}");
            let Estimate { value, low, high } = found_values[i];
            assert!(low <= value && value <= high, "parameter {i}: {found:?}");
        }
    }

    /// Golden check: λ = 1000, σ = 0.05, κ = 0.001; the rates as printed, and the parameters to 1e-9 of λ.
    #[test]
    fn the_true_parameters_are_recovered() {
        let printed = [
            1_000.0,
            1_901.140_684,
            3_442.340_792,
            5_689.900_427,
            8_040.201_005,
            9_034.443_817,
            7_822.048_399,
        ];
        let exact = SIZES.map(|size| rate_at(size, &[1_000.0, 0.05, 0.001]));
        for (exact, printed) in exact.iter().zip(printed) {
            assert!((exact - printed).abs() < 5e-7, "{exact} for {printed}");
        }
        for rates in [exact, printed] {
            let found = fitted(SIZES.into_iter().zip(rates));
            check(&found, [1_000.0, 0.05, 0.001], [1e-6, 1e-9, 1e-9]);
            let peak = found.peak().unwrap();
            assert!((peak.size - 30.822_07).abs() < 5e-6 && (peak.rate - 9_037.984).abs() < 5e-4, "{peak:?}");
            assert!(!peak.extrapolated && !found.quality.few_points);
        }
    }

    /// Golden check: a public data set of 32 sizes with the parameters and figures that others published.
    #[test]
    fn the_public_data_set_gives_the_published_parameters() {
        const RATES: [f64; 32] = [
            955.16, 1878.91, 2688.01, 3548.68, 4315.54, 5130.43, 5931.37, 6531.08, 7219.80, 7867.61, 8278.71,
            8646.70, 9047.84, 9426.55, 9645.37, 9897.24, 10097.60, 10240.50, 10532.39, 10798.52, 11151.43,
            11518.63, 11806.00, 12089.37, 12075.41, 12177.29, 12211.41, 12158.93, 12155.27, 12118.04,
            12140.40, 12074.39,
        ];
        let found = fitted((1u32..).map(f64::from).zip(RATES));
        check(&found, [995.648_8, 0.026_715_9, 0.000_769_094], [5e-5, 5e-8, 5e-10]);
        let r_squared = found.quality.r_squared.unwrap();
        assert!((r_squared - 0.997_151).abs() < 5e-7, "{r_squared}");
        let peak = found.peak().unwrap();
        assert!((peak.size - 35.57).abs() < 5e-3 && !peak.extrapolated, "{peak:?}");
        assert!((found.at(35.0).rate - 12_341.746).abs() < 5e-4, "{:?}", found.at(35.0));
        assert_eq!((found.quality.degrees_of_freedom, found.quality.residuals.len()), (29, 32));
        // The published figures: what the sum of squares hardly tells apart.
        check(&found, [995.648_6, 0.026_715_91, 0.000_769_094_5], [3e-4, 5e-8, 1e-9]);
    }

    /// Golden check: 1,000, 1,900, 3,400, 5,200 at 1, 2, 4, 8: one degree of freedom, so the warning.
    #[test]
    fn four_sizes_are_fitted_with_a_warning() {
        let found = fitted([(1.0, 1_000.0), (2.0, 1_900.0), (4.0, 3_400.0), (8.0, 5_200.0)]);
        check(&found, [997.532_7, 0.039_506_1, 0.004_608_86], [5e-5, 5e-8, 5e-9]);
        assert!((found.peak().unwrap().size - 14.436).abs() < 5e-4);
        assert_eq!((found.quality.degrees_of_freedom, found.quality.few_points), (1, true));
    }

    /// Goal: coverage of the intervals by s²(JᵀJ)⁻¹. Method: 400 times eight rates with normal noise of 60/s,
    /// seeds 0 to 399; less three deviations of a share of 0.95 in 400, 0.033.
    #[test]
    fn intervals_cover_the_true_parameters() {
        const TRUTH: [f64; 3] = [1_000.0, 0.05, 0.001];
        let mut covered = [0; 3];
        for seed in 0..400 {
            let mut rng = Rng::new(seed, StreamPurpose::Simulation, 0);
            let mut normal = || (0..12).map(|_| rng.uniform()).sum::<f64>() - 6.0;
            let sizes = [1.0, 2.0, 4.0, 8.0, 16.0, 24.0, 32.0, 48.0];
            let found = fitted(sizes.map(|size| (size, rate_at(size, &TRUTH) + 60.0 * normal())));
            for (i, estimate) in [found.lambda, found.sigma, found.kappa].into_iter().enumerate() {
                covered[i] += u32::from(estimate.low <= TRUTH[i] && TRUTH[i] <= estimate.high);
            }
        }
        assert!(covered.iter().all(|n| 0.917 * 400.0 <= f64::from(*n)), "{covered:?}");
    }

    #[test]
    fn without_coherency_there_is_no_peak() {
        // Amdahl's law with σ = 0.1; and one that grows faster than its size.
        for rates in
            [SIZES.map(|size| rate_at(size, &[500.0, 0.1])), SIZES.map(|size| 500.0 * size.powf(1.2))]
        {
            let found = fitted(SIZES.into_iter().zip(rates));
            assert!(found.kappa.value < 1e-9 && found.kappa.low == 0.0, "{found:?}");
            assert!(found.peak().is_none_or(|peak| peak.extrapolated), "{found:?}");
        }
    }

    #[test]
    fn a_rate_that_falls_from_the_start_peaks_at_one() {
        let found = fitted([(1.0, 100.0), (2.0, 60.0), (3.0, 40.0), (4.0, 30.0), (5.0, 23.0), (6.0, 19.0)]);
        assert_eq!(found.peak().map(|peak| peak.size), Some(1.0), "{found:?}");
    }

    /// All rates equal: σ = 1 gives X(p) = λ exactly.
    #[test]
    fn equal_rates_are_all_contention() {
        let found = fitted(SIZES.map(|size| (size, 42.0)));
        check(&found, [42.0, 1.0, 0.0], [1e-6, 1e-7, 1e-7]);
        assert_eq!(found.quality.r_squared, None);
    }

    /// Sizes may be operations in service, below one and up to many thousands.
    #[test]
    fn sizes_may_be_fractional_or_large() {
        let sizes = [0.4, 7.5, 90.0, 800.0, 6_000.0, 30_000.0];
        let found = fitted(sizes.map(|size| (size, rate_at(size, &[20.0, 1e-4, 1e-9]))));
        check(&found, [20.0, 1e-4, 1e-9], [1e-6, 1e-10, 1e-14]);
    }

    #[test]
    fn a_failed_fit_has_a_reason() {
        let of = |rates: &[(f64, f64)]| {
            let point = |(size, rate): &(f64, f64)| ScalingPoint { size: *size, rate: *rate, error: None };
            Usl::fit(&rates.iter().map(point).collect::<Vec<_>>(), CONFIDENCE).unwrap_err()
        };
        assert_eq!(of(&[(1.0, 1.0)]), FitError::TooFew { found: 1, needed: 4 });
        assert_eq!(of(&[(1.0, 1.0), (2.0, 2.0), (3.0, 3.0)]), FitError::TooFew { found: 3, needed: 4 });
        assert!(matches!(of(&[(1.0, 1.0), (2.0, f64::NAN)]), FitError::Impossible { size: 2.0, .. }));
        let text = of(&[(1.0, 1.0), (2.0, 0.0)]).to_string();
        assert_eq!(text, "a point needs a size and a rate above zero, found size 2 and rate 0");
    }
}
