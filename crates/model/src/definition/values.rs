//! Reading single values of a definition: what each may be, and what to say if it is not.

use std::ops::RangeInclusive;

use toml::de::DeValue;
use units::Nanos;

use super::load_list::{LoadListError, RATE_MAX, parse_load, parse_rates};
use super::quantity::{QuantityError, parse_time};
use super::reader::{Fault, kind};
use crate::diagnostics::nearest;

/// The longest title or summary.
const LINE_MAX: usize = 500;

/// The longest id.
const ID_MAX: usize = 64;

/// Reads a text.
pub(super) fn text(value: &DeValue) -> Result<String, Fault> {
    match value {
        DeValue::String(text) => Ok(text.to_string()),
        other => Err(Fault::new(format!("expected a text in quotes, found {}", kind(other)))),
    }
}

/// Reads a text of one line that is not empty.
pub(super) fn line(value: &DeValue) -> Result<String, Fault> {
    let line = text(value)?;
    if line.trim().is_empty() {
        return Err(Fault::new("expected a text, found an empty one"));
    }
    if line.chars().any(char::is_control) || LINE_MAX < line.len() {
        return Err(Fault::new(format!("expected one line of at most {LINE_MAX} bytes")));
    }
    Ok(line)
}

/// Reads a name that can be typed and be part of a file's name.
pub(super) fn id(value: &DeValue) -> Result<String, Fault> {
    let id = line(value)?;
    let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-' || c == '.';
    let starts_well = id.starts_with(|c: char| c.is_ascii_alphanumeric());
    if !starts_well || !id.chars().all(is_plain) || ID_MAX < id.len() {
        let hint =
            "use lower-case letters, digits, `-` and `.`, a letter or digit first, such as `my-site-1`";
        return Err(Fault::new(format!("expected a short name, found `{id}`")).hint(hint));
    }
    Ok(id)
}

/// Reads a time with its unit.
pub(super) fn time(value: &DeValue) -> Result<Nanos, Fault> {
    match value {
        DeValue::String(text) => parse_time(text).map_err(quantity_fault),
        DeValue::Integer(number) => Err(time_without_unit(number.as_str())),
        DeValue::Float(number) => Err(time_without_unit(number.as_str())),
        other => Err(Fault::new(format!("expected a time, found {}", kind(other))).hint("write `\"600 s\"`")),
    }
}

/// Reads a time that is not zero.
pub(super) fn time_above_zero(value: &DeValue) -> Result<Nanos, Fault> {
    match time(value)? {
        Nanos::ZERO => Err(Fault::new("expected a time above zero")),
        time => Ok(time),
    }
}

fn time_without_unit(number: &str) -> Fault {
    let fault = parse_time(number).map_or_else(quantity_fault, |_| Fault::new("expected a time in quotes"));
    match number.starts_with(|c: char| c.is_ascii_digit()) {
        true => fault.hint(format!("write `\"{number} s\"` if seconds are meant")),
        false => fault,
    }
}

fn quantity_fault(error: QuantityError) -> Fault {
    Fault::new(error.message).hint(error.hint)
}

/// Reads a list of numbers of users.
pub(super) fn users(value: &DeValue) -> Result<Vec<f64>, Fault> {
    levels(value, |text| Ok(parse_load(text)?.into_iter().map(f64::from).collect()))
}

/// Reads a list of rates in operations per second.
pub(super) fn rates(value: &DeValue) -> Result<Vec<f64>, Fault> {
    levels(value, parse_rates)
}

fn levels(
    value: &DeValue,
    parse: impl Fn(&str) -> Result<Vec<f64>, LoadListError>,
) -> Result<Vec<f64>, Fault> {
    match value {
        DeValue::String(text) => parse(text).map_err(|error| Fault {
            label: error.message,
            hint: Some(error.hint),
            inside: Some(error.span),
        }),
        other => Err(Fault::new(format!("expected load levels in quotes, found {}", kind(other)))
            .hint("write a range with a step such as `\"10..200/10\"`, or a list such as `\"1,2,5\"`")),
    }
}

