//! Where the record of each object is.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;

use hashbrown::HashTable;

use super::super::object::Object;
use super::super::purge::Purge;
use super::super::slab::{self, Slab};
use super::record::{Head, Place, Sum};
use super::segment::Segment;
use crate::policy::{Variant, Vary};

/// The most objects under one hash of a key.
const VARIANTS_MAX: usize = 64;

/// How many purges of unknown extent make it worth while to look at all objects for what they mean.
const WIDE_MANY: usize = 256;

/// The most purges of unknown extent that objects are compared with; one more, and all that is older goes.
const WIDE_MAX: usize = 4 * WIDE_MANY;

/// The most that the table of places takes for each entry, in bytes: five for each of its own, of which there are a
/// power of two and at least 16 for 7 entries.
const PLACE_BYTES_MAX: usize = 23;

/// Where a record is, and its body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Location {
    pub(super) head: Place,
    pub(super) body: Place,
    pub(super) body_length: u32,
    /// The first bytes of the body's checksum.
    pub(super) body_print: u64,
}

impl Location {
    /// Makes the location of a record.
    pub(super) fn of(place: Place, head: &Head) -> Location {
        let body = &head.body;
        Location { head: place, body: body.place, body_length: body.length, body_print: print(&body.sum) }
    }

    /// Tells whether a body with this length and checksum is most likely the one that stands there.
    pub(super) fn has_body(&self, length: u32, sum: &Sum) -> bool {
        self.body_length == length && self.body_print == print(sum)
    }
}

/// Returns the first bytes of a checksum.
fn print(sum: &Sum) -> u64 {
    u64::from_le_bytes(std::array::from_fn(|at| sum[at]))
}

/// Where an object is.
#[derive(Debug, Clone)]
pub(super) enum At {
    /// Still to be written.
    Queued(Arc<Object>),
    /// On disk.
    Written(Location),
}

/// What tells variants under one key apart: hashes of the fields that they depend on, and of their values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct VariantPrint {
    pub(super) fields: u32,
    pub(super) values: u32,
}

impl VariantPrint {
    /// Makes the print of a variant.
    pub(super) fn of(vary: &Vary, variant: &Variant, hasher: &RandomState) -> VariantPrint {
        VariantPrint {
            fields: hasher.hash_one(vary.fields()) as u32,
            values: hasher.hash_one(variant) as u32,
        }
    }

    /// Tells whether of both the older one goes, as policy's `superseded` has it.
    fn excludes(self, other: VariantPrint) -> bool {
        self.fields != other.fields || self.values == other.values
    }
}

/// An object that can be found.
#[derive(Debug, Clone)]
pub(super) struct Entry {
    pub(super) hash: u64,
    pub(super) sequence: u64,
    pub(super) variant: VariantPrint,
    pub(super) at: At,
}

impl Entry {
    fn is(&self, hash: u64, sequence: u64) -> bool {
        self.hash == hash && self.sequence == sequence
    }
}

/// A segment that is in use.
#[derive(Debug, Clone)]
pub(super) struct Live {
    pub(super) segment: Arc<Segment>,
    /// In bytes.
    pub(super) length: u64,
    /// The lowest number of its records.
    pub(super) sequence_min: u64,
}

/// What was taken out for a new entry.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Former {
    /// Whether there was something, which must not come back.
    pub(super) is_some: bool,
    /// Where it stands, its body perhaps the same.
    pub(super) location: Option<Location>,
}

/// Objects by the hash of their key, the segments they are in, and what has been purged without naming a key.
#[derive(Debug)]
pub(super) struct Index {
    /// Where in `entries` what belongs to a hash is.
    places: HashTable<slab::Index>,
    entries: Slab<Entry>,
    entries_max: usize,
    pub(super) segments: BTreeMap<u32, Live>,
    wide: Vec<(u64, Purge)>,
    sequence: u64,
}

