//! Sample size: no threshold passes on no data, no percentile without enough values.

use units::Ratio;

use super::{Evidence, Finding};
use crate::metrics::{QUANTILES, values_needed};

/// Reports too few operations, and names the percentiles that are missing for want of values.
pub(super) fn check(evidence: &Evidence) -> Vec<Finding> {
    let (n, least) = (evidence.result.total.n, evidence.plan.rules.operations_min);
    if n < least.max(1) {
        let text = format!("{n} operations succeeded in the steady phase, at least {least} are needed");
        return vec![Finding::invalid("operations", text).hint("give it more time or more load")];
    }
    missing(n).into_iter().collect()
}

fn missing(n: u64) -> Option<Finding> {
    let missing: Vec<String> = QUANTILES
        .iter()
        .filter(|q| n < values_needed(Ratio(**q)))
        .map(|q| format!("p{} needs {}", (q * 1000.0).round() / 10.0, values_needed(Ratio(*q))))
        .collect();
    let text = format!("{n} response times are too few for some percentiles: {}", missing.join(", "));
    (!missing.is_empty()).then(|| Finding::remark("percentiles", text))
}
