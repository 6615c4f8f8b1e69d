//! One server, Poisson arrivals, first come first served: simulated operation by operation, in steady state.

use units::{Rng, StreamPurpose};

/// Operations that the server can complete per second; its mean service time is 10 ms.
pub(crate) const CAPACITY: f64 = 100.0;

/// The part discarded at the beginning, in s, because the queue begins empty; at least ten times its memory.
const WARM_UP: f64 = 30.0;

/// The service time of an operation, with mean 1 ÷ [`CAPACITY`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Service {
    /// Always the same.
    Fixed,
    /// Negative exponential: M/M/1.
    Exponential,
    /// One in ten takes 5.5 times the mean, nine in ten half of it, each exponential: v = 5.05.
    TwoExponential,
}

impl Service {
    /// Probabilities and means, in units of the mean.
    pub(crate) const BRANCHES: [(f64, f64); 2] = [(0.9, 0.5), (0.1, 5.5)];

    fn draw(self, rng: &mut Rng) -> f64 {
        let mean = match self {
            Service::Fixed => return 1.0 / CAPACITY,
            Service::Exponential => 1.0,
            Service::TwoExponential if rng.uniform() < Self::BRANCHES[0].0 => Self::BRANCHES[0].1,
            Service::TwoExponential => Self::BRANCHES[1].1,
        };
        rng.exponential_unit() * mean / CAPACITY
    }
}

/// Returns the response times (s) of the operations that each of `n` consecutive seconds completes, in order.
pub(crate) fn seconds(seed: u64, service: Service, utilization: f64, n: usize) -> Vec<Vec<f64>> {
    let mut rng = Rng::new(seed, StreamPurpose::Simulation, 0);
    let mut seconds = vec![Vec::new(); n];
    let mut due = 0.0;
    let mut done = 0.0_f64;
    loop {
        due += rng.exponential_unit() / (utilization * CAPACITY);
        done = done.max(due) + service.draw(&mut rng);
        if WARM_UP <= done {
            let Some(second) = seconds.get_mut((done - WARM_UP) as usize) else { return seconds };
            second.push(done - due);
        }
    }
}
