//! The operations of an open-loop schedule: a function of (seed, k) alone.
//!
//! An open loop has no pages: operations fall due one by one. Each draws its file by the share of requests
//! that the file has in the closed loop, so the mix of requests is the same.

use model::{Sampler, WebRequest, WebWorkload};
use units::{Rng, StreamPurpose, Weights};

/// The operations of an open-loop schedule.
#[derive(Debug, Clone)]
pub struct PageSchedule {
    seed: u64,
    weights: Weights,
    sampler: Sampler,
}

impl PageSchedule {
    /// Creates the schedule of a workload at a level of load (users, or operations per second).
    ///
    /// # Panics
    /// The workload breaks its invariants: it has no pages with weights.
    pub fn new(workload: &WebWorkload, seed: u64, level: f64) -> PageSchedule {
        let weights = Weights::new(workload.request_weights()).expect("a workload has pages with weights");
        PageSchedule { seed, weights, sampler: Sampler::new(workload, level) }
    }

    /// Returns the k-th operation.
    pub fn operation(&self, k: u64) -> WebRequest {
        let mut rng = Rng::new(self.seed, StreamPurpose::Schedule, k);
        let kind = rng.weighted(&self.weights) as u16;
        WebRequest { kind, closes: false, begins: true, number: self.sampler.number(kind, &mut rng) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::web::webstone::{WEBSTONE_1_1, WEBSTONE_2_0_1};

    /// n = 10⁶: binomial counts with three standard deviations (four for the 18 files of 1.1, tested at once).
    #[test]
    fn every_file_has_its_share_of_requests() {
        for (builtin, deviations) in [(&WEBSTONE_1_1, 4.0), (&WEBSTONE_2_0_1, 3.0)] {
            let workload = builtin.load().workload.web().unwrap().clone();
            let schedule = PageSchedule::new(&workload, 1, 1.0);
            let mut counts = vec![0.0; workload.requests.len()];
            (0..1_000_000).for_each(|k| counts[usize::from(schedule.operation(k).kind)] += 1.0);
            for (object, count) in counts.into_iter().enumerate() {
                let share = workload.request_share(object);
                let deviation = (1e6 * share * (1.0 - share)).sqrt();
                assert!((count - 1e6 * share).abs() < deviations * deviation, "object {object}: {count}");
            }
        }
    }

    #[test]
    fn an_operation_is_a_function_of_seed_and_index() {
        let workload = WEBSTONE_1_1.load().workload.web().unwrap().clone();
        let draw = |seed, order: &[u64]| -> Vec<u16> {
            let schedule = PageSchedule::new(&workload, seed, 1.0);
            order.iter().map(|k| schedule.operation(*k).kind).collect()
        };
        let forwards = draw(1, &[0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
        let mut backwards = draw(1, &[9, 8, 7, 6, 5, 4, 3, 2, 1, 0]);
        backwards.reverse();
        assert_eq!(forwards, backwards);
        assert_ne!(forwards, draw(2, &[0, 1, 2, 3, 4, 5, 6, 7, 8, 9]));
    }
}
