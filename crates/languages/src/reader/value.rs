//! Readers of single values, with the errors for invalid ones.

use std::ops::RangeInclusive;

use toml::de::DeValue;
use units::{Bytes, Nanos};

use super::{ValueError, kind};
use crate::diagnostics::nearest;
use crate::foreign::is_terminal_control;
use crate::names::Named;
use crate::quantity::{QuantityError, TIME_MAX, parse_bytes, parse_time_up_to};

/// The longest title or summary.
pub(super) const LINE_MAX: usize = 500;

/// The longest id.
pub(super) const ID_MAX: usize = 64;

/// The largest size of a file: a larger one is probably a mistake.
pub(super) const FILE_BYTES_MAX: u64 = 1 << 40;

/// Reads a text.
///
/// # Errors
/// It is not a string.
pub fn text(value: &DeValue) -> Result<String, ValueError> {
    match value {
        DeValue::String(text) => Ok(text.to_string()),
        other => Err(ValueError::new(format!("expected a string, found {}", kind(other)))),
    }
}

/// Reads a text of one line that is not empty.
///
/// # Errors
/// It is not a string, is empty, has control characters or line breaks, or is longer than 500 bytes.
pub fn line(value: &DeValue) -> Result<String, ValueError> {
    let line = text(value)?;
    if line.trim().is_empty() {
        return Err(ValueError::new("expected a string, found an empty one"));
    }
    if line.contains(is_terminal_control) || LINE_MAX < line.len() {
        return Err(ValueError::new(format!("expected one line of at most {LINE_MAX} bytes")));
    }
    Ok(line)
}

/// Reads a name that is easy to type and can be part of a file name.
///
/// # Errors
/// It is not a name of at most 64 lower-case letters, digits, `-` and `.`, a letter or digit first.
pub fn id(value: &DeValue) -> Result<String, ValueError> {
    let id = line(value)?;
    let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-' || c == '.';
    let starts_well = id.starts_with(|c: char| c.is_ascii_alphanumeric());
    if !starts_well || !id.chars().all(is_plain) || ID_MAX < id.len() {
        let hint =
            "use lower-case letters, digits, `-` and `.`, a letter or digit first, such as `my-site-1`";
        return Err(ValueError::new(format!("expected a short name, found `{id}`")).hint(hint));
    }
    Ok(id)
}

