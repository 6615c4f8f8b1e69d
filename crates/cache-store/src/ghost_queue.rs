//! Ghosts: keys of objects that were evicted soon after they came (S3-FIFO's term).

use std::collections::VecDeque;

use hashbrown::HashTable;

/// The least capacity for ghosts.
const GHOSTS_MIN: usize = 64;

/// Hashes of keys, in the order in which they came, up to a number.
///
/// Of each hash 32 bits are kept: a collision costs a misplaced object, nothing else.
#[derive(Debug, Default)]
pub(crate) struct GhostQueue {
    known: HashTable<u32>,
    order: VecDeque<u32>,
}

impl GhostQueue {
    /// Returns the bytes of memory that they take.
    pub(crate) fn bytes(&self) -> usize {
        self.known.allocation_size() + self.order.capacity() * size_of::<u32>()
    }

    /// Adds a hash; the oldest are removed so that there are at most `n_max`.
    pub(crate) fn add(&mut self, hash: u64, n_max: usize) {
        while n_max.max(GHOSTS_MIN) <= self.order.len() {
            if let Some(oldest) = self.order.pop_front() {
                self.forget(oldest);
            }
        }
        let print = print(hash);
        if self.known.find(spread(&print), |known| *known == print).is_none() {
            self.known.insert_unique(spread(&print), print, spread);
        }
        self.order.push_back(print);
    }

    /// Returns whether a hash is known, and forgets it.
    pub(crate) fn take(&mut self, hash: u64) -> bool {
        // Its entry in the order stays until its turn comes.
        self.forget(print(hash))
    }

    fn forget(&mut self, print: u32) -> bool {
        let entry = self.known.find_entry(spread(&print), |known| *known == print);
        entry.map(|entry| entry.remove()).is_ok()
    }
}

fn print(hash: u64) -> u32 {
    (hash >> 8) as u32
}

/// Spreads a print over 64 bits, because the table uses both ends.
fn spread(print: &u32) -> u64 {
    units::mix_bits(u64::from(*print))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_ghosts_are_known_once() {
        let mut ghosts = GhostQueue::default();
        (0..100).for_each(|number| ghosts.add(units::mix_bits(number), GHOSTS_MIN));
        assert!(!ghosts.take(units::mix_bits(35)) && ghosts.take(units::mix_bits(36)));
        assert!(ghosts.take(units::mix_bits(99)) && !ghosts.take(units::mix_bits(99)));
    }

    #[test]
    fn ghost_memory_is_bounded() {
        let mut ghosts = GhostQueue::default();
        for number in 0..100_000 {
            ghosts.add(units::mix_bits(number), 1000);
            ghosts.take(units::mix_bits(number / 2));
        }
        // A table may have four places per entry, of five bytes each; the order has one or two, of four.
        assert!(ghosts.bytes() <= 1000 * (4 * 5 + 2 * 4), "{}", ghosts.bytes());
    }
}
