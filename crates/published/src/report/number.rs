//! Printed numbers and the precision to which they were rounded.

use super::unit::{Dimension, PrintedUnit};

/// A printed number, in base units.
#[derive(Debug, Clone, PartialEq)]
pub struct PrintedNumber {
    /// The number as printed, with its unit where that was printed beside it.
    pub text: String,
    /// The value of the text.
    pub value: f64,
    /// Half a unit in its last digit, or zero if it is exact.
    pub half: f64,
    /// The name of its unit; empty for a plain number.
    pub unit: String,
    /// Number of base units in its unit: `value ÷ scale` is the number as printed.
    pub scale: f64,
    /// The dimension of the number.
    pub dimension: Dimension,
}

/// A text that is not a printed number.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PrintedNumberError {
    /// It does not begin with a number.
    #[error("expected a number, found `{0}`")]
    Number(String),
    /// Its number, or the column without one, has an unknown unit.
    #[error("expected a unit, found `{0}`")]
    Unit(String),
}

impl PrintedNumber {
    /// Reads a number with or without a unit; `unit` is that of numbers without.
    ///
    /// With `is_exact`, a number without decimals was not rounded unless it has the prefix `~`. A hexadecimal number
    /// (`0x4470`) is exact. Negative numbers are read, because the audit decides whether they are possible.
    ///
    /// # Errors
    ///
    /// The text is not a number, or its unit is unknown.
    pub fn parse(text: &str, unit: &str, is_exact: bool) -> Result<PrintedNumber, PrintedNumberError> {
        let text = text.trim();
        let (rounded, rest) = match text.strip_prefix('~') {
            Some(rest) => (true, rest.trim_start()),
            None => (false, text),
        };
        let (sign, rest) = match rest.strip_prefix(['-', '−']) {
            Some(rest) => (-1.0, rest),
            None => (1.0, rest),
        };
        let is_hexadecimal = HEXADECIMAL.iter().any(|prefix| rest.starts_with(prefix));
        let (digits, own_unit) = rest.split_at(digits_length(rest));
        let own_unit = own_unit.trim();
        let read = if is_hexadecimal { hexadecimal_number(digits) } else { plain_number(digits) };
        let (value, decimals) = read.ok_or_else(|| PrintedNumberError::Number(text.to_owned()))?;
        let name = if own_unit.is_empty() { unit } else { own_unit };
        let unit = PrintedUnit::parse(name).ok_or_else(|| PrintedNumberError::Unit(name.to_owned()))?;
        let is_exact = (is_exact || is_hexadecimal) && decimals == 0 && !rounded;
        let half = if is_exact { 0.0 } else { 0.5 * 0.1f64.powi(decimals) };
        Ok(PrintedNumber {
            text: text.to_owned(),
            value: sign * value * unit.scale,
            half: half * unit.scale,
            unit: name.to_owned(),
            scale: unit.scale,
            dimension: unit.dimension,
        })
    }

    /// Returns the same digits in the unit of another number, for exchanged columns.
    pub fn in_unit_of(&self, other: &PrintedNumber) -> PrintedNumber {
        let value = self.value / self.scale * other.scale;
        let half = self.half / self.scale * other.scale;
        PrintedNumber { text: self.text.clone(), value, half, ..other.clone() }
    }

    /// Returns the number of significant digits that were printed, without leading zeros.
    pub(crate) fn n_digits(&self) -> usize {
        self.digits().chars().filter(char::is_ascii_digit).skip_while(|digit| *digit == '0').count()
    }

    /// Returns the digits without sign, commas and unit, such as `1234.50`.
    pub fn digits(&self) -> String {
        let digits = self.text.trim_start_matches(['~', ' ', '-', '−']);
        digits[..digits_length(digits)].replace(',', "")
    }
}

/// The prefixes of hexadecimal numbers.
pub(super) const HEXADECIMAL: [&str; 2] = ["0x", "0X"];

