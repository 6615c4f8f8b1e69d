//! The warm-up of a server: the end of the transient of a series.

use crate::drift::{batch_means, variance};

/// Number of values in a batch, which smooths single values.
///
/// Source: White, Cobb and Spratt 2000, A Comparison of Five Steady-State Truncation Heuristics for
/// Simulation: MSER-5.
const BATCH: usize = 5;

/// The fewest batches of a series: with fewer, a transient cannot be told from chance.
const N_BATCHES_MIN: usize = 10;

/// Returns the number of values at the beginning of a series that belong to its transient, a multiple of five; often
/// zero.
///
/// MSER-5: of the means Z₁ … Z_k of batches of five values, the first d are cut for which the
/// marginal standard error of the mean of the rest is smallest,
///
/// MSER(d) = Σ_{i > d} (Z_i − Z̄_d)² ÷ (k − d)², of equals the smallest d.
///
/// `None` if the minimum lies in the second half (the series is not long enough to show where its
/// transient ends, if it ends), with fewer than 50 values, or with values that are not finite.
/// Values that fill no batch at the end are left out.
///
/// Source: White 1997, An Effective Truncation Heuristic for Bias Reduction in Simulation Output.
pub fn warm_up_cut(values: &[f64]) -> Option<usize> {
    let means: Vec<f64> = batch_means(values, BATCH).collect();
    if means.len() < N_BATCHES_MIN || means.iter().any(|mean| !mean.is_finite()) {
        return None;
    }
    let errors = marginal_errors(&means);
    let (cut, _) = errors.iter().enumerate().min_by(|one, other| one.1.total_cmp(other.1))?;
    (cut <= means.len() / 2).then_some(cut * BATCH)
}

/// Returns the difference between the values before `cut` and the rest, in standard errors.
///
/// Estimated from means of batches of five values. With b of them before the cut and a after it, their means m_b and
/// m_a, and s² the sample variance of those after it: |m_b − m_a| ÷ (s·√(1/b + 1/a)). Dimensionless.
///
/// `None` without a batch before the cut or with fewer than two after it, and if all values are equal.
///
/// Source: the difference of two means of the same variance; the values before the cut need not have the same variance.
pub fn warm_up_errors(values: &[f64], cut: usize) -> Option<f64> {
    let (before, after) = values.split_at_checked(cut)?;
    let means = |part| batch_means(part, BATCH).collect::<Vec<f64>>();
    let before = means(before);
    let after = means(after);
    if before.is_empty() || after.len() < 2 {
        return None;
    }
    let n_before = before.len() as f64;
    let n_after = after.len() as f64;
    let apart = before.iter().sum::<f64>() / n_before - after.iter().sum::<f64>() / n_after;
    let error = (variance(&after) * (1.0 / n_before + 1.0 / n_after)).sqrt();
    Some(apart.abs() / error).filter(|errors| !errors.is_nan())
}

/// Returns MSER(d) for each d from 0 on that leaves at least five batches.
///
/// Fewer would look alike by chance (White, Cobb and Spratt 2000). Summed from the end by Welford's
/// recurrence, in which equal values leave exactly zero.
fn marginal_errors(means: &[f64]) -> Vec<f64> {
    let mut mean = 0.0;
    let mut squares = 0.0;
    let error = |(before, value): (usize, &f64)| {
        let n = (before + 1) as f64;
        let step = value - mean;
        mean += step / n;
        squares += step * (value - mean);
        squares / (n * n)
    };
    let mut errors: Vec<f64> = means.iter().rev().enumerate().map(error).collect();
    errors.reverse();
    errors.truncate(means.len() + 1 - BATCH);
    errors
}

#[cfg(test)]
mod tests {
    use units::{Rng, StreamPurpose};

    use super::*;

    /// A rate of 1,000 with noise of a deviation of 3 % that begins `missing` (a share) lower and
    /// approaches with time constant `constant`; or, where that is zero, jumps there after 30 values.
    fn warming(seed: u64, n: usize, missing: f64, constant: f64) -> Vec<f64> {
        let mut rng = Rng::new(seed, StreamPurpose::Simulation, 0);
        (0..n)
            .map(|second| {
                let second = second as f64;
                let away =
                    if constant == 0.0 { f64::from(second < 30.0) } else { (-second / constant).exp() };
                // Uniform numbers have a deviation of 1 ÷ √12.
                1_000.0 * (1.0 - missing * away + 0.03 * 12f64.sqrt() * (rng.uniform() - 0.5))
            })
            .collect()
    }

