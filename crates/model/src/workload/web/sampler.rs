//! Drawing requests at one level of load.

use units::{Rng, Weights};

use super::WebWorkload;

/// Draws the objects of a workload's requests at one level of load.
#[derive(Debug, Clone)]
pub struct Sampler {
    requests: Vec<Vec<Choice>>,
}

/// A parameter, ready to be drawn.
#[derive(Debug, Clone)]
struct Choice {
    count: u64,
    /// `None` if all values are equally likely.
    weights: Option<Weights>,
}

impl Sampler {
    /// Prepares the requests of a workload at a level of load (users, or operations per second).
    pub fn new(workload: &WebWorkload, level: f64) -> Sampler {
        let choices = |request: &super::Request| {
            let choice = |parameter: &super::Parameter| {
                let count = parameter.count.at(level);
                Choice { count, weights: parameter.pick.weights(count) }
            };
            request.parameters.iter().map(choice).collect()
        };
        Sampler { requests: workload.requests.iter().map(choices).collect() }
    }

    /// Draws the number of an object of a kind. A request without parameters costs no draw.
    #[inline]
    pub fn number(&self, kind: u16, rng: &mut Rng) -> u64 {
        self.requests[usize::from(kind)].iter().fold(0, |number, choice| {
            let value = match &choice.weights {
                Some(weights) => rng.weighted(weights) as u64,
                None => rng.below(choice.count),
            };
            number * choice.count + value
        })
    }
}
