//! Mapping from values to pixels.

use super::Spacing;
use super::ticks::{step_for, tens};

/// Mapping from values to pixels: `low` is at pixel `from`, `high` at pixel `to`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scale {
    /// Whether the scale is logarithmic.
    pub log: bool,
    /// Value at the start.
    pub low: f64,
    /// Value at the end, above `low`.
    pub high: f64,
    /// Pixel at the start.
    pub from: f64,
    /// Pixel at the end.
    pub to: f64,
}

impl Scale {
    /// Creates a scale that includes all values; values that are not finite are ignored.
    ///
    /// With `round` it starts and ends at round values, for y axes.
    pub fn fit(
        values: impl Iterator<Item = f64>,
        spacing: Spacing,
        round: bool,
        from: f64,
        to: f64,
    ) -> Scale {
        let log = spacing == Spacing::Log;
        let usable = values.filter(|value| value.is_finite() && (!log || 0.0 < *value));
        let (low, high) = usable
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| (low.min(value), high.max(value)));
        let (low, high) = match (low <= high, log) {
            (false, true) => (0.1, 1.0),
            (false, false) => (0.0, 1.0),
            (true, true) => log_ends(low, high, round),
            (true, false) => {
                linear_ends(if spacing == Spacing::FromZero { low.min(0.0) } else { low }, high, round)
            }
        };
        Scale { log, low, high, from, to }
    }

    /// Returns the pixel of a value; values outside of the scale are clamped.
    pub fn pixel(&self, value: f64) -> f64 {
        let value = value.clamp(self.low, self.high);
        let part = if self.log {
            (value / self.low).ln() / (self.high / self.low).ln()
        } else {
            (value - self.low) / (self.high - self.low)
        };
        self.from + part * (self.to - self.from)
    }
}

fn linear_ends(low: f64, high: f64, round: bool) -> (f64, f64) {
    let high = if low < high { high } else { low + low.abs().max(1.0) };
    if !round {
        return (low, high);
    }
    let step = step_for(high - low, 5);
    ((low / step).floor() * step, (high / step * (1.0 - 1e-9)).ceil() * step)
}

/// Returns the next 1, 2 or 5 times a power of ten below and above.
fn log_ends(low: f64, high: f64, round: bool) -> (f64, f64) {
    let high = if low < high { high } else { low * 2.0 };
    if !round {
        return (low, high);
    }
    let steps = |value: f64| {
        let power = value.log10().floor() as i32;
        [tens(power), 2.0 * tens(power), 5.0 * tens(power), tens(power + 1)]
    };
    let below = steps(low).into_iter().rev().find(|step| *step <= low * (1.0 + 1e-9)).unwrap_or(low);
    let above = steps(high).into_iter().find(|step| high * (1.0 - 1e-9) <= *step).unwrap_or(high);
    (below, above)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fit(values: &[f64], spacing: Spacing) -> Scale {
        Scale::fit(values.iter().copied(), spacing, true, 0.0, 100.0)
    }

    #[test]
    fn the_ends_are_round_and_enclose_all_values() {
        let scale = fit(&[12.0, 437.0], Spacing::FromZero);
        assert_eq!((scale.low, scale.high), (0.0, 500.0));
        let scale = fit(&[0.003, 0.7], Spacing::Log);
        assert_eq!((scale.low, scale.high), (0.002, 1.0));
        let scale = fit(&[5.0, 5.0], Spacing::FromZero);
        assert_eq!((scale.low, scale.high), (0.0, 5.0));
    }

    #[test]
    fn a_value_is_at_its_fraction_of_the_axis() {
        let scale = fit(&[0.0, 500.0], Spacing::FromZero);
        assert_eq!([0.0, 125.0, 500.0, 900.0].map(|value| scale.pixel(value)), [0.0, 25.0, 100.0, 100.0]);
        let scale = fit(&[0.01, 1.0], Spacing::Log);
        assert!((scale.pixel(0.1) - 50.0).abs() < 1e-9);
    }

    /// Goal: no NaN in the file, whether there are no values, one value, or zero on a log axis.
    #[test]
    fn no_input_makes_a_scale_that_is_not_finite() {
        for spacing in [Spacing::FromZero, Spacing::Tight, Spacing::Log] {
            for values in [&[][..], &[0.0], &[f64::NAN, 3.0], &[1e-9, 1e9], &[-4.0]] {
                let scale = fit(values, spacing);
                assert!(scale.low < scale.high, "{spacing:?} {values:?}");
                for value in values.iter().filter(|value| value.is_finite()) {
                    assert!(scale.pixel(*value).is_finite(), "{spacing:?} {values:?}");
                }
            }
        }
    }
}
