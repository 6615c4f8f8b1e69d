//! An index of the records on disk.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;

use cache_policy::{Variant, Vary};
use hashbrown::HashTable;

use super::record::{Checksum, DiskOffset, RecordHead};
use super::segment::Segment;
use crate::purge::Purge;
use crate::slab::{self, Slab};
use crate::stored_response::StoredResponse;

/// The most objects under one key hash.
const VARIANTS_MAX: usize = 64;

/// The number of unkeyed purges that makes it worthwhile to compare all objects with them.
const UNKEYED_MANY: usize = 256;

/// The most unkeyed purges that objects are compared with; one more, and everything older is removed.
const UNKEYED_MAX: usize = 4 * UNKEYED_MANY;

/// The most bytes that the hash table takes per entry: five for each of its buckets, whose number is a power of two
/// and at least 16 for 7 entries.
const BUCKET_BYTES_MAX: usize = 23;

/// The location of a record, and of its body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Location {
    pub(super) head: DiskOffset,
    pub(super) body: DiskOffset,
    pub(super) body_length: u32,
    /// The first bytes of the body's checksum.
    pub(super) body_print: u64,
}

impl Location {
    /// Makes the location of a record.
    pub(super) fn of(place: DiskOffset, head: &RecordHead) -> Location {
        let body = &head.body;
        Location { head: place, body: body.place, body_length: body.length, body_print: print(&body.sum) }
    }

    /// Returns whether a body with this length and checksum is most likely the one at this location.
    pub(super) fn has_body(&self, length: u32, sum: &Checksum) -> bool {
        self.body_length == length && self.body_print == print(sum)
    }
}

/// Returns the first bytes of a checksum.
fn print(sum: &Checksum) -> u64 {
    u64::from_le_bytes(std::array::from_fn(|at| sum[at]))
}

/// The state of an entry.
#[derive(Debug, Clone)]
pub(super) enum EntryState {
    /// Waiting to be written.
    Queued(Arc<StoredResponse>),
    /// On disk.
    Written(Location),
}

/// A fingerprint of a variant: hashes of the fields that it depends on, and of their values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct VariantFingerprint {
    pub(super) fields: u32,
    pub(super) values: u32,
}

impl VariantFingerprint {
    /// Makes the fingerprint of a variant.
    pub(super) fn of(vary: &Vary, variant: &Variant, hasher: &RandomState) -> VariantFingerprint {
        VariantFingerprint {
            fields: hasher.hash_one(vary.fields()) as u32,
            values: hasher.hash_one(variant) as u32,
        }
    }

    /// Returns whether the newer of both supersedes the older one, as policy's `superseded` decides it.
    fn excludes(self, other: VariantFingerprint) -> bool {
        self.fields != other.fields || self.values == other.values
    }
}

/// An object in the index.
#[derive(Debug, Clone)]
pub(super) struct Entry {
    pub(super) hash: u64,
    pub(super) sequence: u64,
    pub(super) variant: VariantFingerprint,
    pub(super) at: EntryState,
}

impl Entry {
    fn is(&self, hash: u64, sequence: u64) -> bool {
        self.hash == hash && self.sequence == sequence
    }
}

/// A segment in use.
#[derive(Debug, Clone)]
pub(super) struct LiveSegment {
    pub(super) segment: Arc<Segment>,
    /// Its length in bytes.
    pub(super) length: u64,
    /// The lowest sequence number of its records.
    pub(super) sequence_min: u64,
}

/// The entry that a new one has replaced.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct ReplacedEntry {
    /// Whether there was one, which must not come back.
    pub(super) is_some: bool,
    /// Its location, whose body may be the same.
    pub(super) location: Option<Location>,
}

/// The index: objects by the hash of their key, the segments in use, and the purges that name no key.
#[derive(Debug)]
pub(super) struct Index {
    /// The indices into `entries` by hash.
    indices: HashTable<slab::Index>,
    entries: Slab<Entry>,
    entries_max: usize,
    pub(super) segments: BTreeMap<u32, LiveSegment>,
    unkeyed: Vec<(u64, Purge)>,
    sequence: u64,
}

