//! The content of payloads and of the blocks of data files: streams of splitmix64.
//!
//! Source: G. Steele, D. Lea, C. Flood, Fast splittable pseudorandom number generators, OOPSLA 2014; the constants are
//! those of S. Vigna's public-domain version.

/// Length of a block of a data file, in bytes.
pub const BLOCK_BYTES: usize = 4096;

/// The generator splitmix64.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SplitMix64 {
    state: u64,
}

impl SplitMix64 {
    /// Creates the generator of a seed.
    pub fn new(seed: u64) -> SplitMix64 {
        SplitMix64 { state: seed }
    }

    /// Returns the next number.
    #[inline]
    pub fn draw(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.state;
        mixed = (mixed ^ mixed >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ mixed >> 31
    }
}

/// Fills a payload with the content of a seed: the numbers of the stream, little-endian, the last one cut.
pub fn fill_payload(seed: u64, payload: &mut [u8]) {
    let mut stream = SplitMix64::new(seed);
    let (words, rest) = payload.as_chunks_mut::<8>();
    words.iter_mut().for_each(|word| *word = stream.draw().to_le_bytes());
    let last = stream.draw().to_le_bytes();
    rest.iter_mut().zip(last).for_each(|(byte, value)| *byte = value);
}

/// Fills a block of a client's data file: its number, and then the stream that client and number determine.
pub fn fill_block(client: u32, number: u64, block: &mut [u8; BLOCK_BYTES]) {
    let (start, rest) = block.split_at_mut(8);
    start.copy_from_slice(&number.to_le_bytes());
    fill_payload(u64::from(client) << 32 ^ number, rest);
}

/// Returns the number that a block has at its start.
pub fn block_number(block: &[u8; BLOCK_BYTES]) -> u64 {
    block[..8].iter().rfold(0, |sum, byte| sum << 8 | u64::from(*byte))
}
