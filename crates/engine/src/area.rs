//! The integral of a number over time, kept exactly without looking at every member.

use units::Nanos;

/// Counts who is inside and integrates that count over time.
///
/// With c inside, E the sum of their times of entry, and D the total stay of those who left, the
/// integral up to t is D + c·t − E. Entering and leaving cost two additions.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Area {
    inside: u64,
    entered_sum: u128,
    stayed: u128,
}

impl Area {
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

    /// Returns how long those inside have been there by `at`, summed over them, in ns.
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

    /// One inside from 10 to 30, another from 20 on: by 50 that is 20 + 30.
    #[test]
    fn the_integral_counts_those_who_left_and_those_inside() {
        let mut area = Area::default();
        area.enter(Nanos(10));
        area.enter(Nanos(20));
        area.leave(Nanos(10), Nanos(30));
        assert_eq!((area.inside(), area.age(Nanos(50)), area.integral(Nanos(50))), (1, 30, 50));
    }
}
