//! Count, mean, population deviation, smallest and largest, kept exactly.

/// The running sums of a set of whole numbers, from which mean and deviation follow exactly.
///
/// The unit is that of the recorded values (ns, bytes). Sums of squares fit as long as
/// n·x² stays below 2¹²⁸: 10¹⁵ values of one hour in ns.
///
/// Default: of no values.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Moments {
    /// Number of values recorded.
    pub n: u64,
    /// Their sum; it and `n` stay at the largest number where they would not fit.
    pub sum: u128,
    /// The sum of their squares; stays at the largest number where it would not fit.
    pub sum_squares: u128,
    /// The smallest value; zero if there is none.
    pub min: u64,
    /// The largest value; zero if there is none.
    pub max: u64,
}

impl Moments {
    /// Adds one value.
    #[inline]
    pub fn record(&mut self, value: u64) {
        let wide = u128::from(value);
        let square = wide * wide;
        self.merge(&Moments { n: 1, sum: wide, sum_squares: square, min: value, max: value });
    }

    /// Adds all values of `other`; the result does not depend on order or grouping.
    #[inline]
    pub fn merge(&mut self, other: &Moments) {
        if other.n == 0 {
            return;
        }
        self.min = if self.n == 0 { other.min } else { self.min.min(other.min) };
        self.max = self.max.max(other.max);
        self.n = self.n.saturating_add(other.n);
        self.sum = self.sum.saturating_add(other.sum);
        self.sum_squares = self.sum_squares.saturating_add(other.sum_squares);
    }

    /// Returns the arithmetic mean, Σx ÷ n. `None` if nothing was recorded.
    pub fn mean(&self) -> Option<f64> {
        (0 < self.n).then(|| self.sum as f64 / self.n as f64)
    }

    /// Returns the population standard deviation, in the unit of the values. `None` if nothing was recorded.
    ///
    /// Formula: √(E\[x²\] − E\[x\]²) = √(n·Σx² − (Σx)²) ÷ n. The difference is taken in integers, where
    /// nothing cancels; only if it does not fit 128 bits it is taken in floating point, and there
    /// a difference below zero counts as zero.
    ///
    /// Source: the algebra; WebStone reports deviations in this form (divided by n, not n − 1).
    pub fn deviation(&self) -> Option<f64> {
        if self.n == 0 {
            return None;
        }
        let n = self.n as f64;
        let exact = u128::from(self.n)
            .checked_mul(self.sum_squares)
            .zip(self.sum.checked_mul(self.sum))
            .map(|(squares, square)| squares.saturating_sub(square) as f64);
        let scaled = exact
            .unwrap_or_else(|| (n * self.sum_squares as f64 - self.sum as f64 * self.sum as f64).max(0.0));
        Some(scaled.sqrt() / n)
    }

    /// Returns Jain's index of fairness, (Σx)² ÷ (n·Σx²): 1 if all values are equal, 1 ÷ n if all but one are zero. `None` if
    /// nothing but zeros was recorded.
    ///
    /// Source: Jain, Chiu and Hawe, A Quantitative Measure of Fairness and Discrimination, DEC-TR-301, 1984.
    pub fn fairness(&self) -> Option<f64> {
        let sum = self.sum as f64;
        let squares = self.n as f64 * self.sum_squares as f64;
        (0.0 < squares).then(|| sum * sum / squares)
    }

    /// Returns the smallest value. `None` if nothing was recorded.
    pub fn min(&self) -> Option<u64> {
        (0 < self.n).then_some(self.min)
    }

    /// Returns the largest value. `None` if nothing was recorded.
    pub fn max(&self) -> Option<u64> {
        (0 < self.n).then_some(self.max)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn of(values: &[u64]) -> Moments {
        let mut moments = Moments::default();
        values.iter().for_each(|value| moments.record(*value));
        moments
    }

    fn merged(parts: &[Moments]) -> Moments {
        let mut whole = Moments::default();
        parts.iter().for_each(|part| whole.merge(part));
        whole
    }

    /// By hand: 2, 4, 4, 4, 5, 5, 7, 9: n 8, Σ 40, Σ² 232; mean 5; √(8·232 − 40²) ÷ 8 = √256 ÷ 8 = 2.
    #[test]
    fn mean_and_deviation_by_hand() {
        let moments = of(&[2, 4, 4, 4, 5, 5, 7, 9]);
        assert_eq!(moments, Moments { n: 8, sum: 40, sum_squares: 232, min: 2, max: 9 });
        assert_eq!((moments.mean(), moments.deviation()), (Some(5.0), Some(2.0)));
    }

    /// By hand: 1, 1, 2: (4)² ÷ (3·6) = 16 ÷ 18. All to one of four: 1 ÷ 4.
    #[test]
    fn fairness_by_hand() {
        assert_eq!(of(&[1, 1, 2]).fairness(), Some(16.0 / 18.0));
        assert_eq!((of(&[5, 5]).fairness(), of(&[0, 0, 7, 0]).fairness()), (Some(1.0), Some(0.25)));
        assert_eq!((of(&[]).fairness(), of(&[0, 0]).fairness()), (None, None));
    }

    #[test]
    fn nothing_has_no_moments() {
        let none = Moments::default();
        assert_eq!((none.mean(), none.deviation(), none.min(), none.max()), (None, None, None, None));
    }

    /// Goal: no cancellation. Ten hours in ns and one more: in floating point the difference of squares is lost.
    #[test]
    fn a_small_deviation_of_large_values_survives() {
        let base = 36_000_000_000_000;
        assert_eq!(of(&[base, base + 2]).deviation(), Some(1.0));
    }

    #[test]
    fn sums_that_do_not_fit_fall_back_to_floating_point() {
        let huge = of(&[u64::MAX, u64::MAX, 0, 0]);
        let half = u64::MAX as f64 / 2.0;
        assert_eq!(huge.sum_squares, u128::MAX);
        let deviation = huge.deviation().unwrap();
        assert!(deviation.is_finite() && deviation <= 2.0 * half, "{deviation}");
    }

    proptest! {
        #[test]
        fn merging_does_not_depend_on_order_or_grouping(
            a in prop::collection::vec(0..u64::MAX >> 8, 0..20),
            b in prop::collection::vec(0..u64::MAX >> 8, 0..20),
            c in prop::collection::vec(0..u64::MAX >> 8, 0..20),
        ) {
            let whole = of(&[a.clone(), b.clone(), c.clone()].concat());
            let a = of(&a);
            let b = of(&b);
            let c = of(&c);
            prop_assert_eq!(merged(&[merged(&[a, b]), c]), whole);
            prop_assert_eq!(merged(&[a, merged(&[b, c])]), whole);
            prop_assert_eq!(merged(&[c, b, a]), whole);
        }
    }
}
