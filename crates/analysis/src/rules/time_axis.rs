//! The time axis: seconds follow each other without gap, overlap or idle span, phases as planned.

use super::{Evidence, RuleFinding, Stage};

/// Reports gaps, and a record that ends before the plan although the run continued.
pub(super) fn check(evidence: &Evidence) -> Vec<RuleFinding> {
    let axis = &evidence.fold.axis;
    let mut findings: Vec<RuleFinding> =
        axis.order.text().map(|text| RuleFinding::invalid("time-axis", text)).into_iter().collect();
    let (end, planned) = (axis.end(), evidence.plan.phases.issuing());
    if end < planned && evidence.stage == Stage::Over {
        let text = format!("the record of the load point ends at {end}, the plan at {planned}");
        findings.push(RuleFinding::invalid("time-axis", text));
    }
    findings
}
