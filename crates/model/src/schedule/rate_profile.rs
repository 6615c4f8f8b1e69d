//! The offered rate of an open loop over the phases of a load point.

use crate::Phases;

/// The offered rate over time: it rises linearly from zero over the ramp-up, stays at λ, and falls linearly to zero over
/// the ramp-down. Times in s from the start of the load point.
#[derive(Debug, Clone, Copy)]
pub(super) struct RateProfile {
    rate: f64,
    ramp_up: f64,
    ramp_down: f64,
    full: f64,
}

impl RateProfile {
    /// Makes the profile of `rate` operations per second, λ, over the phases in which operations are started.
    pub(super) fn new(rate: f64, phases: &Phases) -> RateProfile {
        RateProfile {
            rate,
            ramp_up: phases.ramp_up.as_secs_f64(),
            ramp_down: phases.ramp_down.as_secs_f64(),
            full: phases.settle.as_secs_f64() + phases.steady.as_secs_f64(),
        }
    }

    /// Returns the time (s) by which `count` operations are expected, Λ⁻¹; `None` beyond the end of the profile.
    pub(super) fn time_of(&self, count: f64) -> Option<f64> {
        let in_ramp_up = self.rate * self.ramp_up / 2.0;
        let in_full = self.rate * self.full;
        if count < in_ramp_up {
            return Some((2.0 * self.ramp_up * count / self.rate).sqrt());
        }
        if count < in_ramp_up + in_full {
            return Some(self.ramp_up + (count - in_ramp_up) / self.rate);
        }
        let left = self.expected() - count;
        let end = self.ramp_up + self.full + self.ramp_down;
        (0.0 < left).then(|| end - (2.0 * self.ramp_down * left / self.rate).sqrt())
    }

    /// Returns the expected number of operations: λ·(full + half of both ramps).
    fn expected(&self) -> f64 {
        self.rate * (self.full + (self.ramp_up + self.ramp_down) / 2.0)
    }
}
