//! An estimate with its confidence interval.

use statrs::distribution::{ContinuousCDF, Normal, StudentsT};
use units::Ratio;

/// An estimate with a confidence interval, all in the unit of the data.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Estimate {
    /// The estimate.
    pub value: f64,
    /// The lower end of its interval.
    pub low: f64,
    /// The upper end of its interval.
    pub high: f64,
}

impl Estimate {
    /// Makes the interval value ± t·error, where t is Student's quantile at (1 + confidence) ÷ 2.
    ///
    /// `degrees_of_freedom` is the number of values less the number of parameters estimated from them. `None`
    /// if it is zero, if confidence is not between 0 and 1, or if a figure is not finite.
    pub fn from_error(
        value: f64,
        error: f64,
        degrees_of_freedom: usize,
        confidence: Ratio,
    ) -> Option<Estimate> {
        let half = student_quantile((1.0 + confidence.0) / 2.0, degrees_of_freedom as f64)? * error;
        let estimate = Estimate { value, low: value - half, high: value + half };
        (estimate.low.is_finite() && estimate.high.is_finite()).then_some(estimate)
    }

    /// Returns the estimate in units of `unit`.
    pub(crate) fn relative_to(self, unit: f64) -> Estimate {
        Estimate { value: self.value / unit, low: self.low / unit, high: self.high / unit }
    }
}

/// Returns Student's t quantile. `None` without degrees of freedom or if `p` is not between ½ and 1.
pub fn student_quantile(p: f64, degrees_of_freedom: f64) -> Option<f64> {
    let student = StudentsT::new(0.0, 1.0, degrees_of_freedom).ok()?;
    (0.5 < p && p < 1.0).then(|| student.inverse_cdf(p))
}

/// Returns the probability of a value above `t` in Student's distribution; 1 without degrees of freedom.
pub(crate) fn student_tail(t: f64, degrees_of_freedom: f64) -> f64 {
    StudentsT::new(0.0, 1.0, degrees_of_freedom).map_or(1.0, |student| student.sf(t))
}

/// Returns the standard normal quantile. `None` if `p` is not between ½ and 1.
pub fn normal_quantile(p: f64) -> Option<f64> {
    (0.5 < p && p < 1.0).then(|| Normal::standard().inverse_cdf(p))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// From the usual printed table: t at 0.975 is 12.706 with 1 degree of freedom, 2.262 with 9, 1.960 with very many.
    #[test]
    fn intervals_use_students_quantiles() {
        for (degrees_of_freedom, t) in [(1, 12.706), (9, 2.262), (1_000_000, 1.960)] {
            let estimate = Estimate::from_error(10.0, 2.0, degrees_of_freedom, Ratio(0.95)).unwrap();
            assert!((estimate.high - (10.0 + 2.0 * t)).abs() < 0.001, "{degrees_of_freedom}: {estimate:?}");
            assert!((estimate.low - (10.0 - 2.0 * t)).abs() < 0.001, "{degrees_of_freedom}: {estimate:?}");
        }
    }

    #[test]
    fn there_is_no_interval_without_degrees_of_freedom_or_with_an_impossible_confidence() {
        for (error, degrees_of_freedom, confidence) in
            [(1.0, 0, 0.95), (1.0, 5, 1.0), (1.0, 5, 0.0), (f64::NAN, 5, 0.95)]
        {
            assert_eq!(Estimate::from_error(0.0, error, degrees_of_freedom, Ratio(confidence)), None);
        }
    }
}
