//! The messages of a mailbox by their UIDs, in little memory.

use super::number_set::NumberRange;

/// The most ranges of a collection: 32 KiB.
pub const RANGES_MAX: usize = 4096;

/// A set of UIDs as ranges: a mailbox from which little was deleted has few.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct UidCollection {
    /// Ascending, with gaps between them.
    ranges: Vec<NumberRange>,
    n: u64,
    /// Whether ranges had to be left out.
    is_cut: bool,
}

impl UidCollection {
    /// Makes an empty collection.
    pub fn new() -> UidCollection {
        UidCollection::default()
    }

    /// Removes everything.
    pub fn clear(&mut self) {
        self.ranges.clear();
        self.n = 0;
        self.is_cut = false;
    }

    /// Adds UIDs, in any order. Where there is no room, those of the oldest range are left out.
    pub fn add(&mut self, added: NumberRange) {
        // Ranges that overlap or touch the new one become part of it.
        let first = self.ranges.partition_point(|range| range.last < added.first.saturating_sub(1));
        let behind = self.ranges.partition_point(|range| range.first <= added.last.saturating_add(1));
        let mut joined = added;
        for range in &self.ranges[first..behind.max(first)] {
            joined.first = joined.first.min(range.first);
            joined.last = joined.last.max(range.last);
            self.n -= range.n();
        }
        self.n += joined.n();
        self.ranges.splice(first..behind.max(first), [joined]);
        if RANGES_MAX < self.ranges.len() {
            let oldest = self.ranges.remove(0);
            self.n -= oldest.n();
            self.is_cut = true;
        }
    }

    /// Returns the number of UIDs.
    pub fn n(&self) -> u64 {
        self.n
    }

    /// Returns whether the oldest were left out, because the mailbox has too many gaps.
    pub fn is_cut(&self) -> bool {
        self.is_cut
    }

    /// Returns the UID at a place, counted from the newest, which is 0.
    pub fn newest(&self, place: u64) -> Option<u32> {
        let mut left = place;
        for range in self.ranges.iter().rev() {
            if left < range.n() {
                return Some(range.last - left as u32);
            }
            left -= range.n();
        }
        None
    }

    /// Returns the ranges, ascending.
    pub fn ranges(&self) -> &[NumberRange] {
        &self.ranges
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn memory_is_bounded() {
        let mut collection = UidCollection::new();
        for uid in 0..2 * RANGES_MAX as u32 {
            collection.add(NumberRange { first: 2 * uid + 1, last: 2 * uid + 1 });
        }
        assert_eq!((collection.n(), collection.is_cut()), (RANGES_MAX as u64, true));
        assert_eq!(collection.newest(0), Some(4 * RANGES_MAX as u32 - 1));
        collection.clear();
        assert_eq!(collection, UidCollection::new());
    }

    #[test]
    fn the_greatest_numbers_are_numbers() {
        let mut collection = UidCollection::new();
        collection.add(NumberRange { first: 1, last: u32::MAX });
        collection.add(NumberRange { first: u32::MAX, last: u32::MAX });
        assert_eq!(
            (collection.n(), collection.newest(u64::from(u32::MAX) - 1)),
            (u64::from(u32::MAX), Some(1))
        );
    }

    proptest! {
        #[test]
        fn a_collection_is_the_set_of_what_was_added(added in prop::collection::vec((1_u32..200, 0_u32..10), 0..60)) {
            let mut collection = UidCollection::new();
            let mut set = BTreeSet::new();
            for (first, more) in added {
                collection.add(NumberRange { first, last: first + more });
                set.extend(first..=first + more);
            }
            let newest: Vec<u32> = (0..set.len() as u64).map(|place| collection.newest(place).unwrap()).collect();
            prop_assert_eq!(newest, set.iter().rev().copied().collect::<Vec<_>>());
            prop_assert_eq!((collection.n(), collection.newest(set.len() as u64)), (set.len() as u64, None));
            let gaps = collection.ranges().windows(2).all(|pair| pair[0].last + 1 < pair[1].first);
            prop_assert!(gaps);
        }
    }
}
