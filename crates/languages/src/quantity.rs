//! Quantities as people write them: a number and a unit, `600 s`, `1.5 min`, `5 MiB`; times also in several parts,
//! `1m30s`.

use units::{Bytes, Nanos};

/// Seconds of a day.
const DAY_S: u64 = 24 * 3600;

/// Maximum time of [`parse_time`]: a longer one is probably a mistake.
pub(crate) const TIME_MAX: Nanos = Nanos::from_secs(30 * DAY_S);

/// Maximum size, 1 PiB: a larger one is probably a mistake.
const BYTES_MAX: Bytes = Bytes(1 << 50);

const TIME_UNITS: &[(&str, f64)] = &[
    ("ns", 1.0),
    ("us", 1e3),
    ("µs", 1e3),
    ("ms", 1e6),
    ("s", 1e9),
    ("m", 60e9),
    ("min", 60e9),
    ("h", 3600e9),
    ("d", 86_400e9),
];

/// Binary units have an `i`; `kB` and `MB` are not accepted because they are ambiguous.
const SIZE_UNITS: &[(&str, f64)] =
    &[("B", 1.0), ("KiB", 1024.0), ("MiB", 1048576.0), ("GiB", 1073741824.0), ("TiB", 1099511627776.0)];

/// A reason why a text is not the quantity that was expected.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct QuantityError {
    /// The message: what was expected and what was found.
    pub message: String,
    /// The remedy: what to write instead.
    pub hint: String,
}

/// Reads a time: `600 s`, `10ms`, `1.5 min`, or a sum of such parts, the larger unit first: `1m30s`, `1 h 30 min`.
/// Units: ns, us, ms, s, m or min, h, d.
///
/// # Errors
/// If number or unit is missing or unknown, the number is negative, the parts are not in order of their units, or the
/// time is longer than 30 days.
pub fn parse_time(text: &str) -> Result<Nanos, QuantityError> {
    parse_time_up_to(text, TIME_MAX)
}

/// Reads a time like [`parse_time`], with another maximum.
///
/// # Errors
/// As [`parse_time`], if the time is longer than `max`.
pub fn parse_time_up_to(text: &str, max: Nanos) -> Result<Nanos, QuantityError> {
    let mut nanos = 0.0;
    let mut unit_before = f64::INFINITY;
    let mut rest = text.trim();
    // A single part is read like several, so that the same mistake gets the same message.
    loop {
        let (part, after) = rest.split_at(part_end(rest));
        let (number, unit) = parse(part, "a time", TIME_UNITS, "600 s")?;
        if unit_before <= unit {
            let message = format!("`{text}` does not name its units from the largest to the smallest");
            return Err(error(message, "write a time such as `1m30s` or `90 s`"));
        }
        nanos += number * unit;
        unit_before = unit;
        rest = after.trim_start();
        if rest.is_empty() {
            break;
        }
    }
    if (max.0 as f64) < nanos {
        let days = max.0 / Nanos::from_secs(DAY_S).0;
        return Err(error(format!("`{text}` is longer than {days} days"), "write a shorter time"));
    }
    Ok(Nanos(nanos.round() as u64))
}

/// Reads a size: `500 B`, `5 MiB`. Units: B, KiB, MiB, GiB, TiB, in steps of 1024.
///
/// # Errors
/// If number or unit is missing or unknown, the number is negative or not a whole number of bytes,
/// or the size is above 1 PiB.
pub fn parse_bytes(text: &str) -> Result<Bytes, QuantityError> {
    let (number, unit) = parse(text, "a size", SIZE_UNITS, "5 MiB")?;
    let bytes = number * unit;
    if (BYTES_MAX.0 as f64) < bytes {
        return Err(error(format!("`{text}` is more than 1 PiB"), "write a smaller size"));
    }
    if bytes.fract() != 0.0 {
        return Err(error(format!("`{text}` is not a whole number of bytes"), "write it in B"));
    }
    Ok(Bytes(bytes as u64))
}

/// Writes a time so that [`parse_time`] gives the same again: in seconds, or the largest unit below that needs
/// no fraction.
pub fn time_text(time: Nanos) -> String {
    let units = [("s", 1_000_000_000), ("ms", 1_000_000), ("us", 1_000), ("ns", 1)];
    let (unit, size) =
        units.into_iter().find(|(_, size)| time.0.is_multiple_of(*size)).expect("all times are whole ns");
    format!("{} {unit}", time.0 / size)
}

