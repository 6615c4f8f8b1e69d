//! The timeline, and intervals for means from its seconds.

use super::times::{interval_of, interval_so_far};
use crate::TimelinePoint;
use crate::fold::{SecondTotals, Seconds};

/// Makes the points of the timeline, all phases.
pub(super) fn timeline(seconds: &Seconds) -> Vec<TimelinePoint> {
    seconds.all.iter().map(point).collect()
}

/// Returns the interval for the rate, from the rate of each steady second.
pub(super) fn rate_interval(seconds: &Seconds) -> Option<(f64, f64)> {
    let rates: Vec<f64> = seconds.steady().map(SecondTotals::rate).collect();
    interval_of(&rates)
}

/// Returns the interval for the rate so far, of a load point that may be running: wide as long as there are few seconds.
pub(crate) fn rate_interval_so_far(seconds: &Seconds) -> Option<(f64, f64)> {
    let rates: Vec<f64> = seconds.steady().map(SecondTotals::rate).collect();
    interval_so_far(&rates)
}

/// Returns the interval for the mean response time around the exact mean (s).
///
/// The mean is a ratio, Σr ÷ n, so that seconds with more operations weigh more: what is batched is
/// each second's contribution n_j·(R_j − R) ÷ n̄, whose mean is zero.
///
/// Source: the linearized ratio estimator (Law, Simulation Modeling and Analysis, 5th edition, section 9.3).
pub(super) fn response_interval(seconds: &Seconds, mean: f64) -> Option<(f64, f64)> {
    let steady: Vec<&SecondTotals> = seconds.steady().collect();
    let n_mean = steady.iter().map(|second| second.ok as f64).sum::<f64>() / steady.len() as f64;
    let contributions: Vec<f64> = steady
        .iter()
        .map(|second| (second.response_ns as f64 / 1e9 - second.ok as f64 * mean) / n_mean)
        .collect();
    let (low, high) = interval_of(&contributions)?;
    // Batches of equal length leave seconds at the begin out: where these make the mean, nothing is known of it.
    (low <= 0.0 && 0.0 <= high).then_some((mean + low, mean + high))
}

fn point(second: &SecondTotals) -> TimelinePoint {
    let length = second.length();
    let threads = f64::from(second.threads.max(1));
    TimelinePoint {
        at: second.start.as_secs_f64() + length / 2.0,
        phase: second.phase,
        rate: second.rate(),
        error_rate: second.errors as f64 / length,
        response_mean: (0 < second.ok).then(|| second.response_ns as f64 / 1e9 / second.ok as f64),
        p50: second.p50,
        p99: second.p99,
        generator_busy: second.cpu.as_secs_f64() / (length * threads),
        sut_cpus: second.sut_cpu.map(|cpu| cpu.as_secs_f64() / length),
    }
}
