//! Steady state: rate and response time do not drift over the steady phase.

use stats::{Drift, DriftLimit, Estimate, drift};
use units::Ratio;

use super::{Evidence, Finding};
use crate::metrics::CONFIDENCE;

/// Change over the whole phase, relative to the mean, that is tolerated.
const DRIFT_MAX: f64 = 0.05;

/// Remarks on a rate or mean response time that drifts by more than 5 % over the phase.
pub(super) fn check(evidence: &Evidence) -> Vec<Finding> {
    let seconds = &evidence.fold.seconds;
    let rates: Vec<f64> = seconds.steady().map(|second| second.ok as f64 / second.length()).collect();
    let responding = seconds.steady().filter(|second| 0 < second.ok);
    let responses: Vec<f64> = responding.map(|second| second.response_ns as f64 / second.ok as f64).collect();
    let found = [finding(evidence, "rate", &rates), finding(evidence, "mean response time", &responses)];
    found.into_iter().flatten().collect()
}

fn finding(evidence: &Evidence, what: &str, values: &[f64]) -> Option<Finding> {
    let minutes = evidence.result.length.as_secs_f64() / 60.0;
    let limit = DriftLimit { per_minute: Ratio(DRIFT_MAX / minutes), confidence: CONFIDENCE };
    let Drift::Drifting { per_minute } = drift(values, &limit) else { return None };
    let Estimate { value, low, high } = per_minute;
    let percent = |ratio: f64| 100.0 * minutes * ratio;
    let text = format!(
        "the {what} changed by {:+.1} % over the steady phase (95 % interval {:+.1} to {:+.1} %), it is not steady",
        percent(value),
        percent(low),
        percent(high)
    );
    Some(Finding::remark("drift", text).hint("a longer settle phase, or a server that leaks or warms up"))
}
