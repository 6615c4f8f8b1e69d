//! The due times of an open loop: a function of plan and seed alone.
//!
//! The offered rate rises linearly from zero over the ramp-up, stays at λ, and falls linearly to
//! zero over the ramp-down. With Λ(t) the number of operations due by time t, the k-th operation is
//! due at Λ⁻¹(k + ½) for constant arrivals (the half keeps the first one off the very start), and at
//! Λ⁻¹(E₁ + … + Eₖ₊₁), E exponential with mean 1, for Poisson arrivals (the time change of a
//! Poisson process; Çinlar 1975).

use units::{Nanos, Purpose, Rng};

use crate::{Arrivals, Phases};

/// The due times of one load point, in order: an iterator over (k, due).
#[derive(Debug, Clone)]
pub struct Schedule {
    arrivals: Arrivals,
    rate: f64,
    ramp_up: f64,
    ramp_down: f64,
    full: f64,
    rng: Rng,
    k: u64,
    passed: f64,
}

impl Schedule {
    /// Makes the schedule of a load point at `per_second` operations per second, over all phases of `phases`
    /// in which operations are started.
    pub fn new(per_second: f64, arrivals: Arrivals, phases: &Phases, seed: u64, load_point: u32) -> Schedule {
        Schedule {
            arrivals,
            rate: per_second,
            ramp_up: phases.ramp_up.as_secs_f64(),
            ramp_down: phases.ramp_down.as_secs_f64(),
            full: phases.settle.as_secs_f64() + phases.steady.as_secs_f64(),
            rng: Rng::new(seed, Purpose::Arrivals, u64::from(load_point)),
            k: 0,
            passed: 0.0,
        }
    }

    /// Returns the expected number of operations of the whole schedule: λ·(full + half of both ramps).
    pub fn expected(&self) -> f64 {
        self.rate * (self.full + (self.ramp_up + self.ramp_down) / 2.0)
    }

    /// Returns the time (s) by which `count` operations are expected; `None` beyond the schedule's end.
    fn time_of(&self, count: f64) -> Option<f64> {
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
}

impl Iterator for Schedule {
    type Item = (u64, Nanos);

    fn next(&mut self) -> Option<(u64, Nanos)> {
        let count = match self.arrivals {
            Arrivals::Constant => self.k as f64 + 0.5,
            Arrivals::Poisson => {
                self.passed += self.rng.exponential_unit();
                self.passed
            }
        };
        let due = Nanos::from_secs_f64(self.time_of(count)?);
        let k = self.k;
        self.k += 1;
        Some((k, due))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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

    #[test]
    fn constant_arrivals_keep_equal_distances() {
        let due: Vec<u64> =
            Schedule::new(4.0, Arrivals::Constant, &phases(0, 1, 0), 1, 0).map(|(_, due)| due.0).collect();
        assert_eq!(due, [125_000_000, 375_000_000, 625_000_000, 875_000_000]);
    }

    /// Over a ramp of 2 s to 100/s half of 200 operations fall due, a quarter of them in its first half.
    #[test]
    fn ramps_offer_half_of_the_full_rate() {
        let due: Vec<Nanos> =
            Schedule::new(100.0, Arrivals::Constant, &phases(2, 1, 2), 1, 0).map(|(_, due)| due).collect();
        let before = |seconds: f64| due.iter().filter(|due| due.as_secs_f64() < seconds).count();
        assert_eq!((before(1.0), before(2.0), before(3.0), before(4.0), due.len()), (25, 100, 200, 275, 300));
        assert!(due.is_sorted());
    }

    /// n = 10⁶ arrivals: the count in a window is Poisson, three standard deviations allowed.
    #[test]
    fn poisson_arrivals_have_the_rate_and_exponential_distances() {
        let due: Vec<f64> = Schedule::new(10_000.0, Arrivals::Poisson, &phases(0, 100, 0), 5, 0)
            .map(|(_, due)| due.as_secs_f64())
            .collect();
        assert!((due.len() as f64 - 1e6).abs() < 3e3, "{}", due.len());
        let longer = due.windows(2).filter(|pair| 1e-4 < pair[1] - pair[0]).count() as f64;
        // P(distance > mean) = 1/e.
        assert!((longer / due.len() as f64 - (-1f64).exp()).abs() < 0.0015);
    }

    #[test]
    fn a_schedule_is_a_function_of_seed_and_load_point() {
        let times = |seed, point| -> Vec<_> {
            Schedule::new(50.0, Arrivals::Poisson, &phases(1, 2, 1), seed, point).collect()
        };
        assert_eq!(times(1, 0), times(1, 0));
        assert_ne!(times(1, 0), times(2, 0));
        assert_ne!(times(1, 0), times(1, 1));
    }
}
