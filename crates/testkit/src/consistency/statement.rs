//! A thing that is said in a place.

use std::fmt;

/// The value of a quantity, said in a place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Statement<'a> {
    /// What it is said of: `rate`.
    pub quantity: String,
    /// At which load, as a number; empty for the whole run.
    pub of: String,
    /// The words of the report. May be words of our own where the report says it otherwise.
    pub text: &'a str,
    /// Line of the report, from 1.
    pub line: usize,
}

impl<'a> Statement<'a> {
    /// Makes a statement about a load.
    pub(super) fn of(quantity: &str, of: &str, text: &'a str, line: usize) -> Statement<'a> {
        Statement { quantity: quantity.to_owned(), of: digits(of), text, line }
    }

    /// Makes a statement about the whole run.
    pub(super) fn whole(quantity: &str, text: &'a str, line: usize) -> Statement<'a> {
        Statement::of(quantity, "", text, line)
    }

    /// Returns the value without spaces and signs of formatting.
    pub fn value(&self) -> String {
        let is_dress = |c: &char| c.is_whitespace() || *c == '*' || *c == '`' || *c == '\\';
        self.text.chars().filter(|c| !is_dress(c)).collect()
    }
}

impl fmt::Display for Statement<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` (line {})", self.value(), self.line)
    }
}

/// Returns the number that a load is known by: `1000` of `**1 000 clients**`.
pub(super) fn digits(load: &str) -> String {
    let number = load.trim_start_matches('*').trim_start();
    number
        .chars()
        .take_while(|c| c.is_ascii_digit() || *c == '.' || *c == '\u{202f}')
        .filter(|c| *c != '\u{202f}')
        .collect()
}
