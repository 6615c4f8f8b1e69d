//! The values that a rounded number can have been: arithmetic on ranges.

use model::Printed;

/// Relative slack for what binary fractions make of decimal ones.
const HAIR: f64 = 1e-9;

/// All values from `low` to `high`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Range {
    pub(super) low: f64,
    pub(super) high: f64,
}

impl Range {
    pub(super) const ZERO: Range = Range::exact(0.0);

    /// Every value: what a quotient can be whose divisor may be zero.
    pub(super) const ANY: Range = Range { low: f64::NEG_INFINITY, high: f64::INFINITY };

    pub(super) const fn exact(value: f64) -> Range {
        Range { low: value, high: value }
    }

    /// Returns what a printed number can have been.
    pub(super) fn of(number: &Printed) -> Range {
        Range { low: number.value - number.half, high: number.value + number.half }
    }

    /// Returns what a printed number can have been if its last digit may be off by one unit.
    pub(super) fn of_truncated(number: &Printed) -> Range {
        Range { low: number.value - 2.0 * number.half, high: number.value + 2.0 * number.half }
    }

    pub(super) fn middle(self) -> f64 {
        0.5 * (self.low + self.high)
    }

    pub(super) fn plus(self, other: Range) -> Range {
        Range { low: self.low + other.low, high: self.high + other.high }
    }

    pub(super) fn minus(self, other: Range) -> Range {
        Range { low: self.low - other.high, high: self.high - other.low }
    }

    pub(super) fn times(self, other: Range) -> Range {
        self.corners(other, |a, b| a * b)
    }

    /// Returns the quotient; `None` if the divisor can be zero.
    pub(super) fn over(self, other: Range) -> Option<Range> {
        let can_be_zero = other.low <= 0.0 && 0.0 <= other.high;
        (!can_be_zero).then(|| self.corners(other, |a, b| a / b))
    }

    /// Returns the range widened by a part of its ends.
    pub(super) fn widened(self, part: f64) -> Range {
        Range { low: self.low - part * self.low.abs(), high: self.high + part * self.high.abs() }
    }

    /// Returns whether some value is in both.
    pub(super) fn meets(self, other: Range) -> bool {
        self.may_be_at_most(other) && other.may_be_at_most(self)
    }

    /// Returns whether more than an end is in both, or all of one that is a single value: a number that was rounded
    /// is one of the ends of what it can have been in one case of infinitely many.
    pub(super) fn overlaps(self, other: Range) -> bool {
        let hair = HAIR * (self.low.abs() + self.high.abs() + other.low.abs() + other.high.abs());
        let is_wide = |range: Range| hair < range.high - range.low;
        let common = self.high.min(other.high) - self.low.max(other.low);
        self.meets(other) && (hair < common || !is_wide(self) || !is_wide(other))
    }

    /// Returns whether some value of this one is at most some value of the other.
    pub(super) fn may_be_at_most(self, other: Range) -> bool {
        self.low <= other.high + HAIR * (self.low.abs() + other.high.abs())
    }

    /// Returns whether some value of this one is below some value of the other.
    pub(super) fn may_be_below(self, other: Range) -> bool {
        self.low < other.high
    }

    /// Returns what is in both; `None` if nothing is.
    pub(super) fn common(self, other: Range) -> Option<Range> {
        let common = Range { low: self.low.max(other.low), high: self.high.min(other.high) };
        self.meets(other)
            .then(|| Range { low: common.low.min(common.high), high: common.low.max(common.high) })
    }

    fn corners(self, other: Range, of: impl Fn(f64, f64) -> f64) -> Range {
        let corners = [
            of(self.low, other.low),
            of(self.low, other.high),
            of(self.high, other.low),
            of(self.high, other.high),
        ];
        let fold = |start, pick: fn(f64, f64) -> f64| corners.into_iter().fold(start, pick);
        Range { low: fold(f64::INFINITY, f64::min), high: fold(f64::NEG_INFINITY, f64::max) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn by_hand() {
        let (one, two) = (Range { low: 1.0, high: 2.0 }, Range { low: -1.0, high: 3.0 });
        assert_eq!(one.plus(two), Range { low: 0.0, high: 5.0 });
        assert_eq!(one.minus(two), Range { low: -2.0, high: 3.0 });
        assert_eq!(one.times(two), Range { low: -2.0, high: 6.0 });
        assert_eq!(one.over(two), None);
        assert_eq!(two.over(one), Some(Range { low: -1.0, high: 3.0 }));
        assert_eq!(one.common(two), Some(one));
        assert_eq!(one.common(Range { low: 2.5, high: 3.0 }), None);
        assert!(Range::exact(0.3).meets(Range::exact(0.1 + 0.2)));
        assert!(!Range::exact(0.3).meets(Range::exact(0.300_001)));
        let beside = Range { low: 2.0, high: 3.0 };
        assert!(one.meets(beside) && !one.overlaps(beside) && one.overlaps(one));
        assert!(
            one.overlaps(Range::exact(2.0)) && !one.overlaps(Range::exact(2.1)) && one.overlaps(Range::ANY)
        );
    }

    proptest! {
        /// Goal: whatever the values were before rounding, the result of arithmetic on them lies in the range.
        #[test]
        fn arithmetic_on_values_stays_within_the_ranges(
            (a, x, b, y) in (-1e3..1e3f64, 0.0..1.0f64, -1e3..1e3f64, 0.0..1.0f64),
            (wide_a, wide_b) in (0.0..10.0f64, 0.0..10.0f64),
        ) {
            let (one, two) = (Range { low: a, high: a + wide_a }, Range { low: b, high: b + wide_b });
            let (p, q) = (a + x * wide_a, b + y * wide_b);
            for (range, value) in [(one.plus(two), p + q), (one.minus(two), p - q), (one.times(two), p * q)] {
                prop_assert!(range.meets(Range::exact(value)));
            }
            if let Some(range) = one.over(two) {
                prop_assert!(range.meets(Range::exact(p / q)));
            }
        }
    }
}
