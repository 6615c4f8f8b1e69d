//! Connections that were to end with their reply and did not, so that the driver waited for them.

use super::{Evidence, RuleFinding};
use crate::finding::Finding;

/// Remarks on connections that the server left open after a complete reply.
pub(super) fn check(evidence: &Evidence) -> Vec<RuleFinding> {
    let n = evidence.fold.steady.left_open;
    let ok = evidence.figures.n;
    let finding = (0 < n).then(|| RuleFinding::remark(Finding::LeftOpen { n, ok }));
    finding.into_iter().collect()
}
