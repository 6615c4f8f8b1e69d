//! Drawing values of parameters, and requests, at one level of load.

use units::{Rng, Weights};

use super::{Parameter, WebWorkload};

/// Draws the objects of a workload's requests at one level of load.
#[derive(Debug, Clone)]
pub struct Sampler {
    requests: Vec<Vec<ValueSampler>>,
}

/// Draws the values of a parameter at one level of load.
#[derive(Debug, Clone)]
pub struct ValueSampler {
    count: u64,
    /// `None` if all values are equally likely.
    weights: Option<Weights>,
}

impl ValueSampler {
    /// Prepares a parameter at a level of load (users, or operations per second).
    pub fn new(parameter: &Parameter, level: f64) -> ValueSampler {
        let count = parameter.count.at(level);
        ValueSampler { count, weights: parameter.pick.weights(count) }
    }

    /// Draws the index of a value.
    #[inline]
    pub fn index(&self, rng: &mut Rng) -> u64 {
        match &self.weights {
            Some(weights) => rng.weighted(weights) as u64,
            None => rng.below(self.count),
        }
    }
}

impl Sampler {
    /// Prepares the requests of a workload at a level of load (users, or operations per second).
    pub fn new(workload: &WebWorkload, level: f64) -> Sampler {
        let values = |request: &super::Request| {
            request.parameters.iter().map(|parameter| ValueSampler::new(parameter, level)).collect()
        };
        Sampler { requests: workload.requests.iter().map(values).collect() }
    }

    /// Draws the number of an object of a kind. A request without parameters costs no draw.
    #[inline]
    pub fn number(&self, kind: u16, rng: &mut Rng) -> u64 {
        self.requests[usize::from(kind)]
            .iter()
            .fold(0, |number, values| number * values.count + values.index(rng))
    }
}
