//! The steady phase has the length that the plan gives it: rates are divided by nothing else.

use super::{Evidence, RecordProgress, RuleFinding};
use crate::finding::Finding;

/// Reports a steady phase, or a stage, that is not as long as planned, unless a limit ended it as planned.
pub(super) fn check(evidence: &Evidence) -> Vec<RuleFinding> {
    let recorded = evidence.figures.length;
    let planned = evidence.length_planned();
    let is_ended_by_limit = evidence.broken_at.is_some() && recorded < planned;
    if recorded == planned || is_ended_by_limit {
        return Vec::new();
    }
    let finding = Finding::SteadyLength { recorded, planned };
    let cut_short = evidence.progress == RecordProgress::CutShort && recorded < planned;
    vec![if cut_short { RuleFinding::incomplete(finding) } else { RuleFinding::invalid(finding) }]
}