impl Index {
    /// Makes an empty index that takes at most `bytes_max` of memory, all of it at once.
    pub(super) fn new(bytes_max: u64) -> Index {
        let entry_bytes = (Slab::<Entry>::SLOT_BYTES + BUCKET_BYTES_MAX) as u64;
        let entries_max = (bytes_max / entry_bytes).clamp(64, 1 << 30) as usize;
        // Removed entries leave tombstones in a table. Half full, it is rehashed in place; fuller, it would grow.
        let indices = HashTable::with_capacity(2 * entries_max);
        let entries = Slab::with_capacity(entries_max);
        Index { indices, entries, entries_max, segments: BTreeMap::new(), unkeyed: Vec::new(), sequence: 0 }
    }

    /// Returns the bytes of memory that the index takes.
    pub(super) fn bytes(&self) -> u64 {
        (self.indices.allocation_size() + self.entries.bytes()) as u64
    }

    /// Returns the number of objects.
    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    /// Returns whether the index is nearly full.
    pub(super) fn is_nearly_full(&self) -> bool {
        self.entries_max / 16 * 15 < self.entries.len()
    }

    /// Returns the bytes of all segments.
    pub(super) fn segments_bytes(&self) -> u64 {
        self.segments.values().map(|live| live.length).sum()
    }

    /// Returns the next sequence number.
    pub(super) fn next_sequence(&mut self) -> u64 {
        self.sequence += 1;
        self.sequence
    }

    /// Notes a sequence number that is taken.
    pub(super) fn note_sequence(&mut self, sequence: u64) {
        self.sequence = self.sequence.max(sequence);
    }

    /// Returns the lowest sequence number of a record that is on disk or waiting to be written.
    pub(super) fn sequence_min(&self) -> u64 {
        let on_disk = self.segments.values().map(|live| live.sequence_min);
        let findable = self.entries.iter().map(|(_, entry)| entry.sequence);
        on_disk.chain(findable).min().unwrap_or(u64::MAX)
    }

    pub(super) fn has(&self, hash: u64) -> bool {
        self.indices.find(hash, |&at| self.entries.get(at).hash == hash).is_some()
    }

    /// Returns the entries under a hash, oldest first.
    pub(super) fn find(&self, hash: u64) -> Vec<Entry> {
        let near = self.indices.iter_hash(hash).map(|&at| self.entries.get(at));
        let mut found: Vec<_> = near.filter(|entry| entry.hash == hash).cloned().collect();
        found.sort_unstable_by_key(|entry| entry.sequence);
        found
    }

    /// Returns whether an object is still in the index.
    pub(super) fn holds(&self, hash: u64, sequence: u64) -> bool {
        self.index_of(hash, sequence).is_some()
    }

    fn index_of(&self, hash: u64, sequence: u64) -> Option<slab::Index> {
        self.indices.find(hash, |&at| self.entries.get(at).is(hash, sequence)).copied()
    }

    /// Adds an entry and removes those it supersedes; `None` if there is no room, or a newer one exists.
    pub(super) fn add(&mut self, entry: Entry) -> Option<ReplacedEntry> {
        let under_key = self.find(entry.hash);
        let excluded = || under_key.iter().filter(|other| entry.variant.excludes(other.variant));
        let is_outdated = excluded().any(|other| entry.sequence < other.sequence);
        if is_outdated {
            return None;
        }
        let mut replaced = ReplacedEntry::default();
        let is_too_many = VARIANTS_MAX <= under_key.len();
        for other in excluded().chain(under_key.iter().take(usize::from(is_too_many))) {
            self.forget(other.hash, other.sequence);
            replaced.is_some = true;
            replaced.location = location(other).or(replaced.location);
        }
        // An entry that replaces another always has room.
        if self.entries_max <= self.entries.len() {
            return None;
        }
        self.note_sequence(entry.sequence);
        let hash = entry.hash;
        let at = self.entries.add(entry);
        self.indices.insert_unique(hash, at, |&at| self.entries.get(at).hash);
        Some(replaced)
    }

    /// Notes that an object has been written, if it is still in the index and its body was not removed meanwhile.
    pub(super) fn settle(&mut self, hash: u64, sequence: u64, location: Location) {
        if !self.segments.contains_key(&location.body.segment) {
            self.forget(hash, sequence);
        } else if let Some(at) = self.index_of(hash, sequence) {
            self.entries.get_mut(at).at = EntryState::Written(location);
        }
    }

    /// Removes one entry.
    pub(super) fn forget(&mut self, hash: u64, sequence: u64) {
        let Index { indices, entries, .. } = self;
        if let Ok(place) = indices.find_entry(hash, |&at| entries.get(at).is(hash, sequence)) {
            entries.remove(place.remove().0);
        }
    }

