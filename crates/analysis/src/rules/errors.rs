//! The limit on failures of a benchmark, and failures whose fault is the generator's.

use model::Outcome;
use units::Ratio;

use super::{Evidence, RuleFinding};

/// Reports too many failures, and any whose fault lies with the generator's own machine.
pub(super) fn check(evidence: &Evidence) -> Vec<RuleFinding> {
    too_many(evidence).into_iter().chain(ours(evidence)).collect()
}

fn too_many(evidence: &Evidence) -> Option<RuleFinding> {
    let (errors, completed) = (evidence.result.total.errors, evidence.result.completed());
    let limit = evidence.plan.rules.error_ratio_max;
    let ratio = errors as f64 / completed.max(1) as f64;
    (limit < ratio).then(|| {
        let most = evidence.result.failures.first().map_or("", |(outcome, _)| outcome.name());
        let text = format!(
            "{errors} of {completed} operations failed ({}), mostly `{most}`; at most {} are allowed",
            Ratio(ratio),
            Ratio(limit)
        );
        RuleFinding::invalid("errors", text)
    })
}

fn ours(evidence: &Evidence) -> Option<RuleFinding> {
    let (outcome, n) = evidence.result.failures.iter().find(|(outcome, _)| outcome.is_ours())?;
    let hint = match outcome {
        Outcome::NoLocalPort => "see `plimsoll doctor` on local ports and TIME-WAIT",
        Outcome::NoDescriptor => "raise the limit of open files, see `plimsoll doctor`",
        _ => "the target policy forbids this address",
    };
    let text = format!("{n} operations failed on the generator's side: `{}`", outcome.name());
    Some(RuleFinding::invalid("generator-fault", text).hint(hint))
}
