//! The bytes of files: a function of seed, file, generation and offset, so that whoever reads them can tell what they
//! must be, and nobody has to keep them.
//!
//! A block of 4 KiB begins with a stamp of 16 bytes: seed, file, generation and number of the block, of each 32 bits
//! in little-endian order (of seed and identity of the file, those of a hash). Random bytes follow, and zeros at the
//! end, so that a chosen share can be compressed.

use units::mix_bits;

use crate::FileId;

/// The size of a block, which has a stamp of its own.
pub const BLOCK_BYTES: usize = 4096;

/// The size of a stamp.
pub const STAMP_BYTES: usize = 16;

/// The bytes of a stamp that say the generation.
pub(crate) const GENERATION_BYTES: std::ops::Range<usize> = 8..12;

/// A version of a file: the bytes written in one go. Those that are there before load are generation 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileVersion {
    /// The file.
    pub file: FileId,
    /// The generation.
    pub generation: u32,
}

/// The content of all files of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileContent {
    seed: u64,
    /// The first of the zeros at the end of a block; a multiple of 8.
    zeros_from: usize,
}

/// Distance of the states of SplitMix64, whose finalizer is [`mix_bits`].
const STATE_STEP: u64 = 0x9e37_79b9_7f4a_7c15;

impl FileContent {
    /// Makes the content of a run, of which so many of a hundred bytes are zeros; more than 100 are 100.
    pub fn new(seed: u64, compressible_percent: u8) -> FileContent {
        let random = BLOCK_BYTES * (100 - usize::from(compressible_percent.min(100))) / 100;
        FileContent { seed, zeros_from: (random & !7).max(STAMP_BYTES) }
    }

    /// Writes the bytes of a version from an offset on.
    pub fn fill(&self, version: FileVersion, offset: u64, buffer: &mut [u8]) {
        let mut rest = buffer;
        let mut at = offset;
        while !rest.is_empty() {
            let within = (at % BLOCK_BYTES as u64) as usize;
            let (piece, behind) = rest.split_at_mut(rest.len().min(BLOCK_BYTES - within));
            self.block(version, at / BLOCK_BYTES as u64).fill(within, piece);
            at += piece.len() as u64;
            rest = behind;
        }
    }

    /// Returns the stamp of a block.
    pub fn stamp(&self, version: FileVersion, block: u64) -> [u8; STAMP_BYTES] {
        let FileVersion { file, generation } = version;
        // The upper halves: the lower ones of small numbers would be as good, but not of all.
        let tags =
            [(mix_bits(self.seed) >> 32) as u32, (mix_bits(file.0) >> 32) as u32, generation, block as u32];
        let mut stamp = [0; STAMP_BYTES];
        for (bytes, tag) in stamp.chunks_exact_mut(4).zip(tags) {
            bytes.copy_from_slice(&tag.to_le_bytes());
        }
        stamp
    }

    /// Returns whether bytes begin as a block of a file does in any generation; only those of its stamp are compared.
    pub fn is_of_block(&self, file: FileId, block: u64, bytes: &[u8]) -> bool {
        let stamp = self.stamp(FileVersion { file, generation: 0 }, block);
        let mut pairs = stamp.iter().zip(bytes).enumerate();
        pairs.all(|(index, (stamped, found))| GENERATION_BYTES.contains(&index) || stamped == found)
    }

    fn block(&self, version: FileVersion, block: u64) -> Block {
        let file = mix_bits(self.seed) ^ version.file.0;
        let key = mix_bits(mix_bits(mix_bits(file) ^ u64::from(version.generation)) ^ block);
        Block { stamp: self.stamp(version, block), key, zeros_from: self.zeros_from }
    }
}

/// A block of a version.
struct Block {
    stamp: [u8; STAMP_BYTES],
    key: u64,
    zeros_from: usize,
}

impl Block {
    /// Writes the bytes of the block from an offset in it on.
    fn fill(&self, within: usize, buffer: &mut [u8]) {
        let n_other = self.zeros_from.saturating_sub(within).min(buffer.len());
        let (other, zeros) = buffer.split_at_mut(n_other);
        zeros.fill(0);
        let index = within / 8;
        let skipped = within % 8;
        let n_head = if skipped == 0 { 0 } else { (8 - skipped).min(other.len()) };
        let (head, aligned) = other.split_at_mut(n_head);
        head.copy_from_slice(&self.word(index)[skipped..][..n_head]);
        let first = index + usize::from(skipped != 0);
        let mut words = aligned.chunks_exact_mut(8);
        let mut next = first;
        for word in words.by_ref().take((STAMP_BYTES / 8).saturating_sub(next)) {
            word.copy_from_slice(&self.word(next));
            next += 1;
        }
        // Nearly all words are behind the stamp: a loop without a branch.
        for word in &mut words {
            word.copy_from_slice(&self.random_word(next));
            next += 1;
        }
        let tail = words.into_remainder();
        let n_tail = tail.len();
        tail.copy_from_slice(&self.word(next)[..n_tail]);
    }

