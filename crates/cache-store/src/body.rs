//! Bodies in memory: one allocation each, of exactly its size.
//!
//! Large bodies are mapped separately, so that their pages go back to the system when the body goes. Among the small
//! allocations of the heap they would leave holes that nothing else fits into, and the process would take far more
//! than is counted.

use std::io;

use bytes::Bytes;
use memmap2::{MmapMut, MmapOptions};

use crate::cost::allocation;

/// The size of a page of memory in bytes.
const PAGE_BYTES: usize = 4096;

/// The smallest body that is mapped separately, in bytes: rounding loses no more than a page in 16.
const MAPPED_BYTES_MIN: usize = 16 * PAGE_BYTES;

/// The most mappings of one store; the system allows a process some 65,000.
const MAPPINGS_MAX: u64 = 16_384;

/// The bytes that `Bytes` allocates beside a body: its reference count and its owner.
const HANDLE_BYTES: usize = 40;

/// Returns the bytes of memory that a body of this length takes.
pub(crate) fn body_cost(length: usize) -> usize {
    let taken = match length {
        0 => return 0,
        MAPPED_BYTES_MIN.. => length.next_multiple_of(PAGE_BYTES),
        _ => allocation(length),
    };
    taken + allocation(HANDLE_BYTES)
}

/// Packs bodies into memory.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Packer {
    /// The length from which on a body is mapped separately.
    mapped_min: usize,
}

impl Packer {
    /// Makes a packer for a store of this size in bytes: the length from which bodies are mapped is such that there
    /// are never more than [`MAPPINGS_MAX`].
    pub(crate) fn new(store_bytes: u64) -> Packer {
        let enough = usize::try_from(store_bytes / MAPPINGS_MAX).unwrap_or(usize::MAX);
        Packer { mapped_min: enough.max(MAPPED_BYTES_MIN) }
    }

    /// Joins the pieces of a body.
    pub(crate) fn pack(self, pieces: &[Bytes]) -> Bytes {
        let length = pieces.iter().map(Bytes::len).sum();
        if let Some(mut pages) = self.pages(length) {
            let mut rest = &mut pages[..];
            for piece in pieces {
                let (place, after) = rest.split_at_mut(piece.len());
                place.copy_from_slice(piece);
                rest = after;
            }
            return Bytes::from_owner(pages);
        }
        let mut body = Vec::with_capacity(length);
        pieces.iter().for_each(|piece| body.extend_from_slice(piece));
        Bytes::from(body)
    }

    /// Makes a body of this length, whose bytes `read` fills in.
    ///
    /// # Errors
    ///
    /// Those of `read`.
    pub(crate) fn read(
        self,
        length: usize,
        read: impl FnOnce(&mut [u8]) -> io::Result<()>,
    ) -> io::Result<Bytes> {
        if let Some(mut pages) = self.pages(length) {
            read(&mut pages)?;
            return Ok(Bytes::from_owner(pages));
        }
        let mut body = vec![0; length];
        read(&mut body)?;
        Ok(Bytes::from(body))
    }

    /// Returns a mapping for a body that is large enough, if the system provides it.
    fn pages(self, length: usize) -> Option<MmapMut> {
        let is_large = self.mapped_min <= length;
        is_large.then(|| MmapOptions::new().len(length).populate().map_anon().ok()).flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packing_preserves_bodies_of_every_size() {
        let packer = Packer::new(1 << 20);
        for length in [0, 1, 100, MAPPED_BYTES_MIN - 1, MAPPED_BYTES_MIN, 3 * MAPPED_BYTES_MIN + 5] {
            let whole: Vec<u8> = (0..length).map(|at| (at % 251) as u8).collect();
            let pieces: Vec<Bytes> = whole.chunks(1000).map(Bytes::copy_from_slice).collect();
            assert_eq!(packer.pack(&pieces), whole, "{length}");
            let read = packer.read(length, |room| {
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
        assert_eq!(Packer::new(100 << 20).mapped_min, MAPPED_BYTES_MIN);
        assert_eq!(Packer::new(16 << 30).mapped_min, 1 << 20);
    }
}
