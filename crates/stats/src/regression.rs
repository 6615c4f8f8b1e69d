//! A straight line through points by least squares.

use units::Ratio;

use crate::Estimate;

/// The line y = intercept + slope · x with its standard errors.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FittedLine {
    /// y at x = 0, in the unit of y.
    pub intercept: f64,
    /// Change of y per unit of x.
    pub slope: f64,
    /// Standard error of the intercept.
    pub intercept_error: f64,
    /// Standard error of the slope.
    pub slope_error: f64,
    /// Number of points that the line was fitted to, at least three.
    pub n: usize,
}

impl FittedLine {
    /// Fits the line that has the smallest sum of squared vertical distances from points (x, y).
    ///
    /// `None` with fewer than three points (no error could be estimated), if all x are equal, or if a
    /// coordinate is not finite.
    ///
    /// With Sxx = Σ(x − x̄)², Sxy = Σ(x − x̄)(y − ȳ): slope = Sxy ÷ Sxx, intercept = ȳ − slope·x̄,
    /// s² = Σ residual² ÷ (n − 2), slope error = s ÷ √Sxx, intercept error = s·√(1/n + x̄² ÷ Sxx).
    ///
    /// Source: Draper and Smith, Applied Regression Analysis, 3rd edition, chapter 1. The errors
    /// hold for independent residuals of equal variance; time series need batches first.
    pub fn fit(points: &[(f64, f64)]) -> Option<FittedLine> {
        let n = points.len() as f64;
        let x_mean = points.iter().map(|(x, _)| x).sum::<f64>() / n;
        let y_mean = points.iter().map(|(_, y)| y).sum::<f64>() / n;
        let sum = |term: &dyn Fn(f64, f64) -> f64| {
            points.iter().map(|(x, y)| term(x - x_mean, y - y_mean)).sum::<f64>()
        };
        let sxx = sum(&|dx, _| dx * dx);
        let slope = sum(&|dx, dy| dx * dy) / sxx;
        if points.len() < 3 || !slope.is_finite() {
            return None;
        }
        let residual = (sum(&|dx, dy| (dy - slope * dx).powi(2)) / (n - 2.0)).sqrt();
        Some(FittedLine {
            intercept: y_mean - slope * x_mean,
            slope,
            intercept_error: residual * (1.0 / n + x_mean * x_mean / sxx).sqrt(),
            slope_error: residual / sxx.sqrt(),
            n: points.len(),
        })
    }

    /// Returns the slope with its confidence interval. `None` if confidence is not between 0 and 1.
    pub fn slope_interval(&self, confidence: Ratio) -> Option<Estimate> {
        Estimate::from_error(self.slope, self.slope_error, self.n - 2, confidence)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand: x 1 2 3 4, y 2 4 5 8: x̄ 2.5, ȳ 4.75, Sxx 5, Sxy 9.5; slope 1.9, intercept 0; residuals
    /// 0.1, 0.2, −0.7, 0.4, squares 0.70, s² 0.35; slope error √(0.35 ÷ 5) = 0.264575,
    /// intercept error √(0.35·(1/4 + 6.25 ÷ 5)) = √0.525 = 0.724569.
    #[test]
    fn a_line_through_four_points_by_hand() {
        let line = FittedLine::fit(&[(1.0, 2.0), (2.0, 4.0), (3.0, 5.0), (4.0, 8.0)]).unwrap();
        for (found, expected) in [
            (line.slope, 1.9),
            (line.intercept, 0.0),
            (line.slope_error, 0.264_575_131),
            (line.intercept_error, 0.724_568_837),
        ] {
            assert!((found - expected).abs() < 1e-9, "{found} for {expected}");
        }
        // t at 0.975 with 2 degrees of freedom is 4.3027: 1.9 ± 1.1384.
        let slope = line.slope_interval(Ratio(0.95)).unwrap();
        assert!((slope.low - 0.7616).abs() < 1e-4 && (slope.high - 3.0384).abs() < 1e-4, "{slope:?}");
    }

    #[test]
    fn points_that_define_no_line_give_none() {
        assert_eq!(FittedLine::fit(&[]), None);
        assert_eq!(FittedLine::fit(&[(1.0, 1.0), (2.0, 2.0)]), None);
        assert_eq!(FittedLine::fit(&[(1.0, 1.0), (1.0, 2.0), (1.0, 3.0)]), None);
        assert_eq!(FittedLine::fit(&[(1.0, 1.0), (2.0, f64::NAN), (3.0, 3.0)]), None);
    }
}
