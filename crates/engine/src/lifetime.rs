//! The times at which a user of a closed loop is present.

use std::ops::Range;

use model::Phase;
use units::Nanos;

use crate::setup::PointSetup;

/// A period in which a user is present, on the run's clock, and those that follow.
#[derive(Debug, Clone)]
pub(crate) struct Lifetime {
    /// The time from which the user performs operations.
    pub(crate) from: Nanos,
    /// The time from which the user starts nothing new.
    pub(crate) until: Nanos,
    /// The further periods of a user that follows a shape, the last one first; `None` where there is no shape. On the heap, for
    /// a user who follows none is to take no memory for it.
    #[expect(
        clippy::box_collection,
        reason = "a vector would take three times the memory of each user's task"
    )]
    later: Option<Box<Vec<Range<Nanos>>>>,
}

impl Lifetime {
    /// Makes the only period of a user.
    pub(crate) fn new(from: Nanos, until: Nanos) -> Lifetime {
        Lifetime { from, until, later: None }
    }

    /// Returns the lifetime of a user of a load point that starts at `origin`: users follow the shape, or are spread evenly over
    /// the ramps.
    pub(crate) fn of(user: u32, setup: &PointSetup, origin: Nanos) -> Lifetime {
        if let Some(shape) = &setup.shape {
            let start = origin + setup.phases.start_of(Phase::Steady);
            let periods = shape.presences(user).into_iter();
            return Lifetime::of_periods(periods.map(|period| start + period.start..start + period.end));
        }
        let users = u128::from(setup.point.load.in_flight_max());
        let part = |length: Nanos| {
            let nanos = u128::from(length.0) * u128::from(user) / users;
            Nanos(u64::try_from(nanos).expect("a part of a length is no longer than it"))
        };
        let leave = setup.phases.start_of(Phase::RampDown);
        let from = origin + part(setup.phases.ramp_up);
        Lifetime::new(from, origin + leave + part(setup.phases.ramp_down))
    }

    /// Makes the lifetime of a user that is present in these periods, in order. One without any never is.
    fn of_periods(periods: impl DoubleEndedIterator<Item = Range<Nanos>>) -> Lifetime {
        let mut later: Vec<Range<Nanos>> = periods.rev().collect();
        let first = later.pop().unwrap_or(Nanos::ZERO..Nanos::ZERO);
        Lifetime { from: first.start, until: first.end, later: Some(Box::new(later)) }
    }

    /// Goes on to the next period; returns whether there is one.
    pub(crate) fn go_on(&mut self) -> bool {
        let Some(next) = self.later.as_mut().and_then(|later| later.pop()) else { return false };
        (self.from, self.until) = (next.start, next.end);
        true
    }

    /// Returns the time until which the user waits for the end of a pause. One that follows a shape makes the rest of the pause
    /// when it is back: who is absent does not think.
    pub(crate) fn end_of_pause(&self, due: Nanos) -> Nanos {
        if self.later.is_some() { due.min(self.until) } else { due }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_user_of_a_shape_comes_back_until_its_last_period_is_over() {
        let period = |from: u64, until: u64| Nanos(from)..Nanos(until);
        let mut lifetime = Lifetime::of_periods([period(5, 10), period(20, 30)].into_iter());
        assert_eq!((lifetime.from, lifetime.until), (Nanos(5), Nanos(10)));
        assert_eq!([8, 12].map(|due| lifetime.end_of_pause(Nanos(due)).0), [8, 10]);
        assert!(lifetime.go_on());
        assert_eq!((lifetime.from, lifetime.until), (Nanos(20), Nanos(30)));
        assert!(!lifetime.go_on());
        let mut never = Lifetime::of_periods([].into_iter());
        assert!(never.until <= never.from && !never.go_on());
        let mut plain = Lifetime::new(Nanos(5), Nanos(10));
        assert_eq!((plain.end_of_pause(Nanos(12)), plain.go_on()), (Nanos(12), false));
    }
}
