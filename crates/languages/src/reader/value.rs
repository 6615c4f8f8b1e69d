//! Kinds of values that all languages have, with the errors for invalid ones.

use std::ops::RangeInclusive;

use serde_json::{Value, json};
use toml::de::DeValue;
use units::{Bytes, Nanos};

use super::value_spec::ValueSpec;
use super::{ValueError, kind};
use crate::diagnostics::nearest;
use crate::foreign::is_terminal_control;
use crate::names::NamedValues;
use crate::quantity::{QuantityError, TIME_MAX, parse_bytes, parse_time_up_to};

/// The longest title or summary.
const LINE_MAX: usize = 500;

/// The longest id.
const ID_MAX: usize = 64;

/// The largest size of a file: a larger one is probably a mistake.
const FILE_BYTES_MAX: u64 = 1 << 40;

/// A word with its description and the value that it stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NamedChoice<V>(pub &'static str, pub &'static str, pub V);

/// Texts, also empty ones.
pub fn text() -> ValueSpec<String> {
    ValueSpec::new(
        || json!({ "type": "string" }),
        |value| match value {
            DeValue::String(text) => Ok(text.to_string()),
            other => Err(ValueError::new(format!("expected a string, found {}", kind(other)))),
        },
    )
}

/// Texts of one line that are not empty, of at most 500 bytes, without control characters.
pub fn line() -> ValueSpec<String> {
    let schema = || json!({ "type": "string", "minLength": 1, "maxLength": LINE_MAX });
    ValueSpec::new(schema, |value| {
        let line = text().read(value)?;
        if line.trim().is_empty() {
            return Err(ValueError::new("expected a string, found an empty one"));
        }
        if line.contains(is_terminal_control) || LINE_MAX < line.len() {
            return Err(ValueError::new(format!("expected one line of at most {LINE_MAX} bytes")));
        }
        Ok(line)
    })
}

/// Names that are easy to type and can be part of a file name: at most 64 lower-case letters, digits, `-` and `.`, a
/// letter or digit first.
pub fn id() -> ValueSpec<String> {
    let pattern = || format!("^[a-z0-9][a-z0-9.-]{{0,{}}}$", ID_MAX - 1);
    ValueSpec::new(
        move || json!({ "type": "string", "pattern": pattern() }),
        |value| {
            let id = line().read(value)?;
            let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-' || c == '.';
            let starts_well = id.starts_with(|c: char| c.is_ascii_alphanumeric());
            if !starts_well || !id.chars().all(is_plain) || ID_MAX < id.len() {
                let hint = "use lower-case letters, digits, `-` and `.`, a letter or digit first, such as `my-site-1`";
                return Err(ValueError::new(format!("expected a short name, found `{id}`")).hint(hint));
            }
            Ok(id)
        },
    )
}

/// True or false.
pub fn flag() -> ValueSpec<bool> {
    ValueSpec::new(
        || json!({ "type": "boolean" }),
        |value| match value {
            DeValue::Boolean(flag) => Ok(*flag),
            other => Err(ValueError::new(format!("expected `true` or `false`, found {}", kind(other)))),
        },
    )
}

/// Whole numbers within limits.
pub fn whole(limits: RangeInclusive<u64>) -> ValueSpec<u64> {
    let (least, most) = limits.clone().into_inner();
    let schema = move || match most {
        u64::MAX => json!({ "type": "integer", "minimum": least }),
        most => json!({ "type": "integer", "minimum": least, "maximum": most }),
    };
    ValueSpec::new(schema, move |value| {
        let expected = match most {
            _ if least == most => format!("expected {least}"),
            u64::MAX => format!("expected a whole number from {least}"),
            most => format!("expected a whole number from {least} to {most}"),
        };
        let found = match value {
            DeValue::Integer(number) => {
                // As wide and signed, so that `+1` and `-0` are read too.
                let read = i128::from_str_radix(number.as_str(), number.radix()).ok();
                match read.and_then(|number| u64::try_from(number).ok()) {
                    Some(number) if limits.contains(&number) => return Ok(number),
                    _ => number.as_str(),
                }
            }
            DeValue::Float(number) => number.as_str(),
            other => kind(other),
        };
        Err(ValueError::new(format!("{expected}, found {found}")))
    })
}

/// Whole numbers within limits that fit 32 bits.
pub fn whole_u32(limits: RangeInclusive<u32>) -> ValueSpec<u32> {
    whole(u64::from(*limits.start())..=u64::from(*limits.end())).map(|number| number as u32)
}

/// Sizes of files in bytes, at most 1 TiB: a larger one is probably a mistake.
pub fn bytes() -> ValueSpec<u64> {
    whole(0..=FILE_BYTES_MAX).named("FileSize", "A size in bytes, at most 1 TiB.")
}

