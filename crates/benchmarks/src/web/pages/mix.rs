//! The pages of a workload at one level of load, prepared for random selection.

use model::{ConnectionLifetime, DataSet, Page, Sampler, ThinkTime, WebWorkload};
use units::{Rng, Weights};

/// Session lengths in requests with their weights: 30 % of length 1, 6.36 % of each length from 5 to 15.
///
/// Source: the session generator of SPECweb99's static part; the shares add up to 99.96 % and are divided by that.
const SESSIONS: [(u32, u64); 12] = [
    (1, 3000),
    (5, 636),
    (6, 636),
    (7, 636),
    (8, 636),
    (9, 636),
    (10, 636),
    (11, 636),
    (12, 636),
    (13, 636),
    (14, 636),
    (15, 636),
];

/// The pages of a workload at one level of load; shared by all users of a load thread.
#[derive(Debug, Clone)]
pub struct PageMix {
    pages: Vec<Page>,
    weights: Weights,
    sampler: Sampler,
    think: ThinkTime,
    /// Weights of [`SESSIONS`], if connections are kept for a session.
    sessions: Option<Weights>,
    data: Vec<DataSet>,
    users: u32,
}

impl PageMix {
    /// Creates the mix of a workload at a level of load (users, or operations per second), for a number of users.
    pub fn new(workload: &WebWorkload, connection: ConnectionLifetime, level: f64, users: u32) -> PageMix {
        let sessions = Weights::new(SESSIONS.iter().map(|(_, weight)| *weight));
        PageMix {
            pages: workload.pages.clone(),
            weights: workload.page_weights(),
            sampler: Sampler::new(workload, level),
            think: workload.think,
            sessions: sessions.filter(|_| connection == ConnectionLifetime::Sessions),
            data: workload.data.clone(),
            users,
        }
    }

    /// Returns the number of pages for which a user has data; `u32::MAX` if there always are.
    pub(super) fn pages_max(&self, user: u32) -> u32 {
        let least = self.data.iter().filter_map(|data| data.pages_max(user, self.users)).min();
        least.map_or(u32::MAX, |pages| u32::try_from(pages).unwrap_or(u32::MAX))
    }

    /// Draws a page.
    pub(super) fn page(&self, rng: &mut Rng) -> u16 {
        rng.weighted(&self.weights) as u16
    }

    /// Returns the kind of a request of a page; `None` after the last.
    pub(super) fn kind(&self, page: u16, request_index: u32) -> Option<u16> {
        self.pages[usize::from(page)].requests.get(request_index as usize).map(|kind| *kind as u16)
    }

    /// Draws the object of a request.
    pub(super) fn number(&self, kind: u16, rng: &mut Rng) -> u64 {
        self.sampler.number(kind, rng)
    }

    /// Draws the pause after a page; `None` without think time.
    pub(super) fn think(&self, rng: &mut Rng) -> Option<units::Nanos> {
        self.think.draw(rng)
    }

    /// Draws the number of requests of a session; `None` without sessions.
    pub(super) fn session(&self, rng: &mut Rng) -> Option<u32> {
        let weights = self.sessions.as_ref()?;
        Some(SESSIONS[rng.weighted(weights)].0)
    }
}

#[cfg(test)]
mod tests {
    use units::StreamPurpose;

    use super::*;
    use crate::web::webstone::WEBSTONE_2_0_1;

    /// Σ p·length = (0.30·1 + 0.0636·110) / 0.9996.
    #[test]
    fn sessions_have_the_mean_length_of_the_table() {
        let workload = WEBSTONE_2_0_1.load().workload.web().unwrap().clone();
        let mix = PageMix::new(&workload, ConnectionLifetime::Sessions, 1.0, 1);
        let mut rng = Rng::new(1, StreamPurpose::User, 0);
        let total: u64 = (0..100_000).map(|_| u64::from(mix.session(&mut rng).unwrap())).sum();
        assert!((total as f64 / 1e5 - 7.299).abs() < 0.05, "{total}");
        assert_eq!(PageMix::new(&workload, ConnectionLifetime::PerRequest, 1.0, 1).session(&mut rng), None);
    }
}
