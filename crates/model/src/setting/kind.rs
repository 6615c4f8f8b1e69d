//! The values that a setting can have, and their notation.

use std::fmt;

use languages::{QuantityError, parse_bytes, parse_time};
use units::{Bytes, Nanos};

use crate::ValueDistribution;

/// The value of a size that fits the server, as it is typed.
const AUTO: &str = "auto";

/// The values of a setting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SettingKind {
    /// One of these names.
    Choice(&'static [SettingChoice]),
    /// A whole number in this range.
    Count {
        /// The least.
        least: u32,
        /// The greatest.
        most: u32,
    },
    /// A size in this range.
    Bytes {
        /// The least, in bytes.
        least: u64,
        /// The greatest, in bytes.
        most: u64,
        /// Whether it can also be `auto`: what fits the server.
        has_auto: bool,
    },
    /// A time above zero.
    Time,
    /// A distribution over the values of a parameter.
    Distribution,
    /// A text; the placeholder says of what: `FILE|NAME`.
    Text(&'static str),
}

/// One of the names that a setting can have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SettingChoice {
    /// The name.
    pub name: &'static str,
    /// The meaning, in a line.
    pub about: &'static str,
    /// The meaning of a whole number that may follow the name, as in `keep-alive:100`; `None` if none may.
    pub number: Option<&'static str>,
}

impl SettingChoice {
    /// Makes a choice that no number may follow.
    pub(super) const fn new(name: &'static str, about: &'static str) -> SettingChoice {
        SettingChoice { name, about, number: None }
    }
}

/// A value of a setting.
#[derive(Debug, Clone, PartialEq)]
pub enum SettingValue {
    /// A name, with the number that follows it.
    Choice(&'static str, Option<u32>),
    /// A whole number.
    Count(u32),
    /// A size.
    Bytes(u64),
    /// A size that fits the server.
    Auto,
    /// A time.
    Time(Nanos),
    /// A distribution.
    Distribution(ValueDistribution),
    /// A text.
    Text(String),
}

/// A text that is not a value of a setting; the message is the remedy.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SettingValueError {
    /// It is not of this kind.
    #[error("write {0}")]
    Kind(SettingKind),
    /// It is not a time.
    #[error("{0}; {hint}", hint = .0.hint)]
    Time(#[from] QuantityError),
    /// It is a time of zero.
    #[error("write a time above zero")]
    ZeroTime,
}

impl SettingKind {
    /// Reads a value as it is typed.
    ///
    /// # Errors
    /// The text is not a value of the kind.
    pub fn parse(self, text: &str) -> Result<SettingValue, SettingValueError> {
        let value = match self {
            SettingKind::Choice(choices) => choice(choices, text),
            SettingKind::Count { least, most } => {
                let count = text.parse().ok().filter(|count| (least..=most).contains(count));
                count.map(SettingValue::Count)
            }
            SettingKind::Bytes { has_auto: true, .. } if text == AUTO => Some(SettingValue::Auto),
            SettingKind::Bytes { least, most, .. } => parse_bytes(text)
                .ok()
                .filter(|bytes| (least..=most).contains(&bytes.0))
                .map(|bytes| SettingValue::Bytes(bytes.0)),
            SettingKind::Time => return typed_time(text),
            SettingKind::Distribution => text.parse().ok().map(SettingValue::Distribution),
            SettingKind::Text(_) => (!text.is_empty()).then(|| SettingValue::Text(text.to_owned())),
        };
        value.ok_or(SettingValueError::Kind(self))
    }