/// Ratios from 0 to 1.
pub fn ratio() -> ValueSpec<f64> {
    let schema = || json!({ "type": "number", "minimum": 0, "maximum": 1 });
    let ratio = ValueSpec::new(schema, |value| {
        let found = match value {
            DeValue::Integer(number) => number.as_str(),
            DeValue::Float(number) => number.as_str(),
            DeValue::String(text) => text,
            other => kind(other),
        };
        let is_number = matches!(value, DeValue::Integer(_) | DeValue::Float(_));
        match found.parse::<f64>() {
            Ok(ratio) if is_number && (0.0..=1.0).contains(&ratio) => Ok(ratio),
            _ => Err(ValueError::new(format!("expected a ratio from 0 to 1, found {found}"))
                .hint("write 1 % as `0.01`")),
        }
    });
    ratio.named("Ratio", "A ratio from 0 to 1.")
}

/// Values of a choice, by their names.
pub fn choice<T: NamedValues>() -> ValueSpec<T> {
    ValueSpec::new(|| names_schema::<T>(|_| true), |value| read_word(T::NAMES, value))
}

/// Values of a choice, by their names; the schema names only some of them.
pub fn choice_described<T: NamedValues>(is_described: fn(&T) -> bool) -> ValueSpec<T> {
    ValueSpec::new(move || names_schema(is_described), |value| read_word(T::NAMES, value))
}

/// Some of the values of a choice, by their names.
pub fn choice_among<T: NamedValues>(is_among: fn(&T) -> bool) -> ValueSpec<T> {
    let known: Vec<(&'static str, T)> =
        T::NAMES.iter().filter(|(_, value)| is_among(value)).cloned().collect();
    ValueSpec::new(move || names_schema(is_among), move |value| read_word(&known, value))
}

/// One of several words: a definition with a name, in which each word has its description.
pub fn one_of<V: Clone + 'static>(
    name: &'static str,
    about: &'static str,
    choices: &'static [NamedChoice<V>],
) -> ValueSpec<V> {
    let schema = move || {
        let words: Vec<Value> = choices.iter().map(|choice| word_schema(choice.0, choice.1)).collect();
        json!({ "oneOf": words })
    };
    let read = move |value: &DeValue| {
        let word = |choice: &NamedChoice<V>| (choice.0, choice.2.clone());
        read_word(&choices.iter().map(word).collect::<Vec<_>>(), value)
    };
    ValueSpec::new(schema, read).named(name, about)
}

/// Times with their unit, at most 30 days: a longer one is probably a mistake.
pub fn time() -> ValueSpec<Nanos> {
    let about = "A time: a number and a unit (ns, us, ms, s, m or min, h, d), such as `600 s`, or several such as \
                 `1m30s`; at most 30 days.";
    time_up_to(TIME_MAX).named("Time", about)
}

/// Times above zero with their unit, at most 30 days.
pub fn time_above_zero() -> ValueSpec<Nanos> {
    time().and_then(above_zero)
}

/// Times with their unit, up to a longest one.
pub fn time_up_to(max: Nanos) -> ValueSpec<Nanos> {
    let pattern = r"^\s*([0-9.]+\s*(ns|us|µs|ms|s|m|min|h|d)\s*)+$";
    ValueSpec::new(
        move || json!({ "type": "string", "pattern": pattern }),
        move |value| {
            let number = match value {
                DeValue::String(text) => return parse_time_up_to(text, max).map_err(quantity_error),
                DeValue::Integer(number) => number.as_str(),
                DeValue::Float(number) => number.as_str(),
                other => return Err(wrong_kind("a time", other, "600 s")),
            };
            Err(without_unit(number, parse_time_up_to(number, max).err(), "a time", ("s", "seconds")))
        },
    )
}

/// Refuses a time of zero.
///
/// # Errors
/// The time is zero.
pub fn above_zero(time: Nanos) -> Result<Nanos, ValueError> {
    if time == Nanos::ZERO { Err(ValueError::new("expected a time above zero")) } else { Ok(time) }
}

/// Sizes with their unit, at most 1 PiB.
pub fn size() -> ValueSpec<Bytes> {
    let pattern = r"^\s*[0-9.]+\s*(B|KiB|MiB|GiB|TiB)\s*$";
    ValueSpec::new(
        move || json!({ "type": "string", "pattern": pattern }),
        |value| {
            let number = match value {
                DeValue::String(text) => return parse_bytes(text).map_err(quantity_error),
                DeValue::Integer(number) => number.as_str(),
                DeValue::Float(number) => number.as_str(),
                other => return Err(wrong_kind("a size", other, "64 MiB")),
            };
            Err(without_unit(number, parse_bytes(number).err(), "a size", ("B", "bytes")))
        },
    )
}

