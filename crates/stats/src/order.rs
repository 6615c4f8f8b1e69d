//! Ranks of order statistics: the one of n sorted values that stands for a quantile, and the two that bound it.

use statrs::distribution::{ContinuousCDF, Normal};
use units::saturating_u64;

/// The largest variance of the binomial count for which ranks are exact. Beyond it the normal approximation bounds
/// the time for large n; its ranks are a few places off, with a deviation of ten thousand.
const VARIANCE_EXACT_MAX: f64 = 1e8;

/// Returns the rank, from 1 to n, of the value that stands for quantile `q`: ⌈q·n⌉, at least 1.
///
/// A product that rounding put just above a whole number counts as that number. `None` if n is
/// zero or q is not from 0 to 1.
pub(crate) fn quantile_rank(q: f64, n: u64) -> Option<u64> {
    if n == 0 || !(0.0..=1.0).contains(&q) {
        return None;
    }
    let product = q * n as f64;
    let rank = (product - product * 4.0 * f64::EPSILON).ceil();
    Some(saturating_u64(rank).clamp(1, n))
}

/// Returns the closest ranks l < u with P(B < l) ≤ α/2 and P(B ≥ u) ≤ α/2, B binomial (n, q), α = 1 − confidence.
///
/// The true quantile lies from the l-th to the u-th of n sorted values with at least the given
/// confidence. `None` if no such ranks from 1 to n exist, or q or confidence are not between 0 and 1.
pub(crate) fn interval_ranks(n: u64, q: f64, confidence: f64) -> Option<(u64, u64)> {
    let inside = |x: f64| 0.0 < x && x < 1.0;
    if n == 0 || !inside(q) || !inside(confidence) {
        return None;
    }
    let tail = (1.0 - confidence) / 2.0;
    let (below, above) = if n as f64 * q * (1.0 - q) <= VARIANCE_EXACT_MAX {
        exact_ranks(n, q, tail)
    } else {
        normal_ranks(n, q, tail)
    };
    (1 <= below && above <= n).then_some((below, above))
}

/// Sums the binomial probabilities from both ends; 0 and n + 1 stand for "no such rank".
fn exact_ranks(n: u64, q: f64, tail: f64) -> (u64, u64) {
    let (first, weights) = binomial_weights(n, q);
    let allowed = tail * weights.iter().sum::<f64>();
    let within = |weights: &mut dyn Iterator<Item = &f64>| {
        let mut sum = 0.0;
        let fits = weights.take_while(|weight| {
            sum += **weight;
            sum <= allowed
        });
        fits.count() as u64
    };
    let below = first + within(&mut weights.iter());
    let above = first + weights.len() as u64 - within(&mut weights.iter().rev());
    (below, above)
}

/// Returns the probabilities of k = first, first + 1, … up to a common factor, without the negligible ends.
///
/// From the most likely k outwards by P(k + 1) ÷ P(k) = (n − k) ÷ (k + 1) · q ÷ (1 − q), so that
/// no factorial and no continued fraction limits the size of n.
fn binomial_weights(n: u64, q: f64) -> (u64, Vec<f64>) {
    const NEGLIGIBLE: f64 = 1e-20;
    let odds = q / (1.0 - q);
    let mode = saturating_u64((n + 1) as f64 * q).min(n);
    let mut weights = vec![1.0];
    let mut first = mode;
    while 0 < first && NEGLIGIBLE < weights[weights.len() - 1] {
        let ratio = first as f64 / ((n - first + 1) as f64 * odds);
        weights.push(weights[weights.len() - 1] * ratio);
        first -= 1;
    }
    weights.reverse();
    let mut last = mode;
    while last < n && NEGLIGIBLE < weights[weights.len() - 1] {
        let ratio = (n - last) as f64 / (last + 1) as f64 * odds;
        weights.push(weights[weights.len() - 1] * ratio);
        last += 1;
    }
    (first, weights)
}

/// The same ranks by the normal approximation, rounded outwards.
fn normal_ranks(n: u64, q: f64, tail: f64) -> (u64, u64) {
    let mean = n as f64 * q;
    let reach = -Normal::standard().inverse_cdf(tail) * (mean * (1.0 - q)).sqrt();
    (saturating_u64((mean - reach).floor()), saturating_u64((mean + reach).ceil()) + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_round_up_and_tolerate_rounding() {
        for (q, n, rank) in [
            (0.0, 5, 1),
            (0.5, 4, 2),
            (0.5, 5, 3),
            (0.99, 100, 99),
            (0.07, 100, 7),
            (0.991, 100, 100),
            (1.0, 5, 5),
        ] {
            assert_eq!(quantile_rank(q, n), Some(rank), "q {q} of {n}");
        }
        assert_eq!(
            (quantile_rank(0.5, 0), quantile_rank(f64::NAN, 5), quantile_rank(1.1, 5)),
            (None, None, None)
        );
    }

    /// By hand, n = 10, q = ½, 95 %: P(B ≤ 1) = 11/1024 = 0.011 ≤ 0.025 < P(B ≤ 2) = 56/1024 = 0.055,
    /// so P(B < l) ≤ 0.025 up to l = 2; by symmetry u = 9. The classic interval for the median of ten.
    #[test]
    fn the_median_of_ten_lies_between_the_second_and_the_ninth() {
        assert_eq!(interval_ranks(10, 0.5, 0.95), Some((2, 9)));
    }

    /// By hand: an upper end exists when P(B = n) = qⁿ ≤ 0.025, so n ≥ ln 0.025 ÷ ln q: 367.04 and 3,687.03.
    #[test]
    fn high_quantiles_need_enough_values() {
        for (q, n) in [(0.99, 368), (0.999, 3_688), (0.5, 6)] {
            assert!(interval_ranks(n, q, 0.95).is_some_and(|(_, above)| above == n), "{n}");
            assert_eq!(interval_ranks(n - 1, q, 0.95), None);
        }
    }

    #[test]
    fn exact_and_normal_ranks_agree_where_both_are_good() {
        for q in [0.5, 0.9, 0.99, 0.999] {
            let n = 40_000_000;
            let tail = 0.025;
            let exact = exact_ranks(n, q, tail);
            let normal = normal_ranks(n, q, tail);
            let apart = exact.0.abs_diff(normal.0).max(exact.1.abs_diff(normal.1));
            assert!(apart <= 3, "q {q}: {exact:?} {normal:?}");
        }
    }

    #[test]
    fn arguments_outside_the_open_range_give_no_interval() {
        for (n, q, confidence) in
            [(0, 0.5, 0.95), (100, 0.0, 0.95), (100, 1.0, 0.95), (100, 0.5, 1.0), (100, 0.5, f64::NAN)]
        {
            assert_eq!(interval_ranks(n, q, confidence), None);
        }
    }
}
