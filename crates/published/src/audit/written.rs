//! The format of numbers in findings.

use super::range::ValueRange;

/// Significant digits of computed numbers.
const DIGITS: i32 = 5;

/// Writes a number with five significant digits: 213.21, 97,483, 0.07338.
pub(super) fn digits(value: f64) -> String {
    if value == 0.0 || !value.is_finite() {
        return decimals(value, 0);
    }
    let before = value.abs().log10().floor() as i32 + 1;
    decimals(value, usize::try_from(DIGITS - before).unwrap_or(0))
}

/// Writes a number with at most `decimals` decimals, without trailing zeros, and with commas between thousands.
pub(super) fn decimals(value: f64, decimals: usize) -> String {
    let text = format!("{value:.decimals$}");
    let (whole, fraction) = text.split_once('.').unwrap_or((&text, ""));
    let (sign, whole) = whole.strip_prefix('-').map_or(("", whole), |whole| ("-", whole));
    let mut grouped = String::new();
    for (index, digit) in whole.chars().enumerate() {
        if 0 < index && (whole.len() - index).is_multiple_of(3) && whole.len() > 3 {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    match fraction.trim_end_matches('0') {
        "" => format!("{sign}{grouped}"),
        fraction => format!("{sign}{grouped}.{fraction}"),
    }
}

/// Adds a unit to a number that does not have it yet.
pub(super) fn with_unit(number: &str, unit: &str) -> String {
    if unit.is_empty() || number.ends_with(unit) { number.to_owned() } else { format!("{number} {unit}") }
}

/// Writes a range in a unit of `scale` base units: one number, if both ends look alike.
pub(super) fn range(range: ValueRange, unit: &str, scale: f64) -> String {
    let low = digits(range.low / scale);
    let high = digits(range.high / scale);
    if low == high { with_unit(&low, unit) } else { with_unit(&format!("{low} to {high}"), unit) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_five_digits_and_commas() {
        let shown = [213.2075, 97_483.0, 0.073_377, 4.048, 15_720_000_000.0, 0.0, -1234.5].map(digits);
        assert_eq!(shown, ["213.21", "97,483", "0.073377", "4.048", "15,720,000,000", "0", "-1,234.5"]);
        assert_eq!(decimals(f64::INFINITY, 2), "inf");
    }

    #[test]
    fn a_range_that_looks_like_one_number_is_written_as_one() {
        assert_eq!(range(ValueRange { low: 0.2, high: 0.4 }, "s", 1.0), "0.2 to 0.4 s");
        assert_eq!(range(ValueRange { low: 60.0, high: 60.000_01 }, "min", 60.0), "1 min");
    }
}
