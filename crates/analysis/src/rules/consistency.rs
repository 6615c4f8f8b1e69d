//! Checks of the system under test beside the operations: sessions that could not be opened, data that do not agree.

use super::{Evidence, RuleFinding};
use crate::finding::Finding;

/// Reports every check that does not hold: what was measured is then not the benchmark.
pub(super) fn check(evidence: &Evidence) -> Vec<RuleFinding> {
    let broken = evidence.fold.checks.iter().filter(|check| !check.holds);
    let finding = |check: &model::ConsistencyCheck| Finding::Consistency {
        moment: check.moment,
        name: check.name.clone(),
        found: check.found.clone(),
    };
    broken.map(|check| RuleFinding::invalid(finding(check))).collect()
}