    /// Divides a list of values at its commas. A comma before a number is part of the weights of a distribution.
    pub(crate) fn split(self, list: &str) -> Vec<String> {
        let mut values: Vec<String> = Vec::new();
        for part in list.split(',').map(str::trim) {
            let is_number = part.starts_with(|c: char| c.is_ascii_digit() || c == '.');
            match values.last_mut() {
                Some(weights) if self == SettingKind::Distribution && is_number => {
                    weights.push(',');
                    weights.push_str(part);
                }
                _ => values.push(part.to_owned()),
            }
        }
        values
    }
}

fn choice(choices: &[SettingChoice], text: &str) -> Option<SettingValue> {
    let (name, number) = match text.split_once(':') {
        Some((name, number)) => (name, Some(number.parse::<u32>().ok().filter(|number| 0 < *number)?)),
        None => (text, None),
    };
    let found = choices.iter().find(|choice| choice.name == name)?;
    (number.is_none() || found.number.is_some()).then_some(SettingValue::Choice(found.name, number))
}

/// Reads a time above zero; a number without a unit means seconds.
fn typed_time(text: &str) -> Result<SettingValue, SettingValueError> {
    let parsed = match text.parse::<f64>() {
        Ok(_) => parse_time(&format!("{text} s")),
        Err(_) => parse_time(text),
    };
    match parsed? {
        Nanos::ZERO => Err(SettingValueError::ZeroTime),
        time => Ok(SettingValue::Time(time)),
    }
}

/// Writes the values that can be typed: `off, full or resumed`.
impl fmt::Display for SettingKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SettingKind::Choice(choices) => {
                let numbered = |one: &SettingChoice| one.number.map(|_| format!("{}:N", one.name));
                let forms = |one: &SettingChoice| [Some(one.name.to_owned()), numbered(one)];
                let words: Vec<String> = choices.iter().flat_map(forms).flatten().collect();
                match words.as_slice() {
                    [first @ .., last] if !first.is_empty() => write!(f, "{} or {last}", first.join(", ")),
                    words => f.write_str(&words.join(", ")),
                }
            }
            SettingKind::Count { least, most } => write!(f, "a whole number from {least} to {most}"),
            SettingKind::Bytes { least, most, has_auto } => {
                let auto = if *has_auto { "`auto` or " } else { "" };
                let from = if *least == 0 { String::new() } else { format!("from {} ", Bytes(*least)) };
                write!(f, "{auto}a size such as `4 KiB`, {from}up to {}", Bytes(*most))
            }
            SettingKind::Time => f.write_str("a time such as `60 s`"),
            SettingKind::Distribution => f.write_str("`uniform`, `zipf:1.0`, `poisson:5` or `weights:3,2,1`"),
            SettingKind::Text(placeholder) => f.write_str(placeholder),
        }
    }
}

/// Writes the value so that it can be typed again.
impl fmt::Display for SettingValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SettingValue::Choice(name, None) => f.write_str(name),
            SettingValue::Choice(name, Some(number)) => write!(f, "{name}:{number}"),
            SettingValue::Count(count) => write!(f, "{count}"),
            SettingValue::Bytes(bytes) => write!(f, "{}", Bytes(*bytes)),
            SettingValue::Auto => f.write_str(AUTO),
            SettingValue::Time(time) => f.write_str(&languages::time_text(*time)),
            SettingValue::Distribution(pick) => write!(f, "{pick}"),
            SettingValue::Text(text) => f.write_str(text),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The remedy of a text that is not of a kind.
    fn refused(kind: SettingKind, text: &str) -> String {
        kind.parse(text).unwrap_err().to_string()
    }

    #[test]
    fn sizes_have_units_and_a_limit() {
        let kind = SettingKind::Bytes { least: 0, most: 1 << 20, has_auto: false };
        assert_eq!(kind.parse("4 KiB"), Ok(SettingValue::Bytes(4096)));
        for text in ["4", "2 MiB", "-1 B"] {
            assert_eq!(refused(kind, text), "write a size such as `4 KiB`, up to 1.0 MiB");
        }
        assert_eq!(SettingValue::Bytes(4096).to_string(), "4.0 KiB");
    }

    /// A number follows only a name that has one, and is above zero.
    #[test]
    fn a_number_may_follow_a_name() {
        const CHOICES: &[SettingChoice] = &[
            SettingChoice::new("once", "one"),
            SettingChoice { name: "kept", about: "several", number: Some("how many") },
        ];
        let kind = SettingKind::Choice(CHOICES);
        assert_eq!(kind.parse("kept"), Ok(SettingValue::Choice("kept", None)));
        assert_eq!(kind.parse("kept:7"), Ok(SettingValue::Choice("kept", Some(7))));
        assert_eq!(SettingValue::Choice("kept", Some(7)).to_string(), "kept:7");
        for text in ["once:7", "kept:0", "kept:", "kept:x", "kept:-1", "Kept", ""] {
            assert_eq!(refused(kind, text), "write once, kept or kept:N", "{text}");
        }
    }

    #[test]
    fn times_without_a_unit_are_seconds() {
        let time = |seconds| Ok(SettingValue::Time(Nanos::from_secs(seconds)));
        assert_eq!(SettingKind::Time.parse("5"), time(5));
        assert_eq!(SettingKind::Time.parse("1.5 min"), time(90));
        assert_eq!(refused(SettingKind::Time, "0"), "write a time above zero");
        assert!(refused(SettingKind::Time, "5 sec").starts_with("`sec` is not a unit of time; write"));
    }

    #[test]
    fn lists_are_divided_at_commas_outside_weights() {
        let split = |kind: SettingKind, list| kind.split(list).join(" | ");
        assert_eq!(split(SettingKind::Count { least: 1, most: 9 }, "1,2, 3"), "1 | 2 | 3");
        let list = "uniform,weights:3,2.5,.1,zipf:0.8";
        assert_eq!(split(SettingKind::Distribution, list), "uniform | weights:3,2.5,.1 | zipf:0.8");
        assert_eq!(split(SettingKind::Text("FILE"), "a.txt,2.txt"), "a.txt | 2.txt");
    }
}
