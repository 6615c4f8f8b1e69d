//! The user's limits on the stages of a load point with a shape.

use model::LimitMetric;
use units::Ratio;

use super::{Evidence, JudgedPart, RuleFinding};
use crate::finding::Finding;
use crate::percentiles::values_needed;

/// Remarks on a stage that misses a limit, and on one with too little for it: its figures are valid all the same. Limits on
/// load points without stages are judged with the results ([`crate::comply`]).
pub(super) fn check(evidence: &Evidence) -> Vec<RuleFinding> {
    if !matches!(evidence.part, JudgedPart::Stage { .. }) || evidence.is_idle() {
        return Vec::new();
    }
    let judged = evidence.plan.limits.iter().filter_map(|limit| match value(limit.metric(), evidence) {
        Some(value) if limit.allows(value) => None,
        Some(value) => Some(RuleFinding::remark(Finding::StageLimit { limit: *limit, value })),
        None => {
            let n = evidence.figures.n;
            Some(RuleFinding::remark(Finding::StageLimitNotJudged { limit: *limit, n }))
        }
    });
    judged.collect()
}

/// Returns a value in the unit of [`model::Limit::value`]; `None` if there is too little for it.
fn value(metric: LimitMetric, evidence: &Evidence) -> Option<f64> {
    let figures = evidence.figures;
    let response = &evidence.fold.steady.response;
    match metric {
        LimitMetric::Errors => {
            let completed = figures.completed() as f64;
            (0.0 < completed).then(|| figures.errors as f64 / completed)
        }
        LimitMetric::Mean => response.mean().map(|mean| mean.as_secs_f64()),
        LimitMetric::Max => response.max().map(|max| max.as_secs_f64()),
        LimitMetric::Rate => Some(figures.rate),
        LimitMetric::Delivered => {
            figures.offered_rate.filter(|offered| 0.0 < *offered).map(|offered| figures.rate / offered)
        }
        LimitMetric::Percentile(rank) => {
            let q = Ratio(rank.quantile());
            let is_enough = values_needed(q) <= response.n();
            is_enough.then(|| response.quantile(q)).flatten().map(|value| value.as_secs_f64())
        }
    }
}
