//! One stored response.

use std::sync::atomic::{AtomicU8, AtomicU32, Ordering};

use bytes::Bytes;
use units::Nanos;

use super::body::body_cost;
use super::cost::allocation;
use crate::message::HeaderLines;
use crate::policy::{Key, Stored};

/// The highest count that [`Object::frequency`] reaches: two bits, as S3-FIFO has it.
pub(super) const FREQUENCY_MAX: u8 = 3;

/// A stored response: immutable but for what counts its use.
#[derive(Debug)]
pub struct Object {
    /// Under what it is stored.
    pub key: Key,
    /// What policy keeps of it.
    pub stored: Stored,
    /// Its lines as policy lets them be stored, without those that every reply gets anew: `Content-Length`, `Age`.
    pub lines: HeaderLines,
    /// Its body, packed by [`Store::pack`](super::Store::pack).
    pub body: Bytes,
    /// The names under which it can be purged, see [`tags_of`](super::tags_of).
    pub tags: Box<[Box<str>]>,
    /// How long the origin took to answer: what each use saves.
    pub origin_time: Nanos,
    hits: AtomicU32,
    frequency: AtomicU8,
}

impl Object {
    /// Makes an object; spare room of `lines` is given back.
    pub fn new(
        key: Key,
        stored: Stored,
        mut lines: HeaderLines,
        body: Bytes,
        tags: Box<[Box<str>]>,
        origin_time: Nanos,
    ) -> Object {
        lines.shrink();
        let (hits, frequency) = (AtomicU32::new(0), AtomicU8::new(0));
        Object { key, stored, lines, body, tags, origin_time, hits, frequency }
    }

    /// Makes an object with the same key, body and history, but with what an update has made of the rest.
    pub fn updated(&self, stored: Stored, lines: HeaderLines) -> Object {
        let (key, body, tags) = (self.key.clone(), self.body.clone(), self.tags.clone());
        let object = Object::new(key, stored, lines, body, tags, self.origin_time);
        object.inherit(self);
        object
    }

    /// Takes over the history of the object whose place it takes.
    pub(super) fn inherit(&self, predecessor: &Object) {
        self.hits.store(predecessor.hits(), Ordering::Relaxed);
        self.set_frequency(predecessor.frequency());
    }

    /// Returns the status.
    pub fn status(&self) -> u16 {
        self.stored.response.status
    }

    /// Tells whether it is an error.
    pub fn is_negative(&self) -> bool {
        400 <= self.status()
    }

    /// Notes that a request was answered with it; without lock and without atomic addition, which costs more.
    ///
    /// Of two threads that do so at the same moment one may get lost, which neither reader of the counts minds.
    #[inline]
    pub fn note_hit(&self) {
        self.hits.store(self.hits().wrapping_add(1), Ordering::Relaxed);
        if self.frequency() < FREQUENCY_MAX {
            self.frequency.store(self.frequency() + 1, Ordering::Relaxed);
        }
    }

    /// Returns how many requests were answered with it.
    pub fn hits(&self) -> u32 {
        self.hits.load(Ordering::Relaxed)
    }

    /// Returns how often it was used since the eviction policy last looked, up to [`FREQUENCY_MAX`].
    pub(super) fn frequency(&self) -> u8 {
        self.frequency.load(Ordering::Relaxed)
    }

    /// Sets what the eviction policy goes by.
    pub(super) fn set_frequency(&self, frequency: u8) {
        self.frequency.store(frequency, Ordering::Relaxed);
    }

    /// Returns the bytes of memory that it takes, everything counted but its entry in the store's tables.
    ///
    /// The sum over itself with its reference counts, key, lines, body, tags and what policy has allocated, each rounded
    /// as the allocator does it.
    pub fn cost(&self) -> usize {
        let counted = 2 * size_of::<usize>() + size_of::<Object>();
        let tags = size_of_val(&*self.tags);
        let policy: usize = self.stored.allocations().map(allocation).sum();
        allocation(counted)
            + allocation(self.key.capacity())
            + allocation(self.lines.capacity())
            + allocation(tags)
            + self.tags.iter().map(|tag| allocation(tag.len())).sum::<usize>()
            + policy
            + body_cost(self.body.len())
    }
}
