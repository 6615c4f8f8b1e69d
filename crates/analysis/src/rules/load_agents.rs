//! Load agents: all of them must be present in every second. A missing one must not just lower the result.

use super::{Evidence, RuleFinding};
use crate::finding::Finding;

/// Reports seconds of the steady phase in which an agent or a load thread is missing.
pub(super) fn check(evidence: &Evidence) -> Vec<RuleFinding> {
    let missing = evidence.fold.axis.missing.found();
    missing.map(|missing| RuleFinding::invalid(Finding::MissingLoad(missing))).into_iter().collect()
}