impl Index {
    /// Makes an empty index that takes at most `bytes_max` of memory, all of it at once.
    pub(super) fn new(bytes_max: u64) -> Index {
        let entry_bytes = (Slab::<Entry>::SLOT_BYTES + PLACE_BYTES_MAX) as u64;
        let entries_max = (bytes_max / entry_bytes).clamp(64, 1 << 30) as usize;
        // What is taken out of a table leaves traces. Half full, it is tidied where it is; fuller, it would grow.
        let places = HashTable::with_capacity(2 * entries_max);
        let entries = Slab::with_capacity(entries_max);
        Index { places, entries, entries_max, segments: BTreeMap::new(), wide: Vec::new(), sequence: 0 }
    }

    /// Returns the bytes of memory that the index takes.
    pub(super) fn bytes(&self) -> u64 {
        (self.places.allocation_size() + self.entries.bytes()) as u64
    }

    /// Returns how many objects can be found.
    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    /// Tells whether there is hardly room for more.
    pub(super) fn is_crowded(&self) -> bool {
        self.entries_max / 16 * 15 < self.entries.len()
    }

    /// Returns the bytes of all segments.
    pub(super) fn segments_bytes(&self) -> u64 {
        self.segments.values().map(|live| live.length).sum()
    }

    /// Returns the next number.
    pub(super) fn next_sequence(&mut self) -> u64 {
        self.sequence += 1;
        self.sequence
    }

    /// Notes a number that is taken.
    pub(super) fn note_sequence(&mut self, sequence: u64) {
        self.sequence = self.sequence.max(sequence);
    }

    /// Returns the lowest number of a record that is on disk or still to be written.
    pub(super) fn sequence_min(&self) -> u64 {
        let on_disk = self.segments.values().map(|live| live.sequence_min);
        let findable = self.entries.iter().map(|(_, entry)| entry.sequence);
        on_disk.chain(findable).min().unwrap_or(u64::MAX)
    }

    pub(super) fn has(&self, hash: u64) -> bool {
        self.places.find(hash, |&at| self.entries.get(at).hash == hash).is_some()
    }

    /// Returns what is under a hash, the oldest first.
    pub(super) fn find(&self, hash: u64) -> Vec<Entry> {
        let near = self.places.iter_hash(hash).map(|&at| self.entries.get(at));
        let mut found: Vec<_> = near.filter(|entry| entry.hash == hash).cloned().collect();
        found.sort_unstable_by_key(|entry| entry.sequence);
        found
    }

    /// Tells whether an object can still be found.
    pub(super) fn holds(&self, hash: u64, sequence: u64) -> bool {
        self.place(hash, sequence).is_some()
    }

    fn place(&self, hash: u64, sequence: u64) -> Option<slab::Index> {
        self.places.find(hash, |&at| self.entries.get(at).is(hash, sequence)).copied()
    }

    /// Adds an entry and takes out what it supersedes; `None` if there is no room, or something newer is there.
    pub(super) fn add(&mut self, entry: Entry) -> Option<Former> {
        let under_key = self.find(entry.hash);
        let excluded = || under_key.iter().filter(|other| entry.variant.excludes(other.variant));
        let is_outdated = excluded().any(|other| entry.sequence < other.sequence);
        if is_outdated {
            return None;
        }
        let mut former = Former::default();
        let is_too_many = VARIANTS_MAX <= under_key.len();
        for other in excluded().chain(under_key.iter().take(usize::from(is_too_many))) {
            self.forget(other.hash, other.sequence);
            former.is_some = true;
            former.location = location(other).or(former.location);
        }
        // What takes the place of something has room.
        if self.entries_max <= self.entries.len() {
            return None;
        }
        self.note_sequence(entry.sequence);
        let (hash, at) = (entry.hash, self.entries.add(entry));
        self.places.insert_unique(hash, at, |&at| self.entries.get(at).hash);
        Some(former)
    }

    /// Notes that an object has been written, if it is still wanted and its body has not gone meanwhile.
    pub(super) fn settle(&mut self, hash: u64, sequence: u64, location: Location) {
        if !self.segments.contains_key(&location.body.segment) {
            self.forget(hash, sequence);
        } else if let Some(at) = self.place(hash, sequence) {
            self.entries.get_mut(at).at = At::Written(location);
        }
    }

