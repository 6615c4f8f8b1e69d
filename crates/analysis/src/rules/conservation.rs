//! Conservation: every operation that enters is accounted for, in every interval and in every sum.

use super::{Evidence, RecordProgress, RuleFinding};
use crate::finding::Finding;

/// Reports every kind of contradiction once, with its first occurrence.
pub(super) fn check(evidence: &Evidence) -> Vec<RuleFinding> {
    let ledger = &evidence.fold.ledger;
    // While records come in, details may follow the intervals they belong to.
    let details = ledger.details_difference().filter(|_| evidence.progress != RecordProgress::Running);
    let found = [
        ledger.flow.found().map(Finding::Flow),
        ledger.totals.found().map(Finding::Totals),
        ledger.measures.found().map(Finding::Measure),
        ledger.overflows.found().map(Finding::Overflow),
        details.map(|(phase, difference)| Finding::Details { phase, difference }),
    ];
    found.into_iter().flatten().map(RuleFinding::invalid).collect()
}
