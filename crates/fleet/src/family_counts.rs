//! Named counts of a load point beside its records.

use std::collections::BTreeMap;

use crate::reply_changes::ReplyChanges;

/// Counts of a family beside the records, by name; those of several threads are added.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct FamilyCounts {
    counts: BTreeMap<&'static str, u64>,
    /// The fate of replies that nobody has described.
    pub(crate) changes: ReplyChanges,
}

impl<const N: usize> From<[(&'static str, u64); N]> for FamilyCounts {
    fn from(counts: [(&'static str, u64); N]) -> FamilyCounts {
        FamilyCounts { counts: counts.into(), changes: ReplyChanges::default() }
    }
}

impl FamilyCounts {
    /// Adds the counts of another thread.
    pub(crate) fn add(&mut self, other: &FamilyCounts) {
        for (name, n) in &other.counts {
            *self.counts.entry(name).or_default() += n;
        }
        self.changes.add(&other.changes);
    }

    /// Adds a count that is not zero.
    pub(crate) fn add_some(&mut self, name: &'static str, n: u64) {
        if 0 < n {
            *self.counts.entry(name).or_default() += n;
        }
    }

    /// Returns a count by its name; 0 if there is none.
    pub(crate) fn get(&self, name: &str) -> u64 {
        self.counts.get(name).copied().unwrap_or_default()
    }

    /// Returns the counts in the order of their names.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&'static str, u64)> {
        self.counts.iter().map(|(name, n)| (*name, *n))
    }
}