/// Returns the length in bytes of the number at the start of a text, with its point and commas.
pub(super) fn digits_length(text: &str) -> usize {
    let is_digit: fn(char) -> bool = if HEXADECIMAL.iter().any(|prefix| text.starts_with(prefix)) {
        |c| c.is_ascii_alphanumeric()
    } else {
        |c| c.is_ascii_digit() || c == '.' || c == ','
    };
    text.find(|c| !is_digit(c)).unwrap_or(text.len())
}

/// Reads `0x4470`: the number, and that it has no decimals.
fn hexadecimal_number(digits: &str) -> Option<(f64, i32)> {
    let number = u64::from_str_radix(digits.get(2..)?, 16).ok().filter(|number| *number < 1 << 53)?;
    Some((number as f64, 0))
}

/// Reads `1,234.50`: the number and its number of decimals. Commas may separate thousands.
fn plain_number(digits: &str) -> Option<(f64, i32)> {
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    if fraction.contains([',', '.']) || !thousands_are_parted(whole) {
        return None;
    }
    let value: f64 = digits.replace(',', "").parse().ok()?;
    value.is_finite().then_some((value, i32::try_from(fraction.len()).ok()?))
}

fn thousands_are_parted(whole: &str) -> bool {
    let mut groups = whole.split(',');
    let first = groups.next().unwrap_or_default();
    let has_groups = whole.contains(',');
    let first_fits = if has_groups { (1..=3).contains(&first.len()) } else { !first.is_empty() };
    first_fits && groups.all(|group| group.len() == 3)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read(text: &str, unit: &str) -> (f64, f64) {
        let printed = PrintedNumber::parse(text, unit, false).unwrap();
        (printed.value, printed.half)
    }

    fn near(found: (f64, f64), value: f64, half: f64) {
        assert!((found.0 - value).abs() < 1e-9 && (found.1 - half).abs() < 1e-9, "{found:?}");
    }

    #[test]
    fn a_number_covers_the_values_that_round_to_it() {
        near(read("285.12", "/s"), 285.12, 0.005);
        near(read("2,917", "/min"), 2917.0 / 60.0, 0.5 / 60.0);
        near(read("81 %", ""), 0.81, 0.005);
        near(read("~7 KiB", "B"), 7168.0, 512.0);
        near(read("5,559,519 B/s", ""), 5_559_519.0, 0.5);
    }

    #[test]
    fn counts_are_exact_unless_marked_as_rounded() {
        let half = |text| PrintedNumber::parse(text, "", true).unwrap().half;
        assert_eq!([half("2,200"), half("~2,200"), half("1.5")], [0.0, 0.5, 0.05]);
    }

    #[test]
    fn negative_and_hexadecimal_numbers_are_read() {
        near(read("-1,234.5 KiB", "B"), -1_264_128.0, 51.2);
        near(read("−3", "s"), -3.0, 0.5);
        near(read("0x4470", ""), 17_520.0, 0.0);
        near(read("0xfffe B", ""), 65_534.0, 0.0);
        let printed = PrintedNumber::parse("-12.50 s", "", false).unwrap();
        assert_eq!((printed.digits().as_str(), printed.n_digits()), ("12.50", 4));
    }

    #[test]
    fn significant_digits_are_counted() {
        let n = |text| PrintedNumber::parse(text, "", false).unwrap().n_digits();
        assert_eq!([n("48.27"), n("0.0500"), n("1,234 B"), n("~7 T1"), n("0.0")], [4, 3, 4, 1, 0]);
        assert_eq!(PrintedNumber::parse("~1,234.50 USD", "", false).unwrap().digits(), "1234.50");
    }

    #[test]
    fn texts_that_are_not_numbers_are_refused() {
        let error = |text| PrintedNumber::parse(text, "s", false).unwrap_err().to_string();
        assert_eq!(error("12 secs"), "expected a unit, found `secs`");
        for text in
            ["", "x", "-", "--5", "- 5", "0x", "0xg", "1,23", "1234,567", "1.2.3", ",5", "1.2,345", "s", "."]
        {
            assert_eq!(error(text), format!("expected a number, found `{text}`"));
        }
    }

    proptest! {
        #[test]
        fn any_text_is_answered(text: String, unit: String) {
            let _ = PrintedNumber::parse(&text, &unit, true);
        }
    }
}