/// Returns the end of the first part of a time: before the first digit that follows a unit.
fn part_end(text: &str) -> usize {
    let is_of_number = |c: char| c.is_ascii_digit() || c == '.';
    let unit = text.find(|c: char| !is_of_number(c)).unwrap_or(text.len());
    // A text that does not begin with a number is one part, so that the error shows all of it.
    let next = if unit == 0 { None } else { text[unit..].find(|c: char| c.is_ascii_digit()) };
    next.map_or(text.len(), |next| unit + next)
}

/// Reads a number and a unit; gives the number, which may be infinite, and the size of the unit in smallest ones.
fn parse(text: &str, what: &str, units: &[(&str, f64)], example: &str) -> Result<(f64, f64), QuantityError> {
    let text = text.trim();
    let names: Vec<&str> = units.iter().map(|(name, _)| *name).filter(|name| name.is_ascii()).collect();
    let hint = format!("write a number and a unit, such as `{example}`; units are {}", names.join(", "));
    if text.starts_with('-') {
        return Err(error(format!("{what} cannot be negative, found `{text}`"), &hint));
    }
    let digits = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let number = &text[..digits];
    let unit = text[digits..].trim_start();
    let Ok(number) = number.parse::<f64>() else {
        return Err(error(format!("expected {what}, found `{text}`"), &hint));
    };
    if unit.is_empty() {
        return Err(error(format!("expected {what} with its unit, found `{text}` without one"), &hint));
    }
    match units.iter().find(|(name, _)| *name == unit) {
        Some((_, size)) => Ok((number, *size)),
        None => Err(error(format!("`{unit}` is not a unit of {}", what.trim_start_matches("a ")), &hint)),
    }
}

fn error(message: String, hint: &str) -> QuantityError {
    QuantityError { message, hint: hint.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn numbers_with_units_are_read() {
        for (text, nanos) in [
            ("600 s", 600_000_000_000),
            ("10ms", 10_000_000),
            ("1.5 min", 90_000_000_000),
            ("0 s", 0),
            ("250 µs", 250_000),
            ("2 h", 7_200_000_000_000),
            ("5m", 300_000_000_000),
            ("1m30s", 90_000_000_000),
            ("1 h 30 min", 5_400_000_000_000),
            ("2h 15s 3ms", 7_215_003_000_000),
            ("1 d 12 h", 129_600_000_000_000),
        ] {
            assert_eq!(parse_time(text), Ok(Nanos(nanos)), "{text}");
        }
        assert_eq!(parse_time("31 d").unwrap_err().message, "`31 d` is longer than 30 days");
        assert_eq!(parse_time_up_to("31 d", Nanos::from_secs(40 * DAY_S)), Ok(Nanos::from_secs(31 * DAY_S)));
        assert_eq!(parse_bytes("5 MiB"), Ok(Bytes(5_242_880)));
        assert_eq!(parse_bytes("1.5 KiB"), Ok(Bytes(1536)));
    }

    #[test]
    fn anything_else_is_refused() {
        for text in [
            "", "s", "600", "-1 s", "nan s", "inf s", "1e3 s", "1.2.3 s", "600 sec", "1 s s", "31000 h",
            "5 MiB", "30s1m", "1m30", "1m1m", "1m-30s", "1m 30 x", "1m30s!",
        ] {
            assert!(parse_time(text).is_err(), "{text}");
        }
        for text in ["0.3 B", "5 MB", "5 kB", "9999999999 TiB", "-5 B"] {
            assert!(parse_bytes(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_missing_unit_is_explained() {
        let error = parse_time("600").unwrap_err();
        assert_eq!(error.message, "expected a time with its unit, found `600` without one");
        assert_eq!(
            error.hint,
            "write a number and a unit, such as `600 s`; units are ns, us, ms, s, m, min, h, d"
        );
    }

    #[test]
    fn times_are_written_in_seconds_where_they_are_whole() {
        let text = |seconds| time_text(Nanos::from_secs(seconds));
        assert_eq!([text(0), text(60), text(600), text(3600)], ["0 s", "60 s", "600 s", "3600 s"]);
        assert_eq!(time_text(Nanos::from_millis(1_500)), "1500 ms");
    }

    proptest! {
        #[test]
        fn any_text_is_answered(text: String) {
            let _ = (parse_time(&text), parse_bytes(&text));
        }

        #[test]
        fn a_written_time_reads_back(nanos in 0..TIME_MAX.0) {
            prop_assert_eq!(parse_time(&time_text(Nanos(nanos))), Ok(Nanos(nanos)));
        }
    }
}
