//! The values that a rounded number can have been: arithmetic on ranges.

use crate::PrintedNumber;

/// Relative slack for the rounding of decimal to binary fractions.
const HAIR: f64 = 1e-9;

/// A range of values from `low` to `high`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct ValueRange {
    pub(super) low: f64,
    pub(super) high: f64,
}

impl ValueRange {
    pub(super) const ZERO: ValueRange = ValueRange::exact(0.0);

    /// Every value: the range of a quotient whose divisor may be zero.
    pub(super) const ANY: ValueRange = ValueRange { low: f64::NEG_INFINITY, high: f64::INFINITY };

    pub(super) const fn exact(value: f64) -> ValueRange {
        ValueRange { low: value, high: value }
    }

    /// Returns the values that a printed number can have been.
    pub(super) fn of(number: &PrintedNumber) -> ValueRange {
        ValueRange { low: number.value - number.half, high: number.value + number.half }
    }

    /// Returns the values that a printed number can have been if its last digit may be off by one unit.
    pub(super) fn of_truncated(number: &PrintedNumber) -> ValueRange {
        ValueRange { low: number.value - 2.0 * number.half, high: number.value + 2.0 * number.half }
    }

    pub(super) fn middle(self) -> f64 {
        0.5 * (self.low + self.high)
    }

    pub(super) fn plus(self, other: ValueRange) -> ValueRange {
        ValueRange { low: self.low + other.low, high: self.high + other.high }
    }

    pub(super) fn minus(self, other: ValueRange) -> ValueRange {
        ValueRange { low: self.low - other.high, high: self.high - other.low }
    }

    pub(super) fn times(self, other: ValueRange) -> ValueRange {
        self.corners(other, |a, b| a * b)
    }

    /// Returns the quotient; `None` if the divisor can be zero.
    pub(super) fn over(self, other: ValueRange) -> Option<ValueRange> {
        let can_be_zero = other.low <= 0.0 && 0.0 <= other.high;
        (!can_be_zero).then(|| self.corners(other, |a, b| a / b))
    }

    /// Returns the range widened by a part of its ends.
    pub(super) fn widened(self, part: f64) -> ValueRange {
        ValueRange { low: self.low - part * self.low.abs(), high: self.high + part * self.high.abs() }
    }

    /// Returns whether some value is in both.
    pub(super) fn meets(self, other: ValueRange) -> bool {
        self.may_be_at_most(other) && other.may_be_at_most(self)
    }

    /// Returns whether more than an end is in both, or all of one that is a single value: a number that was rounded
    /// is exactly an end of its range in one case of infinitely many.
    pub(super) fn overlaps(self, other: ValueRange) -> bool {
        let hair = HAIR * (self.low.abs() + self.high.abs() + other.low.abs() + other.high.abs());
        let is_wide = |range: ValueRange| hair < range.high - range.low;
        let common = self.high.min(other.high) - self.low.max(other.low);
        self.meets(other) && (hair < common || !is_wide(self) || !is_wide(other))
    }

    /// Returns whether some value of this one is at most some value of the other.
    pub(super) fn may_be_at_most(self, other: ValueRange) -> bool {
        self.low <= other.high + HAIR * (self.low.abs() + other.high.abs())
    }

    /// Returns whether some value of this one is below some value of the other.
    pub(super) fn may_be_below(self, other: ValueRange) -> bool {
        self.low < other.high
    }

    /// Returns the intersection; `None` if it is empty.
    pub(super) fn common(self, other: ValueRange) -> Option<ValueRange> {
        let common = ValueRange { low: self.low.max(other.low), high: self.high.min(other.high) };
        self.meets(other)
            .then(|| ValueRange { low: common.low.min(common.high), high: common.low.max(common.high) })
    }

    fn corners(self, other: ValueRange, of: impl Fn(f64, f64) -> f64) -> ValueRange {
        let corners = [
            of(self.low, other.low),
            of(self.low, other.high),
            of(self.high, other.low),
            of(self.high, other.high),
        ];
        let fold = |start, pick: fn(f64, f64) -> f64| corners.into_iter().fold(start, pick);
        ValueRange { low: fold(f64::INFINITY, f64::min), high: fold(f64::NEG_INFINITY, f64::max) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn by_hand() {
        let one = ValueRange { low: 1.0, high: 2.0 };
        let two = ValueRange { low: -1.0, high: 3.0 };
        assert_eq!(one.plus(two), ValueRange { low: 0.0, high: 5.0 });
        assert_eq!(one.minus(two), ValueRange { low: -2.0, high: 3.0 });
        assert_eq!(one.times(two), ValueRange { low: -2.0, high: 6.0 });
        assert_eq!(one.over(two), None);
        assert_eq!(two.over(one), Some(ValueRange { low: -1.0, high: 3.0 }));
        assert_eq!(one.common(two), Some(one));
        assert_eq!(one.common(ValueRange { low: 2.5, high: 3.0 }), None);
        assert!(ValueRange::exact(0.3).meets(ValueRange::exact(0.1 + 0.2)));
        assert!(!ValueRange::exact(0.3).meets(ValueRange::exact(0.300_001)));
        let beside = ValueRange { low: 2.0, high: 3.0 };
        assert!(one.meets(beside) && !one.overlaps(beside) && one.overlaps(one));
        assert!(
            one.overlaps(ValueRange::exact(2.0))
                && !one.overlaps(ValueRange::exact(2.1))
                && one.overlaps(ValueRange::ANY)
        );
    }

    proptest! {
        /// Goal: whatever the values were before rounding, the result of arithmetic on them lies in the range.
        #[test]
        fn arithmetic_on_values_stays_within_the_ranges(
            (a, x, b, y) in (-1e3..1e3f64, 0.0..1.0f64, -1e3..1e3f64, 0.0..1.0f64),
            (wide_a, wide_b) in (0.0..10.0f64, 0.0..10.0f64),
        ) {
            let one = ValueRange { low: a, high: a + wide_a };
            let two = ValueRange { low: b, high: b + wide_b };
            let p = a + x * wide_a;
            let q = b + y * wide_b;
            for (range, value) in [(one.plus(two), p + q), (one.minus(two), p - q), (one.times(two), p * q)] {
                prop_assert!(range.meets(ValueRange::exact(value)));
            }
            if let Some(range) = one.over(two) {
                prop_assert!(range.meets(ValueRange::exact(p / q)));
            }
        }
    }
}
