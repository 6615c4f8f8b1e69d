//! The limit on failures of a benchmark, failures whose fault is the generator's, and those without a counted code.

use units::Ratio;

use super::{Evidence, RuleFinding, Severity};
use crate::finding::Finding;

/// Reports too many failures, and takes notice of fewer.
pub(super) fn too_many(evidence: &Evidence) -> Vec<RuleFinding> {
    let errors = evidence.figures.errors;
    let completed = evidence.figures.completed();
    let limit = evidence.plan.rules.error_ratio_max;
    let ratio = errors as f64 / completed.max(1) as f64;
    let severity = match errors {
        _ if limit < ratio => Severity::Invalid,
        0 => return Vec::new(),
        _ => Severity::Notice,
    };
    let finding = Finding::Errors {
        n: errors,
        completed,
        ratio: Ratio(ratio),
        limit: Ratio(limit),
        most_frequent: evidence.figures.failures.first().map(|(outcome, _)| *outcome),
    };
    vec![RuleFinding::new(severity, finding)]
}

/// Remarks on failures whose protocol codes are missing in the record.
pub(super) fn uncounted_codes(evidence: &Evidence) -> Vec<RuleFinding> {
    let kinds = evidence.fold.steady.kinds.iter();
    let n = kinds.fold(0, |sum: u64, kind| sum.saturating_add(kind.codes.others));
    let finding = (0 < n).then(|| RuleFinding::remark(Finding::UncountedCodes { n }));
    finding.into_iter().collect()
}

/// Reports failures whose fault lies with the generator's own machine.
pub(super) fn ours(evidence: &Evidence) -> Vec<RuleFinding> {
    let mut failures = evidence.figures.failures.iter();
    let first = failures.find(|(outcome, _)| outcome.is_ours()).copied();
    let finding = first.map(|(outcome, n)| RuleFinding::invalid(Finding::GeneratorFault { outcome, n }));
    finding.into_iter().collect()
}
