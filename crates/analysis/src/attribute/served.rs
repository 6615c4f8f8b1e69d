//! Operations that a server serves while it refuses others: a limit on their number is told from one on their rate by which of
//! the two is the steadier.

use model::{Outcome, Phase};

use super::{Indicator, Indicators};
use crate::LoadPointResult;
use crate::resources::ratio;

/// The fewest seconds whose variation says something. A house rule.
const SECONDS_MIN: usize = 5;

/// The least variation (standard deviation ÷ mean) of rate or number by which they are told apart: the ends of a second cut
/// off an operation or two of a hundred. A house rule.
const VARIATION_MIN: f64 = 0.03;

/// Outcomes by which a server that has no room for a connection ends it.
const CUTS: [Outcome; 5] =
    [Outcome::Reset, Outcome::Truncated, Outcome::StreamReset, Outcome::SessionLost, Outcome::ConnectionLost];

/// Returns the share of completed operations whose connection was cut; `None` if nothing completed.
pub(super) fn connections_cut(point: &LoadPointResult) -> Option<f64> {
    let cut = point.failures.iter().filter(|(outcome, _)| CUTS.contains(outcome));
    let n = cut.fold(0_u64, |sum, (_, n)| sum.saturating_add(*n));
    ratio(Some(n as f64), Some(point.completed() as f64))
}

/// Returns the kept connections that had ended when a request was sent on them ÷ operations of all phases, beyond the same at
/// the lowest load; `None` if there were none.
///
/// A server whose connections are all in use ends those that are between two requests, to have room for new ones. One that
/// ends them after some time, or after some requests, does so at any load.
pub(super) fn kept_connections_cut(point: &LoadPointResult, lowest: &LoadPointResult) -> Option<f64> {
    let own = kept_connections_lost(point).filter(|share| 0.0 < *share)?;
    Some((own - kept_connections_lost(lowest).unwrap_or(0.0)).max(0.0))
}

fn kept_connections_lost(point: &LoadPointResult) -> Option<f64> {
    let operations = point.timeline.iter().map(|second| second.rate + second.error_rate).sum();
    ratio(Some(point.web.as_ref()?.connections_lost as f64), Some(operations))
}

/// Returns the indicators of a server that refuses this share of all operations; none if it refuses nothing.
///
/// With L the mean number of operations that it serves at once, and B the share that it refuses: Erlang's loss formula gives
/// B = L for one place, and more served at once for more places, so that L ÷ B is at least 1 of any limit on their number.
pub(super) fn indicators(point: &LoadPointResult, refused: Option<f64>) -> Indicators {
    let Some(refused) = refused.filter(|share| 0.0 < *share) else { return Indicators::new() };
    let found = [
        (Indicator::ServedInFlight, Some(point.load_factor)),
        (Indicator::ServedOfRefused, ratio(Some(point.load_factor), Some(refused))),
        (Indicator::NumberVariation, number_variation(point)),
    ];
    found.into_iter().filter_map(|(indicator, value)| Some((indicator, value?))).collect()
}

/// Returns the variation between seconds of the number served at once (rate × response time) ÷ that of the rate; `None` if
/// there are too few seconds, or both hardly vary.
fn number_variation(point: &LoadPointResult) -> Option<f64> {
    let steady = point.timeline.iter().filter(|second| second.phase == Phase::Steady);
    let seconds: Vec<(f64, f64)> =
        steady.map(|second| (second.rate, second.rate * second.response_mean.unwrap_or(0.0))).collect();
    let rates: Vec<f64> = seconds.iter().map(|(rate, _)| *rate).collect();
    let numbers: Vec<f64> = seconds.iter().map(|(_, number)| *number).collect();
    variation_ratio(variation(&numbers)?, variation(&rates)?)
}

fn variation_ratio(of_number: f64, of_rate: f64) -> Option<f64> {
    let varies = VARIATION_MIN <= of_number.max(of_rate);
    // Where one of them does not vary at all, the other still says by how much.
    varies.then(|| of_number / of_rate.max(VARIATION_MIN / 10.0))
}

/// Returns the standard deviation ÷ the mean; `None` of too few values, or without a mean.
fn variation(values: &[f64]) -> Option<f64> {
    if values.len() < SECONDS_MIN {
        return None;
    }
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    ratio(Some(stats::variance(values).sqrt()), Some(mean))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand: 4 places with response times that vary by a fifth; then 75/s of the same; then neither varies.
    #[test]
    fn the_steadier_of_number_and_rate_is_the_limited_one() {
        let times = [0.040, 0.060, 0.050, 0.045, 0.055, 0.050];
        let of = |rates: &[f64]| {
            let numbers: Vec<f64> = rates.iter().zip(times).map(|(rate, time)| rate * time).collect();
            variation_ratio(variation(&numbers).unwrap(), variation(rates).unwrap())
        };
        let by_number: Vec<f64> = times.iter().map(|time| 3.9 / time).collect();
        assert!(of(&by_number).unwrap() < 0.01);
        assert!(10.0 < of(&[75.0, 75.0, 75.0, 76.0, 75.0, 75.0]).unwrap());
        let constant = variation(&[75.0, 75.0, 74.0, 75.0, 76.0]).unwrap();
        assert_eq!(variation_ratio(constant, constant), None);
        assert_eq!(variation(&[75.0, 80.0, 90.0, 60.0]), None, "too few seconds");
    }
}
