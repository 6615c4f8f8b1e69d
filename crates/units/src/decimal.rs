//! Decimal numbers as people write them, without the errors of binary fractions.

use std::fmt;

/// The most digits that a written number may have: more are a slip.
const DIGITS_MAX: usize = 18;

/// An exact decimal number from 0: `0.0416` is 416 with 4 decimals.
///
/// Kept without trailing zeros, so that equal numbers are equal values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Decimal {
    digits: u128,
    decimals: u32,
}

impl Decimal {
    /// Zero.
    pub const ZERO: Decimal = Decimal { digits: 0, decimals: 0 };
    /// One.
    pub const ONE: Decimal = Decimal { digits: 1, decimals: 0 };

    /// Reads a number such as `29581`, `13.50` or `0.0416`.
    ///
    /// `None` for anything else: signs, exponents, separators, a point without digits on both sides, more than 18 digits.
    pub fn parse(text: &str) -> Option<Decimal> {
        let (whole, fraction) = match text.split_once('.') {
            Some((_, "")) => return None,
            Some(parts) => parts,
            None => (text, ""),
        };
        let are_digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
        if whole.is_empty() || !are_digits(whole) || !are_digits(fraction) {
            return None;
        }
        if DIGITS_MAX < whole.len() + fraction.len() {
            return None;
        }
        let digits = format!("{whole}{fraction}").parse().ok()?;
        Some(Decimal::normalized(digits, fraction.len() as u32))
    }

    /// Returns the sum; `None` if it has too many digits.
    pub fn checked_add(self, other: Decimal) -> Option<Decimal> {
        let decimals = self.decimals.max(other.decimals);
        let sum = self.scaled(decimals)?.checked_add(other.scaled(decimals)?)?;
        Some(Decimal::normalized(sum, decimals))
    }

    /// Returns the product, exact; `None` if it has too many digits.
    pub fn checked_mul(self, other: Decimal) -> Option<Decimal> {
        let digits = self.digits.checked_mul(other.digits)?;
        Some(Decimal::normalized(digits, self.decimals + other.decimals))
    }

    /// Returns the complement, 1 − x; `None` if x is above one.
    pub fn complement(self) -> Option<Decimal> {
        let digits = Decimal::ONE.scaled(self.decimals)?.checked_sub(self.digits)?;
        Some(Decimal::normalized(digits, self.decimals))
    }

    /// Returns the number in units of 10⁻ᵈ for d `decimals`, halves rounded up; `None` if it has too many digits.
    pub fn rounded(self, decimals: u32) -> Option<u128> {
        if self.decimals <= decimals {
            return self.scaled(decimals);
        }
        let unit = 10u128.checked_pow(self.decimals - decimals)?;
        Some(self.digits / unit + u128::from(unit.div_ceil(2) <= self.digits % unit))
    }

    /// Returns the nearest binary fraction.
    pub fn as_f64(self) -> f64 {
        self.digits as f64 / 10f64.powi(self.decimals as i32)
    }

    /// Returns the digits, with at least `decimals_min` decimals: `0.50` for a half with two.
    pub fn text(self, decimals_min: u32) -> String {
        let decimals = self.decimals.max(decimals_min) as usize;
        let digits = format!("{}{}", self.digits, "0".repeat(decimals - self.decimals as usize));
        let digits = format!("{digits:0>width$}", width = decimals + 1);
        match digits.split_at(digits.len() - decimals) {
            (whole, "") => whole.to_owned(),
            (whole, fraction) => format!("{whole}.{fraction}"),
        }
    }

    /// Removes trailing zeros.
    fn normalized(mut digits: u128, mut decimals: u32) -> Decimal {
        while 0 < decimals && digits.is_multiple_of(10) {
            (digits, decimals) = (digits / 10, decimals - 1);
        }
        Decimal { digits, decimals }
    }

    /// Returns the digits with `decimals` decimals, which are not fewer than the number has.
    fn scaled(self, decimals: u32) -> Option<u128> {
        self.digits.checked_mul(10u128.checked_pow(decimals - self.decimals)?)
    }
}

impl From<u32> for Decimal {
    fn from(number: u32) -> Decimal {
        Decimal::normalized(number.into(), 0)
    }
}

impl fmt::Display for Decimal {
    /// Writes all digits and no more.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text(0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decimal(text: &str) -> Decimal {
        Decimal::parse(text).unwrap()
    }

    #[test]
    fn numbers_are_written_as_they_were_read() {
        for (written, text) in
            [("29581", "29581"), ("13.50", "13.5"), ("0.0416", "0.0416"), ("007.0", "7"), ("0.00", "0")]
        {
            assert_eq!(decimal(written).to_string(), text);
        }
        assert_eq!(
            [decimal("0.5").text(2), decimal("0.0416").text(2), decimal("3").text(2)],
            ["0.50", "0.0416", "3.00"]
        );
    }

    #[test]
    fn texts_that_are_not_plain_numbers_are_refused() {
        for text in [
            "",
            ".",
            "1.",
            ".5",
            "-1",
            "+1",
            "1e3",
            "1_000",
            "1,000",
            "nan",
            "inf",
            " 1",
            "1.2.3",
            "1234567890123456789",
        ] {
            assert_eq!(Decimal::parse(text), None, "{text}");
        }
    }

    /// 0.1 + 0.2 is 0.3, and 2 machines at 0.0416 an hour for 26,298 h are 2,187.9936.
    #[test]
    fn sums_and_products_are_exact() {
        assert_eq!(decimal("0.1").checked_add(decimal("0.2")), Some(decimal("0.3")));
        let product = Decimal::from(2)
            .checked_mul(decimal("0.0416"))
            .and_then(|both| both.checked_mul(Decimal::from(26_298)));
        assert_eq!(product, Some(decimal("2187.9936")));
        assert_eq!(decimal("0.15").complement(), Some(decimal("0.85")));
        assert_eq!(Decimal::ONE.complement(), Some(Decimal::ZERO));
        assert_eq!(decimal("1.01").complement(), None);
    }

    #[test]
    fn halves_are_rounded_up() {
        let rounded =
            ["2.344", "2.345", "2.3449999", "2.5", "0.004", "0.005"].map(|text| decimal(text).rounded(2));
        assert_eq!(rounded, [234, 235, 234, 250, 0, 1].map(Some));
        assert_eq!([decimal("2.5").rounded(0), decimal("1.4").rounded(0)], [Some(3), Some(1)]);
    }

    #[test]
    fn results_with_too_many_digits_are_none() {
        let large = decimal("999999999999999999");
        let larger = large.checked_mul(large).unwrap();
        assert_eq!(larger.checked_mul(large), None);
        assert_eq!(larger.rounded(9), None);
        assert_eq!(larger.checked_add(decimal("0.123456789")), None);
    }
}
