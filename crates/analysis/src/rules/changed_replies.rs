//! Replies that nobody has described, and that changed in the course of a load point.

use model::REPLIES_OF;

use super::{Evidence, RuleFinding};
use crate::finding::Finding;

/// Remarks on every kind of operation whose replies changed with time; a change that came with the load is a check that
/// does not hold (rule `consistency`).
pub(super) fn check(evidence: &Evidence) -> Vec<RuleFinding> {
    let changed =
        evidence.fold.checks.iter().filter(|check| check.holds && check.name.starts_with(REPLIES_OF));
    let finding = |check: &model::ConsistencyCheck| Finding::RepliesChanged {
        name: check.name.clone(),
        found: check.found.clone(),
    };
    changed.map(|check| RuleFinding::remark(finding(check))).collect()
}
