//! The results of computations, which the load generator knows beforehand.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use frame::app::WorkTable;

/// Number of different seeds of computations.
pub(super) const SEEDS: u64 = 64;

/// The results by numbers of rounds. A process has one such number, or a few in its tests.
static KNOWN: Mutex<BTreeMap<u32, Arc<[u64]>>> = Mutex::new(BTreeMap::new());

/// Returns the result of each seed after a number of rounds, by the seeds.
///
/// The first call for this number computes them, some tens of milliseconds of CPU time; others wait for it.
pub(super) fn results(rounds: u32) -> Arc<[u64]> {
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    let compute = || {
        let mut table = WorkTable::default();
        (0..SEEDS).map(|seed| table.compute(seed, rounds)).collect()
    };
    Arc::clone(known.entry(rounds).or_insert_with(compute))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_computed_once_for_each_number_of_rounds() {
        let first = results(7);
        assert!(Arc::ptr_eq(&first, &results(7)));
        assert_ne!(first, results(8));
        assert_eq!((first.len(), first[42]), (64, WorkTable::default().compute(42, 7)));
    }
}
