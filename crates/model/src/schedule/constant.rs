//! Constant arrivals of one slice.

use units::Nanos;

use super::rate_profile::RateProfile;

/// The arrivals of one slice of a constant schedule: every n-th operation of the whole.
#[derive(Debug, Clone)]
pub(super) struct ConstantArrivals {
    profile: RateProfile,
    k: u64,
    step: u64,
    due: Option<Nanos>,
}

impl ConstantArrivals {
    /// Makes the arrivals of slice `index` of `n_slices`.
    pub(super) fn new(profile: RateProfile, index: u64, n_slices: u64) -> ConstantArrivals {
        let mut arrivals = ConstantArrivals { profile, k: index, step: n_slices, due: None };
        arrivals.due = arrivals.due();
        arrivals
    }

    pub(super) fn next_due(&self) -> Option<Nanos> {
        self.due
    }

    pub(super) fn next(&mut self) -> Option<(u64, Nanos)> {
        let next = (self.k, self.due?);
        self.k += self.step;
        self.due = self.due();
        Some(next)
    }

    /// Returns the due time of operation k. The half keeps the first one off the very start.
    fn due(&self) -> Option<Nanos> {
        self.profile.time_of(self.k as f64 + 0.5).map(Nanos::from_secs_f64)
    }
}
