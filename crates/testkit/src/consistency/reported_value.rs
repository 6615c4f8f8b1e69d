//! A value in a report.

use std::fmt;

/// The value of a quantity at a position in a report.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReportedValue<'a> {
    /// The quantity: `rate`.
    pub quantity: String,
    /// The load, as a number; empty for the whole run.
    pub of: String,
    /// The text in the report, or a normalized form of it.
    pub text: &'a str,
    /// Line of the report, from 1.
    pub line: usize,
}

impl<'a> ReportedValue<'a> {
    /// Creates a value at a load.
    pub(super) fn of(quantity: &str, of: &str, text: &'a str, line: usize) -> ReportedValue<'a> {
        ReportedValue { quantity: quantity.to_owned(), of: digits(of), text, line }
    }

    /// Creates a value for the whole run.
    pub(super) fn whole(quantity: &str, text: &'a str, line: usize) -> ReportedValue<'a> {
        ReportedValue::of(quantity, "", text, line)
    }

    /// Returns the value without spaces and formatting.
    pub fn value(&self) -> String {
        let is_dress = |c: &char| c.is_whitespace() || *c == '*' || *c == '`' || *c == '\\';
        self.text.chars().filter(|c| !is_dress(c)).collect()
    }

    /// Returns whether two values are the same. A time may be in another unit, because the times of a table have one.
    pub(super) fn is_same(&self, other: &ReportedValue) -> bool {
        /// Differences of the arithmetic, far below the last digit.
        const ROUNDING: f64 = 1e-9;
        let one = self.value();
        let other = other.value();
        match (seconds(&one), seconds(&other)) {
            (Some(one), Some(other)) => (one - other).abs() <= ROUNDING * one.abs(),
            _ => one == other,
        }
    }
}

impl fmt::Display for ReportedValue<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` (line {})", self.value(), self.line)
    }
}

/// Returns a time such as `98.1ms` in s; `None` for other values.
fn seconds(value: &str) -> Option<f64> {
    const UNITS: [(&str, f64); 4] = [("ns", 1e-9), ("µs", 1e-6), ("ms", 1e-3), ("s", 1.0)];
    let (number, unit) = UNITS.iter().find_map(|(name, unit)| Some((value.strip_suffix(name)?, unit)))?;
    number.parse::<f64>().ok().map(|number| number * unit)
}

/// Returns the digits that identify a load: `1000` of `**1 000 clients**`.
pub(super) fn digits(load: &str) -> String {
    let number = load.trim_start_matches('*').trim_start();
    number
        .chars()
        .take_while(|c| c.is_ascii_digit() || *c == '.' || *c == '\u{202f}')
        .filter(|c| *c != '\u{202f}')
        .collect()
}
