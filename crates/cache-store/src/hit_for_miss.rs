//! Hit-for-miss marks, in a table of fixed size.

use cache_policy::HitForMiss;

/// The number of marks per shard: 12 KiB.
const MARKS: usize = 512;

/// Hit-for-miss marks by the hash of their key; a new one overwrites another with the same remainder.
///
/// Too few marks, or two keys with one hash, cost a needless wait for another request, nothing else.
#[derive(Debug)]
pub(crate) struct HitForMissTable(Box<[Option<(u64, HitForMiss)>]>);

impl HitForMissTable {
    pub(crate) fn new() -> HitForMissTable {
        HitForMissTable(vec![None; MARKS].into())
    }

    /// Returns the bytes of memory that the table takes.
    pub(crate) fn bytes(&self) -> usize {
        size_of_val(&*self.0)
    }

    pub(crate) fn set(&mut self, hash: u64, hit_for_miss: HitForMiss) {
        self.0[slot(hash)] = Some((hash, hit_for_miss));
    }

    pub(crate) fn get(&self, hash: u64) -> Option<HitForMiss> {
        self.0[slot(hash)].filter(|(marked, _)| *marked == hash).map(|(_, hit_for_miss)| hit_for_miss)
    }

    pub(crate) fn clear(&mut self, hash: u64) {
        if self.get(hash).is_some() {
            self.0[slot(hash)] = None;
        }
    }
}

fn slot(hash: u64) -> usize {
    (hash >> 16) as usize % MARKS
}

#[cfg(test)]
mod tests {
    use cache_policy::NotStored;
    use units::WallTime;

    use super::*;

    #[test]
    fn a_mark_lasts_until_it_is_cleared_or_overwritten() {
        let hit_for_miss = |until| HitForMiss { why: NotStored::NoStore, until: WallTime(until) };
        let mut hit_for_misses = HitForMissTable::new();
        hit_for_misses.set(1, hit_for_miss(1));
        assert_eq!((hit_for_misses.get(1), hit_for_misses.get(2)), (Some(hit_for_miss(1)), None));
        hit_for_misses.set(2, hit_for_miss(2));
        assert_eq!((hit_for_misses.get(1), hit_for_misses.get(2)), (None, Some(hit_for_miss(2))));
        hit_for_misses.clear(1);
        assert_eq!(hit_for_misses.get(2), Some(hit_for_miss(2)));
        hit_for_misses.clear(2);
        assert_eq!(hit_for_misses.get(2), None);
    }
}
