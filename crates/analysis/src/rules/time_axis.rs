//! The time axis: seconds follow each other without gap, overlap or idle span, phases as planned.

use super::{Evidence, RecordProgress, RuleFinding};
use crate::finding::Finding;

/// Reports gaps, and a record that ends before the plan although the run continued.
pub(super) fn check(evidence: &Evidence) -> Vec<RuleFinding> {
    let axis = &evidence.fold.axis;
    let order = axis.order.found().map(Finding::TimeAxis);
    let mut findings: Vec<RuleFinding> = order.map(RuleFinding::invalid).into_iter().collect();
    let end = axis.end();
    let planned = evidence.plan.phases.issuing();
    let is_planned = evidence.broken_at.is_some() || evidence.has_started_all();
    if end < planned && evidence.progress == RecordProgress::Over && !is_planned {
        findings.push(RuleFinding::invalid(Finding::EarlyEnd { end, planned }));
    }
    findings
}
