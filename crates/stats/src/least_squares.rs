//! Least squares for a few parameters within bounds, by the method of Levenberg and Marquardt.
//!
//! Minimizes Σ w·(y − f(x; θ))². At θ, with J the derivatives of f and r = y − f: the step δ solves
//! (JᵀWJ + μ·diag(JᵀWJ))·δ = JᵀWr. A step that makes the sum smaller is taken and the damping μ
//! divided by ten; else μ is multiplied by ten, which shortens the step and turns it downhill. A
//! parameter at a bound that would leave it is held there; steps end at bounds.
//!
//! Source: Marquardt 1963, An Algorithm for Least-Squares Estimation of Nonlinear Parameters; scaled
//! by the diagonal, so that units of parameters do not matter.

use std::array::from_fn;

/// The most steps of a fit; a safety bound, far more than any of our fits needs.
const N_STEPS_MAX: usize = 1_000;

/// The largest damping: beyond it a step changes no digit, so the minimum is found.
const DAMPING_MAX: f64 = 1e12;

/// The smallest pivot of a scaled matrix: with a smaller one the inverse is useless.
const PIVOT_MIN: f64 = 1e-13;

type Matrix<const N: usize> = [[f64; N]; N];

/// A function of x and the parameters that returns the value and its derivative by each parameter.
type Model<'a, const N: usize> = &'a dyn Fn(f64, &[f64; N]) -> (f64, [f64; N]);

/// A value y that was observed at x.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Observation {
    pub(crate) x: f64,
    pub(crate) y: f64,
    /// The weight of the squared residual: 1 ÷ variance, up to a common factor.
    pub(crate) weight: f64,
}

/// A least-squares problem: a model and the observations it is fitted to.
pub(crate) struct Problem<'a, const N: usize> {
    pub(crate) observations: &'a [Observation],
    pub(crate) model: Model<'a, N>,
    /// The smallest and largest value of each parameter.
    pub(crate) bounds: [(f64, f64); N],
}

/// The solution of a problem: the parameters at which the sum of squares is smallest.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Solution<const N: usize> {
    pub(crate) parameters: [f64; N],
    /// Σ w·residual².
    pub(crate) sum_squares: f64,
    /// Standard errors √diag(s²·(JᵀWJ)⁻¹), s² = sum of squares ÷ degrees of freedom; not finite without any.
    pub(crate) errors: [f64; N],
}

impl<const N: usize> Problem<'_, N> {
    /// Returns the minimum that lies downhill from `start`, which is within the bounds.
    ///
    /// `None` if the model has no value at the start, if the observations do not determine the
    /// parameters, or if no minimum was reached.
    pub(crate) fn minimize(&self, start: [f64; N]) -> Option<Solution<N>> {
        let mut at = start;
        let mut sum = self.sum_squares(&start);
        let mut damping = 1e-3;
        for _ in 0..N_STEPS_MAX {
            if !sum.is_finite() {
                break;
            }
            let next = self.step(&at, damping);
            match next.map(|next| (next, self.sum_squares(&next))) {
                Some((next, smaller)) if smaller < sum => {
                    (at, sum, damping) = (next, smaller, (damping / 10.0).max(1.0 / DAMPING_MAX));
                }
                _ if DAMPING_MAX < damping => return self.solution(at, sum),
                _ => damping *= 10.0,
            }
        }
        None
    }

    fn sum_squares(&self, at: &[f64; N]) -> f64 {
        self.observations.iter().map(|o| o.weight * (o.y - (self.model)(o.x, at).0).powi(2)).sum()
    }

    /// Returns JᵀWJ and JᵀWr.
    fn normal_equations(&self, at: &[f64; N]) -> (Matrix<N>, [f64; N]) {
        let mut matrix = [[0.0; N]; N];
        let mut downhill = [0.0; N];
        for observation in self.observations {
            let (value, slopes) = (self.model)(observation.x, at);
            for i in 0..N {
                downhill[i] += observation.weight * slopes[i] * (observation.y - value);
                for j in 0..N {
                    matrix[i][j] += observation.weight * slopes[i] * slopes[j];
                }
            }
        }
        (matrix, downhill)
    }

    /// Returns the end of a damped step from `at`.
    fn step(&self, at: &[f64; N], damping: f64) -> Option<[f64; N]> {
        let (mut matrix, mut downhill) = self.normal_equations(at);
        for i in 0..N {
            let (low, high) = self.bounds[i];
            let leaves = at[i] <= low && downhill[i] <= 0.0 || high <= at[i] && 0.0 <= downhill[i];
            if leaves {
                (0..N).for_each(|j| (matrix[i][j], matrix[j][i]) = (0.0, 0.0));
                (matrix[i][i], downhill[i]) = (1.0, 0.0);
            }
            matrix[i][i] *= 1.0 + damping;
        }
        let inverse = inverse(matrix)?;
        let step = |i: usize| inverse[i].iter().zip(&downhill).map(|(a, b)| a * b).sum::<f64>();
        Some(from_fn(|i| (at[i] + step(i)).clamp(self.bounds[i].0, self.bounds[i].1)))
    }

    fn solution(&self, parameters: [f64; N], sum_squares: f64) -> Option<Solution<N>> {
        let covariance = inverse(self.normal_equations(&parameters).0)?;
        let variance = sum_squares / (self.observations.len() as f64 - N as f64);
        let errors = from_fn(|i| (variance * covariance[i][i]).sqrt());
        Some(Solution { parameters, sum_squares, errors })
    }
}

