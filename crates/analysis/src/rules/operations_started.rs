//! The number of operations that the plan gives: never more are started, and all of them, if there is time.

use super::{Evidence, RuleFinding};
use crate::finding::Finding;

/// Reports operations beyond their number, and that the load point ended before all of them were started.
pub(super) fn check(evidence: &Evidence) -> Vec<RuleFinding> {
    let Some(planned) = evidence.plan.operations else { return Vec::new() };
    let started = evidence.fold.started;
    let finding = Finding::OperationsStarted { started, planned };
    match started.cmp(&planned) {
        std::cmp::Ordering::Less => vec![RuleFinding::remark(finding)],
        std::cmp::Ordering::Equal => Vec::new(),
        std::cmp::Ordering::Greater => vec![RuleFinding::invalid(finding)],
    }
}
