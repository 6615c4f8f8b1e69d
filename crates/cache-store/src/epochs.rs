//! Epochs: counters that tell without a lock whether something has changed.
//!
//! Keys share counters: a change under one key makes a few others look changed too, which costs them one lookup. In
//! return nothing is allocated, counted or freed per key, and keys without objects have an epoch too.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// The number of counters: 32 KiB.
const COUNTERS: usize = 8192;

/// Counters by the hash of a key.
#[derive(Debug)]
pub(crate) struct Epochs(Box<[AtomicU32]>);

impl Default for Epochs {
    fn default() -> Epochs {
        Epochs((0..COUNTERS).map(|_| AtomicU32::new(0)).collect())
    }
}

impl Epochs {
    /// Notes a change.
    pub(crate) fn raise(&self, hash: u64) {
        self.0[slot(hash)].fetch_add(1, Ordering::Release);
    }

    /// Returns the current state; to be called under the lock that changes are made under.
    pub(crate) fn seen(epochs: &Arc<Epochs>, hash: u64) -> EpochSnapshot {
        EpochSnapshot { epochs: Arc::clone(epochs), slot: slot(hash), seen: epochs.at(slot(hash)) }
    }

    fn at(&self, slot: usize) -> u32 {
        self.0[slot].load(Ordering::Acquire)
    }
}

/// Returns the index of the counter of a hash; by other bits than those that choose the shard.
fn slot(hash: u64) -> usize {
    (hash >> 40) as usize & (COUNTERS - 1)
}

/// The epoch of a key, as of its lookup.
#[derive(Debug, Clone)]
pub struct EpochSnapshot {
    epochs: Arc<Epochs>,
    slot: usize,
    seen: u32,
}

impl EpochSnapshot {
    /// Returns whether nothing has changed since; takes no lock.
    #[inline]
    pub fn is_current(&self) -> bool {
        self.epochs.at(self.slot) == self.seen
    }
}

/// Counters of removals: purges and invalidations, under a key or of many keys at once.
#[derive(Debug, Default)]
pub(crate) struct RemovalCounters {
    of_keys: Epochs,
    unkeyed: AtomicU32,
}

/// The state of the removal counters before a fetch, see [`Store::insert`](crate::Store::insert).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RemovalSnapshot {
    slot: usize,
    of_key: u32,
    unkeyed: u32,
}

impl RemovalCounters {
    /// Returns the current state.
    pub(crate) fn now(&self, hash: u64) -> RemovalSnapshot {
        self.at(slot(hash))
    }

    fn at(&self, slot: usize) -> RemovalSnapshot {
        RemovalSnapshot { slot, of_key: self.of_keys.at(slot), unkeyed: self.unkeyed.load(Ordering::Acquire) }
    }

    /// Returns whether nothing was removed since.
    pub(crate) fn is_current(&self, since: RemovalSnapshot) -> bool {
        self.at(since.slot) == since
    }

    /// Notes a removal: under the key with this hash, or, without one, of unknown extent.
    pub(crate) fn raise(&self, hash: Option<u64>) {
        match hash {
            Some(hash) => self.of_keys.raise(hash),
            None => {
                self.unkeyed.fetch_add(1, Ordering::Release);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_raises_only_its_keys_epoch() {
        let epochs = Arc::new(Epochs::default());
        let one = Epochs::seen(&epochs, 1 << 40);
        let other = Epochs::seen(&epochs, 2 << 40);
        epochs.raise(1 << 40);
        assert!(!one.is_current() && other.is_current());
        assert!(Epochs::seen(&epochs, 1 << 40).is_current());
    }

    #[test]
    fn unkeyed_removals_concern_every_key() {
        let removals = RemovalCounters::default();
        let one = removals.now(1 << 40);
        let other = removals.now(2 << 40);
        removals.raise(Some(1 << 40));
        assert!(!removals.is_current(one) && removals.is_current(other));
        removals.raise(None);
        assert!(!removals.is_current(other));
    }
}