    /// Removes everything under a hash; returns whether there was anything.
    pub(super) fn remove_key(&mut self, hash: u64) -> bool {
        let found = self.find(hash);
        found.iter().for_each(|entry| self.forget(hash, entry.sequence));
        !found.is_empty()
    }

    /// Removes all entries except those that stay.
    fn retain(&mut self, stays: impl Fn(&Entry) -> bool) {
        let Index { indices, entries, .. } = self;
        indices.retain(|&mut at| {
            let is_staying = stays(entries.get(at));
            if !is_staying {
                entries.remove(at);
            }
            is_staying
        });
    }

    /// Applies a purge that names no key; returns the purge to log.
    ///
    /// Only the heads on disk tell which objects match, so objects are compared when they are read.
    pub(super) fn remove_unkeyed(&mut self, sequence: u64, what: &Purge) -> Purge {
        let what = if self.unkeyed.len() < UNKEYED_MAX { what.clone() } else { Purge::All };
        if what == Purge::All {
            self.retain(|_| false);
            self.unkeyed.clear();
        } else if 0 < self.entries.len() {
            self.unkeyed.push((sequence, what.clone()));
        }
        what
    }

    /// Returns the newest unkeyed purge, if there are many of them.
    pub(super) fn unkeyed_if_many(&self) -> Option<u64> {
        self.unkeyed.last().map(|(sequence, _)| *sequence).filter(|_| UNKEYED_MANY <= self.unkeyed.len())
    }

    /// Returns the entries written in a segment and older than a sequence number.
    pub(super) fn written_in(&self, segment: u32, sequence: u64) -> Vec<(u64, u64, Location)> {
        let older = self.entries.iter().map(|(_, entry)| entry).filter(|entry| entry.sequence < sequence);
        let written = older.filter_map(|entry| Some((entry.hash, entry.sequence, location(entry)?)));
        written.filter(|(_, _, location)| location.head.segment == segment).collect()
    }

    /// Forgets purges up to a sequence number, once all written entries have been compared with them; entries waiting
    /// to be written are compared here.
    pub(super) fn forget_unkeyed(&mut self, sequence: u64) {
        let unkeyed = std::mem::take(&mut self.unkeyed);
        self.retain(|entry| match &entry.at {
            EntryState::Queued(object) => {
                !unkeyed.iter().any(|(number, what)| entry.sequence < *number && what.matches(object))
            }
            EntryState::Written(_) => true,
        });
        self.unkeyed = unkeyed.into_iter().filter(|(number, _)| sequence < *number).collect();
    }

    /// Returns whether an unkeyed purge matches an object with this sequence number.
    pub(super) fn is_purged(&self, sequence: u64, key: &str, tags: &[Box<str>]) -> bool {
        self.unkeyed.iter().any(|(number, what)| sequence < *number && what.matches_parts(key, tags))
    }

    /// Removes a segment with all its entries; `None` if there is no segment.
    pub(super) fn drop_oldest_segment(&mut self) -> Option<Arc<Segment>> {
        let (id, live) = self.segments.pop_first()?;
        self.retain(|entry| location(entry).is_none_or(|at| at.head.segment != id && at.body.segment != id));
        let sequence_min = self.sequence_min();
        self.unkeyed.retain(|(sequence, _)| sequence_min < *sequence);
        Some(live.segment)
    }

    /// Removes entries whose bodies were in a removed segment.
    pub(super) fn drop_without_body(&mut self) {
        let segments: BTreeSet<u32> = self.segments.keys().copied().collect();
        self.retain(|entry| location(entry).is_none_or(|at| segments.contains(&at.body.segment)));
    }
}

