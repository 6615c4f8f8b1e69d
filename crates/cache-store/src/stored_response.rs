//! Stored responses.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicU32, Ordering};

use bytes::Bytes;
use cache_policy::{Key, StoredMeta};
use http1::HeaderLines;
use units::Nanos;

use crate::body::body_cost;
use crate::cost::allocation;

/// The highest count of [`StoredResponse::frequency`]: two bits, as in S3-FIFO.
pub(crate) const FREQUENCY_MAX: u8 = 3;

/// A stored response (Varnish: object): immutable except for its usage counters.
#[derive(Debug)]
pub struct StoredResponse {
    /// The key under which it is stored.
    pub key: Key,
    /// Its metadata.
    pub stored: StoredMeta,
    /// Its lines as the policy lets them be stored, without those written anew for every response: `Content-Length`,
    /// `Age`.
    pub lines: HeaderLines,
    /// Its body, packed by [`Store::pack`](crate::Store::pack).
    pub body: Bytes,
    /// The tags by which it can be purged, see [`tags_of`](crate::tags_of).
    pub tags: Box<[Box<str>]>,
    /// The time that the origin took to answer: each hit saves it.
    pub origin_time: Nanos,
    hits: AtomicU32,
    frequency: AtomicU8,
}

/// The body of a stored response, held by a reader.
struct LentBody(Arc<StoredResponse>);

impl AsRef<[u8]> for LentBody {
    fn as_ref(&self) -> &[u8] {
        &self.0.body
    }
}

impl StoredResponse {
    /// Makes a stored response; spare capacity of `lines` is freed.
    pub fn new(
        key: Key,
        stored: StoredMeta,
        mut lines: HeaderLines,
        body: Bytes,
        tags: Box<[Box<str>]>,
        origin_time: Nanos,
    ) -> StoredResponse {
        lines.shrink();
        let hits = AtomicU32::new(0);
        let frequency = AtomicU8::new(0);
        StoredResponse { key, stored, lines, body, tags, origin_time, hits, frequency }
    }

    /// Makes a copy with the same key, body and history, and updated metadata and lines.
    pub fn updated(&self, stored: StoredMeta, lines: HeaderLines) -> StoredResponse {
        let key = self.key.clone();
        let body = self.body.clone();
        let tags = self.tags.clone();
        let object = StoredResponse::new(key, stored, lines, body, tags, self.origin_time);
        object.inherit(self);
        object
    }

    /// Takes over the history of the object that it replaces.
    pub(crate) fn inherit(&self, predecessor: &StoredResponse) {
        self.hits.store(predecessor.hits(), Ordering::Relaxed);
        self.set_frequency(predecessor.frequency());
    }

    /// Returns the status.
    #[inline]
    pub fn status(&self) -> u16 {
        self.stored.response.status
    }

    /// Returns whether it is an error.
    #[inline]
    pub fn is_negative(&self) -> bool {
        400 <= self.status()
    }

    /// Counts a hit; without a lock and without an atomic addition, which costs more.
    ///
    /// Of two threads that count at the same moment one count may get lost, which no reader minds.
    #[inline]
    pub fn note_hit(&self) {
        self.hits.store(self.hits().wrapping_add(1), Ordering::Relaxed);
        if self.frequency() < FREQUENCY_MAX {
            self.frequency.store(self.frequency() + 1, Ordering::Relaxed);
        }
    }

    /// Returns the number of hits.
    #[inline]
    pub fn hits(&self) -> u32 {
        self.hits.load(Ordering::Relaxed)
    }

    /// Returns the number of uses since the eviction policy last looked, up to [`FREQUENCY_MAX`].
    pub(crate) fn frequency(&self) -> u8 {
        self.frequency.load(Ordering::Relaxed)
    }

    /// Sets the frequency for the eviction policy.
    pub(crate) fn set_frequency(&self, frequency: u8) {
        self.frequency.store(frequency, Ordering::Relaxed);
    }

    /// Returns the body for a reader, who holds the whole object: as long as there are readers, it is not evicted.
    ///
    /// A clone of the body would be held unseen, because `Bytes` does not tell whether others have it.
    pub fn lend(self: &Arc<Self>) -> Bytes {
        Bytes::from_owner(LentBody(Arc::clone(self)))
    }

    /// Returns whether somebody beside the store holds it, so that its memory would not be freed if the store let it go:
    /// it is being sent to a client, or waits to be written to disk.
    pub(crate) fn is_held(self: &Arc<Self>) -> bool {
        1 < Arc::strong_count(self)
    }

    /// Returns the bytes of memory that its body takes.
    pub(crate) fn body_cost(&self) -> usize {
        body_cost(self.body.len())
    }

    /// Returns the bytes of memory that it takes, everything counted except its entry in the store's tables.
    ///
    /// The sum over itself with its reference counts, key, lines, body, tags and the allocations of its metadata,
    /// each rounded as the allocator does it.
    pub fn cost(&self) -> usize {
        let counted = 2 * size_of::<usize>() + size_of::<StoredResponse>();
        let tags = size_of_val(&*self.tags);
        let policy: usize = self.stored.allocations().map(allocation).sum();
        allocation(counted)
            + allocation(self.key.capacity())
            + allocation(self.lines.capacity())
            + allocation(tags)
            + self.tags.iter().map(|tag| allocation(tag.len())).sum::<usize>()
            + policy
            + self.body_cost()
    }
}
