//! Storage that took no more changes while it was measured: what it was to hold is not what the benchmark defines.

use model::Outcome;

use super::{Evidence, RuleFinding};
use crate::finding::Finding;

/// Reports operations that found no room, and those that found read-only what they were to change.
pub(super) fn check(evidence: &Evidence) -> Vec<RuleFinding> {
    let n_of = |wanted: Outcome| {
        let found = evidence.figures.failures.iter().find(|(outcome, _)| *outcome == wanted);
        found.map(|(_, n)| *n)
    };
    let full = n_of(Outcome::Full).map(|n| Finding::StorageFull { n });
    let read_only = n_of(Outcome::ReadOnly).map(|n| Finding::StorageReadOnly { n });
    full.into_iter().chain(read_only).map(RuleFinding::invalid).collect()
}
