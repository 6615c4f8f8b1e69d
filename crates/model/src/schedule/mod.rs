//! The due times of an open loop: a function of plan and seed alone.
//!
//! With Λ(t) the number of operations due by time t (the integral of the offered rate over ramp-up, full rate and
//! ramp-down, or over the stages of a shape), constant arrivals have operation k due at Λ⁻¹(k + ½).
//!
//! Poisson arrivals are the sum of n independent Poisson processes, the *lanes*, each with 1/n of the rate and a random
//! stream of its own. Operation j of a lane is due at Λ⁻¹(n·(E₁ + … + Eⱼ)), j from 1, E exponential with mean 1 (the time
//! change of a Poisson process; Çinlar 1975). The sum is a Poisson process of the whole rate (superposition; Kingman
//! 1993, Poisson Processes, section 2.2). Operation j of lane l, both from 0, is operation k = j·n + l of the schedule:
//! numbers are unique and neither ascending in time nor without gaps at the end.
//!
//! A schedule is cut into slices, one for each load thread, and no slice computes the operations of another: of n slices
//! with constant arrivals, slice i has the operations k ≡ i mod n; with Poisson arrivals, the lanes ≡ i mod n. So the
//! operations and their due times are the same for any number of slices.
//!
//! Where users have state, operation k belongs to user k mod U, whichever thread runs the user: a load thread has the
//! operations of its range of users ([`Schedule::of_users`]). Each user is a lane of its own of Poisson arrivals, n = U, so
//! that here too no thread computes the operations of another.

mod constant;
mod poisson;
mod rate_profile;
mod tournament;

use std::num::NonZeroU16;
use std::ops::Range;

use units::Nanos;

use crate::{Arrivals, Load, LoadPoint, Phases, Shape};
use constant::ConstantArrivals;
use poisson::PoissonArrivals;
use rate_profile::RateProfile;

/// Number of users with state that can share a schedule of Poisson arrivals, each a lane of its own.
pub const POISSON_USERS_MAX: u32 = u16::MAX as u32;

/// The schedule of a load point of an open loop.
#[derive(Debug, Clone)]
pub struct Schedule {
    arrivals: Arrivals,
    n_lanes: NonZeroU16,
    profile: RateProfile,
    seed: u64,
    load_point: u32,
}

impl Schedule {
    /// Makes the schedule of a load point over all phases in which operations are started; `n_lanes` applies to Poisson
    /// arrivals. `None` for a closed loop.
    pub fn new(point: LoadPoint, phases: &Phases, seed: u64, n_lanes: NonZeroU16) -> Option<Schedule> {
        let Load::Rate { per_second, arrivals, .. } = point.load else { return None };
        let profile = RateProfile::of_phases(per_second, phases);
        Some(Schedule { arrivals, n_lanes, profile, seed, load_point: point.index })
    }

    /// Returns the schedule with the rate of a shape, which begins with the steady phase, in place of that of the load point.
    pub fn with_shape(self, shape: &Shape, phases: &Phases) -> Schedule {
        Schedule { profile: RateProfile::of_shape(shape, phases), ..self }
    }

    /// Returns the operations of slice `index` of `n_slices`, from the first on.
    pub fn slice(&self, index: u32, n_slices: u32) -> SliceSchedule {
        SliceSchedule(match self.arrivals {
            Arrivals::Constant => {
                let block = index.into()..u64::from(index) + 1;
                SliceArrivals::Constant(ConstantArrivals::new(self.profile.clone(), block, n_slices.into()))
            }
            Arrivals::Poisson => {
                let lanes = (index.into()..self.n_lanes.get().into()).step_by(n_slices as usize);
                SliceArrivals::Poisson(self.poisson(lanes))
            }
        })
    }

    /// Returns the operations of a range of `n_users` users with state, from the first on: those with k mod `n_users` in
    /// the range.
    ///
    /// # Panics
    /// Poisson arrivals were planned for users without state: with another number of lanes than of users.
    pub fn of_users(&self, users: Range<u32>, n_users: u32) -> SliceSchedule {
        let of_users = u64::from(users.start)..u64::from(users.end);
        SliceSchedule(match self.arrivals {
            Arrivals::Constant => {
                SliceArrivals::Constant(ConstantArrivals::new(self.profile.clone(), of_users, n_users.into()))
            }
            Arrivals::Poisson => {
                assert_eq!(u32::from(self.n_lanes.get()), n_users, "each user with state is a lane");
                SliceArrivals::Poisson(self.poisson(of_users))
            }
        })
    }

