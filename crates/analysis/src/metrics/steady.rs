//! Steady state and warm-up, from the seconds of a load point.

use stats::{SteadyLimit, steadiness, warm_up_cut};
use units::Nanos;

use crate::SteadyState;
use crate::fold::{SecondTotals, Seconds};

/// Returns whether rate and mean response time are steady over the steady phase.
pub(super) fn steady_state(seconds: &Seconds) -> SteadyState {
    let rates: Vec<f64> = seconds.steady().map(SecondTotals::rate).collect();
    let responding = seconds.steady().filter(|second| 0 < second.ok);
    let responses: Vec<f64> = responding.map(|second| second.response_ns as f64 / second.ok as f64).collect();
    let limit = SteadyLimit::DEFAULT;
    SteadyState { rate: steadiness(&rates, &limit), response: steadiness(&responses, &limit) }
}

/// Returns the end of the warm-up, from the start of the load point, by the rate at full load.
pub(super) fn warm_up(seconds: &Seconds) -> Option<Nanos> {
    let (starts, rates): (Vec<Nanos>, Vec<f64>) =
        seconds.full_load().map(|second| (second.start, second.rate())).unzip();
    starts.get(warm_up_cut(&rates)?).copied()
}
