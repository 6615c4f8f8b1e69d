//! The steady phase has the length that the plan gives it: rates are divided by nothing else.

use super::{Evidence, RuleFinding, Stage};
use crate::finding::Finding;

/// Reports a steady phase that is not as long as planned.
pub(super) fn check(evidence: &Evidence) -> Vec<RuleFinding> {
    let recorded = evidence.figures.length;
    let planned = evidence.plan.phases.steady;
    if recorded == planned {
        return Vec::new();
    }
    let finding = Finding::SteadyLength { recorded, planned };
    let cut_short = evidence.stage == Stage::CutShort && recorded < planned;
    vec![if cut_short { RuleFinding::incomplete(finding) } else { RuleFinding::invalid(finding) }]
}
