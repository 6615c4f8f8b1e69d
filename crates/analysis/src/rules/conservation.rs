//! Conservation: every operation that enters is accounted for, in every interval and in every sum.

use super::{Evidence, RuleFinding, Stage};

const BROKEN: &str = "the record contradicts itself; repeat the run, and report this if it happens again";

/// Reports every kind of contradiction once, with its first occurrence.
pub(super) fn check(evidence: &Evidence) -> Vec<RuleFinding> {
    let ledger = &evidence.fold.ledger;
    // While records come in, details may follow the intervals they belong to.
    let details = ledger.details_difference().filter(|_| evidence.stage != Stage::Running);
    let found = [
        ("conservation", ledger.flow.text()),
        ("conservation", ledger.totals.text()),
        ("conservation", ledger.bytes.text()),
        ("conservation", ledger.overflows.text()),
        ("conservation", details),
    ];
    found
        .into_iter()
        .filter_map(|(rule, text)| Some(RuleFinding::invalid(rule, text?).hint(BROKEN)))
        .collect()
}
