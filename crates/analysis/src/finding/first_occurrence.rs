//! Counting of faults of which only the first is kept.

/// The first occurrence of a fault, and the number of further ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FirstOccurrence<T> {
    /// The first.
    pub first: T,
    /// The number of those that followed it.
    pub n_more: u64,
}

/// A counter of the occurrences of a fault, which keeps the first.
#[derive(Debug, Clone)]
pub(crate) struct FaultCounter<T> {
    found: Option<FirstOccurrence<T>>,
}

impl<T> Default for FaultCounter<T> {
    fn default() -> FaultCounter<T> {
        FaultCounter { found: None }
    }
}

impl<T> FaultCounter<T> {
    /// Counts one fault.
    pub(crate) fn note(&mut self, fault: T) {
        match &mut self.found {
            Some(found) => found.n_more += 1,
            None => self.found = Some(FirstOccurrence { first: fault, n_more: 0 }),
        }
    }
}

impl<T: Clone> FaultCounter<T> {
    /// Returns the first fault and the number of further ones; `None` if there was none.
    pub(crate) fn found(&self) -> Option<FirstOccurrence<T>> {
        self.found.clone()
    }
}