/// Reads one of several words.
fn read_word<T: Clone>(choices: &[(&'static str, T)], value: &DeValue) -> Result<T, ValueError> {
    let written = text().read(value)?;
    if let Some((_, choice)) = choices.iter().find(|(word, _)| *word == written) {
        return Ok(choice.clone());
    }
    let words: Vec<String> = choices.iter().map(|(word, _)| format!("`{word}`")).collect();
    let error = ValueError::new(format!("expected {}, found `{written}`", words.join(" or ")));
    match nearest(&written, choices.iter().map(|(word, _)| *word)) {
        Some(near) => Err(error.hint(format!("did you mean `{near}`?"))),
        None => Err(error),
    }
}

/// Returns the schema of those names of a choice that are described.
fn names_schema<T: NamedValues>(is_described: impl Fn(&T) -> bool) -> Value {
    let names = T::NAMES.iter().enumerate().filter(|(_, (_, value))| is_described(value));
    let words = names.map(|(index, (name, _))| match T::ABOUTS.get(index) {
        Some(about) => word_schema(name, about.concat().trim()),
        None => json!({ "type": "string", "const": name }),
    });
    json!({ "oneOf": words.collect::<Vec<Value>>() })
}

fn word_schema(word: &str, about: &str) -> Value {
    json!({ "description": about, "type": "string", "const": word })
}

fn wrong_kind(expected: &str, found: &DeValue, example: &str) -> ValueError {
    ValueError::new(format!("expected {expected}, found {}", kind(found)))
        .hint(format!("write `\"{example}\"`"))
}

/// Returns the error for a number in place of a quantity, from that of the same number in quotes.
fn without_unit(
    number: &str,
    error: Option<QuantityError>,
    expected: &str,
    (unit, units): (&str, &str),
) -> ValueError {
    let error =
        error.map_or_else(|| ValueError::new(format!("expected {expected} in quotes")), quantity_error);
    if number.starts_with(|c: char| c.is_ascii_digit()) {
        error.hint(format!("write `\"{number} {unit}\"` if {units} are meant"))
    } else {
        error
    }
}

fn quantity_error(error: QuantityError) -> ValueError {
    ValueError::new(error.message).hint(error.hint)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reader::read_toml;

    /// Reads the value of `v`; the error is shown as a log has it, without its position.
    fn check<T>(value: &str, spec: ValueSpec<T>) -> Result<T, String> {
        let text = format!("v = {value}");
        let read = read_toml("a test", "t.toml", &text, |mut top| top.required("v", "", spec));
        read.map_err(|error| error.brief().replace("`t.toml:1:5`: `v` is not valid: ", ""))
    }

    #[test]
    fn times_and_sizes_need_quotes_and_a_unit() {
        assert_eq!(check("\"1m30s\"", time()), Ok(Nanos::from_secs(90)));
        assert_eq!(
            check("\"40 d\"", time_up_to(Nanos::from_secs(40 * 86_400))),
            Ok(Nanos::from_secs(40 * 86_400))
        );
        assert_eq!(check("\"64KiB\"", size()), Ok(Bytes(65_536)));
        for (found, expected) in [
            (
                check("10", time()).err(),
                "expected a time with its unit, found `10` without one\nhint: write `\"10 s\"` if seconds are meant",
            ),
            (check("true", time()).err(), "expected a time, found a boolean\nhint: write `\"600 s\"`"),
            (check("\"0 s\"", time_above_zero()).err(), "expected a time above zero"),
            (
                check("1.5", size()).err(),
                "expected a size with its unit, found `1.5` without one\nhint: write `\"1.5 B\"` if bytes are meant",
            ),
            (check("[]", size()).err(), "expected a size, found an array\nhint: write `\"64 MiB\"`"),
            (
                check("\"5 MB\"", size()).err(),
                "`MB` is not a unit of size\nhint: write a number and a unit, such as `5 MiB`; units are B, KiB, MiB, GiB, TiB",
            ),
        ] {
            assert_eq!(found.as_deref(), Some(expected));
        }
    }

    #[test]
    fn lists_may_be_empty_where_that_means_something() {
        assert_eq!(check("[]", flag().list()), Ok(vec![]));
        assert_eq!(check("[true, false]", flag().list()), Ok(vec![true, false]));
        assert_eq!(
            check("[]", flag().non_empty_list()).unwrap_err(),
            "expected an array, found an empty one"
        );
        assert_eq!(check("[1]", flag().list()).unwrap_err(), "expected `true` or `false`, found an integer");
    }

    #[test]
    fn whole_numbers_are_read_in_every_notation() {
        for (text, number) in [("7", 7), ("+7", 7), ("-0", 0), ("1_000", 1000), ("0x1f", 31), ("0b11", 3)] {
            assert_eq!(check(text, whole(0..=1000)), Ok(number), "{text}");
        }
        assert_eq!(check("-1", whole(1..=u64::MAX)).unwrap_err(), "expected a whole number from 1, found -1");
        assert_eq!(check("1e3", whole(0..=9)).unwrap_err(), "expected a whole number from 0 to 9, found 1e3");
    }
}
