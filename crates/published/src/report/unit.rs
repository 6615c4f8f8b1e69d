//! Printed units and their scales in base units.

/// The dimension of a unit. The base units are s, /s, B, B/s and Hz; parts are ratios.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Dimension {
    /// A plain number: a count, a ratio, a score.
    Plain,
    /// A time, in s.
    Time,
    /// A number per time, in /s.
    PerTime,
    /// An amount of data, in B.
    Data,
    /// Data per time, in B/s.
    DataPerTime,
    /// A frequency, in Hz.
    Frequency,
    /// Money, in units of a currency: its code.
    Money(String),
}

/// A unit: its dimension and its size in base units.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct PrintedUnit {
    pub(super) dimension: Dimension,
    pub(super) scale: f64,
}

/// T1 and T3 lines, in B/s. Source: ANSI T1.403 and T1.107, 1.544 and 44.736 Mbit/s.
const LINES: [(&str, f64); 2] = [("T1", 1.544e6 / 8.0), ("T3", 44.736e6 / 8.0)];

const TIMES: [(&str, f64); 7] =
    [("ns", 1e-9), ("us", 1e-6), ("ms", 1e-3), ("s", 1.0), ("min", 60.0), ("h", 3600.0), ("days", 86400.0)];

const DATA: [(&str, f64); 15] = [
    ("B", 1.0),
    ("kB", 1e3),
    ("MB", 1e6),
    ("GB", 1e9),
    ("TB", 1e12),
    ("KiB", 1024.0),
    ("MiB", 1_048_576.0),
    ("GiB", 1_073_741_824.0),
    ("TiB", 1_099_511_627_776.0),
    ("bit", 0.125),
    ("kbit", 125.0),
    ("Mbit", 125e3),
    ("Gbit", 125e6),
    ("Kibit", 128.0),
    ("Mibit", 131_072.0),
];

const FREQUENCIES: [(&str, f64); 4] = [("Hz", 1.0), ("kHz", 1e3), ("MHz", 1e6), ("GHz", 1e9)];

impl PrintedUnit {
    /// Reads a unit; the empty text is that of a plain number. `None` if there is no such unit.
    pub(super) fn parse(text: &str) -> Option<PrintedUnit> {
        let unit = |dimension, scale| Some(PrintedUnit { dimension, scale });
        match text {
            "" => return unit(Dimension::Plain, 1.0),
            "%" => return unit(Dimension::Plain, 0.01),
            _ => {}
        }
        if let Some(per) = text.strip_prefix('/') {
            return unit(Dimension::PerTime, 1.0 / times(per)?);
        }
        if let Some((data, per)) = text.split_once('/') {
            return unit(Dimension::DataPerTime, of(&DATA, data)? / times(per)?);
        }
        let tables = [
            (&TIMES[..], Dimension::Time),
            (&DATA[..], Dimension::Data),
            (&FREQUENCIES[..], Dimension::Frequency),
            (&LINES[..], Dimension::DataPerTime),
        ];
        let found = tables.into_iter().find_map(|(table, dimension)| Some((of(table, text)?, dimension)));
        match found {
            Some((scale, dimension)) => unit(dimension, scale),
            None if is_currency(text) => unit(Dimension::Money(text.to_owned()), 1.0),
            None => None,
        }
    }
}

fn of(table: &[(&str, f64)], text: &str) -> Option<f64> {
    table.iter().find(|(name, _)| *name == text).map(|(_, scale)| *scale)
}

/// Reads `s` or, with a number, `8h`; in s.
fn times(text: &str) -> Option<f64> {
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let number =
        if number.is_empty() { 1.0 } else { number.parse::<f64>().ok().filter(|number| 0.0 < *number)? };
    Some(number * of(&TIMES, unit)?)
}

fn is_currency(text: &str) -> bool {
    text.len() == 3 && text.bytes().all(|byte| byte.is_ascii_uppercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_read() {
        for (text, dimension, scale) in [
            ("", Dimension::Plain, 1.0),
            ("%", Dimension::Plain, 0.01),
            ("min", Dimension::Time, 60.0),
            ("/min", Dimension::PerTime, 1.0 / 60.0),
            ("/8h", Dimension::PerTime, 1.0 / 28_800.0),
            ("GiB", Dimension::Data, 1_073_741_824.0),
            ("Mibit/s", Dimension::DataPerTime, 131_072.0),
            ("Mbit/s", Dimension::DataPerTime, 125_000.0),
            ("T1", Dimension::DataPerTime, 193_000.0),
            ("MHz", Dimension::Frequency, 1e6),
            ("USD", Dimension::Money("USD".to_owned()), 1.0),
        ] {
            assert_eq!(PrintedUnit::parse(text), Some(PrintedUnit { dimension, scale }), "{text}");
        }
    }

    #[test]
    fn unknown_units_are_refused() {
        for text in ["sec", "/sec", "/0h", "B/", "/", "Mbit/s/s", "usd", "USDX", "mb", "1s", " s"] {
            assert_eq!(PrintedUnit::parse(text), None, "{text}");
        }
    }
}
