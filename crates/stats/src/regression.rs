//! A straight line through points by least squares.

/// The line y = intercept + slope · x, with the standard error of its slope.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct FittedLine {
    /// y at x = 0, in the unit of y.
    pub intercept: f64,
    /// Change of y per unit of x.
    pub slope: f64,
    /// Standard error of the slope.
    pub slope_error: f64,
}

impl FittedLine {
    /// Fits the line that has the smallest sum of squared vertical distances from points (x, y).
    ///
    /// `None` with fewer than three points (no error could be estimated), if all x are equal, or if a
    /// coordinate is not finite.
    ///
    /// With Sxx = Σ(x − x̄)², Sxy = Σ(x − x̄)(y − ȳ): slope = Sxy ÷ Sxx, intercept = ȳ − slope·x̄,
    /// s² = Σ residual² ÷ (n − 2), slope error = s ÷ √Sxx.
    ///
    /// Source: Draper and Smith, Applied Regression Analysis, 3rd edition, chapter 1. The errors
    /// hold for independent residuals of equal variance; time series need batches first.
    pub(crate) fn fit(points: &[(f64, f64)]) -> Option<FittedLine> {
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
        Some(FittedLine { intercept: y_mean - slope * x_mean, slope, slope_error: residual / sxx.sqrt() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand: x 1 2 3 4, y 2 4 5 8: x̄ 2.5, ȳ 4.75, Sxx 5, Sxy 9.5; slope 1.9, intercept 0; residuals
    /// 0.1, 0.2, −0.7, 0.4, squares 0.70, s² 0.35; slope error √(0.35 ÷ 5) = 0.264575.
    #[test]
    fn a_line_through_four_points_by_hand() {
        let line = FittedLine::fit(&[(1.0, 2.0), (2.0, 4.0), (3.0, 5.0), (4.0, 8.0)]).unwrap();
        let by_hand = [(line.slope, 1.9), (line.intercept, 0.0), (line.slope_error, 0.264_575_131)];
        for (found, expected) in by_hand {
            assert!((found - expected).abs() < 1e-9, "{found} for {expected}");
        }
    }

    #[test]
    fn points_that_define_no_line_give_none() {
        assert_eq!(FittedLine::fit(&[]), None);
        assert_eq!(FittedLine::fit(&[(1.0, 1.0), (2.0, 2.0)]), None);
        assert_eq!(FittedLine::fit(&[(1.0, 1.0), (1.0, 2.0), (1.0, 3.0)]), None);
        assert_eq!(FittedLine::fit(&[(1.0, 1.0), (2.0, f64::NAN), (3.0, 3.0)]), None);
    }
}
