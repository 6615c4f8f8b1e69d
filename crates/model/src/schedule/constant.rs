//! Constant arrivals of one slice.

use std::ops::Range;

use units::Nanos;

use super::rate_profile::RateProfile;

/// The arrivals of one slice of a constant schedule: a block of each n operations of the whole.
#[derive(Debug, Clone)]
pub(super) struct ConstantArrivals {
    profile: RateProfile,
    k: u64,
    /// The end of the present block.
    block_end: u64,
    /// Number of operations from the end of a block to the start of the next.
    gap: u64,
    /// Number of operations from the start of a block to the start of the next.
    period: u64,
    due: Option<Nanos>,
}

impl ConstantArrivals {
    /// Makes the arrivals with k mod `period` in a block.
    pub(super) fn new(profile: RateProfile, block: Range<u64>, period: u64) -> ConstantArrivals {
        let width = block.end.saturating_sub(block.start);
        let gap = period - width;
        let mut arrivals =
            ConstantArrivals { profile, k: block.start, block_end: block.end, gap, period, due: None };
        arrivals.due = if width == 0 { None } else { arrivals.due() };
        arrivals
    }

    pub(super) fn next_due(&self) -> Option<Nanos> {
        self.due
    }

    pub(super) fn next(&mut self) -> Option<(u64, Nanos)> {
        let next = (self.k, self.due?);
        self.k += 1;
        if self.k == self.block_end {
            self.k += self.gap;
            self.block_end += self.period;
        }
        self.due = self.due();
        Some(next)
    }

    /// Passes `n` operations, as so many calls of [`ConstantArrivals::next`] do.
    pub(super) fn pass(&mut self, n: u64) {
        if self.due.is_none() {
            return;
        }
        // Whole blocks at once, and what is left within one.
        let width = self.period - self.gap;
        let n = n.saturating_add(width - (self.block_end - self.k));
        let start = self.block_end - width;
        self.block_end = self.block_end.saturating_add((n / width).saturating_mul(self.period));
        self.k = start.saturating_add((n / width).saturating_mul(self.period)).saturating_add(n % width);
        self.due = self.due();
    }

    /// Returns the due time of operation k. The half keeps the first one off the very start.
    fn due(&self) -> Option<Nanos> {
        self.profile.time_of(self.k as f64 + 0.5).map(Nanos::from_secs_f64)
    }
}
