//! The effect of one stall on the response times of an open loop: the known answer that coordinated omission hides.
//!
//! Operations fall due evenly, λ per second, for T seconds. Once, the server stops for D seconds;
//! then it serves its queue at its capacity of μ per second, in the order due, while
//! new operations queue behind. An operation due t seconds into the stall has λt others before
//! it, so it is done at D + λt/μ and its response time, from its due time, is
//!
//! r(t) = D + λt/μ − t = D − t·(1 − ρ), with ρ = λ/μ.
//!
//! It falls evenly from D to zero at t = D ÷ (1 − ρ), when the queue is gone; all other operations
//! take no time. The share of operations slower than r is therefore (D − r) ÷ ((1 − ρ)·T), and
//! setting that to 1 − q gives the quantile
//!
//! r(q) = D − (1 − q)·T·(1 − ρ), or zero where that is below zero.
//!
//! For D = 1 s in T = 30 s: p99 = 0.70 s + 0.30 s·ρ, p99.9 = 0.97 s + 0.03 s·ρ.

/// One stall in an open-loop run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Stall {
    /// Length of the stall, D, in s.
    pub length: f64,
    /// Length of the run, in which operations fall due, T, in s.
    pub run: f64,
    /// Operations that fall due per second, λ.
    pub rate: f64,
    /// Operations that the server completes per second while it has a queue, μ; infinite for an instant drain.
    pub capacity: f64,
}

impl Stall {
    /// Returns the length of stall and drain together, in s: D ÷ (1 − ρ). `None` if the queue never drains (λ ≥ μ).
    fn disturbance(&self) -> Option<f64> {
        let spare = 1.0 - self.rate / self.capacity;
        (0.0 < spare).then(|| self.length / spare)
    }

    /// Returns quantile `q` of response time from the due time, in s, above the response time without a stall.
    ///
    /// The derivation is at the head of this module. `None` if q is not from 0 to 1, the queue never
    /// drains, or stall and drain do not fit into the run; they must lie wholly inside it.
    pub fn response_quantile(&self, q: f64) -> Option<f64> {
        let disturbance = self.disturbance()?;
        if !(0.0..=1.0).contains(&q) || self.run < disturbance {
            return None;
        }
        let spare = 1.0 - self.rate / self.capacity;
        Some((self.length - (1.0 - q) * self.run * spare).max(0.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE_IN_THIRTY: Stall = Stall { length: 1.0, run: 30.0, rate: 2_000.0, capacity: f64::INFINITY };

    #[track_caller]
    fn check(stall: Stall, q: f64, expected: f64) {
        let found = stall.response_quantile(q).expect("a value");
        assert!((found - expected).abs() < 1e-9, "found {found}, expected {expected}");
    }

    /// Every operation in turn through one server that is away from second 2 on: response times, sorted.
    fn simulated(stall: &Stall) -> Vec<f64> {
        let away = (2.0, 2.0 + stall.length);
        let mut free: f64 = 0.0;
        let mut responses: Vec<f64> = (0..(stall.run * stall.rate) as u64)
            .map(|k| {
                let due = k as f64 / stall.rate;
                let start = due.max(free);
                let start = if away.0 <= start && start < away.1 { away.1 } else { start };
                free = start + 1.0 / stall.capacity;
                free - due
            })
            .collect();
        responses.sort_by(f64::total_cmp);
        responses
    }

    #[test]
    fn one_second_in_thirty_by_hand() {
        check(ONE_IN_THIRTY, 0.99, 0.70);
        check(ONE_IN_THIRTY, 0.999, 0.97);
        check(ONE_IN_THIRTY, 1.0, 1.0);
        check(ONE_IN_THIRTY, 0.5, 0.0);
        // 2,000/s of 8,000/s: 0.70 + 0.30 · 0.25.
        check(Stall { capacity: 8_000.0, ..ONE_IN_THIRTY }, 0.99, 0.775);
    }

    #[test]
    fn a_queue_that_never_drains_or_not_in_time_has_no_answer() {
        for capacity in [2_000.0, 1_000.0, 2_050.0] {
            assert_eq!(Stall { capacity, ..ONE_IN_THIRTY }.response_quantile(0.99), None, "{capacity}");
        }
        assert_eq!(ONE_IN_THIRTY.response_quantile(1.1), None);
    }

    /// Goal: the formula against a simulation of the schedule, to within the service time and the gap between
    /// operations.
    #[test]
    fn a_simulation_of_the_schedule_gives_the_same_quantiles() {
        for (length, run, rate, capacity) in [
            (1.0, 30.0, 2_000.0, f64::INFINITY),
            (1.0, 30.0, 2_000.0, 4_000.0),
            (1.0, 30.0, 2_000.0, 2_500.0),
            (0.25, 10.0, 5_000.0, 20_000.0),
            (3.0, 60.0, 500.0, 900.0),
        ] {
            let stall = Stall { length, run, rate, capacity };
            let responses = simulated(&stall);
            for q in [0.5, 0.9, 0.95, 0.99, 0.999, 1.0] {
                let rank = ((q * responses.len() as f64).ceil() as usize).max(1);
                let found = responses[rank - 1];
                let expected = stall.response_quantile(q).unwrap();
                let within = 2.0 / rate + 2.0 / capacity;
                assert!((found - expected).abs() <= within, "{stall:?} q {q}: {found} for {expected}");
            }
        }
    }
}