    fn poisson(&self, lanes: impl Iterator<Item = u64>) -> PoissonArrivals {
        let stream = (self.seed, self.load_point);
        PoissonArrivals::new(self.profile.clone(), self.n_lanes.get().into(), stream, lanes)
    }

    /// Returns all operations, from the first on.
    pub fn whole(&self) -> SliceSchedule {
        self.slice(0, 1)
    }
}

/// A cursor over the operations of one slice of a schedule: an iterator over (k, due), in order of due times from the
/// start of the load point, equal ones in order of lanes.
#[derive(Debug, Clone)]
pub struct SliceSchedule(SliceArrivals);

#[derive(Debug, Clone)]
enum SliceArrivals {
    Constant(ConstantArrivals),
    Poisson(PoissonArrivals),
}

impl SliceSchedule {
    /// Returns the due time of the next operation; `None` at the end.
    pub fn next_due(&self) -> Option<Nanos> {
        match &self.0 {
            SliceArrivals::Constant(arrivals) => arrivals.next_due(),
            SliceArrivals::Poisson(arrivals) => arrivals.next_due(),
        }
    }

    /// Passes the operations that are due before `time`, and returns their number.
    pub fn pass_before(&mut self, time: Nanos) -> u64 {
        let mut n = 0;
        while self.next_due().is_some_and(|due| due < time) {
            self.next();
            n += 1;
        }
        n
    }
}

impl Iterator for SliceSchedule {
    type Item = (u64, Nanos);

    fn next(&mut self) -> Option<(u64, Nanos)> {
        match &mut self.0 {
            SliceArrivals::Constant(arrivals) => arrivals.next(),
            SliceArrivals::Poisson(arrivals) => arrivals.next(),
        }
    }

