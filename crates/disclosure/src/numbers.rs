//! Number formats for people. A quantity is formatted alike in all tables and sentences, so the rules depend on the value
//! alone; `–` stands for an absent value.
//!
//! | quantity | format |
//! |---|---|
//! | rate, throughput, Little's load factor, other measured figures | four significant digits, all digits of the integer part |
//! | times | three significant digits with a suitable unit; one unit per table and axis |
//! | sizes | KiB, MiB, GiB: powers of 1024 |
//! | throughput | Mbit/s of 10⁶ bits |
//! | money | the decimals of its currency; unit prices at least three significant digits |
//! | counts | digits in groups of three from 1000 |

use analysis::MetricFormat;
use units::{Bytes, Money, Nanos, UnitPrice};

/// Text for a value that is absent or not a number.
pub(crate) const ABSENT: &str = "–";

/// Megabits of 10⁶ bits per megabit of 2²⁰ bits, the unit of WebStone.
const DECIMAL: f64 = 1.048_576;

/// Formats a measured figure: four significant digits and all digits of the integer part; three below 1.
pub(crate) fn figure(value: impl Into<Option<f64>>) -> String {
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

/// Converts megabits of 2²⁰ bits to megabits of 10⁶ bits.
pub(crate) fn decimal_megabits(value: f64) -> f64 {
    value * DECIMAL
}

/// Formats the value of a metric in its form.
pub(crate) fn metric(value: Option<f64>, format: MetricFormat) -> String {
    match format {
        MetricFormat::Figure => figure(value),
        MetricFormat::Megabits => megabits(value),
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
        Some(value) if value.is_finite() => time(Nanos::from_secs_f64(value)),
        _ => ABSENT.to_owned(),
    }
}

/// The unit of all times of a table or figure, so that they can be compared at a glance.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct TimeUnit {
    name: &'static str,
    /// Length in s.
    seconds: f64,
}

impl TimeUnit {
    /// All units, from the largest.
    const ALL: [TimeUnit; 4] = [
        TimeUnit { name: "s", seconds: 1.0 },
        TimeUnit { name: "ms", seconds: 1e-3 },
        TimeUnit { name: "µs", seconds: 1e-6 },
        TimeUnit { name: "ns", seconds: 1e-9 },
    ];

    /// Returns the unit in which the largest of these times, in seconds, is at least 1; milliseconds without any.
    pub(crate) fn of(times: impl IntoIterator<Item = f64>) -> TimeUnit {
        let largest = times.into_iter().filter(|time| time.is_finite()).fold(0.0, f64::max);
        let fitting = TimeUnit::ALL.into_iter().find(|unit| unit.seconds <= largest * (1.0 + 1e-9));
        fitting.unwrap_or(TimeUnit::ALL[1])
    }

    /// Returns the unit of the times that are known, in seconds.
    pub(crate) fn of_known(times: impl IntoIterator<Item = Option<f64>>) -> TimeUnit {
        TimeUnit::of(times.into_iter().flatten())
    }

    /// Returns the unit of times over several decades, between two in seconds: that of their geometric mean.
    pub(crate) fn of_decades(low: f64, high: f64) -> TimeUnit {
        TimeUnit::of([(low * high).sqrt()])
    }

    /// Returns the name of the unit and its length in seconds.
    pub(crate) fn name_and_length(self) -> (&'static str, f64) {
        (self.name, self.seconds)
    }

    /// Formats a time in this unit, with three significant digits: `0.0120 ms`, `54.6 ms`, `3 460 ms`.
    pub(crate) fn seconds(self, value: impl Into<Option<f64>>) -> String {
        match self.digits(value) {
            None => ABSENT.to_owned(),
            Some(digits) => format!("{digits} {}", self.name),
        }
    }

    /// Formats a time in this unit.
    pub(crate) fn time(self, value: impl Into<Option<Nanos>>) -> String {
        self.seconds(value.into().map(Nanos::as_secs_f64))
    }

    /// Formats an interval of times in this unit, which it names once; empty if there is none.
    pub(crate) fn seconds_interval(self, interval: Option<(f64, f64)>) -> String {
        let digits = |value: f64| self.digits(value).unwrap_or(ABSENT.to_owned());
        interval
            .map_or(String::new(), |(low, high)| format!("{}–{} {}", digits(low), digits(high), self.name))
    }

    /// Formats an interval of times in this unit; empty if there is none.
    pub(crate) fn time_interval(self, interval: Option<(Nanos, Nanos)>) -> String {
        self.seconds_interval(interval.map(|(low, high)| (low.as_secs_f64(), high.as_secs_f64())))
    }

    fn digits(self, value: impl Into<Option<f64>>) -> Option<String> {
        let exact = value.into().filter(|value| value.is_finite())? / self.seconds;
        let value = match exact.abs() {
            size if size < 1000.0 => exact,
            size => {
                let step = 10f64.powf(size.log10().floor() - 2.0);
                (exact / step).round() * step
            }
        };
        let decimals = match value.abs() {
            size if size == 0.0 || 99.95 <= size => 0,
            size if 9.995 <= size => 1,
            size if 0.9995 <= size => 2,
            size => (2 - size.log10().floor() as i32).clamp(3, 9) as usize,
        };
        Some(group(&format!("{value:.decimals$}")))
    }
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

/// Formats an interval of times, with the unit only once if both ends have the same.
pub(crate) fn time_range(low: Nanos, high: Nanos) -> String {
    let (low, high) = (time(low), time(high));
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

    /// Those of a table with 138 µs, 1.96 ms and 5.46 ms are all in ms.
    #[test]
    fn times_of_a_table_have_one_unit_and_three_digits() {
        let unit = TimeUnit::of([0.000_138, 0.001_96, 0.005_46, f64::NAN]);
        let texts = [0.000_138, 0.001_96, 0.054_6, 0.5, 3.456, 0.0].map(|time| unit.seconds(time));
        assert_eq!(texts, ["0.138 ms", "1.96 ms", "54.6 ms", "500 ms", "3\u{202f}460 ms", "0 ms"]);
        assert_eq!(unit.seconds(None), "–");
        assert_eq!(
            unit.time_interval(Some((Nanos::from_micros(980), Nanos::from_millis(1)))),
            "0.980–1.00 ms"
        );
        assert_eq!(TimeUnit::of([0.000_999]).seconds(0.000_999), "999 µs");
        assert_eq!(TimeUnit::of([0.001]).seconds(0.001), "1.00 ms");
        assert_eq!(TimeUnit::of([3.0]).seconds(0.001_2), "0.00120 s");
        assert_eq!(TimeUnit::of([]).seconds(0.001), "1.00 ms");
        assert_eq!(TimeUnit::of_decades(1e-5, 2.5).seconds(1e-5), "0.0100 ms");
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
