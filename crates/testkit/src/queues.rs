//! Response times of queues with a known law, with which simulated servers are compared.
//!
//! In all of them: λ arrival rate (operations/s, Poisson), S mean service time of one server (s),
//! ρ its utilization, R mean response time (s: waiting and service), first come first served.
//! Every function gives `None` where the queue has no steady state (ρ ≥ 1).

/// Returns the mean response time (s) of M/M/1: R = S ÷ (1 − ρ), ρ = λS.
///
/// Source: Kleinrock 1975, Queueing Systems I, section 3.2.
pub fn mm1_response(rate: f64, service: f64) -> Option<f64> {
    let idle = 1.0 - rate * service;
    (0.0 < idle).then(|| service / idle)
}

/// Returns the quantile `q` (from 0 to below 1) of the response time (s) of M/M/1: −R·ln(1 − q).
///
/// Source: the response time is negative exponential with mean R; Kleinrock 1975, chapter 5.
pub fn mm1_response_quantile(rate: f64, service: f64, q: f64) -> Option<f64> {
    let mean = mm1_response(rate, service)?;
    (0.0..1.0).contains(&q).then(|| -mean * (-q).ln_1p())
}

/// Returns the mean response time (s) of M/M/c: R = S + C·S ÷ (c·(1 − ρ)), ρ = λS ÷ c.
///
/// C is the share of operations that must wait (`erlang_c`), c the number of servers.
///
/// Source: Kleinrock 1975, section 3.5.
pub fn mmc_response(rate: f64, service: f64, servers: u32) -> Option<f64> {
    let offered = rate * service;
    let waiting = erlang_c(offered, servers)?;
    Some(service + waiting * service / (f64::from(servers) - offered))
}

/// Returns the share of operations that must wait in M/M/c, with a = λS the offered load in servers.
///
/// From the loss B of a system without waiting room, B₀ = 1, Bₖ = a·Bₖ₋₁ ÷ (k + a·Bₖ₋₁):
/// C = B ÷ (1 − ρ·(1 − B)). `None` unless a < c.
///
/// Source: Erlang 1917; the recursion follows from the ratio of successive terms of the loss formula.
fn erlang_c(offered: f64, servers: u32) -> Option<f64> {
    if !(0.0 <= offered && offered < f64::from(servers)) {
        return None;
    }
    let loss = (1..=servers).fold(1.0, |loss, k| offered * loss / (f64::from(k) + offered * loss));
    Some(loss / (1.0 - offered / f64::from(servers) * (1.0 - loss)))
}

/// Returns the mean response time (s) of M/G/1: R = S + ρS·(1 + v) ÷ (2·(1 − ρ)).
///
/// v is the squared coefficient of variation of the service time, variance ÷ S²: 0 for a fixed
/// time, 1 for a negative exponential one.
///
/// Source: Pollaczek and Khinchine; Kleinrock 1975, section 5.6.
pub fn mg1_response(rate: f64, service: f64, variation_squared: f64) -> Option<f64> {
    let busy = rate * service;
    (busy < 1.0).then(|| service + busy * service * (1.0 + variation_squared) / (2.0 * (1.0 - busy)))
}

#[cfg(test)]
mod tests {
    use units::{Nanos, Rng, StreamPurpose};

    use super::*;

    #[track_caller]
    fn close(found: Option<f64>, expected: f64, within: f64) {
        let found = found.expect("a value");
        assert!((found - expected).abs() <= within * expected, "found {found}, expected {expected}");
    }

    /// By hand: S 10 ms. 80/s: ρ 0.8, R = 0.01 ÷ 0.2 = 50 ms; its median 50·ln 2 = 34.657 ms.
    #[test]
    fn a_single_queue_by_hand() {
        close(mm1_response(80.0, 0.01), 0.05, 1e-12);
        close(mm1_response_quantile(80.0, 0.01, 0.5), 0.034_657_359, 1e-8);
        assert_eq!((mm1_response(100.0, 0.01), mm1_response_quantile(80.0, 0.01, 1.0)), (None, None));
    }

    /// By hand: a = 1.5, c = 2: a²/2! ÷ (1 − 0.75) = 4.5; C = 4.5 ÷ (1 + 1.5 + 4.5) = 9/14; R = 1 + (9/14) ÷ 0.5 =
    /// 16/7.
    #[test]
    fn two_servers_by_hand() {
        close(erlang_c(1.5, 2), 9.0 / 14.0, 1e-12);
        close(mmc_response(1.5, 1.0, 2), 16.0 / 7.0, 1e-12);
        assert_eq!((erlang_c(2.0, 2), erlang_c(0.0, 0), mmc_response(2.0, 1.0, 2)), (None, None, None));
    }

    #[test]
    fn the_special_cases_are_those_of_a_single_queue() {
        close(mmc_response(80.0, 0.01, 1), 0.05, 1e-12);
        close(mg1_response(80.0, 0.01, 1.0), 0.05, 1e-12);
        // A fixed service time halves the waiting: 10 + 40 ÷ 2 ms.
        close(mg1_response(80.0, 0.01, 0.0), 0.03, 1e-12);
        assert_eq!(mg1_response(100.0, 0.01, 0.0), None);
    }

    /// Goal: formulas against 300,000 simulated operations, seed 5, each taking the server that is free first.
    #[test]
    fn simulated_queues_follow_the_formulas() {
        let simulated = |servers: usize, rate: f64, service: &mut dyn FnMut(&mut Rng) -> u64| {
            let mut rng = Rng::new(5, StreamPurpose::Simulation, servers as u64);
            let mut due = 0;
            let mut total = 0;
            let mut free = vec![0; servers];
            let n = 300_000;
            for _ in 0..n {
                due += rng.exponential(Nanos::from_secs_f64(1.0 / rate)).0;
                let server = free.iter_mut().min().expect("there is a server");
                *server = due.max(*server) + service(&mut rng);
                total += *server - due;
            }
            Some(total as f64 / n as f64 / 1e9)
        };
        let fixed = &mut |_: &mut Rng| 10_000_000;
        let exponential = &mut |rng: &mut Rng| rng.exponential(Nanos::from_millis(10)).0;
        close(simulated(1, 60.0, fixed), mg1_response(60.0, 0.01, 0.0).unwrap(), 0.02);
        close(simulated(1, 60.0, exponential), mm1_response(60.0, 0.01).unwrap(), 0.02);
        close(simulated(3, 210.0, exponential), mmc_response(210.0, 0.01, 3).unwrap(), 0.02);
    }
}
