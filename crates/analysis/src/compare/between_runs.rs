//! The scatter of figures from run to run that is expected where too few runs of a server are there to measure it.
//!
//! Processes of one program differ: in what the just-in-time compiler made of them, where their memory lies, on which CPUs
//! they run; and the machine differs from minute to minute. One run shows nothing of it.

use stats::BetweenRuns;
use units::Ratio;

use super::ComparedMetric;
use crate::LoadPointResult;

/// The expected standard deviation of rate, mean and CPU time per operation, relative to the figure.
///
/// A house rule, on the careful side of what identical processes of five servers showed on a machine with nothing else to
/// do: `docs/design/intervals.md`.
pub const BETWEEN_RUNS: Ratio = Ratio(0.05);

/// The degrees of freedom of this expectation. Servers differ in how much they scatter: a tenth of them scatter more than
/// 1.65 times as much, if this many describe how sure it is.
const DEGREES_OF_FREEDOM: f64 = 6.0;

/// The scatter of a server's CPU time that does not come from operations, in CPUs: timers, and waking up. A house rule;
/// it counts where a server does little else.
const BACKGROUND_CPUS: f64 = 0.0075;

/// The delivered ratio from which the schedule, not the server, sets the rate of a run. A house rule.
const SCHEDULED: f64 = 0.999;

/// Returns the expectation for a deviation.
pub(super) fn expected(deviation: f64) -> BetweenRuns {
    BetweenRuns { deviation: Ratio(deviation), degrees_of_freedom: DEGREES_OF_FREEDOM }
}

/// Returns the expected deviation of a figure of a load point from run to run, relative to it.
///
/// The speed of the server varies, so rates vary as far as the server sets them: not at all in an open loop that was
/// delivered, and in a closed one by the part of the cycle in which users wait for replies, since X = N ÷ (R + Z)
/// gives dX ÷ X = −(dR ÷ R) · R ÷ (R + Z). High percentiles rest on few values, and vary the more. The scatter of failures is
/// relative to their share, and that of CPU time is greater where a server is mostly idle.
pub(super) fn deviation(point: &LoadPointResult, metric: ComparedMetric) -> f64 {
    let factor = match (metric, point.delivered_ratio) {
        (ComparedMetric::Score, Some(delivered)) if SCHEDULED <= delivered => 0.0,
        (ComparedMetric::Score, None) => part_waiting(point),
        (ComparedMetric::ResponsePercentile(rank), _) => of_percentile(rank.quantile()),
        (ComparedMetric::ErrorRatio, _) => super::metric::error_ratio(point).unwrap_or(0.0),
        _ => 1.0,
    };
    let background = match (metric, point.sut_cpus) {
        (ComparedMetric::CpuPerOperation, Some(cpus)) if 0.0 < cpus => BACKGROUND_CPUS / cpus,
        _ => 0.0,
    };
    BETWEEN_RUNS.0 * factor + background
}

/// Returns how many times as much as the mean a percentile scatters: as much up to the median, and once more for every
/// factor of ten in the number of values of which one lies above it; p90 1.7, p95 2, p99 2.7, p99.9 3.7 times.
fn of_percentile(q: f64) -> f64 {
    1.0 + (0.5 / (1.0 - q)).log10().max(0.0)
}

/// Returns R ÷ (R + Z), the average part of users that wait for a reply.
fn part_waiting(point: &LoadPointResult) -> f64 {
    let part = point.in_flight_mean / (point.in_flight_mean + point.thinking_mean);
    if part.is_finite() { part.clamp(0.0, 1.0) } else { 1.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand: 1 + log₁₀(0.5 ÷ 0.1) = 1.699, 1 + log₁₀(0.5 ÷ 0.05) = 2, 1 + log₁₀(0.5 ÷ 0.01) = 2.699.
    #[test]
    fn high_percentiles_scatter_more() {
        let near = |q, factor: f64| (of_percentile(q) - factor).abs() < 1e-3;
        assert!(near(0.1, 1.0) && near(0.5, 1.0) && near(0.9, 1.699) && near(0.95, 2.0) && near(0.99, 2.699));
    }
}