    /// Takes one entry out.
    pub(super) fn forget(&mut self, hash: u64, sequence: u64) {
        let Index { places, entries, .. } = self;
        if let Ok(place) = places.find_entry(hash, |&at| entries.get(at).is(hash, sequence)) {
            entries.remove(place.remove().0);
        }
    }

    /// Takes out everything under a hash; returns whether there was something.
    pub(super) fn remove_key(&mut self, hash: u64) -> bool {
        let found = self.find(hash);
        found.iter().for_each(|entry| self.forget(hash, entry.sequence));
        !found.is_empty()
    }

    /// Takes out all entries but those that stay.
    fn retain(&mut self, stays: impl Fn(&Entry) -> bool) {
        let Index { places, entries, .. } = self;
        places.retain(|&mut at| {
            let is_staying = stays(entries.get(at));
            if !is_staying {
                entries.remove(at);
            }
            is_staying
        });
    }

    /// Removes what is meant by a purge that names no key; returns what is to be logged.
    ///
    /// Only heads on disk tell what is meant, so objects are compared when they are read.
    pub(super) fn remove_wide(&mut self, sequence: u64, what: &Purge) -> Purge {
        let what = if self.wide.len() < WIDE_MAX { what.clone() } else { Purge::All };
        if what == Purge::All {
            self.retain(|_| false);
            self.wide.clear();
        } else if 0 < self.entries.len() {
            self.wide.push((sequence, what.clone()));
        }
        what
    }

    /// Returns the newest purge that names no key, if there are many of them.
    pub(super) fn wide_if_many(&self) -> Option<u64> {
        self.wide.last().map(|(sequence, _)| *sequence).filter(|_| WIDE_MANY <= self.wide.len())
    }

    /// Returns what is written in a segment and older than a number.
    pub(super) fn written_in(&self, segment: u32, sequence: u64) -> Vec<(u64, u64, Location)> {
        let older = self.entries.iter().map(|(_, entry)| entry).filter(|entry| entry.sequence < sequence);
        let written = older.filter_map(|entry| Some((entry.hash, entry.sequence, location(entry)?)));
        written.filter(|(_, _, location)| location.head.segment == segment).collect()
    }

    /// Forgets purges up to a number, once everything written has been compared with them; what waits to be written is
    /// compared here.
    pub(super) fn forget_wide(&mut self, sequence: u64) {
        let wide = std::mem::take(&mut self.wide);
        self.retain(|entry| match &entry.at {
            At::Queued(object) => {
                !wide.iter().any(|(number, what)| entry.sequence < *number && what.matches(object))
            }
            At::Written(_) => true,
        });
        self.wide = wide.into_iter().filter(|(number, _)| sequence < *number).collect();
    }

    /// Tells whether a purge that names no key means an object with this number.
    pub(super) fn is_purged(&self, sequence: u64, key: &str, tags: &[Box<str>]) -> bool {
        self.wide.iter().any(|(number, what)| sequence < *number && what.matches_parts(key, tags))
    }

    /// Takes a segment out with everything in it; `None` if there is no segment.
    pub(super) fn drop_oldest_segment(&mut self) -> Option<Arc<Segment>> {
        let (id, live) = self.segments.pop_first()?;
        self.retain(|entry| location(entry).is_none_or(|at| at.head.segment != id && at.body.segment != id));
        let sequence_min = self.sequence_min();
        self.wide.retain(|(sequence, _)| sequence_min < *sequence);
        Some(live.segment)
    }

    /// Takes out objects whose bodies are in segments that are gone.
    pub(super) fn drop_bodiless(&mut self) {
        let segments: BTreeSet<u32> = self.segments.keys().copied().collect();
        self.retain(|entry| location(entry).is_none_or(|at| segments.contains(&at.body.segment)));
    }
}

