//! Positions and labels of the ticks of an axis.

use super::Scale;
use crate::numbers::{self, short};

/// Format of the tick labels of an axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Plain numbers.
    Plain,
    /// Seconds, each in the unit that suits it.
    Seconds,
    /// Ratios, as percentages.
    Percent,
    /// Percentiles by the reciprocal of their tail: 100 is formatted as 99 %.
    Nines,
}

/// Returns a power of ten; exact for negative exponents, unlike repeated multiplication.
pub(super) fn tens(power: i32) -> f64 {
    if power < 0 { 1.0 / 10f64.powi(-power) } else { 10f64.powi(power) }
}

/// Returns the step (1, 2 or 5 times a power of ten) that divides a length into about `n` parts.
pub(super) fn step_for(length: f64, n: u32) -> f64 {
    let raw = length / f64::from(n);
    let power = raw.log10().floor() as i32;
    let mantissa = raw / tens(power);
    let nice = [1.0, 2.0, 5.0].into_iter().find(|nice| mantissa <= nice * 1.001).unwrap_or(10.0);
    nice * tens(power)
}

/// Returns the tick positions: round values within the scale.
pub(super) fn ticks(scale: &Scale, n: u32) -> Vec<f64> {
    if scale.log { log_ticks(scale) } else { linear_ticks(scale, n) }
}

fn linear_ticks(scale: &Scale, n: u32) -> Vec<f64> {
    let step = step_for(scale.high - scale.low, n);
    let first = (scale.low / step - 1e-9).ceil() as i64;
    let last = (scale.high / step + 1e-9).floor() as i64;
    (first..=last).map(|k| k as f64 * step).collect()
}

/// Returns powers of ten, and 2 and 5 times those if the scale covers few decades.
fn log_ticks(scale: &Scale) -> Vec<f64> {
    let powers = scale.low.log10().floor() as i32..=scale.high.log10().ceil() as i32;
    let few = (scale.high / scale.low).log10() <= 3.0;
    let mantissas: &[f64] = if few { &[1.0, 2.0, 5.0] } else { &[1.0] };
    let all = powers.flat_map(|power| mantissas.iter().map(move |mantissa| mantissa * tens(power)));
    all.filter(|tick| scale.low * (1.0 - 1e-9) <= *tick && *tick <= scale.high * (1.0 + 1e-9)).collect()
}

/// Formats a value with all its significant digits, for a reader who points at it.
pub(super) fn value_text(value: f64, format: Format) -> String {
    match format {
        Format::Plain => numbers::figure(value),
        Format::Seconds => numbers::seconds(value),
        Format::Percent | Format::Nines => label(value, format),
    }
}

/// Formats the tick labels of an axis.
pub(super) fn labels(ticks: &[f64], format: Format) -> Vec<String> {
    ticks.iter().map(|tick| label(*tick, format)).collect()
}

/// Formats a value on an axis by itself.
pub(super) fn label(value: f64, format: Format) -> String {
    match format {
        Format::Plain => numbers::group(&short(value)),
        Format::Percent => format!("{} %", short(value * 100.0)),
        Format::Nines => format!("{} %", short((1.0 - 1.0 / value) * 100.0)),
        Format::Seconds => numbers::tick_time(value),
    }
}

/// Formats a measured value, which unlike a tick is not round.
pub(super) fn value_label(value: f64, format: Format) -> String {
    match format {
        Format::Plain => numbers::figure(value),
        Format::Seconds => numbers::seconds(value),
        Format::Percent => numbers::percent(value, 1),
        Format::Nines => label(value, format),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::charts::Spacing;

    fn labels(values: &[f64], spacing: Spacing, format: Format) -> Vec<String> {
        let scale = Scale::fit(values.iter().copied(), spacing, true, 0.0, 1.0);
        super::labels(&ticks(&scale, 5), format)
    }

    #[test]
    fn ticks_are_round() {
        assert_eq!(
            labels(&[437.0], Spacing::FromZero, Format::Plain),
            ["0", "100", "200", "300", "400", "500"]
        );
        assert_eq!(
            labels(&[0.61], Spacing::FromZero, Format::Percent),
            ["0 %", "20 %", "40 %", "60 %", "80 %"]
        );
        let times = labels(&[0.0042], Spacing::FromZero, Format::Seconds);
        assert_eq!(times, ["0", "1 ms", "2 ms", "3 ms", "4 ms", "5 ms"]);
        let large = labels(&[48_000.0], Spacing::FromZero, Format::Plain);
        assert_eq!(large.last().unwrap(), "50\u{202f}000");
    }

    #[test]
    fn times_of_an_axis_have_the_unit_of_their_value() {
        let times = labels(&[0.0012], Spacing::FromZero, Format::Seconds);
        assert_eq!(times, ["0", "500 µs", "1 ms", "1.5 ms"]);
        let micros = labels(&[0.000_42], Spacing::FromZero, Format::Seconds);
        assert!(micros.iter().skip(1).all(|label| label.ends_with(" µs")), "{micros:?}");
    }

    #[test]
    fn ticks_of_a_log_axis_are_powers_of_ten_and_intermediate_values_if_few() {
        let few = labels(&[0.004, 0.08], Spacing::Log, Format::Seconds);
        assert_eq!(few, ["2 ms", "5 ms", "10 ms", "20 ms", "50 ms", "100 ms"]);
        let many = labels(&[0.000_1, 10.0], Spacing::Log, Format::Seconds);
        assert_eq!(many, ["100 µs", "1 ms", "10 ms", "100 ms", "1 s", "10 s"]);
    }

    #[test]
    fn percentiles_are_labelled_by_their_nines() {
        let labels = [2.0, 4.0, 10.0, 40.0, 100.0, 1e3, 1e5].map(|value| label(value, Format::Nines));
        assert_eq!(labels, ["50 %", "75 %", "90 %", "97.5 %", "99 %", "99.9 %", "99.999 %"]);
    }

    #[test]
    fn the_number_of_ticks_is_about_as_requested() {
        for high in [0.7, 1.0, 3.3, 42.0, 99.0, 101.0, 1e6, 1e-5] {
            let n = labels(&[high], Spacing::FromZero, Format::Plain).len();
            assert!((3..=8).contains(&n), "{high}: {n}");
        }
    }
}
