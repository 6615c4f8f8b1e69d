//! The steady phase has the length that the plan gives it: rates are divided by nothing else.

use super::{Evidence, RuleFinding, Stage};

/// Reports a steady phase that is not as long as planned.
pub(super) fn check(evidence: &Evidence) -> Vec<RuleFinding> {
    let (found, planned) = (evidence.figures.length, evidence.plan.phases.steady);
    if found == planned {
        return Vec::new();
    }
    let text = format!("{found} of the steady phase were recorded, {planned} were planned");
    let cut_short = evidence.stage == Stage::CutShort && found < planned;
    vec![if cut_short {
        RuleFinding::incomplete("steady-length", text)
    } else {
        RuleFinding::invalid("steady-length", text)
    }]
}