    /// Returns the 8 bytes of this index, which is before the zeros.
    fn word(&self, index: usize) -> [u8; 8] {
        match self.stamp.chunks_exact(8).nth(index) {
            Some(half) => half.try_into().expect("a chunk of 8 bytes"),
            None => self.random_word(index),
        }
    }

    /// Returns the 8 bytes of this index, which is behind the stamp and before the zeros.
    fn random_word(&self, index: usize) -> [u8; 8] {
        mix_bits(self.key.wrapping_add(STATE_STEP.wrapping_mul(index as u64))).to_le_bytes()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const VERSION: FileVersion = FileVersion { file: FileId(7), generation: 3 };

    fn bytes(content: FileContent, version: FileVersion, offset: u64, length: usize) -> Vec<u8> {
        let mut buffer = vec![0xAA; length];
        content.fill(version, offset, &mut buffer);
        buffer
    }

    #[test]
    fn a_block_has_stamp_random_bytes_and_zeros() {
        let content = FileContent::new(42, 50);
        let block = bytes(content, VERSION, 5 * 4096, 4096);
        assert_eq!(block[..16], content.stamp(VERSION, 5));
        assert_eq!((&block[8..12], &block[12..16]), (&[3, 0, 0, 0][..], &[5, 0, 0, 0][..]));
        assert!(block[2048..].iter().all(|byte| *byte == 0));
        let n_zeros = block[16..2048].iter().filter(|byte| **byte == 0).count();
        // 2,032 · 1/256 = 8, within four deviations of √8.
        assert!(n_zeros < 20, "{n_zeros} zeros among the random bytes");
    }

    #[test]
    fn a_block_is_known_by_its_stamp_in_any_generation() {
        let content = FileContent::new(42, 50);
        let mut block = bytes(content, VERSION, 5 * 4096, 4096);
        assert!(
            content.is_of_block(VERSION.file, 5, &block) && content.is_of_block(VERSION.file, 5, &block[..3])
        );
        assert!(!content.is_of_block(VERSION.file, 6, &block) && !content.is_of_block(FileId(8), 5, &block));
        assert!(!FileContent::new(43, 50).is_of_block(VERSION.file, 5, &block));
        block[8] ^= 1;
        assert!(content.is_of_block(VERSION.file, 5, &block));
    }

    #[test]
    fn the_compressible_share_is_kept() {
        for (percent, zeros_from) in [(0, 4096), (25, 3072), (50, 2048), (90, 408), (100, 16), (255, 16)] {
            assert_eq!(FileContent::new(1, percent).zeros_from, zeros_from, "{percent}");
        }
    }

    #[test]
    fn another_seed_file_generation_or_block_has_other_bytes() {
        let content = FileContent::new(1, 50);
        let one = bytes(content, VERSION, 0, 4096);
        let others = [
            bytes(FileContent::new(2, 50), VERSION, 0, 4096),
            bytes(content, FileVersion { file: FileId(8), ..VERSION }, 0, 4096),
            bytes(content, FileVersion { generation: 4, ..VERSION }, 0, 4096),
            bytes(content, VERSION, 4096, 4096),
        ];
        for other in others {
            assert!(one[..16] != other[..16] && one[16..2048] != other[16..2048]);
        }
    }

    /// Goal: no change of the code changes what a seed means, because files are kept between runs.
    #[test]
    fn bytes_never_change() {
        let bytes = bytes(FileContent::new(42, 50), VERSION, 4096, 24);
        assert_eq!(bytes, BYTES_OF_SEED_42);
    }

    const BYTES_OF_SEED_42: [u8; 24] =
        [38, 50, 215, 189, 228, 225, 203, 99, 3, 0, 0, 0, 1, 0, 0, 0, 117, 3, 253, 232, 134, 67, 186, 94];

    proptest! {
        #[test]
        fn any_range_has_the_bytes_of_the_whole(
            offset in 0_usize..20_000, length in 0_usize..9_000, percent in 0_u8..=100,
        ) {
            let content = FileContent::new(9, percent);
            let whole = bytes(content, VERSION, 0, 32_768);
            prop_assert_eq!(&bytes(content, VERSION, offset as u64, length)[..], &whole[offset..offset + length]);
        }
    }
}
