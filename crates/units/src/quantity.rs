//! Quantities whose unit is part of the type.

use std::fmt;
use std::ops::{Add, AddAssign, Sub};

/// A length of time, or a point on the axis of one run, in nanoseconds.
///
/// A point counts from the origin that its record names (mostly the start of the load point).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Nanos(pub u64);

impl Nanos {
    /// No time at all.
    pub const ZERO: Nanos = Nanos(0);
    /// Later than anything that happens.
    pub const MAX: Nanos = Nanos(u64::MAX);

    /// Makes a time from whole seconds.
    pub const fn from_secs(seconds: u64) -> Nanos {
        Nanos(seconds * 1_000_000_000)
    }

    /// Makes a time from whole milliseconds.
    pub const fn from_millis(milliseconds: u64) -> Nanos {
        Nanos(milliseconds * 1_000_000)
    }

    /// Makes a time from whole microseconds.
    pub const fn from_micros(microseconds: u64) -> Nanos {
        Nanos(microseconds * 1_000)
    }

    /// Makes a time from seconds; negative and not-a-number become zero, too large becomes [`Nanos::MAX`].
    pub fn from_secs_f64(seconds: f64) -> Nanos {
        Nanos(saturating_u64((seconds * 1e9).round()))
    }

    /// Returns the time in seconds.
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / 1e9
    }

    /// Returns the time in milliseconds.
    pub fn as_millis_f64(self) -> f64 {
        self.0 as f64 / 1e6
    }

    /// Returns the difference, or zero if `other` is later.
    pub fn saturating_sub(self, other: Nanos) -> Nanos {
        Nanos(self.0.saturating_sub(other.0))
    }

    /// Returns the sum, or [`Nanos::MAX`] if it does not fit.
    pub fn saturating_add(self, other: Nanos) -> Nanos {
        Nanos(self.0.saturating_add(other.0))
    }
}

impl Add for Nanos {
    type Output = Nanos;
    fn add(self, other: Nanos) -> Nanos {
        Nanos(self.0 + other.0)
    }
}

impl AddAssign for Nanos {
    fn add_assign(&mut self, other: Nanos) {
        self.0 += other.0;
    }
}

impl Sub for Nanos {
    type Output = Nanos;
    fn sub(self, other: Nanos) -> Nanos {
        Nanos(self.0 - other.0)
    }
}

impl fmt::Display for Nanos {
    /// Writes the time with the unit that fits it: `12.3 ms`, `4.56 s`, `789 µs`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // What would be rounded to 1000 of a unit is 1.00 of the next.
        let (value, unit) = match self.0 {
            0..1_000 => return write!(f, "{} ns", self.0),
            1_000..999_500 => (self.0 as f64 / 1e3, "µs"),
            999_500..999_500_000 => (self.0 as f64 / 1e6, "ms"),
            _ => (self.0 as f64 / 1e9, "s"),
        };
        let decimals = if value < 9.995 { 2 } else { usize::from(value < 99.95) };
        write!(f, "{value:.decimals$} {unit}")
    }
}

/// A number of bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Bytes(pub u64);

impl fmt::Display for Bytes {
    /// Writes the size in powers of 1024: `500 B`, `5.0 KiB`, `5.55 MiB`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const STEPS: [&str; 4] = ["KiB", "MiB", "GiB", "TiB"];
        if self.0 < 1024 {
            return write!(f, "{} B", self.0);
        }
        let mut value = self.0 as f64 / 1024.0;
        let mut step = 0;
        while 1024.0 <= value && step + 1 < STEPS.len() {
            value /= 1024.0;
            step += 1;
        }
        write!(f, "{value:.1} {}", STEPS[step])
    }
}

/// A part of a whole, from 0 to 1; shown as percent.
#[derive(Debug, Clone, Copy, Default, PartialEq, PartialOrd)]
pub struct Ratio(pub f64);

impl fmt::Display for Ratio {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.1} %", self.0 * 100.0)
    }
}

/// Returns a number without its fraction; negative and not-a-number become zero, too large becomes [`u64::MAX`].
pub fn saturating_u64(value: f64) -> u64 {
    // The language defines this cast as documented above, and has no conversion by function.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    let whole = value as u64;
    whole
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_written_with_the_unit_that_fits() {
        for (nanos, text) in [
            (0, "0 ns"),
            (999, "999 ns"),
            (1_500, "1.50 µs"),
            (12_340_000, "12.3 ms"),
            (345_600_000, "346 ms"),
            (60_000_000_000, "60.0 s"),
        ] {
            assert_eq!(Nanos(nanos).to_string(), text);
        }
    }

    #[test]
    fn sizes_are_written_in_powers_of_1024() {
        for (bytes, text) in [(0, "0 B"), (1023, "1023 B"), (5125, "5.0 KiB"), (5_817_375, "5.5 MiB")] {
            assert_eq!(Bytes(bytes).to_string(), text);
        }
    }

    #[test]
    fn seconds_outside_the_range_become_its_ends() {
        assert_eq!(Nanos::from_secs_f64(-1.0), Nanos::ZERO);
        assert_eq!(Nanos::from_secs_f64(f64::NAN), Nanos::ZERO);
        assert_eq!(Nanos::from_secs_f64(f64::INFINITY), Nanos::MAX);
    }
}
