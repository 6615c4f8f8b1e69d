//! The steady phase has the length that the plan gives it, unless it ends with the last operation: rates are divided by nothing
//! else.

use super::{Evidence, RecordProgress, RuleFinding};
use crate::finding::Finding;

/// Reports a steady phase, or a stage, that is not as long as planned, unless a limit ended it as planned.
pub(super) fn check(evidence: &Evidence) -> Vec<RuleFinding> {
    let recorded = evidence.figures.length;
    let planned = evidence.length_planned();
    let is_ended_early = evidence.broken_at.is_some() || evidence.has_started_all();
    if recorded == planned || (recorded < planned && is_ended_early) {
        return Vec::new();
    }
    let finding = Finding::SteadyLength { recorded, planned };
    let cut_short = evidence.progress == RecordProgress::CutShort && recorded < planned;
    vec![if cut_short { RuleFinding::incomplete(finding) } else { RuleFinding::invalid(finding) }]
}
