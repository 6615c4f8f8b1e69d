//! Money and rates as whole numbers, so that sums are exact.

use std::fmt;
use std::iter::Sum;
use std::ops::{Add, Mul, Neg, Sub};

/// An amount of money in hundredths of the unit, which may be negative.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Cents(pub i64);

impl Cents {
    /// Makes an amount from whole units: dollars, of which one has a hundred cents.
    pub const fn from_dollars(dollars: i64) -> Cents {
        Cents(dollars * 100)
    }
}

impl Add for Cents {
    type Output = Cents;
    fn add(self, other: Cents) -> Cents {
        Cents(self.0 + other.0)
    }
}

impl Sub for Cents {
    type Output = Cents;
    fn sub(self, other: Cents) -> Cents {
        Cents(self.0 - other.0)
    }
}

impl Neg for Cents {
    type Output = Cents;
    fn neg(self) -> Cents {
        Cents(-self.0)
    }
}

impl Mul<u32> for Cents {
    type Output = Cents;
    fn mul(self, count: u32) -> Cents {
        Cents(self.0 * i64::from(count))
    }
}

impl Sum for Cents {
    fn sum<I: Iterator<Item = Cents>>(amounts: I) -> Cents {
        amounts.fold(Cents(0), |sum, one| sum + one)
    }
}

impl fmt::Display for Cents {
    /// Writes the amount with its two decimals: `-10.00`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.0 < 0 { "-" } else { "" };
        let cents = self.0.unsigned_abs();
        write!(f, "{sign}{}.{:02}", cents / 100, cents % 100)
    }
}

/// A rate of tax or discount in ten-thousandths: 2,000 is 20 %.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BasisPoints(pub u16);

/// Returns the total of an order, rounded to the nearest cent, half cents up.
///
/// Formula: Σamount · (1 − discount) · (1 + tax of the warehouse + tax of the district); a total too large for the type
/// becomes its largest value. Source: TPC-C revision 5.11, clause 2.4.2.2.
pub fn order_total(
    amounts: Cents,
    discount: BasisPoints,
    warehouse_tax: BasisPoints,
    district_tax: BasisPoints,
) -> Cents {
    const ONE: i128 = 10_000;
    let paid = ONE - i128::from(discount.0);
    let taxed = ONE + i128::from(warehouse_tax.0) + i128::from(district_tax.0);
    let total = (i128::from(amounts.0) * paid * taxed + ONE * ONE / 2).div_euclid(ONE * ONE);
    Cents(i64::try_from(total).unwrap_or(i64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_written_with_two_decimals() {
        let written = [0, 5, -5, 1234, -1000, 30_000_000].map(|cents| Cents(cents).to_string());
        assert_eq!(written, ["0.00", "0.05", "-0.05", "12.34", "-10.00", "300000.00"]);
    }

    /// 100.00 · (1 − 0.25) · (1 + 0.05 + 0.03) = 75.00 · 1.08 = 81.00.
    #[test]
    fn a_total_has_discount_and_both_taxes() {
        let total =
            order_total(Cents::from_dollars(100), BasisPoints(2500), BasisPoints(500), BasisPoints(300));
        assert_eq!(total, Cents(8_100));
    }

    /// 0.01 · (1 − 0.5) = 0.005, rounded up; 0.01 · (1 − 0.5) · 1 with 0.4999 of discount more is below half a cent.
    #[test]
    fn a_total_is_rounded_to_the_nearest_cent() {
        let total = |cents, discount| {
            order_total(Cents(cents), BasisPoints(discount), BasisPoints(0), BasisPoints(0))
        };
        assert_eq!(total(1, 5000), Cents(1));
        assert_eq!(total(1, 5001), Cents(0));
        assert_eq!(total(3, 5000), Cents(2));
    }

    #[test]
    fn the_total_of_any_stored_amounts_has_a_value() {
        let most = BasisPoints(u16::MAX);
        assert_eq!(order_total(Cents(i64::MAX), BasisPoints(0), most, most), Cents(i64::MAX));
    }
}
