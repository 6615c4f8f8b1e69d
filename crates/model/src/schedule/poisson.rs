//! Poisson arrivals of one slice, as the sum of the lanes that it owns.

use units::{Nanos, Rng, StreamPurpose};

use super::rate_profile::RateProfile;
use super::tournament::Tournament;

/// The arrivals of one slice of a Poisson schedule.
#[derive(Debug, Clone)]
pub(super) struct PoissonArrivals {
    profile: RateProfile,
    /// Number of lanes of the whole schedule.
    n_lanes: u64,
    /// The lanes of this slice, ascending.
    lanes: Vec<Lane>,
    /// The next due times of `lanes`.
    next: Tournament,
}

/// A Poisson process of its own: 1/n of the rate of the whole.
#[derive(Debug, Clone)]
struct Lane {
    rng: Rng,
    /// Number of the next operation of the whole schedule, k = (number in the lane)·n + lane.
    k: u64,
    /// E₁ + … + Eⱼ of the next operation, the j-th of the lane.
    passed: f64,
}

impl Lane {
    /// Moves on to the next operation of the lane and returns its due time.
    fn draw(&mut self, profile: &RateProfile, n_lanes: u64) -> Option<Nanos> {
        self.passed += self.rng.exponential_unit();
        profile.time_of(self.passed * n_lanes as f64).map(Nanos::from_secs_f64)
    }
}

impl PoissonArrivals {
    /// Makes the arrivals of some of `n_lanes` lanes; `lanes` ascending.
    pub(super) fn new(
        profile: RateProfile,
        n_lanes: u64,
        (seed, load_point): (u64, u32),
        lanes: impl Iterator<Item = u64>,
    ) -> PoissonArrivals {
        let lane = |lane| {
            let stream = lane << 32 | u64::from(load_point);
            Lane { rng: Rng::new(seed, StreamPurpose::Arrivals, stream), k: lane, passed: 0.0 }
        };
        let mut lanes: Vec<Lane> = lanes.map(lane).collect();
        let first: Vec<_> = lanes.iter_mut().map(|lane| lane.draw(&profile, n_lanes)).collect();
        let next = Tournament::new(&first);
        PoissonArrivals { profile, n_lanes, lanes, next }
    }

    pub(super) fn next_due(&self) -> Option<Nanos> {
        self.next.earliest().map(|(due, _)| due)
    }

    pub(super) fn next(&mut self) -> Option<(u64, Nanos)> {
        let (due, position) = self.next.earliest()?;
        let lane = &mut self.lanes[position];
        let k = lane.k;
        lane.k += self.n_lanes;
        self.next.replace_earliest(lane.draw(&self.profile, self.n_lanes));
        Some((k, due))
    }
}