/// Returns the inverse of a symmetric positive definite matrix, by Gauss and Jordan in place.
///
/// Rows and columns are first scaled to ones on the diagonal. `None` if it is not definite.
fn inverse<const N: usize>(mut matrix: Matrix<N>) -> Option<Matrix<N>> {
    let scale: [f64; N] = from_fn(|i| matrix[i][i].sqrt().recip());
    matrix = from_fn(|i| from_fn(|j| matrix[i][j] * scale[i] * scale[j]));
    for k in 0..N {
        let pivot = matrix[k][k];
        if pivot.is_nan() || pivot <= PIVOT_MIN {
            return None;
        }
        matrix[k][k] = 1.0;
        let row = matrix[k].map(|value| value / pivot);
        matrix[k] = row;
        for i in (0..N).filter(|i| *i != k) {
            let factor = std::mem::take(&mut matrix[i][k]);
            matrix[i] = from_fn(|j| matrix[i][j] - factor * row[j]);
        }
    }
    Some(from_fn(|i| from_fn(|j| matrix[i][j] * scale[i] * scale[j])))
}

#[cfg(test)]
mod tests {
    use super::*;

    const FREE: (f64, f64) = (f64::NEG_INFINITY, f64::INFINITY);

    fn observations(points: &[(f64, f64)]) -> Vec<Observation> {
        points.iter().map(|(x, y)| Observation { x: *x, y: *y, weight: 1.0 }).collect()
    }

    fn line(x: f64, parameters: &[f64; 2]) -> (f64, [f64; 2]) {
        (parameters[0] + parameters[1] * x, [1.0, x])
    }

    /// By hand: (4 2; 2 3) has determinant 8, its inverse is (3 −2; −2 4) ÷ 8.
    #[test]
    fn an_inverse_by_hand() {
        let found = inverse([[4.0, 2.0], [2.0, 3.0]]).unwrap();
        for (found, expected) in found.iter().flatten().zip([0.375, -0.25, -0.25, 0.5]) {
            assert!((found - expected).abs() < 1e-15, "{found} for {expected}");
        }
        assert!(inverse([[1.0, 1.0], [1.0, 1.0]]).is_none());
        assert!(inverse([[0.0]]).is_none() && inverse([[f64::NAN]]).is_none());
    }

    /// By hand: the line of `regression`'s test: intercept 0, slope 1.9, errors √(0.35 · (1 ÷ 4 + 6.25 ÷ 5)) = 0.724569 and
    /// √(0.35 ÷ 5) = 0.264575.
    #[test]
    fn a_line_is_found_with_its_errors() {
        let observations = observations(&[(1.0, 2.0), (2.0, 4.0), (3.0, 5.0), (4.0, 8.0)]);
        let problem = Problem { observations: &observations, model: &line, bounds: [FREE; 2] };
        let found = problem.minimize([5.0, -7.0]).unwrap();
        assert!(found.parameters[0].abs() < 1e-8 && (found.parameters[1] - 1.9).abs() < 1e-8, "{found:?}");
        assert!((found.errors[0] - 0.724_568_837).abs() < 1e-8, "{found:?}");
        assert!((found.errors[1] - 0.264_575_131).abs() < 1e-8, "{found:?}");
    }

    /// By hand: the same with an intercept of at least 1: Σx(y − 1) ÷ Σx² = (1 + 6 + 12 + 28) ÷ 30.
    #[test]
    fn a_parameter_stays_at_the_bound_that_it_would_leave() {
        let observations = observations(&[(1.0, 2.0), (2.0, 4.0), (3.0, 5.0), (4.0, 8.0)]);
        let problem = Problem { observations: &observations, model: &line, bounds: [(1.0, 9.0), FREE] };
        let found = problem.minimize([5.0, 0.0]).unwrap();
        assert_eq!(found.parameters[0], 1.0);
        assert!((found.parameters[1] - 47.0 / 30.0).abs() < 1e-8, "{found:?}");
    }

    /// By hand: 1 counts three times, 5 once: their mean is 2.
    #[test]
    fn weights_count() {
        let observations =
            [Observation { x: 0.0, y: 1.0, weight: 3.0 }, Observation { x: 0.0, y: 5.0, weight: 1.0 }];
        let model = |_: f64, parameters: &[f64; 1]| (parameters[0], [1.0]);
        let problem = Problem { observations: &observations, model: &model, bounds: [FREE] };
        assert!((problem.minimize([0.0]).unwrap().parameters[0] - 2.0).abs() < 1e-9);
    }

    /// Rosenbrock's valley as least squares: residuals 10·(b − a²) and 1 − a vanish at (1, 1).
    #[test]
    fn a_curved_valley_is_followed_to_its_end() {
        let observations = observations(&[(0.0, 0.0), (1.0, 1.0)]);
        let model = |x: f64, p: &[f64; 2]| {
            if x == 0.0 { (10.0 * (p[1] - p[0] * p[0]), [-20.0 * p[0], 10.0]) } else { (p[0], [1.0, 0.0]) }
        };
        let problem = Problem { observations: &observations, model: &model, bounds: [FREE; 2] };
        let found = problem.minimize([-1.2, 1.0]).unwrap();
        assert!(found.parameters.iter().all(|value| (value - 1.0).abs() < 1e-9), "{found:?}");
    }

    #[test]
    fn what_the_observations_do_not_determine_is_not_found() {
        let twice = observations(&[(2.0, 1.0), (2.0, 3.0)]);
        let bad = observations(&[(1.0, 1.0), (2.0, f64::NAN), (3.0, 1.0)]);
        for observations in [twice, bad, Vec::new()] {
            let problem = Problem { observations: &observations, model: &line, bounds: [FREE; 2] };
            assert!(problem.minimize([0.0, 0.0]).is_none());
        }
    }
}