/// Reads one level of load: a number above zero.
pub(super) fn level(value: &DeValue) -> Result<f64, Fault> {
    let found = match value {
        DeValue::Integer(number) => number.as_str(),
        DeValue::Float(number) => number.as_str(),
        other => kind(other),
    };
    let is_number = matches!(value, DeValue::Integer(_) | DeValue::Float(_));
    match found.parse::<f64>() {
        Ok(level) if is_number && 0.0 < level && level <= RATE_MAX => Ok(level),
        _ => Err(Fault::new(format!("expected a number above 0 and up to {RATE_MAX}, found {found}"))),
    }
}

/// Reads a whole number within limits.
pub(super) fn whole(limits: RangeInclusive<u64>) -> impl Fn(&DeValue) -> Result<u64, Fault> {
    move |value| {
        let expected = match (limits.start(), limits.end()) {
            (least, most) if least == most => format!("expected {least}"),
            (least, most) => format!("expected a whole number from {least} to {most}"),
        };
        let found = match value {
            DeValue::Integer(number) => {
                match u64::from_str_radix(number.as_str().trim_start_matches('+'), number.radix()) {
                    Ok(number) if limits.contains(&number) => return Ok(number),
                    _ => number.as_str(),
                }
            }
            DeValue::Float(number) => number.as_str(),
            other => kind(other),
        };
        Err(Fault::new(format!("{expected}, found {found}")))
    }
}

/// Reads the size of a file in bytes: at most 1 TiB, larger ones are a slip.
pub(super) fn bytes(value: &DeValue) -> Result<u64, Fault> {
    whole(0..=1 << 40)(value)
}

/// Reads a whole number within limits that fit 32 bits.
pub(super) fn whole_u32(limits: RangeInclusive<u32>) -> impl Fn(&DeValue) -> Result<u32, Fault> {
    let read = whole(u64::from(*limits.start())..=u64::from(*limits.end()));
    move |value| read(value).map(|number| number as u32)
}

/// Reads a ratio from 0 to 1.
pub(super) fn ratio(value: &DeValue) -> Result<f64, Fault> {
    let found = match value {
        DeValue::Integer(number) => number.as_str(),
        DeValue::Float(number) => number.as_str(),
        DeValue::String(text) => text,
        other => kind(other),
    };
    let is_number = matches!(value, DeValue::Integer(_) | DeValue::Float(_));
    match found.parse::<f64>() {
        Ok(ratio) if is_number && (0.0..=1.0).contains(&ratio) => Ok(ratio),
        _ => {
            Err(Fault::new(format!("expected a ratio from 0 to 1, found {found}"))
                .hint("write 1 % as `0.01`"))
        }
    }
}

/// Reads a list; `read` reads each item.
pub(super) fn list<T>(
    read: impl Fn(&DeValue) -> Result<T, Fault>,
) -> impl Fn(&DeValue) -> Result<Vec<T>, Fault> {
    move |value| match value {
        DeValue::Array(items) if items.is_empty() => Err(Fault::new("expected a list, found an empty one")),
        DeValue::Array(items) => items.iter().map(|item| read(item.get_ref())).collect(),
        other => Err(Fault::new(format!("expected a list, found {}", kind(other)))),
    }
}

/// Reads true or false.
pub(super) fn flag(value: &DeValue) -> Result<bool, Fault> {
    match value {
        DeValue::Boolean(flag) => Ok(*flag),
        other => Err(Fault::new(format!("expected `true` or `false`, found {}", kind(other)))),
    }
}

/// Reads one of several words.
pub(super) fn one_of<T: Clone>(choices: &[(&'static str, T)]) -> impl Fn(&DeValue) -> Result<T, Fault> {
    move |value| {
        let written = text(value)?;
        if let Some((_, choice)) = choices.iter().find(|(word, _)| *word == written) {
            return Ok(choice.clone());
        }
        let words: Vec<String> = choices.iter().map(|(word, _)| format!("`{word}`")).collect();
        let fault = Fault::new(format!("expected {}, found `{written}`", words.join(" or ")));
        match nearest(&written, choices.iter().map(|(word, _)| *word)) {
            Some(near) => Err(fault.hint(format!("did you mean `{near}`?"))),
            None => Err(fault),
        }
    }
}
