//! Reading single values that only definitions have: users and rates.

use languages::reader::{ValueError, kind};
use languages::{LoadListError, RATE_MAX, parse_load, parse_rates};
use toml::de::DeValue;

/// Reads a list of numbers of users.
pub(super) fn users(value: &DeValue) -> Result<Vec<f64>, ValueError> {
    levels(value, |text| Ok(parse_load(text)?.into_iter().map(f64::from).collect()))
}

/// Reads a list of rates in operations per second.
pub(super) fn rates(value: &DeValue) -> Result<Vec<f64>, ValueError> {
    levels(value, parse_rates)
}

fn levels(
    value: &DeValue,
    parse: impl Fn(&str) -> Result<Vec<f64>, LoadListError>,
) -> Result<Vec<f64>, ValueError> {
    match value {
        DeValue::String(text) => parse(text).map_err(|error| ValueError {
            label: error.message,
            hint: Some(error.hint),
            inside: Some(error.span),
        }),
        other => Err(ValueError::new(format!("expected load levels in quotes, found {}", kind(other)))
            .hint("write a range with a step such as `\"10..200/10\"`, or a list such as `\"1,2,5\"`")),
    }
}

/// Reads one level of load: a number above zero.
pub(super) fn level(value: &DeValue) -> Result<f64, ValueError> {
    let found = match value {
        DeValue::Integer(number) => number.as_str(),
        DeValue::Float(number) => number.as_str(),
        other => kind(other),
    };
    let is_number = matches!(value, DeValue::Integer(_) | DeValue::Float(_));
    match found.parse::<f64>() {
        Ok(level) if is_number && 0.0 < level && level <= RATE_MAX => Ok(level),
        _ => Err(ValueError::new(format!("expected a number above 0 and up to {RATE_MAX}, found {found}"))),
    }
}
