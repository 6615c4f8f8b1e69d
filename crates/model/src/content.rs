//! The content of the files of a data set: a function of (content seed, object, position).
//!
//! The seed determines a fixed block of printable text. Each chunk of [`CHUNK_BYTES`] bytes of an object is a piece
//! of that block; (seed, object, chunk) determines its offset. So any part of any object can be made or checked
//! without the rest, a check is one memory comparison per chunk, the block stays in the second-level cache, and a
//! chunk that was swapped, repeated or taken from another object does not pass.

use units::{Rng, StreamPurpose, mix_bits};

/// Length of a chunk: the bytes that one draw of a starting position determines.
pub const CHUNK_BYTES: usize = 4096;

/// Length of the block that the chunks are cut from: small enough for a second-level cache.
const BLOCK_BYTES: usize = 64 * 1024 + CHUNK_BYTES;

/// The characters of the block: 64 printable ones, so that six random bits give one.
const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789 \n";

/// The content of all objects of a data set.
#[derive(Debug, Clone)]
pub struct Content {
    seed: u64,
    block: Box<[u8]>,
}

impl Content {
    /// Makes the content of a content seed.
    pub fn new(seed: u64) -> Content {
        let mut rng = Rng::new(seed, StreamPurpose::Content, 0);
        let block = (0..BLOCK_BYTES).map(|_| ALPHABET[rng.index(ALPHABET.len())]).collect();
        Content { seed, block }
    }

    /// Returns the number that determines the content of an object of one of `n_kinds` kinds of requests: different
    /// for all objects of all kinds, and the same at every level of load.
    #[inline]
    pub fn object(n_kinds: usize, kind: u16, number: u64) -> u32 {
        (number * n_kinds as u64 + u64::from(kind)) as u32
    }

    /// Writes the bytes of `object` from position `offset` into all of `buffer`.
    pub fn fill(&self, object: u32, offset: u64, buffer: &mut [u8]) {
        let mut filled = 0;
        while filled < buffer.len() {
            let piece = self.piece(object, offset + filled as u64);
            let n = piece.len().min(buffer.len() - filled);
            buffer[filled..filled + n].copy_from_slice(&piece[..n]);
            filled += n;
        }
    }

    /// Returns whether `bytes` are those of `object` from position `offset` on.
    #[inline]
    pub fn matches(&self, object: u32, offset: u64, bytes: &[u8]) -> bool {
        let mut rest = bytes;
        let mut at = offset;
        while !rest.is_empty() {
            let piece = self.piece(object, at);
            let n = piece.len().min(rest.len());
            if piece[..n] != rest[..n] {
                return false;
            }
            rest = &rest[n..];
            at += n as u64;
        }
        true
    }

    /// Returns the position of the first byte that differs from the content of `object`, counted
    /// from the object's start; `None` if all are right.
    pub fn first_difference(&self, object: u32, offset: u64, bytes: &[u8]) -> Option<u64> {
        let mut expected = vec![0; bytes.len()];
        self.fill(object, offset, &mut expected);
        let index = expected.iter().zip(bytes).position(|(right, found)| right != found)?;
        Some(offset + index as u64)
    }

    /// Returns the bytes of `object` from `offset` to the end of the chunk that contains it.
    #[inline]
    fn piece(&self, object: u32, offset: u64) -> &[u8] {
        let chunk = offset / CHUNK_BYTES as u64;
        let inside = (offset % CHUNK_BYTES as u64) as usize;
        let draw = mix_bits(mix_bits(self.seed ^ u64::from(object)).wrapping_add(chunk));
        let start = (draw % (BLOCK_BYTES - CHUNK_BYTES) as u64) as usize;
        &self.block[start + inside..start + CHUNK_BYTES]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn whole(content: &Content, object: u32, bytes: usize) -> Vec<u8> {
        let mut buffer = vec![0; bytes];
        content.fill(object, 0, &mut buffer);
        buffer
    }

    #[test]
    fn any_split_of_an_object_gives_the_same_bytes() {
        let content = Content::new(2001);
        let all = whole(&content, 3, 20_000);
        for (offset, length) in [(0, 1), (1, 4096), (4095, 2), (4096, 4096), (9_999, 10_001)] {
            let mut part = vec![0; length];
            content.fill(3, offset, &mut part);
            assert_eq!(part, all[offset as usize..offset as usize + length]);
            assert!(content.matches(3, offset, &part));
        }
    }

    #[test]
    fn one_changed_byte_is_found_with_its_index() {
        let content = Content::new(2001);
        let right = whole(&content, 0, 51_250);
        for position in [0, 1, 4095, 4096, 51_249] {
            let mut wrong = right.clone();
            wrong[position] ^= 1;
            assert!(!content.matches(0, 0, &wrong));
            assert_eq!(content.first_difference(0, 0, &wrong), Some(position as u64));
        }
        assert_eq!(content.first_difference(0, 0, &right), None);
    }

    #[test]
    fn swapped_chunks_and_other_objects_do_not_pass() {
        let content = Content::new(2001);
        let mut swapped = whole(&content, 0, 8192);
        swapped.rotate_left(4096);
        assert!(!content.matches(0, 0, &swapped));
        assert!(!content.matches(1, 0, &whole(&content, 0, 500)));
        assert!(!Content::new(2002).matches(0, 0, &whole(&content, 0, 500)));
    }

    /// Goal: a populated data set stays usable. If this fails, every benchmark's version must rise.
    #[test]
    fn content_never_changes() {
        let start = whole(&Content::new(2001), 1, 24);
        assert_eq!(String::from_utf8(start).unwrap(), "gRdCStpYrAXuRPXeG6\nuODQU");
    }
}
