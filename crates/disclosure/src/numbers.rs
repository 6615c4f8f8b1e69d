//! Number formats for people. A quantity is formatted alike in all tables and sentences, so the rules depend on the value
//! alone; `–` stands for an absent value.
//!
//! | quantity | format |
//! |---|---|
//! | rate, throughput, Little's load factor, other measured figures | four significant digits, all digits of the integer part |
//! | times | three significant digits with the unit that suits the value: µs, ms, s |
//! | sizes | KiB, MiB, GiB: powers of 1024 |
//! | throughput | Mbit/s of 10⁶ bits |
//! | money | the decimals of its currency; unit prices at least three significant digits |
//! | counts | digits in groups of three from 1000 |

use analysis::MetricFormat;
use stats::decimal_megabits;
use units::{Bytes, Money, Nanos, UnitPrice};

/// Text for a value that is absent or not a number.
pub(crate) const ABSENT: &str = "–";

/// Formats a measured figure: four significant digits and all digits of the integer part; three below 1.
pub fn figure(value: impl Into<Option<f64>>) -> String {
    let value = value.into();
    let decimals = match value.map_or(0.0, f64::abs) {
        size if size == 0.0 || 1000.0 <= size => 0,
        size if 100.0 <= size => 1,
        size if 1.0 <= size => 2,
        size => (2 - size.log10().floor() as i32).clamp(3, 6) as usize,
    };
    fixed(value, decimals)
}

/// Formats an interval of measured figures; empty if there is none.
pub(crate) fn figure_interval(interval: Option<(f64, f64)>) -> String {
    interval.map_or(String::new(), |(low, high)| format!("{}–{}", figure(low), figure(high)))
}

/// Formats a throughput given in megabits of 2²⁰ bits per second in megabits of 10⁶ bits.
pub(crate) fn megabits(value: impl Into<Option<f64>>) -> String {
    figure(value.into().map(decimal_megabits))
}

/// Formats a throughput given in megabits of 10⁶ bits per second in kilobytes of 10³ bytes per second.
pub(crate) fn kilobytes(megabits: impl Into<Option<f64>>) -> String {
    figure(megabits.into().map(|megabits| megabits * 1e3 / 8.0))
}

/// Formats the value of a metric in its form.
pub(crate) fn metric(value: Option<f64>, format: MetricFormat) -> String {
    match format {
        MetricFormat::Figure | MetricFormat::Megabits => figure(value),
        MetricFormat::Percent => percent(value, 2),
    }
}

/// Formats a number with a fixed number of decimals.
pub(crate) fn fixed(value: impl Into<Option<f64>>, decimals: usize) -> String {
    match value.into() {
        Some(value) if value.is_finite() => group(&format!("{value:.decimals$}")),
        _ => ABSENT.to_owned(),
    }
}

/// Formats a count.
pub(crate) fn count(value: impl Into<Option<u64>>) -> String {
    value.into().map_or(ABSENT.to_owned(), |value| group(&value.to_string()))
}

/// Formats a ratio as a percentage.
pub(crate) fn percent(ratio: impl Into<Option<f64>>, decimals: usize) -> String {
    match ratio.into() {
        Some(ratio) if ratio.is_finite() => format!("{} %", fixed(ratio * 100.0, decimals)),
        _ => ABSENT.to_owned(),
    }
}

/// Formats a time with a suitable unit.
pub(crate) fn time(value: impl Into<Option<Nanos>>) -> String {
    value
        .into()
        .map_or(ABSENT.to_owned(), |time| if time == Nanos::ZERO { "0".to_owned() } else { time.to_string() })
}

/// Formats a time given in seconds with a suitable unit.
pub(crate) fn seconds(value: impl Into<Option<f64>>) -> String {
    match value.into() {
        Some(value) if value.is_finite() && value < 0.0 => format!("−{}", seconds(-value)),
        Some(value) if value.is_finite() => time(Nanos::from_secs_f64(value)),
        _ => ABSENT.to_owned(),
    }
}

/// Formats an interval of times given in seconds; empty if there is none.
pub(crate) fn seconds_interval(interval: Option<(f64, f64)>) -> String {
    interval.map_or(String::new(), |(low, high)| joined(&seconds(low), &seconds(high)))
}

/// Formats an interval of times; empty if there is none.
pub(crate) fn time_interval(interval: Option<(Nanos, Nanos)>) -> String {
    interval.map_or(String::new(), |(low, high)| time_range(low, high))
}

/// Formats the round time at a tick of an axis without trailing zeros: `500 µs`, `1 ms`, `1.5 ms`, `10 s`.
pub(crate) fn tick_time(seconds: f64) -> String {
    const UNITS: [(&str, f64); 4] = [("s", 1.0), ("ms", 1e-3), ("µs", 1e-6), ("ns", 1e-9)];
    let fitting = UNITS.into_iter().find(|(_, length)| length * (1.0 - 1e-9) <= seconds);
    match fitting {
        Some((unit, length)) => format!("{} {unit}", group(&short(seconds / length))),
        None => "0".to_owned(),
    }
}

