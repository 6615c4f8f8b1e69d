//! The figures of a side at one load.

use model::Load;
use stats::Estimate;
use units::Nanos;

use super::{ComparedMetric, FigureChange};
use crate::percentiles::CONFIDENCE;
use crate::{LoadPointResult, VerdictState};

/// The highest valid load of a side.
#[derive(Debug, Clone, PartialEq)]
pub struct BestLoad {
    /// The load; of several runs, that of the highest score.
    pub load: Load,
    /// Whether that was the highest load offered by an open loop, so that the score is not the limit of the side.
    pub is_all_offered: bool,
    /// The figures at the highest valid load of each run.
    pub figures: Figures,
}

/// The figures of a load that are compared. Of several runs the geometric means over those that are valid, over all
/// if none is: so their ratios are the geometric means of ratios.
#[derive(Debug, Clone, PartialEq)]
pub struct Figures {
    /// The judgement: valid if one of the runs is, at this load.
    pub state: VerdictState,
    /// Number of runs behind the figures.
    pub n_runs: usize,
    /// Number of them that are valid at this load.
    pub n_valid: usize,
    /// The benchmark's score; zero without one.
    pub score: f64,
    /// 95 % interval for the score: of one run from its seconds, of three or more from their scatter; `None` of two,
    /// and with too few seconds.
    pub score_interval: Option<(f64, f64)>,
    /// Successful operations per second.
    pub rate: f64,
    /// Mean response time in seconds; `None` if nothing succeeded.
    pub response_mean: Option<f64>,
    /// 99th percentile of the response time; `None` if too few values.
    pub response_p99: Option<Nanos>,
    /// CPUs that the SUT used; `None` if not seen.
    pub sut_cpus: Option<f64>,
    /// CPU time of the SUT per operation, in seconds.
    pub sut_cpu_per_operation: Option<f64>,
    /// The changes from the baseline, figure by figure; empty of the baseline itself, and where one of the two has no
    /// valid run.
    pub changes: Vec<FigureChange>,
}

impl Figures {
    /// Combines the same load of several runs. Without changes, which need all sides.
    pub(super) fn of(points: &[&LoadPointResult]) -> Figures {
        let valid: Vec<&LoadPointResult> = points.iter().copied().filter(|point| is_valid(point)).collect();
        let state = match (valid.is_empty(), points.first()) {
            (false, _) => VerdictState::Valid,
            (true, point) => point.map_or(VerdictState::Incomplete, |point| point.verdict.state),
        };
        let n_runs = points.len();
        let n_valid = valid.len();
        let shown = if valid.is_empty() { points } else { &valid };
        let mean = |of: &dyn Fn(&LoadPointResult) -> Option<f64>| geometric_mean(shown, of);
        Figures {
            state,
            n_runs,
            n_valid,
            score: mean(&|point| point.score).unwrap_or(0.0),
            score_interval: score_interval(shown),
            rate: mean(&|point| Some(point.rate)).unwrap_or(0.0),
            response_mean: mean(&|point| point.response.mean),
            response_p99: mean(&|point| ComparedMetric::RESPONSE_P99.of(point)).map(Nanos::from_secs_f64),
            sut_cpus: mean(&|point| point.sut_cpus),
            sut_cpu_per_operation: mean(&|point| point.sut_cpu_per_operation),
            changes: Vec::new(),
        }
    }

    /// Returns the change of a figure from the baseline's; `None` of the baseline, and if it was not compared.
    pub fn change(&self, metric: ComparedMetric) -> Option<&FigureChange> {
        self.changes.iter().find(|change| change.metric == metric)
    }
}

/// Returns whether a load point may be compared.
pub(super) fn is_valid(point: &LoadPointResult) -> bool {
    point.verdict.state == VerdictState::Valid && point.score.is_some_and(|score| 0.0 < score)
}

/// Returns the geometric mean of the known values; a single value as it is. `None` if no value is known.
fn geometric_mean(points: &[&LoadPointResult], of: &dyn Fn(&LoadPointResult) -> Option<f64>) -> Option<f64> {
    let values: Vec<f64> = points.iter().filter_map(|point| of(point)).collect();
    match values.as_slice() {
        [] => None,
        [only] => Some(*only),
        all => Some((all.iter().map(|value| value.ln()).sum::<f64>() / all.len() as f64).exp()),
    }
}

fn score_interval(points: &[&LoadPointResult]) -> Option<(f64, f64)> {
    match points {
        [only] => only.score_interval,
        [] | [_, _] => None,
        several => {
            let logs: Vec<f64> = several.iter().filter_map(|point| Some(point.score?.ln())).collect();
            let Estimate { low, high, .. } = mean_interval(&logs)?;
            Some((low.exp(), high.exp()))
        }
    }
}

/// Returns the mean of independent values with Student's interval.
fn mean_interval(values: &[f64]) -> Option<Estimate> {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    Estimate::from_error(mean, (squares / (n * (n - 1.0))).sqrt(), values.len() - 1, CONFIDENCE)
}
