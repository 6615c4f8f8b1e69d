//! What the operations of an open-loop schedule are: a function of (seed, k) alone.
//!
//! An open loop has no pages: operations fall due one by one. Each draws its file by the share of requests that
//! the file has in the closed loop, so the mix of requests is the same.

use model::{WebRequest, Workload};
use units::{Dice, Purpose, Weights};

/// The operations of an open-loop schedule.
#[derive(Debug, Clone)]
pub struct PageSchedule {
    seed: u64,
    /// By object: Σ over pages of the page's weight × how often the object is in it.
    weights: Weights,
}

impl PageSchedule {
    /// Makes the schedule of a workload.
    ///
    /// # Panics
    /// If the workload breaks its invariants: there are no pages with weights.
    pub fn new(workload: &Workload, seed: u64) -> PageSchedule {
        let mut weights = vec![0u64; workload.objects.len()];
        for page in &workload.pages {
            for object in &page.objects {
                weights[*object as usize] += page.weight;
            }
        }
        PageSchedule { seed, weights: Weights::new(weights).expect("a workload has pages with weights") }
    }

    /// Returns the k-th operation.
    pub fn operation(&self, k: u64) -> WebRequest {
        let object = Dice::new(self.seed, Purpose::Schedule, k).weighted(&self.weights);
        WebRequest { object: object as u32 }
    }
}
