//! Readers of single values, with the errors for invalid ones.

use std::ops::RangeInclusive;

use toml::de::DeValue;

use super::{ValueError, kind};
use crate::diagnostics::nearest;
use crate::foreign::is_terminal_control;
use crate::names::Named;

/// The longest title or summary.
const LINE_MAX: usize = 500;

/// The longest id.
const ID_MAX: usize = 64;

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
        Err(ValueError::new(format!("{expected}, found {found}")))
    }
}

/// Reads the size of a file in bytes: at most 1 TiB, a larger one is probably a mistake.
///
/// # Errors
/// It is not a whole number, or larger.
pub fn bytes(value: &DeValue) -> Result<u64, ValueError> {
    whole(0..=1 << 40)(value)
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

/// Reads a list; `read` reads each item.
pub fn list<T>(
    read: impl Fn(&DeValue) -> Result<T, ValueError>,
) -> impl Fn(&DeValue) -> Result<Vec<T>, ValueError> {
    move |value| match value {
        DeValue::Array(items) if items.is_empty() => {
            Err(ValueError::new("expected an array, found an empty one"))
        }
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
