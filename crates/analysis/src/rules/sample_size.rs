//! Sample size: no threshold passes without data, no percentile without enough values.

use units::Ratio;

use super::{Evidence, RuleFinding, Stage};
use crate::percentiles::{QUANTILES, values_needed};

/// Returns whether there are enough operations: more may follow, so that too few are known at the end only.
pub(super) fn has_enough(evidence: &Evidence) -> bool {
    evidence.operations_needed() <= evidence.figures.n
}

/// Reports too few operations, and percentiles that are missing because of too few values.
pub(super) fn check(evidence: &Evidence) -> Vec<RuleFinding> {
    let n = evidence.figures.n;
    if n < evidence.operations_needed() {
        let least = evidence.plan.rules.operations_min;
        let text = format!("{n} operations succeeded in the steady phase, at least {least} are needed");
        return vec![RuleFinding::invalid("operations", text).hint("use a longer steady phase or more load")];
    }
    missing(n).filter(|_| evidence.stage != Stage::Running).into_iter().collect()
}

fn missing(n: u64) -> Option<RuleFinding> {
    let missing: Vec<String> = QUANTILES
        .iter()
        .filter(|q| n < values_needed(Ratio(**q)))
        .map(|q| format!("p{} needs {}", (q * 1000.0).round() / 10.0, values_needed(Ratio(*q))))
        .collect();
    let text = format!("{n} response times are too few for some percentiles: {}", missing.join(", "));
    (!missing.is_empty()).then(|| RuleFinding::remark("percentiles", text))
}
