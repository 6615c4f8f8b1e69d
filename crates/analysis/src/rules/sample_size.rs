//! Sample size: no threshold passes without data, no percentile without enough values.

use units::Ratio;

use super::{Evidence, JudgedPart, RecordProgress, RuleFinding};
use crate::finding::{Finding, MissingPercentile};
use crate::percentiles::{QUANTILES, values_needed};

/// Returns whether there are enough operations: more may follow, so that too few are known at the end only.
pub(super) fn has_enough(evidence: &Evidence) -> bool {
    evidence.operations_needed() <= evidence.figures.n
}

/// Reports too few operations, and percentiles that are missing because of too few values.
pub(super) fn check(evidence: &Evidence) -> Vec<RuleFinding> {
    let n = evidence.figures.n;
    if evidence.is_idle() {
        return Vec::new();
    }
    if n < evidence.operations_needed() {
        let needed = evidence.plan.rules.operations_min;
        return vec![RuleFinding::invalid(Finding::TooFewOperations { n, needed })];
    }
    // The table of stages shows which percentiles are there.
    let is_told =
        evidence.progress != RecordProgress::Running && !matches!(evidence.part, JudgedPart::Stage { .. });
    missing(n).filter(|_| is_told).into_iter().collect()
}

fn missing(n: u64) -> Option<RuleFinding> {
    let percentiles =
        QUANTILES.iter().map(|q| MissingPercentile { q: Ratio(*q), needed: values_needed(Ratio(*q)) });
    let missing: Vec<MissingPercentile> = percentiles.filter(|one| n < one.needed).collect();
    (!missing.is_empty()).then(|| RuleFinding::remark(Finding::MissingPercentiles { n, missing }))
}
