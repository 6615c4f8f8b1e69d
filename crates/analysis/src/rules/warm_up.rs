//! Warm-up: it is over before the steady phase begins, or soon after.

use model::Phase;
use units::Nanos;

use super::{Evidence, Finding};
use crate::fold::{Second, Seconds};

/// Part of the steady phase into which the warm-up may reach: the rest outweighs it ninefold.
const REACH_MAX: f64 = 0.1;

/// Seconds per batch, as in [`stats::warm_up_cut`].
const BATCH: usize = 5;

/// By how many standard errors the warm-up must differ from the rest.
///
/// The cut alone reaches this far in 16 to 29 % of simulated series of 60 s that have no warm-up, and in 10 to 14 % of
/// 120 s. With this it does so in 1 to 2 %, and in 3 to 7 % if the memory from second to second is φ = 0.8.
const ERRORS_MIN: f64 = 4.0;

/// Remarks on a warm-up that reaches into the steady phase by more than a tenth of it, and that chance does not explain.
pub(super) fn check(evidence: &Evidence) -> Vec<Finding> {
    let length = evidence.result.length.as_secs_f64();
    let Some(end) = evidence.result.warm_up else { return Vec::new() };
    let begin = evidence.plan.phases.start_of(Phase::Steady);
    let reach = end.saturating_sub(begin).as_secs_f64();
    if reach <= REACH_MAX * length || !is_shown(&evidence.fold.seconds, end) {
        return Vec::new();
    }
    let text = format!(
        "the rate warmed up until {reach:.0} s into the steady phase of {length:.0} s (MSER-5), a tenth of it is tolerated"
    );
    vec![Finding::remark("warm-up", text).hint("a longer settle phase")]
}

/// Returns whether the rate until `end` differs from that of the rest by more than chance, told from batches of seconds.
fn is_shown(seconds: &Seconds, end: Nanos) -> bool {
    let (before, after): (Vec<&Second>, Vec<&Second>) =
        seconds.full_load().partition(|second| second.start < end);
    let (before, after) = (batch_means(&before), batch_means(&after));
    let error = deviation(&after) * (1.0 / before.len() as f64 + 1.0 / after.len() as f64).sqrt();
    ERRORS_MIN * error < (mean(&before) - mean(&after)).abs()
}

fn batch_means(seconds: &[&Second]) -> Vec<f64> {
    let rates: Vec<f64> = seconds.iter().map(|second| second.rate()).collect();
    rates.chunks_exact(BATCH).map(mean).collect()
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// Returns the standard deviation of a sample, divisor n − 1.
fn deviation(values: &[f64]) -> f64 {
    let mean = mean(values);
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    (squares / (values.len() as f64 - 1.0)).sqrt()
}