    /// Passes `n` operations and returns the next one. Constant arrivals are not passed one by one: a plan asks for the last
    /// of perhaps a thousand million.
    fn nth(&mut self, n: usize) -> Option<(u64, Nanos)> {
        match &mut self.0 {
            SliceArrivals::Constant(arrivals) => arrivals.pass(n as u64),
            SliceArrivals::Poisson(arrivals) => (0..n).try_for_each(|_| arrivals.next().map(drop))?,
        }
        self.next()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::POISSON_LANES;

    fn phases(ramp_up: u64, steady: u64, ramp_down: u64) -> Phases {
        let s = Nanos::from_secs;
        Phases {
            quiet: s(0),
            ramp_up: s(ramp_up),
            settle: s(0),
            steady: s(steady),
            ramp_down: s(ramp_down),
            drain: s(0),
        }
    }

    fn schedule(per_second: f64, arrivals: Arrivals, phases: &Phases, seed: u64, index: u32) -> Schedule {
        let load = Load::Rate { per_second, arrivals, in_flight_max: 1 };
        Schedule::new(LoadPoint { index, load }, phases, seed, POISSON_LANES).expect("an open loop")
    }

    #[test]
    fn constant_arrivals_keep_equal_distances() {
        let schedule = schedule(4.0, Arrivals::Constant, &phases(0, 1, 0), 1, 0);
        let due: Vec<u64> = schedule.whole().map(|(_, due)| due.0).collect();
        assert_eq!(due, [125_000_000, 375_000_000, 625_000_000, 875_000_000]);
        let second: Vec<(u64, u64)> = schedule.slice(1, 3).map(|(k, due)| (k, due.0)).collect();
        assert_eq!(second, [(1, 375_000_000)], "of three slices, the second has operations 1, 4, 7 …");
    }

    /// Over a ramp of 2 s to 100/s half of 200 operations fall due, a quarter of them in its first half.
    #[test]
    fn ramps_offer_half_of_the_full_rate() {
        let mut cursor = schedule(100.0, Arrivals::Constant, &phases(2, 1, 2), 1, 0).whole();
        let n = [1, 2, 3, 4, 9].map(|seconds| cursor.pass_before(Nanos::from_secs(seconds)));
        assert_eq!((n, cursor.next_due(), cursor.next()), ([25, 75, 100, 75, 25], None, None));
    }

    #[test]
    fn operations_that_are_passed_at_once_are_those_that_are_passed_one_by_one() {
        for arrivals in [Arrivals::Constant, Arrivals::Poisson] {
            let schedule = schedule(40.0, arrivals, &phases(1, 3, 1), 3, 0);
            for slice in [schedule.whole(), schedule.slice(1, 3)] {
                same_after_any_number(&slice);
            }
        }
        same_after_any_number(&schedule(40.0, Arrivals::Constant, &phases(1, 3, 1), 3, 0).of_users(1..4, 5));
    }

    #[track_caller]
    fn same_after_any_number(slice: &SliceSchedule) {
        let all: Vec<_> = slice.clone().collect();
        for first in [0, 1, 2, 7] {
            for n in 0..all.len() + 3 {
                let mut cursor = slice.clone();
                for _ in 0..first {
                    cursor.next();
                }
                assert_eq!(cursor.nth(n), all.get(first + n).copied(), "{n} after {first}");
                assert_eq!(cursor.next(), all.get(first + n + 1).copied(), "behind {n} after {first}");
            }
        }
    }

    #[test]
    fn an_operation_at_the_very_time_is_not_before_it() {
        let mut cursor = schedule(4.0, Arrivals::Constant, &phases(0, 1, 0), 1, 0).whole();
        assert_eq!(cursor.pass_before(Nanos::from_millis(375)), 1);
        assert_eq!(cursor.next(), Some((1, Nanos::from_millis(375))));
    }

    #[test]
    fn a_schedule_is_a_function_of_seed_and_load_point() {
        let times = |seed, point| -> Vec<_> {
            schedule(50.0, Arrivals::Poisson, &phases(1, 2, 1), seed, point).whole().collect()
        };
        assert_eq!(times(1, 0), times(1, 0));
        assert_ne!(times(1, 0), times(2, 0));
        assert_ne!(times(1, 0), times(1, 1));
    }

    /// By hand: of 5 users, those from 1 to 2 have operations 1, 2, 6, 7 …
    #[test]
    fn operations_belong_to_users_by_number() {
        let schedule = schedule(20.0, Arrivals::Constant, &phases(0, 1, 0), 1, 0);
        let of_two: Vec<u64> = schedule.of_users(1..3, 5).map(|(k, _)| k).collect();
        assert_eq!(of_two, [1, 2, 6, 7, 11, 12, 16, 17]);
        assert_eq!(schedule.of_users(2..2, 5).next(), None, "nobody has no operations");
    }

    #[test]
    fn users_have_the_operations_of_the_whole_however_they_are_divided() {
        for arrivals in [Arrivals::Constant, Arrivals::Poisson] {
            let load = Load::Rate { per_second: 300.0, arrivals, in_flight_max: 7 };
            let lanes = load.arrival_lanes(true);
            let point = LoadPoint { index: 1, load };
            let schedule = Schedule::new(point, &phases(1, 3, 1), 5, lanes).expect("an open loop");
            let mut whole: Vec<_> = schedule.whole().collect();
            whole.sort();
            for borders in [&[0, 7][..], &[0, 2, 4, 7], &[0, 1, 2, 3, 4, 5, 6, 7]] {
                let of_thread = |pair: &[u32]| -> Vec<_> {
                    let operations: Vec<_> = schedule.of_users(pair[0]..pair[1], 7).collect();
                    assert!(operations.is_sorted_by_key(|(_, due)| *due));
                    assert!(operations.iter().all(|(k, _)| (pair[0]..pair[1]).contains(&((k % 7) as u32))));
                    operations
                };
                let mut union: Vec<_> = borders.windows(2).flat_map(of_thread).collect();
                union.sort();
                assert_eq!(union, whole, "{arrivals} {borders:?}");
            }
        }
    }

    #[test]
    fn a_closed_loop_has_no_schedule() {
        let point = LoadPoint { index: 0, load: Load::Users(5) };
        assert!(Schedule::new(point, &phases(0, 1, 0), 1, POISSON_LANES).is_none());
    }
}
