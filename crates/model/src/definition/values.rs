//! Reading single values that only definitions have: times, users and rates.

use languages::reader::{ValueError, kind};
use languages::{LoadListError, QuantityError, RATE_MAX, parse_load, parse_rates, parse_time};
use toml::de::DeValue;
use units::Nanos;

/// Reads a time with its unit.
pub(super) fn time(value: &DeValue) -> Result<Nanos, ValueError> {
    match value {
        DeValue::String(text) => parse_time(text).map_err(quantity_error),
        DeValue::Integer(number) => Err(time_without_unit(number.as_str())),
        DeValue::Float(number) => Err(time_without_unit(number.as_str())),
        other => {
            Err(ValueError::new(format!("expected a time, found {}", kind(other))).hint("write `\"600 s\"`"))
        }
    }
}

/// Reads a time that is not zero.
pub(super) fn time_above_zero(value: &DeValue) -> Result<Nanos, ValueError> {
    match time(value)? {
        Nanos::ZERO => Err(ValueError::new("expected a time above zero")),
        time => Ok(time),
    }
}

fn time_without_unit(number: &str) -> ValueError {
    let error =
        parse_time(number).map_or_else(quantity_error, |_| ValueError::new("expected a time in quotes"));
    match number.starts_with(|c: char| c.is_ascii_digit()) {
        true => error.hint(format!("write `\"{number} s\"` if seconds are meant")),
        false => error,
    }
}

fn quantity_error(error: QuantityError) -> ValueError {
    ValueError::new(error.message).hint(error.hint)
}

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