    /// Returns the share of 200 series, seeds 0 to 199, whose cut lies in `range`.
    fn share(n: usize, missing: f64, constant: f64, range: std::ops::RangeInclusive<usize>) -> f64 {
        let cuts = (0..200).map(|seed| warm_up_cut(&warming(seed, n, missing, constant)));
        cuts.filter(|cut| cut.is_some_and(|cut| range.contains(&cut))).count() as f64 / 200.0
    }

    /// By hand: batches 0, 3 and then eight of 6 (of 50 values). d = 0: mean 5.1, squares 26.01 + 4.41 +
    /// 8 · 0.81 = 36.9, ÷ 100. d = 1: mean 51/9, squares 7.1111 + 8/9 = 8, ÷ 81. d = 2 and more: 0.
    #[test]
    fn the_marginal_error_by_hand() {
        let means = [0.0, 3.0, 6.0, 6.0, 6.0, 6.0, 6.0, 6.0, 6.0, 6.0];
        let found = marginal_errors(&means);
        for (found, expected) in found.iter().zip([0.369, 8.0 / 81.0, 0.0, 0.0, 0.0, 0.0]) {
            assert!((found - expected).abs() < 1e-12, "{found} for {expected}");
        }
        assert_eq!(found.len(), 6);
        let values: Vec<f64> = means.iter().flat_map(|mean| [*mean; 5]).collect();
        assert_eq!(warm_up_cut(&values), Some(10));
    }

    /// By hand: batches 0, then 1 and 3: apart by 2, variance 2, error √(2 · (1 + 1/2)) = √3.
    #[test]
    fn standard_errors_by_hand() {
        let values: Vec<f64> = [0.0, 1.0, 3.0].iter().flat_map(|mean| [*mean; 5]).collect();
        assert!((warm_up_errors(&values, 5).unwrap() - 2.0 / 3f64.sqrt()).abs() < 1e-12);
        assert_eq!([0, 10, 15, 16].map(|cut| warm_up_errors(&values, cut)), [None; 4]);
        let jump = [[0.0; 5], [1.0; 5], [1.0; 5]].concat();
        assert_eq!((warm_up_errors(&jump, 5), warm_up_errors(&[1.0; 15], 5)), (Some(f64::INFINITY), None));
    }

    #[test]
    fn an_even_series_has_no_transient() {
        assert_eq!(warm_up_cut(&[0.1; 300]), Some(0));
        let none = share(300, 0.0, 0.0, 0..=30);
        assert!(0.9 <= none, "{none}");
    }

    /// A jump of 20 % after 30 s is cut there in 64 of 100 series, by chance a little later in most others, never
    /// before.
    #[test]
    fn a_jump_is_cut_where_it_ends() {
        let found = share(300, 0.2, 0.0, 30..=60);
        assert!(0.9 <= found, "{found}");
        assert_eq!(share(300, 0.2, 0.0, 0..=25), 0.0);
    }

    /// 30 % missing at first with a time constant of 20 s: after 46 to 92 s the rate is within 3 % to 0.3 %.
    #[test]
    fn a_slow_approach_is_cut_where_noise_hides_it() {
        let found = share(600, 0.3, 20.0, 35..=120);
        assert!(0.9 <= found, "{found}");
    }

    /// A time constant of half the series: no cut makes the rest steady.
    #[test]
    fn a_series_that_is_still_warming_up_has_no_cut() {
        let none = (0..200).filter(|seed| warm_up_cut(&warming(*seed, 300, 0.5, 150.0)).is_none()).count();
        assert!(180 <= none, "{none}");
    }

    #[test]
    fn too_few_values_have_no_cut() {
        assert_eq!(warm_up_cut(&[1.0; 49]), None);
        assert_eq!(warm_up_cut(&[1.0; 50]), Some(0));
        assert_eq!(warm_up_cut(&[]), None);
        assert_eq!(warm_up_cut(&[f64::NAN; 100]), None);
    }
}
