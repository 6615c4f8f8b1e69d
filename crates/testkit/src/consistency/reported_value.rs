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
}

impl fmt::Display for ReportedValue<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` (line {})", self.value(), self.line)
    }
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