/// Returns where an object is on disk; `None` if it is still to be written.
fn location(entry: &Entry) -> Option<Location> {
    match entry.at {
        At::Queued(_) => None,
        At::Written(location) => Some(location),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(hash: u64, sequence: u64, fields: u32, values: u32) -> Entry {
        let place = Place { segment: 1, offset: sequence as u32 };
        let location = Location { head: place, body: place, body_length: 0, body_print: 0 };
        Entry { hash, sequence, variant: VariantPrint { fields, values }, at: At::Written(location) }
    }

    fn sequences(index: &Index, hash: u64) -> Vec<u64> {
        index.find(hash).iter().map(|entry| entry.sequence).collect()
    }

    #[test]
    fn newer_objects_supersede_older_ones_in_whatever_order_they_come() {
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
    fn one_that_depends_on_other_fields_supersedes_all() {
        let mut index = Index::new(0);
        index.add(entry(7, 1, 1, 1));
        index.add(entry(7, 2, 1, 2));
        assert_eq!(index.add(entry(7, 3, 2, 1)).map(|former| former.is_some), Some(true));
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
    fn memory_is_taken_at_once_and_never_exceeded() {
        let mut index = Index::new(100_000);
        let bytes = index.bytes();
        assert!(50_000 < bytes && bytes <= 100_000, "{bytes}");
        for number in 0..10_000 {
            index.add(entry(units::mix_bits(number), number, 1, 1));
        }
        assert_eq!((index.bytes(), index.len()), (bytes, index.entries_max));
        assert!(index.is_crowded());
    }

    /// Goal: what has left costs no memory. Method: a full index in which the oldest makes room for the newest.
    #[test]
    fn memory_stays_the_same_however_many_come_and_go() {
        let mut index = Index::new(100_000);
        let (bytes, n_max) = (index.bytes(), index.entries_max as u64);
        for number in 0..100_000_u64 {
            if let Some(oldest) = number.checked_sub(n_max) {
                index.forget(units::mix_bits(oldest), oldest);
            }
            assert!(index.add(entry(units::mix_bits(number), number, 1, 1)).is_some());
        }
        assert_eq!((index.bytes(), index.len()), (bytes, index.entries_max));
    }

    #[test]
    fn a_full_index_still_takes_what_supersedes_something() {
        let mut index = Index::new(0);
        let n = index.entries_max as u64;
        for number in 0..n {
            index.add(entry(units::mix_bits(number), number, 1, 1));
        }
        assert!(index.add(entry(units::mix_bits(n), n, 1, 1)).is_none(), "it is full");
        assert!(index.add(entry(units::mix_bits(0), n + 1, 1, 1)).is_some_and(|former| former.is_some));
        assert_eq!(sequences(&index, units::mix_bits(0)), [n + 1]);
    }

    #[test]
    fn a_purge_of_unknown_extent_counts_for_what_is_older() {
        let mut index = Index::new(0);
        index.add(entry(7, 1, 1, 1));
        assert_eq!(index.remove_wide(2, &Purge::Tag("a".into())), Purge::Tag("a".into()));
        assert!(index.is_purged(1, "k", &["a".into()]) && !index.is_purged(3, "k", &["a".into()]));
        assert!(!index.is_purged(1, "k", &["b".into()]));
    }

    #[test]
    fn with_too_many_purges_of_unknown_extent_everything_goes() {
        let mut index = Index::new(0);
        index.add(entry(7, 1, 1, 1));
        for number in 0..WIDE_MAX as u64 {
            index.remove_wide(2 + number, &Purge::Tag(number.to_string()));
        }
        assert_eq!(index.len(), 1);
        assert_eq!(index.remove_wide(5000, &Purge::Tag("one more".into())), Purge::All);
        assert_eq!(index.len(), 0);
    }

    #[test]
    fn nothing_is_found_in_a_segment_that_is_gone() {
        let directory = tempfile::tempdir().unwrap();
        let mut index = Index::new(0);
        let segment = Arc::new(Segment::create(directory.path(), 1).unwrap());
        index.segments.insert(1, Live { segment, length: 10, sequence_min: 1 });
        index.add(entry(7, 1, 1, 1));
        assert_eq!(index.drop_oldest_segment().map(|segment| segment.id), Some(1));
        assert_eq!((index.len(), index.segments_bytes()), (0, 0));
    }
}
