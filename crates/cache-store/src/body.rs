//! Bodies in memory: one allocation each, of exactly its size, that counts until the last reader has gone.
//!
//! Large bodies are mapped separately, so that their pages go back to the system when the body goes. Among the small
//! allocations of the heap they would leave holes that nothing else fits into, and the process would take far more
//! than is counted.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use bytes::Bytes;
use memmap2::{MmapMut, MmapOptions};

use crate::cost::allocation;
use crate::shard_index::shard_of;

/// The size of a page of memory in bytes.
const PAGE_BYTES: usize = 4096;

/// The smallest body that is mapped separately, in bytes: rounding loses no more than a page in 16.
const MAPPED_BYTES_MIN: usize = 16 * PAGE_BYTES;

/// The most mappings of one store; the system allows a process some 65,000.
const MAPPINGS_MAX: u64 = 16_384;

/// The bytes that `Bytes` allocates beside a body: its reference count and its owner.
const HANDLE_BYTES: usize = size_of::<usize>() + size_of::<CountedBody>();

/// Returns the bytes of memory that a body of this length takes.
pub(crate) fn body_cost(length: usize) -> usize {
    let taken = match length {
        0 => return 0,
        MAPPED_BYTES_MIN.. => length.next_multiple_of(PAGE_BYTES),
        _ => allocation(length),
    };
    taken + allocation(HANDLE_BYTES)
}

/// The cost of the bodies of one shard that are in memory: of those stored, and of those that are stored no longer, or
/// not yet, but that somebody holds.
#[derive(Debug, Clone, Default)]
pub(crate) struct LiveBodies(Arc<AtomicUsize>);

impl LiveBodies {
    /// Returns the bytes of memory that they take.
    pub(crate) fn bytes(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }
}

/// The memory of a body, counted from its allocation until it is freed.
#[derive(Debug)]
struct CountedBody {
    memory: BodyMemory,
    live: LiveBodies,
}

#[derive(Debug)]
enum BodyMemory {
    Heap(Box<[u8]>),
    Mapped(MmapMut),
}

impl CountedBody {
    fn new(memory: BodyMemory, live: &LiveBodies) -> CountedBody {
        let body = CountedBody { memory, live: live.clone() };
        live.0.fetch_add(body_cost(body.as_ref().len()), Ordering::Relaxed);
        body
    }
}

impl AsRef<[u8]> for CountedBody {
    fn as_ref(&self) -> &[u8] {
        match &self.memory {
            BodyMemory::Heap(bytes) => bytes,
            BodyMemory::Mapped(pages) => pages,
        }
    }
}

impl Drop for CountedBody {
    fn drop(&mut self) {
        self.live.0.fetch_sub(body_cost(self.as_ref().len()), Ordering::Relaxed);
    }
}

/// Packs bodies into memory.
#[derive(Debug, Clone)]
pub(crate) struct Packer {
    /// The length from which on a body is mapped separately.
    mapped_min: usize,
    /// The bodies of each shard.
    live: Arc<[LiveBodies]>,
}

impl Packer {
    /// Makes a packer for a store of this size in bytes with so many shards: the length from which bodies are mapped
    /// is such that there are never more than [`MAPPINGS_MAX`].
    pub(crate) fn new(store_bytes: u64, shards: usize) -> Packer {
        let enough = usize::try_from(store_bytes / MAPPINGS_MAX).unwrap_or(usize::MAX);
        let live = (0..shards).map(|_| LiveBodies::default()).collect();
        Packer { mapped_min: enough.max(MAPPED_BYTES_MIN), live }
    }

    /// Returns the count of the bodies of each shard.
    pub(crate) fn live(&self) -> &[LiveBodies] {
        &self.live
    }

    /// Joins the pieces of the body of a response whose key has this hash.
    pub(crate) fn pack(&self, hash: u64, pieces: &[Bytes]) -> Bytes {
        let length = pieces.iter().map(Bytes::len).sum();
        let Some(mut pages) = self.pages(length) else {
            let mut body = Vec::with_capacity(length);
            pieces.iter().for_each(|piece| body.extend_from_slice(piece));
            return self.counted(hash, BodyMemory::Heap(body.into()));
        };
        let mut rest = &mut pages[..];
        for piece in pieces {
            let (place, after) = rest.split_at_mut(piece.len());
            place.copy_from_slice(piece);
            rest = after;
        }
        self.counted(hash, BodyMemory::Mapped(pages))
    }

    /// Makes the body, of this length, of a response whose key has this hash; `read` fills in its bytes.
    ///
    /// # Errors
    ///
    /// Those of `read`.
    pub(crate) fn read(
        &self,
        hash: u64,
        length: usize,
        read: impl FnOnce(&mut [u8]) -> io::Result<()>,
    ) -> io::Result<Bytes> {
        if let Some(mut pages) = self.pages(length) {
            read(&mut pages)?;
            return Ok(self.counted(hash, BodyMemory::Mapped(pages)));
        }
        let mut body = vec![0; length];
        read(&mut body)?;
        Ok(self.counted(hash, BodyMemory::Heap(body.into())))
    }

    fn counted(&self, hash: u64, memory: BodyMemory) -> Bytes {
        let body = CountedBody::new(memory, &self.live[shard_of(hash, self.live.len())]);
        if body.as_ref().is_empty() { Bytes::new() } else { Bytes::from_owner(body) }
    }

    /// Returns a mapping for a body that is large enough, if the system provides it.
    fn pages(&self, length: usize) -> Option<MmapMut> {
        let is_large = self.mapped_min <= length;
        is_large.then(|| MmapOptions::new().len(length).populate().map_anon().ok()).flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packing_preserves_bodies_of_every_size() {
        let packer = Packer::new(1 << 20, 1);
        for length in [0, 1, 100, MAPPED_BYTES_MIN - 1, MAPPED_BYTES_MIN, 3 * MAPPED_BYTES_MIN + 5] {
            let whole: Vec<u8> = (0..length).map(|at| (at % 251) as u8).collect();
            let pieces: Vec<Bytes> = whole.chunks(1000).map(Bytes::copy_from_slice).collect();
            assert_eq!(packer.pack(0, &pieces), whole, "{length}");
            let read = packer.read(0, length, |room| {
                room.copy_from_slice(&whole);
                Ok(())
            });
            assert_eq!(read.unwrap(), whole, "{length}");
        }
    }

    #[test]
    fn large_bodies_are_counted_in_pages() {
        assert_eq!(body_cost(0), 0);
        assert_eq!(body_cost(100), 112 + 48);
        assert_eq!(body_cost(MAPPED_BYTES_MIN + 1), MAPPED_BYTES_MIN + PAGE_BYTES + 48);
    }

    #[test]
    fn a_large_store_maps_only_larger_bodies() {
        assert_eq!(Packer::new(100 << 20, 1).mapped_min, MAPPED_BYTES_MIN);
        assert_eq!(Packer::new(16 << 30, 1).mapped_min, 1 << 20);
    }

    #[test]
    fn a_body_counts_for_its_shard_until_its_last_reader_has_gone() {
        let packer = Packer::new(1 << 20, 4);
        let live = || packer.live().iter().map(LiveBodies::bytes).collect::<Vec<_>>();
        for length in [100, MAPPED_BYTES_MIN] {
            let body = packer.pack(2 << 32, &[vec![0; length].into()]);
            assert_eq!(live(), [0, 0, body_cost(length), 0]);
            let part = body.slice(1..3);
            drop(body);
            assert_eq!(live(), [0, 0, body_cost(length), 0], "a part of it is still read");
            drop(part);
            assert_eq!(live(), [0; 4]);
        }
    }
}
