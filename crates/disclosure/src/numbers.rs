//! How numbers are written for people: fixed decimals, one place for every unit, `–` for what is not there.
//!
//! | quantity | written as |
//! |---|---|
//! | rate, Little's load factor, Mbit/s | 2 decimals |
//! | errors per second | 4 decimals |
//! | mean response time in the results table | seconds, at least 4 decimals and 3 significant digits |
//! | times elsewhere | three significant digits with the unit that fits |
//! | money | the decimals of its currency; a price for one of something has three significant digits at least |
//! | counts | digits in groups of three from 10 000 on |

use units::{Bytes, Money, Nanos, UnitPrice};

/// What stands for a value that is absent or not a number.
pub const ABSENT: &str = "–";

/// Writes a number with fixed decimals.
pub fn fixed(value: impl Into<Option<f64>>, decimals: usize) -> String {
    match value.into() {
        Some(value) if value.is_finite() => group(&format!("{value:.decimals$}")),
        _ => ABSENT.to_owned(),
    }
}

/// Writes a count.
pub fn count(value: impl Into<Option<u64>>) -> String {
    value.into().map_or(ABSENT.to_owned(), |value| group(&value.to_string()))
}

/// Writes a ratio as percent.
pub fn percent(ratio: impl Into<Option<f64>>, decimals: usize) -> String {
    match ratio.into() {
        Some(ratio) if ratio.is_finite() => format!("{} %", fixed(ratio * 100.0, decimals)),
        _ => ABSENT.to_owned(),
    }
}

/// Writes a time with the unit that fits it.
pub fn time(value: impl Into<Option<Nanos>>) -> String {
    value
        .into()
        .map_or(ABSENT.to_owned(), |time| if time == Nanos::ZERO { "0".to_owned() } else { time.to_string() })
}

/// Writes a time given in seconds with the unit that fits it.
pub fn seconds(value: impl Into<Option<f64>>) -> String {
    match value.into() {
        Some(value) if value.is_finite() => time(Nanos::from_secs_f64(value)),
        _ => ABSENT.to_owned(),
    }
}

/// Writes a length of time that somebody chose: `10 min`, `5 s`, `8.5 s`.
pub fn length(value: Nanos) -> String {
    let seconds = value.as_secs_f64();
    if 0.0 < seconds && seconds < 1.0 {
        return time(value);
    }
    let whole = seconds.fract() == 0.0;
    if whole && 120.0 <= seconds && seconds % 60.0 == 0.0 {
        return format!("{} min", seconds / 60.0);
    }
    if whole { format!("{seconds} s") } else { format!("{seconds:.1} s") }
}

/// Writes the two ends of an interval of times, the unit once if both have the same.
pub fn time_range(low: Nanos, high: Nanos) -> String {
    let (low, high) = (time(low), time(high));
    match (low.split_once(' '), high.split_once(' ')) {
        (Some((number, unit)), Some((_, other))) if unit == other => format!("{number}–{high}"),
        _ => format!("{low}–{high}"),
    }
}

/// Writes the two ends of an interval of times; nothing if there is none.
pub fn time_interval(interval: Option<(Nanos, Nanos)>) -> String {
    interval.map_or(String::new(), |(low, high)| time_range(low, high))
}

/// Writes the two ends of an interval of numbers.
pub fn range(interval: Option<(f64, f64)>, decimals: usize) -> String {
    interval.map_or(ABSENT.to_owned(), |(low, high)| {
        format!("{}–{}", fixed(low, decimals), fixed(high, decimals))
    })
}

/// Writes a size.
pub fn bytes(value: u64) -> String {
    Bytes(value).to_string()
}

/// Writes an amount of money with its currency.
pub fn money(value: Money) -> String {
    format!("{} {}", group(&value.digits()), value.currency)
}

/// Writes a price for one of something with its currency.
pub fn unit_price(value: UnitPrice) -> String {
    format!("{} {}", group(&value.digits()), value.currency)
}

/// Returns how many decimals give the smallest of the values three significant digits: 4 to 7.
pub fn decimals_for(values: impl Iterator<Item = f64>) -> usize {
    let smallest = values.filter(|value| 0.0 < *value && value.is_finite()).fold(f64::INFINITY, f64::min);
    if smallest.is_infinite() {
        return 4;
    }
    (2 - smallest.log10().floor() as i32).clamp(4, 7) as usize
}

/// Sets narrow spaces between groups of three digits, from five digits on.
pub fn group(number: &str) -> String {
    let (sign, digits) = number.strip_prefix('-').map_or(("", number), |rest| ("−", rest));
    let (whole, fraction) = digits.split_at(digits.find('.').unwrap_or(digits.len()));
    let mut text = String::from(sign);
    for (index, digit) in whole.chars().enumerate() {
        if 4 < whole.len() && 0 < index && (whole.len() - index) % 3 == 0 {
            text.push('\u{202f}');
        }
        text.push(digit);
    }
    text + fraction
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_absent_is_a_dash() {
        assert_eq!([fixed(None, 2), fixed(f64::NAN, 2), count(None), time(None)], ["–"; 4]);
        assert_eq!([percent(f64::INFINITY, 1), seconds(None), range(None, 2)], ["–"; 3]);
    }

    #[test]
    fn rates_are_written_as_in_the_published_reports() {
        assert_eq!(fixed(285.1234, 2), "285.12");
        assert_eq!(fixed(0.016_66, 4), "0.0167");
        assert_eq!(fixed(12_345.678, 2), "12\u{202f}345.68");
        assert_eq!((count(9_999), count(1_234_567)), ("9999".into(), "1\u{202f}234\u{202f}567".into()));
        assert_eq!(fixed(-12_345.0, 0), "−12\u{202f}345");
    }

    #[test]
    fn times_take_the_unit_that_fits() {
        assert_eq!([seconds(0.0557), seconds(1.5), seconds(0.000_012)], ["55.7 ms", "1.50 s", "12.0 µs"]);
        assert_eq!(time_range(Nanos::from_millis(11), Nanos::from_millis(12)), "11.0–12.0 ms");
        assert_eq!(time_range(Nanos::from_micros(980), Nanos::from_millis(1)), "980 µs–1.00 ms");
        let lengths = [600, 90, 5].map(|seconds| length(Nanos::from_secs(seconds)));
        assert_eq!(lengths, ["10 min", "90 s", "5 s"]);
        assert_eq!([length(Nanos::from_millis(8_500)), length(Nanos::ZERO)], ["8.5 s", "0 s"]);
    }

    #[test]
    fn small_response_times_keep_three_digits() {
        assert_eq!(decimals_for([0.0557, 0.4509].into_iter()), 4);
        assert_eq!(decimals_for([0.000_812, 0.4509].into_iter()), 6);
        assert_eq!(decimals_for([].into_iter()), 4);
    }
}
