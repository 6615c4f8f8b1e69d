//! The time integral of a population, kept exactly without looking at every member.

use units::Nanos;

/// A counter of members that integrates its count over time.
///
/// With c members, E the sum of their times of entry, and D the total stay of those that left, the integral up to t
/// is D + c·t − E. Entering and leaving cost two additions each.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct TimeIntegral {
    inside: u64,
    entered_sum: u128,
    stayed: u128,
}

impl TimeIntegral {
    #[inline]
    pub(crate) fn enter(&mut self, at: Nanos) {
        self.inside += 1;
        self.entered_sum += u128::from(at.0);
    }

    #[inline]
    pub(crate) fn leave(&mut self, entered: Nanos, at: Nanos) {
        self.inside -= 1;
        self.entered_sum -= u128::from(entered.0);
        self.stayed += u128::from(at.0 - entered.0);
    }

    pub(crate) fn inside(&self) -> u64 {
        self.inside
    }

    /// Returns the summed age of the members at `at`, in ns.
    pub(crate) fn age(&self, at: Nanos) -> u128 {
        u128::from(self.inside) * u128::from(at.0) - self.entered_sum
    }

    /// Returns the integral up to `at`, in ns.
    pub(crate) fn integral(&self, at: Nanos) -> u128 {
        self.stayed + self.age(at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One member from 10 to 30, another from 20 on: by 50 that is 20 + 30.
    #[test]
    fn the_integral_counts_former_and_present_members() {
        let mut time_integral = TimeIntegral::default();
        time_integral.enter(Nanos(10));
        time_integral.enter(Nanos(20));
        time_integral.leave(Nanos(10), Nanos(30));
        assert_eq!(
            (time_integral.inside(), time_integral.age(Nanos(50)), time_integral.integral(Nanos(50))),
            (1, 30, 50)
        );
    }
}