/// Reads a whole number within limits.
pub fn whole(limits: RangeInclusive<u64>) -> impl Fn(&DeValue) -> Result<u64, ValueError> {
    move |value| {
        let expected = match (limits.start(), limits.end()) {
            (least, most) if least == most => format!("expected {least}"),
            (least, &u64::MAX) => format!("expected a whole number from {least}"),
            (least, most) => format!("expected a whole number from {least} to {most}"),
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
    }
}

/// Reads the size of a file in bytes: at most 1 TiB, a larger one is probably a mistake.
///
/// # Errors
/// It is not a whole number, or larger.
pub fn bytes(value: &DeValue) -> Result<u64, ValueError> {
    whole(0..=FILE_BYTES_MAX)(value)
}

/// Reads a whole number within limits that fit 32 bits.
pub fn whole_u32(limits: RangeInclusive<u32>) -> impl Fn(&DeValue) -> Result<u32, ValueError> {
    let read = whole(u64::from(*limits.start())..=u64::from(*limits.end()));
    move |value| read(value).map(|number| number as u32)
}

/// Reads a ratio from 0 to 1.
///
/// # Errors
/// It is not a number from 0 to 1.
pub fn ratio(value: &DeValue) -> Result<f64, ValueError> {
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
}

/// Reads a list that is not empty; `read` reads each item.
pub fn list<T>(
    read: impl Fn(&DeValue) -> Result<T, ValueError>,
) -> impl Fn(&DeValue) -> Result<Vec<T>, ValueError> {
    let read = items(read);
    move |value| match value {
        DeValue::Array(items) if items.is_empty() => {
            Err(ValueError::new("expected an array, found an empty one"))
        }
        _ => read(value),
    }
}

/// Reads a list, which may be empty; `read` reads each item.
pub fn items<T>(
    read: impl Fn(&DeValue) -> Result<T, ValueError>,
) -> impl Fn(&DeValue) -> Result<Vec<T>, ValueError> {
    move |value| match value {
        DeValue::Array(items) => items.iter().map(|item| read(item.get_ref())).collect(),
        other => Err(ValueError::new(format!("expected an array, found {}", kind(other)))),
    }
}

/// Reads true or false.
///
/// # Errors
/// It is neither.
pub fn flag(value: &DeValue) -> Result<bool, ValueError> {
    match value {
        DeValue::Boolean(flag) => Ok(*flag),
        other => Err(ValueError::new(format!("expected `true` or `false`, found {}", kind(other)))),
    }
}

/// Reads the name of a value of a choice.
///
/// # Errors
/// It is not one of the names.
pub fn choice<T: Named>(value: &DeValue) -> Result<T, ValueError> {
    one_of(T::NAMES)(value)
}

/// Reads one of several words.
pub fn one_of<T: Clone>(choices: &[(&'static str, T)]) -> impl Fn(&DeValue) -> Result<T, ValueError> {
    move |value| {
        let written = text(value)?;
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
}

/// Reads a time with its unit, at most 30 days: a longer one is probably a mistake.
///
/// # Errors
/// It is not a string with such a time.
pub fn time(value: &DeValue) -> Result<Nanos, ValueError> {
    time_up_to(TIME_MAX)(value)
}

/// Reads a time with its unit, with another maximum.
pub fn time_up_to(max: Nanos) -> impl Fn(&DeValue) -> Result<Nanos, ValueError> {
    move |value| {
        let number = match value {
            DeValue::String(text) => return parse_time_up_to(text, max).map_err(quantity_error),
            DeValue::Integer(number) => number.as_str(),
            DeValue::Float(number) => number.as_str(),
            other => return Err(wrong_kind("a time", other, "600 s")),
        };
        Err(without_unit(number, parse_time_up_to(number, max).err(), "a time", ("s", "seconds")))
    }
}

/// Reads a time that is not zero, at most 30 days.
///
/// # Errors
/// It is not a string with such a time.
pub fn time_above_zero(value: &DeValue) -> Result<Nanos, ValueError> {
    above_zero(time(value)?)
}

/// Refuses a time of zero.
///
/// # Errors
/// The time is zero.
pub fn above_zero(time: Nanos) -> Result<Nanos, ValueError> {
    if time == Nanos::ZERO { Err(ValueError::new("expected a time above zero")) } else { Ok(time) }
}

/// Reads a size with its unit.
///
/// # Errors
/// It is not a string with a size of at most 1 PiB.
pub fn size(value: &DeValue) -> Result<Bytes, ValueError> {
    let number = match value {
        DeValue::String(text) => return parse_bytes(text).map_err(quantity_error),
        DeValue::Integer(number) => number.as_str(),
        DeValue::Float(number) => number.as_str(),
        other => return Err(wrong_kind("a size", other, "64 MiB")),
    };
    Err(without_unit(number, parse_bytes(number).err(), "a size", ("B", "bytes")))
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
    match number.starts_with(|c: char| c.is_ascii_digit()) {
        true => error.hint(format!("write `\"{number} {unit}\"` if {units} are meant")),
        false => error,
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
    fn check<T>(value: &str, read: impl Fn(&DeValue) -> Result<T, ValueError>) -> Result<T, String> {
        let text = format!("v = {value}");
        let read = read_toml("a test", "t.toml", &text, |mut top| top.required_undescribed("v", read));
        read.map_err(|error| error.brief().replace("`t.toml:1:5`: `v` is not valid: ", ""))
    }

    #[test]
    fn times_and_sizes_need_quotes_and_a_unit() {
        assert_eq!(check("\"1m30s\"", time), Ok(Nanos::from_secs(90)));
        assert_eq!(
            check("\"40 d\"", time_up_to(Nanos::from_secs(40 * 86_400))),
            Ok(Nanos::from_secs(40 * 86_400))
        );
        assert_eq!(check("\"64KiB\"", size), Ok(Bytes(65_536)));
        for (found, expected) in [
            (
                check("10", time).err(),
                "expected a time with its unit, found `10` without one\nhint: write `\"10 s\"` if seconds are meant",
            ),
            (check("true", time).err(), "expected a time, found a boolean\nhint: write `\"600 s\"`"),
            (check("\"0 s\"", time_above_zero).err(), "expected a time above zero"),
            (
                check("1.5", size).err(),
                "expected a size with its unit, found `1.5` without one\nhint: write `\"1.5 B\"` if bytes are meant",
            ),
            (check("[]", size).err(), "expected a size, found an array\nhint: write `\"64 MiB\"`"),
            (
                check("\"5 MB\"", size).err(),
                "`MB` is not a unit of size\nhint: write a number and a unit, such as `5 MiB`; units are B, KiB, MiB, GiB, TiB",
            ),
        ] {
            assert_eq!(found.as_deref(), Some(expected));
        }
    }

    #[test]
    fn lists_may_be_empty_where_that_means_something() {
        assert_eq!(check("[]", items(flag)), Ok(vec![]));
        assert_eq!(check("[true, false]", items(flag)), Ok(vec![true, false]));
        assert_eq!(check("[]", list(flag)).unwrap_err(), "expected an array, found an empty one");
        assert_eq!(check("[1]", items(flag)).unwrap_err(), "expected `true` or `false`, found an integer");
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