/// Formats a number without trailing zeros, with at most six decimals.
pub(crate) fn short(value: f64) -> String {
    let text = format!("{value:.6}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// Formats a configured duration: `10 min`, `5 s`, `8.5 s`.
pub(crate) fn length(value: Nanos) -> String {
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

/// Formats an interval of times.
pub(crate) fn time_range(low: Nanos, high: Nanos) -> String {
    joined(&time(low), &time(high))
}

/// Joins the ends of an interval, with the unit only once if both have the same.
fn joined(low: &str, high: &str) -> String {
    match (low.split_once(' '), high.split_once(' ')) {
        (Some((number, unit)), Some((_, other))) if unit == other => format!("{number}–{high}"),
        _ => format!("{low}–{high}"),
    }
}

/// Formats an interval of numbers.
pub(crate) fn range(interval: Option<(f64, f64)>, decimals: usize) -> String {
    interval.map_or(ABSENT.to_owned(), |(low, high)| {
        format!("{}–{}", fixed(low, decimals), fixed(high, decimals))
    })
}

/// Formats a size.
pub(crate) fn bytes(value: u64) -> String {
    Bytes(value).to_string()
}

/// Formats an amount of money with its currency.
pub(crate) fn money(value: Money) -> String {
    format!("{} {}", group(&value.digits()), value.currency)
}

/// Formats a unit price with its currency.
pub(crate) fn unit_price(value: UnitPrice) -> String {
    format!("{} {}", group(&value.digits()), value.currency)
}

/// Inserts narrow spaces between groups of three digits.
pub(crate) fn group(number: &str) -> String {
    let (sign, digits) = number.strip_prefix('-').map_or(("", number), |rest| ("−", rest));
    let (whole, fraction) = digits.split_at(digits.find('.').unwrap_or(digits.len()));
    let mut text = String::from(sign);
    for (index, digit) in whole.chars().enumerate() {
        if 0 < index && (whole.len() - index) % 3 == 0 {
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
    fn absent_values_are_a_dash() {
        assert_eq!([fixed(None, 2), fixed(f64::NAN, 2), count(None), time(None)], ["–"; 4]);
        assert_eq!([percent(f64::INFINITY, 1), seconds(None), range(None, 2)], ["–"; 3]);
    }

    #[test]
    fn measured_figures_have_four_significant_digits_and_all_integer_digits() {
        let texts = [12_631.0, 9_999.96, 404.62, 95.25, 1.5, 0.45, 0.016_66, 0.0].map(figure);
        let expected = ["12\u{202f}631", "10\u{202f}000", "404.6", "95.25", "1.50", "0.450", "0.0167", "0"];
        assert_eq!(texts, expected);
        assert_eq!((figure(-404.62), figure(f64::NAN)), ("−404.6".into(), "–".into()));
        assert_eq!(figure_interval(Some((404.62, 1_234.5))), "404.6–1\u{202f}234");
    }

    /// 1937.03 megabits of 2²⁰ bits are 2031.12 of 10⁶.
    #[test]
    fn throughput_is_formatted_in_megabits_of_a_million_bits() {
        assert_eq!(megabits(1937.03), "2\u{202f}031");
    }

    /// 200 · 10⁶ bit/s are 25 · 10⁶ B/s.
    #[test]
    fn a_score_in_megabits_is_formatted_in_kilobytes_too() {
        assert_eq!((kilobytes(200.0), kilobytes(None)), ("25\u{202f}000".into(), "–".into()));
    }

    #[test]
    fn digits_are_in_groups_of_three() {
        assert_eq!(fixed(285.1234, 2), "285.12");
        assert_eq!(fixed(0.016_66, 4), "0.0167");
        assert_eq!(fixed(12_345.678, 2), "12\u{202f}345.68");
        assert_eq!(
            (count(9_999), count(1_234_567)),
            ("9\u{202f}999".into(), "1\u{202f}234\u{202f}567".into())
        );
        assert_eq!(fixed(-12_345.0, 0), "−12\u{202f}345");
    }

    #[test]
    fn times_have_the_unit_of_their_value_and_three_digits() {
        let times = [0.000_138, 0.001_96, 0.054_6, 0.5, 3.456, 0.0, -0.002].map(seconds);
        assert_eq!(times, ["138 µs", "1.96 ms", "54.6 ms", "500 ms", "3.46 s", "0", "−2.00 ms"]);
        // Rounded, these would have a digit more.
        assert_eq!([0.000_999_7, 0.999_7, 0.009_996].map(seconds), ["1.00 ms", "1.00 s", "10.0 ms"]);
        let interval = Some((Nanos::from_micros(980), Nanos::from_millis(1)));
        assert_eq!(time_interval(interval), "980 µs–1.00 ms");
        assert_eq!(seconds_interval(Some((0.012, 0.013))), "12.0–13.0 ms");
        assert_eq!((seconds_interval(None), seconds(None)), (String::new(), "–".to_owned()));
        let ticks = [0.0, 0.000_5, 0.001, 0.001_5, 1.0, 10_000.0].map(tick_time);
        assert_eq!(ticks, ["0", "500 µs", "1 ms", "1.5 ms", "1 s", "10\u{202f}000 s"]);
    }

    #[test]
    fn times_have_a_suitable_unit() {
        assert_eq!([seconds(0.0557), seconds(1.5), seconds(0.000_012)], ["55.7 ms", "1.50 s", "12.0 µs"]);
        assert_eq!(time_range(Nanos::from_millis(11), Nanos::from_millis(12)), "11.0–12.0 ms");
        assert_eq!(time_range(Nanos::from_micros(980), Nanos::from_millis(1)), "980 µs–1.00 ms");
        let lengths = [600, 90, 5].map(|seconds| length(Nanos::from_secs(seconds)));
        assert_eq!(lengths, ["10 min", "90 s", "5 s"]);
        assert_eq!([length(Nanos::from_millis(8_500)), length(Nanos::ZERO)], ["8.5 s", "0 s"]);
    }
}
