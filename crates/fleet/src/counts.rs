//! Named counts of a load point beside its records.

use std::collections::BTreeMap;

/// Counts of a family beside the records, by name; those of several threads are added.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Counts(BTreeMap<&'static str, u64>);

impl<const N: usize> From<[(&'static str, u64); N]> for Counts {
    fn from(counts: [(&'static str, u64); N]) -> Counts {
        Counts(counts.into())
    }
}

impl Counts {
    /// Adds the counts of another thread.
    pub(crate) fn add(&mut self, other: &Counts) {
        for (name, n) in &other.0 {
            *self.0.entry(name).or_default() += n;
        }
    }

    /// Returns a count by its name; 0 if there is none.
    pub(crate) fn get(&self, name: &str) -> u64 {
        self.0.get(name).copied().unwrap_or_default()
    }

    /// Returns the counts in the order of their names.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&'static str, u64)> {
        self.0.iter().map(|(name, n)| (*name, *n))
    }
}
