//! The computation of `PROC`: whole numbers only, so that its result can be checked anywhere.
//!
//! A table of 8192 numbers (64 KiB) is filled by splitmix64 from the seed. Then, K times: the upper 13 bits of x choose
//! an entry, which is mixed into x and replaced by x, rotated. No round can begin before the one before it has ended.

use super::SplitMix64;

/// The most rounds that a server accepts: seconds of work.
pub const ROUNDS_MAX: u32 = 50_000_000;

/// Number of entries of the table.
const ENTRIES: usize = 8192;

/// The multiplier of each round: that of a linear congruential generator with a period of 2⁶⁴.
const MULTIPLIER: u64 = 0x2545_F491_4F6C_DD1D;

/// The table that a computation works on; one can be used for any number of computations.
#[derive(Debug, Clone)]
pub struct WorkTable {
    entries: Box<[u64; ENTRIES]>,
}

impl Default for WorkTable {
    fn default() -> WorkTable {
        WorkTable { entries: Box::new([0; ENTRIES]) }
    }
}

impl WorkTable {
    /// Computes the result of a seed after a number of rounds.
    pub fn compute(&mut self, seed: u64, rounds: u32) -> u64 {
        let mut stream = SplitMix64::new(seed);
        self.entries.iter_mut().for_each(|entry| *entry = stream.draw());
        let mut x = seed | 1;
        for round in 0..u64::from(rounds) {
            let entry = &mut self.entries[(x >> 51) as usize];
            x ^= *entry;
            *entry = x.rotate_left(17);
            x = x.wrapping_mul(MULTIPLIER).wrapping_add(round);
        }
        x
    }
}
