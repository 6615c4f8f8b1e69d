//! The metrics in which servers are compared.

use model::Phase;
use stats::{MeasuredFigure, StandardError, standard_error};

use crate::{LoadPointResult, Percentile, TimelinePoint};

/// A metric in which servers are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ComparedMetric {
    /// The benchmark's score.
    Score,
    /// Mean response time, in s.
    ResponseMean,
    /// 99th percentile of the response time, in s.
    ResponseP99,
    /// CPU time of the server per operation, in s.
    CpuPerOperation,
}

impl ComparedMetric {
    /// All metrics, in the order of reports.
    pub const ALL: [ComparedMetric; 4] = [
        ComparedMetric::Score,
        ComparedMetric::ResponseMean,
        ComparedMetric::ResponseP99,
        ComparedMetric::CpuPerOperation,
    ];

    /// Returns its name in machine-readable output: `score`.
    pub fn name(self) -> &'static str {
        match self {
            ComparedMetric::Score => "score",
            ComparedMetric::ResponseMean => "response_mean",
            ComparedMetric::ResponseP99 => "response_p99",
            ComparedMetric::CpuPerOperation => "sut_cpu_per_operation",
        }
    }

    /// Returns whether higher values are better.
    pub fn is_better_higher(self) -> bool {
        self == ComparedMetric::Score
    }

    /// Returns the figure of a load point; `None` if it is not known.
    pub(super) fn of(self, point: &LoadPointResult) -> Option<f64> {
        let value = match self {
            ComparedMetric::Score => point.score,
            ComparedMetric::ResponseMean => point.response.mean,
            ComparedMetric::ResponseP99 => point.response.percentile(0.99).map(|p99| p99.value.as_secs_f64()),
            ComparedMetric::CpuPerOperation => point.sut_cpu_per_operation,
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
            ComparedMetric::ResponseP99 => percentile_error(point.response.percentile(0.99)?),
            ComparedMetric::CpuPerOperation => standard_error(&seconds(point, |second| {
                Some((second.sut_cpus?, second.rate + second.error_rate))
            })),
        };
        let (value, error) = (self.of(point)?, error?);
        Some(MeasuredFigure { value, relative: error.relative, degrees_of_freedom: error.degrees_of_freedom })
    }
}

fn seconds(point: &LoadPointResult, of: impl Fn(&TimelinePoint) -> Option<(f64, f64)>) -> Vec<(f64, f64)> {
    point.timeline.iter().filter(|second| second.phase == Phase::Steady).filter_map(of).collect()
}

/// Returns the error of a percentile from its interval, which at least ten batches bound.
///
/// ln(high ÷ low) is twice t(9) errors: so the interval is reproduced at 95 %, and at other levels is rather wider
/// than narrower.
fn percentile_error(percentile: &Percentile) -> Option<StandardError> {
    /// Student's quantile at 0.975 with 9 degrees of freedom.
    const T: f64 = 2.262_157;
    let (low, high) = percentile.interval?;
    let relative = (high.as_secs_f64() / low.as_secs_f64()).ln() / (2.0 * T);
    relative.is_finite().then_some(StandardError { relative, degrees_of_freedom: 9.0 })
}
