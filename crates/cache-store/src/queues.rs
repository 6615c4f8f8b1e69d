//! The eviction policy: S3-FIFO, aware of sizes.
//!
//! ```text
//!   new ──► small (a tenth) ── used often enough ──► main ── used often enough ─┐
//!              │ else                       known ghost ▲ ▲────────────────────┘
//!              ▼                                        │ │ else: gone
//!           gone, its key a ghost ──────────────────────┘
//! ```
//!
//! Objects move only when room is needed, so a hit only raises a counter of the object and takes no lock. "Often
//! enough" is once for objects up to the mean size, and once more for each doubling beyond: a large object must earn
//! what it displaces. An object that somebody holds stays as well, at the end of its queue: its memory would not become
//! free.
//!
//! Source: Yang et al., FIFO Queues are All You Need for Cache Eviction (SOSP 2023). Awareness of sizes is an
//! addition, and so is that there are as many ghosts as objects; `tests/store/eviction.rs` compares it with LRU.

use crate::ghost_queue::GhostQueue;
use crate::slab::{Index, NONE, Queue, Slab};
use crate::stored_response::FREQUENCY_MAX;

/// The share of the limit for new objects: one part in this many.
const SMALL_PART: usize = 10;

/// The most objects of one queue that are passed over in one search because somebody holds them.
const PASSED_OVER_MAX: usize = 64;

/// Entries in the order in which they came.
#[derive(Debug)]
struct Fifo {
    oldest: Index,
    newest: Index,
    bytes: usize,
}

impl Fifo {
    const EMPTY: Fifo = Fifo { oldest: NONE, newest: NONE, bytes: 0 };

    fn push(&mut self, slab: &mut Slab, index: Index) {
        let newest = self.newest;
        let entry = slab.get_mut(index);
        (entry.older, entry.newer) = (newest, NONE);
        self.bytes += entry.cost;
        match newest {
            NONE => self.oldest = index,
            _ => slab.get_mut(newest).newer = index,
        }
        self.newest = index;
    }

    fn unlink(&mut self, slab: &mut Slab, index: Index) {
        let entry = slab.get(index);
        let older = entry.older;
        let newer = entry.newer;
        self.bytes -= entry.cost;
        match older {
            NONE => self.oldest = newer,
            _ => slab.get_mut(older).newer = newer,
        }
        match newer {
            NONE => self.newest = older,
            _ => slab.get_mut(newer).older = older,
        }
    }

    fn pop(&mut self, slab: &mut Slab) -> Option<Index> {
        let oldest = self.oldest;
        if oldest == NONE {
            return None;
        }
        self.unlink(slab, oldest);
        Some(oldest)
    }
}

/// The queues of one shard.
#[derive(Debug)]
pub(crate) struct Queues {
    small: Fifo,
    main: Fifo,
    ghosts: GhostQueue,
    small_bytes_max: usize,
}

impl Queues {
    /// Makes queues for a shard with this limit in bytes.
    pub(crate) fn new(bytes_max: usize) -> Queues {
        let small_bytes_max = bytes_max / SMALL_PART;
        Queues { small: Fifo::EMPTY, main: Fifo::EMPTY, ghosts: GhostQueue::default(), small_bytes_max }
    }

    /// Returns the cost of all entries.
    pub(crate) fn objects_bytes(&self) -> usize {
        self.small.bytes + self.main.bytes
    }

    /// Returns the bytes of memory that the queues take themselves.
    pub(crate) fn bytes(&self) -> usize {
        self.ghosts.bytes()
    }

    /// Returns the queue for an object with this key hash.
    pub(crate) fn queue_for(&mut self, hash: u64) -> Queue {
        if self.ghosts.take(hash) { Queue::Main } else { Queue::Small }
    }

    /// Appends an entry to its queue.
    pub(crate) fn push(&mut self, slab: &mut Slab, index: Index) {
        self.of(slab.get(index).queue).push(slab, index);
    }

    /// Unlinks an entry from its queue.
    pub(crate) fn unlink(&mut self, slab: &mut Slab, index: Index) {
        self.of(slab.get(index).queue).unlink(slab, index);
    }

    /// Changes the cost of an entry; before the object is changed.
    pub(crate) fn recount(&mut self, slab: &mut Slab, index: Index, cost: usize) {
        let entry = slab.get_mut(index);
        let fifo = self.of(entry.queue);
        fifo.bytes = fifo.bytes - entry.cost + cost;
        entry.cost = cost;
    }

    /// Takes the next victim out of its queue; `None` if there is none, or only after many that somebody holds.
    ///
    /// Terminates because each pass lowers the frequency of every object that stays, or the number of those that may
    /// be passed over.
    pub(crate) fn pop_victim(&mut self, slab: &mut Slab) -> Option<Index> {
        let mean = self.objects_bytes() / slab.len().max(1);
        let most = slab.len().min(PASSED_OVER_MAX);
        let mut small_left = most;
        let mut main_left = most;
        loop {
            let is_due = self.small_bytes_max < self.small.bytes || self.main.oldest == NONE;
            let is_small = (is_due && small_left != 0) || main_left == 0;
            let left = if is_small { &mut small_left } else { &mut main_left };
            if *left == 0 {
                return None;
            }
            let index = if is_small { self.small.pop(slab)? } else { self.main.pop(slab)? };
            let entry = slab.get_mut(index);
            if entry.object.is_held() {
                *left -= 1;
                self.push(slab, index);
                continue;
            }
            let frequency = entry.object.frequency();
            let price = price(entry.cost, mean);
            if frequency < price {
                if is_small {
                    self.ghosts.add(entry.hash, slab.len());
                }
                return Some(index);
            }
            entry.object.set_frequency(if is_small { 0 } else { frequency - price });
            entry.queue = Queue::Main;
            self.main.push(slab, index);
        }
    }

    fn of(&mut self, queue: Queue) -> &mut Fifo {
        match queue {
            Queue::Small => &mut self.small,
            Queue::Main => &mut self.main,
        }
    }
}

/// Returns the number of uses that keep an object of this cost: 1 + log₂ (cost / mean), rounded down, from 1 to 3.
fn price(cost: usize, mean: usize) -> u8 {
    let doublings = (cost / mean.max(1)).max(1).ilog2();
    (1 + doublings).min(u32::from(FREQUENCY_MAX)) as u8
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn larger_objects_must_be_used_more_often() {
        for (cost, uses) in [(0, 1), (100, 1), (199, 1), (200, 2), (399, 2), (400, 3), (100_000, 3)] {
            assert_eq!(price(cost, 100), uses, "{cost}");
        }
        assert_eq!(price(100, 0), 3);
    }
}
