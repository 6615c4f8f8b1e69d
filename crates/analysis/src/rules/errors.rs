//! The limit on failures of a benchmark, and failures whose fault is the generator's.

use model::Outcome;
use units::Ratio;

use super::{Evidence, RuleFinding, Severity};
use crate::Measure;

/// Reports too many failures, and takes notice of fewer.
pub(super) fn too_many(evidence: &Evidence) -> Vec<RuleFinding> {
    let (errors, completed) = (evidence.figures.errors, evidence.figures.completed());
    let limit = evidence.plan.rules.error_ratio_max;
    let ratio = errors as f64 / completed.max(1) as f64;
    let severity = match errors {
        _ if limit < ratio => Severity::Invalid,
        0 => return Vec::new(),
        _ => Severity::Notice,
    };
    let most = evidence.figures.failures.first().map_or("", |(outcome, _)| outcome.name());
    let text = format!(
        "{errors} of {completed} operations failed ({}), mostly `{most}`; at most {} are allowed",
        Ratio(ratio),
        Ratio(limit)
    );
    vec![RuleFinding::new(severity, "errors", text).measured(Measure::Errors { n: errors, ratio, limit })]
}

/// Reports failures whose fault lies with the generator's own machine.
pub(super) fn ours(evidence: &Evidence) -> Vec<RuleFinding> {
    let mut failures = evidence.figures.failures.iter();
    let Some((outcome, n)) = failures.find(|(outcome, _)| outcome.is_ours()) else { return Vec::new() };
    let hint = match outcome {
        Outcome::NoLocalPort => "see `plimsoll doctor` on local ports and TIME-WAIT",
        Outcome::NoDescriptor => "raise the limit of open files, see `plimsoll doctor`",
        _ => "the target policy forbids this address",
    };
    let text = format!("{n} operations failed on the generator's side: `{}`", outcome.name());
    vec![RuleFinding::invalid("generator-fault", text).hint(hint).measured(Measure::GeneratorFaults(*n))]
}
