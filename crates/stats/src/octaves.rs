//! Counts of buckets, of which only those in use take memory.

use std::ops::RangeInclusive;

use crate::buckets::{BUCKETS_PER_OCTAVE, N_OCTAVES};

/// The counts of the buckets of one octave: 8 KB.
type Octave = [u64; BUCKETS_PER_OCTAVE];

/// The counts of all buckets, allocated octave by octave.
///
/// An octave takes memory from the first value in it, and keeps it. The response times of a server lie within a few
/// octaves of the 33, so that they take some 24 KB; counts of all buckets would take 270 KB.
#[derive(Debug, Default)]
pub(crate) struct OctaveCounts {
    /// Indexed by octave; empty before the first value.
    octaves: Vec<Option<Box<Octave>>>,
}

impl OctaveCounts {
    /// Makes counts of zero; allocates nothing.
    pub(crate) const fn new() -> OctaveCounts {
        OctaveCounts { octaves: Vec::new() }
    }

    /// Adds to the count of a bucket; allocates on the first value of an octave only.
    #[inline]
    pub(crate) fn add(&mut self, bucket: usize, n: u64) {
        let octave = match self.octaves.get_mut(bucket / BUCKETS_PER_OCTAVE) {
            Some(Some(octave)) => octave,
            _ => self.allocate(bucket / BUCKETS_PER_OCTAVE),
        };
        octave[bucket % BUCKETS_PER_OCTAVE] += n;
    }

    /// Returns the count of a bucket.
    pub(crate) fn get(&self, bucket: usize) -> u64 {
        match self.octaves.get(bucket / BUCKETS_PER_OCTAVE) {
            Some(Some(octave)) => octave[bucket % BUCKETS_PER_OCTAVE],
            _ => 0,
        }
    }

    /// Returns the buckets whose counts are not zero, in their order, with their counts; all of them are in a range.
    pub(crate) fn counted(&self, buckets: RangeInclusive<usize>) -> impl Iterator<Item = (usize, u64)> {
        let counts = self.octaves(buckets).flat_map(|(first, octave)| (first..).zip(octave.iter().copied()));
        counts.filter(|(_, count)| *count != 0)
    }

    /// Adds the counts of `other`, which are zero except in a range of buckets.
    pub(crate) fn add_all(&mut self, other: &OctaveCounts, buckets: RangeInclusive<usize>) {
        for (first, theirs) in other.octaves(buckets) {
            // An octave that was in use before it was cleared may have no value now.
            if theirs.iter().all(|count| *count == 0) {
                continue;
            }
            let index = first / BUCKETS_PER_OCTAVE;
            let own = match self.octaves.get_mut(index) {
                Some(Some(octave)) => octave,
                _ => self.allocate(index),
            };
            for (count, other) in own.iter_mut().zip(theirs) {
                *count += other;
            }
        }
    }

    /// Sets all counts to zero, which they are already except in a range of buckets, and keeps the memory.
    pub(crate) fn clear(&mut self, buckets: RangeInclusive<usize>) {
        let octaves = buckets.start() / BUCKETS_PER_OCTAVE..=buckets.end() / BUCKETS_PER_OCTAVE;
        for octave in self.octaves.get_mut(octaves).into_iter().flatten().flatten() {
            octave.fill(0);
        }
    }

    /// Returns the memory that the counts take, in bytes.
    pub(crate) fn memory(&self) -> usize {
        let n_allocated = self.octaves.iter().flatten().count();
        self.octaves.capacity() * size_of::<Option<Box<Octave>>>() + n_allocated * size_of::<Octave>()
    }

    /// Returns the octaves that have memory and a bucket of the range, each with its first bucket.
    fn octaves(&self, buckets: RangeInclusive<usize>) -> impl Iterator<Item = (usize, &Octave)> {
        let octaves = buckets.start() / BUCKETS_PER_OCTAVE..=buckets.end() / BUCKETS_PER_OCTAVE;
        let firsts = octaves.clone().map(|octave| octave * BUCKETS_PER_OCTAVE);
        let allocated = self.octaves.get(octaves).unwrap_or_default();
        firsts.zip(allocated).filter_map(|(first, octave)| Some((first, octave.as_deref()?)))
    }

    /// Allocates an octave. Out of line, because it happens once.
    #[cold]
    fn allocate(&mut self, octave: usize) -> &mut Octave {
        if self.octaves.is_empty() {
            self.octaves.resize_with(N_OCTAVES, || None);
        }
        self.octaves[octave].get_or_insert_with(|| Box::new([0; BUCKETS_PER_OCTAVE]))
    }
}
