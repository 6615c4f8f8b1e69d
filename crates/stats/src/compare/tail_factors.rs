//! Bootstrap corrections of an interval: how much farther than Student's t it reaches where values are skewed.

use units::{Ratio, Rng, StreamPurpose};

use crate::bootstrap::{N_REPLICATES, percentile_interval};
use crate::estimate::normal_quantile;

/// The confidence at which bootstrap and Student's t are compared.
const CONFIDENCE: Ratio = Ratio(0.95);

/// Factors by which an interval reaches farther than Student's t, below and above; at least 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct TailFactors {
    pub(super) below: f64,
    pub(super) above: f64,
}

impl TailFactors {
    /// The factors of Student's t itself.
    pub(super) const STUDENT: TailFactors = TailFactors { below: 1.0, above: 1.0 };

    /// Returns the factors for the difference of two means (of one, if the other has no values) of standard error
    /// `error`.
    ///
    /// Each mean is resampled 1,000 times from its own values; deviations count √(n ÷ (n − 1)) times, because
    /// resampled values vary too little, the more so the fewer there are. With q the lower percentile of these
    /// differences at 95 %, as a distance from the difference itself, the factor is q ÷ (z·error): 1 where the
    /// differences are normal. A handful of values has too few different means for the bootstrap alone, so it never
    /// makes an interval narrower.
    ///
    /// Source: percentile interval: Efron and Tibshirani, An Introduction to the Bootstrap, chapter 13; its factor for
    /// small samples: Hesterberg 2015, What Teachers Should Know About the Bootstrap, section 3.2.
    pub(super) fn of(minuend: &[f64], subtrahend: &[f64], error: f64, seed: u64) -> Option<TailFactors> {
        if error == 0.0 {
            return Some(TailFactors::STUDENT);
        }
        let mut rng = Rng::new(seed, StreamPurpose::Resampling, 0);
        let plus = Deviations::of(minuend);
        let minus = Deviations::of(subtrahend);
        let replicates = (0..N_REPLICATES).map(|_| plus.drawn(&mut rng) - minus.drawn(&mut rng)).collect();
        let (low, high) = percentile_interval(replicates, CONFIDENCE)?;
        let normal = normal_quantile((1.0 + CONFIDENCE.0) / 2.0)? * error;
        Some(TailFactors { below: (-low / normal).max(1.0), above: (high / normal).max(1.0) })
    }
}

/// The deviations of values from their mean, √(n ÷ (n − 1)) times.
struct Deviations(Vec<f64>);

impl Deviations {
    fn of(values: &[f64]) -> Deviations {
        let n = values.len() as f64;
        let mean = values.iter().sum::<f64>() / n;
        let scale = (n / (n - 1.0)).sqrt();
        Deviations(values.iter().map(|value| scale * (value - mean)).collect())
    }

    /// Returns the mean of a resample of the same size; zero if there are none.
    fn drawn(&self, rng: &mut Rng) -> f64 {
        let n = self.0.len();
        let sum: f64 = (0..n).map(|_| self.0[rng.index(n)]).sum();
        sum / n.max(1) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand: nine times 0 and a 10: mean 1, deviation √10, error 1. The 10 is drawn three times or more in 7 %, four
    /// times or more in 1.3 %: the upper percentile is a mean of 3, 2 away: 2·√(10/9) ÷ 1.95996 = 1.07562.
    #[test]
    fn skewed_values_widen_the_interval_on_their_side() {
        let values = [[0.0; 9].as_slice(), &[10.0]].concat();
        let tails = TailFactors::of(&values, &[], 1.0, 1).unwrap();
        assert!(tails.below == 1.0 && (tails.above - 1.075_62).abs() < 1e-4, "{tails:?}");
        let turned = TailFactors::of(&[], &values, 1.0, 1).unwrap();
        assert!(turned.above == 1.0 && (turned.below - 1.075_62).abs() < 1e-4, "{turned:?}");
    }

    #[test]
    fn equal_values_leave_the_interval_as_it_is() {
        assert_eq!(TailFactors::of(&[2.0; 5], &[1.0; 5], 0.0, 1), Some(TailFactors::STUDENT));
    }
}
