//! Limits of kinds: response times and errors of each kind of operation are as the benchmark requires.

use model::{Limit, LimitMetric, OperationKind};
use units::Ratio;

use super::{Evidence, RuleFinding};
use crate::finding::Finding;
use crate::fold::KindSums;
use crate::percentiles::values_needed;

/// Reports kinds that miss a limit of theirs, and those with too few values for one.
///
/// The value itself decides, whatever its interval: that is how such limits are published.
pub(super) fn check(evidence: &Evidence) -> Vec<RuleFinding> {
    let kinds = evidence.plan.catalog.kinds.iter().zip(&evidence.fold.steady.kinds);
    kinds.flat_map(|(kind, sums)| kind.limits.iter().filter_map(|limit| judge(kind, *limit, sums))).collect()
}

fn judge(kind: &OperationKind, limit: Limit, sums: &KindSums) -> Option<RuleFinding> {
    let n = sums.response.n;
    let kind = kind.name.clone();
    match value(limit.metric(), sums) {
        Some(value) if limit.allows(value) => None,
        Some(value) => Some(RuleFinding::invalid(Finding::KindLimit { kind, limit, value })),
        None => {
            let needed = limit.metric().quantile().map_or(1, |q| values_needed(Ratio(q)));
            Some(RuleFinding::remark(Finding::KindLimitNotJudged { kind, limit, n, needed }))
        }
    }
}

/// Returns a value in the unit of [`Limit::value`]; `None` if there are too few values for it.
fn value(metric: LimitMetric, sums: &KindSums) -> Option<f64> {
    let n = sums.response.n as f64;
    let errors = sums.errors() as f64;
    match metric {
        LimitMetric::Errors => (0.0 < n + errors).then(|| errors / (n + errors)),
        LimitMetric::Mean => (0.0 < n).then(|| sums.response.sum as f64 / n / 1e9),
        LimitMetric::Max => (0.0 < n).then(|| sums.response.max as f64 / 1e9),
        // A kind has none of its own.
        LimitMetric::Rate | LimitMetric::Delivered => None,
        LimitMetric::Percentile(_) => {
            let q = Ratio(metric.quantile()?);
            let is_enough = values_needed(q) <= sums.histogram.n();
            let value = || sums.histogram.quantile(q).map(|value| value.as_secs_f64());
            is_enough.then(value).flatten()
        }
    }
}
