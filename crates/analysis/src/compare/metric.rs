//! The metrics in which servers are compared.

use std::borrow::Cow;

use model::{PercentileRank, Phase};
use stats::{MeasuredFigure, StandardError, standard_error};
use units::Ratio;

use crate::percentiles::CONFIDENCE;
use crate::{LoadPointResult, Percentile, TimelinePoint};

/// A metric in which servers are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ComparedMetric {
    /// The benchmark's score.
    Score,
    /// Mean response time, in s.
    ResponseMean,
    /// A percentile of the response time, in s.
    ResponsePercentile(PercentileRank),
    /// CPU time of the server per operation, in s.
    CpuPerOperation,
    /// Failed ÷ completed operations, from 0 to 1. Often zero, so that differences are compared instead of ratios.
    ErrorRatio,
}

impl ComparedMetric {
    /// The 99th percentile of the response time.
    pub const RESPONSE_P99: ComparedMetric = ComparedMetric::ResponsePercentile(PercentileRank::P99);

    /// The metrics of every comparison, in the order of reports. The others are compared where a bound is set for them.
    pub const ALL: [ComparedMetric; 4] = [
        ComparedMetric::Score,
        ComparedMetric::ResponseMean,
        ComparedMetric::RESPONSE_P99,
        ComparedMetric::CpuPerOperation,
    ];

    /// Returns its name in machine-readable output: `score`, `response_p97.5`.
    pub fn name(self) -> Cow<'static, str> {
        match self {
            ComparedMetric::Score => "score".into(),
            ComparedMetric::ResponseMean => "response_mean".into(),
            ComparedMetric::ResponsePercentile(rank) => format!("response_{rank}").into(),
            ComparedMetric::CpuPerOperation => "sut_cpu_per_operation".into(),
            ComparedMetric::ErrorRatio => "error_ratio".into(),
        }
    }

    /// Returns whether higher values are better.
    pub fn is_better_higher(self) -> bool {
        self == ComparedMetric::Score
    }

    /// Returns whether its changes are differences, not relative to the baseline.
    pub fn is_share(self) -> bool {
        self == ComparedMetric::ErrorRatio
    }

    /// Returns the ratio of figures for a change: 1 + change, of shares exp(change).
    pub fn ratio_of(self, change: f64) -> f64 {
        if self.is_share() { change.exp() } else { 1.0 + change }
    }

    /// Returns the change for a ratio of figures: relative to the baseline, of shares the difference.
    pub fn change_of(self, ratio: f64) -> f64 {
        if self.is_share() { ratio.ln() } else { ratio - 1.0 }
    }

    /// Returns the figure of a load point whose ratios are compared; `None` if it is not known. Of a share p it is exp(p),
    /// so that the logarithm of a ratio is the difference of shares.
    pub(super) fn of(self, point: &LoadPointResult) -> Option<f64> {
        let value = match self {
            ComparedMetric::Score => point.score,
            ComparedMetric::ResponseMean => point.response.mean,
            ComparedMetric::ResponsePercentile(rank) => percentile(point, rank),
            ComparedMetric::CpuPerOperation => point.sut_cpu_per_operation,
            ComparedMetric::ErrorRatio => error_ratio(point).map(f64::exp),
        };
        value.filter(|value| 0.0 < *value && value.is_finite())
    }

    /// Returns the figure with its standard error from its own phase; `None` if the phase is too short for one.
    pub(super) fn shown(self, point: &LoadPointResult) -> Option<MeasuredFigure> {
        let error = match self {
            ComparedMetric::Score => standard_error(&point.score_seconds),
            ComparedMetric::ResponseMean => standard_error(&seconds(point, |second| {
                Some((second.rate * second.response_mean.unwrap_or(0.0), second.rate))
            })),
            ComparedMetric::ResponsePercentile(rank) => percentile_error(point, rank.quantile()),
            ComparedMetric::CpuPerOperation => standard_error(&seconds(point, |second| {
                Some((second.sut_cpus?, second.rate + second.error_rate))
            })),
            ComparedMetric::ErrorRatio => share_error(point),
        };
        let value = self.of(point)?;
        let error = error?;
        Some(MeasuredFigure { value, relative: error.relative, degrees_of_freedom: error.degrees_of_freedom })
    }
}

fn seconds(point: &LoadPointResult, of: impl Fn(&TimelinePoint) -> Option<(f64, f64)>) -> Vec<(f64, f64)> {
    point.timeline.iter().filter(|second| second.phase == Phase::Steady).filter_map(of).collect()
}

/// Returns a percentile by nearest rank, in s; `None` if there are too few values for its interval.
fn percentile(point: &LoadPointResult, rank: PercentileRank) -> Option<f64> {
    let found = point.response.histogram.quantile_interval(Ratio(rank.quantile()), CONFIDENCE)?;
    Some(found.value.as_secs_f64())
}

/// Returns the error of a percentile: the greater one of the two reported percentiles between which it lies, because batches
/// of seconds bound those only. `None` above the highest that has an interval.
fn percentile_error(point: &LoadPointResult, q: f64) -> Option<StandardError> {
    const EXACT: f64 = 1e-9;
    let reported = &point.response.percentiles;
    let above = reported.iter().find(|one| q - EXACT < one.q)?;
    let below = reported.iter().rev().find(|one| one.q < q + EXACT).unwrap_or(above);
    let above = interval_error(above)?;
    let below = interval_error(below)?;
    Some(if below.relative < above.relative { above } else { below })
}

/// Returns the error of a percentile from its interval, which at least ten batches bound.
///
/// ln(high ÷ low) is twice t(9) errors: so the interval is reproduced at 95 %, and at other levels is rather wider
/// than narrower.
fn interval_error(percentile: &Percentile) -> Option<StandardError> {
    /// Student's quantile at 0.975 with 9 degrees of freedom.
    const T: f64 = 2.262_157;
    let (low, high) = percentile.interval?;
    let relative = (high.as_secs_f64() / low.as_secs_f64()).ln() / (2.0 * T);
    relative.is_finite().then_some(StandardError { relative, degrees_of_freedom: 9.0 })
}

/// Returns failed ÷ completed operations; `None` if nothing was completed.
pub(super) fn error_ratio(point: &LoadPointResult) -> Option<f64> {
    let completed = point.completed() as f64;
    (0.0 < completed).then(|| point.total.errors as f64 / completed)
}

/// Returns the error of the share of failures: that of its seconds, and at least √(E + 1) ÷ n of the count, so that no
/// failure in a few operations is not taken for certainty. `None` with fewer than ten seconds.
fn share_error(point: &LoadPointResult) -> Option<StandardError> {
    /// As many as of seconds in the fewest batches.
    const DEGREES_OF_FREEDOM: f64 = 9.0;
    const SECONDS_MIN: usize = 10;
    let seconds = seconds(point, |second| Some((second.error_rate, second.rate + second.error_rate)));
    if seconds.len() < SECONDS_MIN {
        return None;
    }
    let counted = (point.total.errors as f64 + 1.0).sqrt() / point.completed() as f64;
    let of_count = StandardError { relative: counted, degrees_of_freedom: DEGREES_OF_FREEDOM };
    let share = error_ratio(point)?;
    let of_seconds =
        standard_error(&seconds).map(|error| StandardError { relative: share * error.relative, ..error });
    Some(of_seconds.filter(|error| counted < error.relative).unwrap_or(of_count))
}
