//! Named counts of a load point beside its records.

use std::borrow::Cow;
use std::collections::BTreeMap;

use crate::checked::CheckedRow;
use crate::reply_changes::ReplyChanges;

/// Counts of a family beside the records, by name; those of several threads are added.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct FamilyCounts {
    counts: BTreeMap<Cow<'static, str>, u64>,
    /// The fate of replies that nobody has described.
    pub(crate) changes: ReplyChanges,
    /// What was found about the load side.
    pub(crate) of_load: Vec<CheckedRow>,
}

impl<const N: usize> From<[(&'static str, u64); N]> for FamilyCounts {
    fn from(counts: [(&'static str, u64); N]) -> FamilyCounts {
        let counts = counts.into_iter().map(|(name, n)| (Cow::Borrowed(name), n)).collect();
        FamilyCounts { counts, ..FamilyCounts::default() }
    }
}

impl FamilyCounts {
    /// Adds the counts of another thread.
    pub(crate) fn add(&mut self, other: &FamilyCounts) {
        for (name, n) in &other.counts {
            self.add_named(name.clone(), *n);
        }
        self.changes.add(&other.changes);
        self.of_load.extend(other.of_load.iter().cloned());
    }

    /// Adds a count that is not zero.
    pub(crate) fn add_some(&mut self, name: &'static str, n: u64) {
        if 0 < n {
            self.add_named(name.into(), n);
        }
    }

    /// Adds a count. Saturates, as load agents may send any.
    pub(crate) fn add_named(&mut self, name: Cow<'static, str>, n: u64) {
        let count = self.counts.entry(name).or_default();
        *count = count.saturating_add(n);
    }

    /// Returns a count by its name; 0 if there is none.
    pub(crate) fn get(&self, name: &str) -> u64 {
        self.counts.get(name).copied().unwrap_or_default()
    }

    /// Returns the counts in the order of their names.
    pub(crate) fn iter(&self) -> impl ExactSizeIterator<Item = (&str, u64)> {
        self.counts.iter().map(|(name, n)| (&**name, *n))
    }
}