/// Returns the location of an entry on disk; `None` if it is waiting to be written.
fn location(entry: &Entry) -> Option<Location> {
    match entry.at {
        EntryState::Queued(_) => None,
        EntryState::Written(location) => Some(location),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(hash: u64, sequence: u64, fields: u32, values: u32) -> Entry {
        let place = DiskOffset { segment: 1, offset: sequence as u32 };
        let location = Location { head: place, body: place, body_length: 0, body_print: 0 };
        Entry {
            hash,
            sequence,
            variant: VariantFingerprint { fields, values },
            at: EntryState::Written(location),
        }
    }

    fn sequences(index: &Index, hash: u64) -> Vec<u64> {
        index.find(hash).iter().map(|entry| entry.sequence).collect()
    }

    #[test]
    fn newer_objects_supersede_older_ones_in_any_order() {
        let entries = [entry(7, 1, 1, 1), entry(7, 2, 1, 2), entry(7, 3, 1, 1), entry(8, 4, 1, 1)];
        for order in [[0, 1, 2, 3], [3, 2, 1, 0], [2, 0, 3, 1]] {
            let mut index = Index::new(0);
            for place in order {
                index.add(entries[place].clone());
            }
            assert_eq!((sequences(&index, 7), sequences(&index, 8)), (vec![2, 3], vec![4]), "{order:?}");
        }
    }

    #[test]
    fn a_different_vary_supersedes_all_variants() {
        let mut index = Index::new(0);
        index.add(entry(7, 1, 1, 1));
        index.add(entry(7, 2, 1, 2));
        assert_eq!(index.add(entry(7, 3, 2, 1)).map(|replaced| replaced.is_some), Some(true));
        assert_eq!(sequences(&index, 7), [3]);
    }

    #[test]
    fn variants_are_limited_and_the_oldest_go() {
        let mut index = Index::new(1 << 20);
        let n = VARIANTS_MAX as u64 + 1;
        for sequence in 1..=n {
            index.add(entry(7, sequence, 1, sequence as u32));
        }
        assert_eq!(sequences(&index, 7), (2..=n).collect::<Vec<_>>());
    }

    #[test]
    fn index_memory_is_allocated_at_once_and_never_exceeded() {
        let mut index = Index::new(100_000);
        let bytes = index.bytes();
        assert!(50_000 < bytes && bytes <= 100_000, "{bytes}");
        for number in 0..10_000 {
            index.add(entry(units::mix_bits(number), number, 1, 1));
        }
        assert_eq!((index.bytes(), index.len()), (bytes, index.entries_max));
        assert!(index.is_nearly_full());
    }

    /// Goal: what has left costs no memory. Method: a full index in which the oldest makes room for the newest.
    #[test]
    fn index_memory_stays_constant_under_churn() {
        let mut index = Index::new(100_000);
        let bytes = index.bytes();
        let n_max = index.entries_max as u64;
        for number in 0..100_000_u64 {
            if let Some(oldest) = number.checked_sub(n_max) {
                index.forget(units::mix_bits(oldest), oldest);
            }
            assert!(index.add(entry(units::mix_bits(number), number, 1, 1)).is_some());
        }
        assert_eq!((index.bytes(), index.len()), (bytes, index.entries_max));
    }

    #[test]
    fn a_full_index_accepts_superseding_entries() {
        let mut index = Index::new(0);
        let n = index.entries_max as u64;
        for number in 0..n {
            index.add(entry(units::mix_bits(number), number, 1, 1));
        }
        assert!(index.add(entry(units::mix_bits(n), n, 1, 1)).is_none(), "it is full");
        assert!(index.add(entry(units::mix_bits(0), n + 1, 1, 1)).is_some_and(|replaced| replaced.is_some));
        assert_eq!(sequences(&index, units::mix_bits(0)), [n + 1]);
    }

    #[test]
    fn an_unkeyed_purge_matches_older_objects() {
        let mut index = Index::new(0);
        index.add(entry(7, 1, 1, 1));
        assert_eq!(index.remove_unkeyed(2, &Purge::Tag("a".into())), Purge::Tag("a".into()));
        assert!(index.is_purged(1, "k", &["a".into()]) && !index.is_purged(3, "k", &["a".into()]));
        assert!(!index.is_purged(1, "k", &["b".into()]));
    }

    #[test]
    fn too_many_unkeyed_purges_remove_everything() {
        let mut index = Index::new(0);
        index.add(entry(7, 1, 1, 1));
        for number in 0..UNKEYED_MAX as u64 {
            index.remove_unkeyed(2 + number, &Purge::Tag(number.to_string()));
        }
        assert_eq!(index.len(), 1);
        assert_eq!(index.remove_unkeyed(5000, &Purge::Tag("one more".into())), Purge::All);
        assert_eq!(index.len(), 0);
    }

    #[test]
    fn nothing_is_found_in_a_deleted_segment() {
        let directory = tempfile::tempdir().unwrap();
        let mut index = Index::new(0);
        let segment = Arc::new(Segment::create(directory.path(), 1).unwrap());
        index.segments.insert(1, LiveSegment { segment, length: 10, sequence_min: 1 });
        index.add(entry(7, 1, 1, 1));
        assert_eq!(index.drop_oldest_segment().map(|segment| segment.id), Some(1));
        assert_eq!((index.len(), index.segments_bytes()), (0, 0));
    }
}
