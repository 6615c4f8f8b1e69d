//! Counters that tell without a lock whether something has changed.
//!
//! Keys share counters, many to one: a change under one key then makes others look changed too, which costs them one
//! lookup. In return there is nothing to allocate, to count or to free per key, and keys without objects have one too.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// How many counters there are: 32 KiB.
const COUNTERS: usize = 8192;

/// Counters by the hash of a key.
#[derive(Debug)]
pub(super) struct Epochs(Box<[AtomicU32]>);

impl Default for Epochs {
    fn default() -> Epochs {
        Epochs((0..COUNTERS).map(|_| AtomicU32::new(0)).collect())
    }
}

impl Epochs {
    /// Notes a change.
    pub(super) fn raise(&self, hash: u64) {
        self.0[place(hash)].fetch_add(1, Ordering::Release);
    }

    /// Returns the state of now; to be taken under the lock that changes are made under.
    pub(super) fn seen(epochs: &Arc<Epochs>, hash: u64) -> EpochSeen {
        EpochSeen { epochs: Arc::clone(epochs), place: place(hash), seen: epochs.at(place(hash)) }
    }

    fn at(&self, place: usize) -> u32 {
        self.0[place].load(Ordering::Acquire)
    }
}

/// Returns the counter of a hash; by other bits than those that choose the shard.
fn place(hash: u64) -> usize {
    (hash >> 40) as usize & (COUNTERS - 1)
}

/// The state of what is stored under a key, when it was looked up.
#[derive(Debug, Clone)]
pub struct EpochSeen {
    epochs: Arc<Epochs>,
    place: usize,
    seen: u32,
}

impl EpochSeen {
    /// Tells whether nothing has changed since; without a lock.
    #[inline]
    pub fn is_current(&self) -> bool {
        self.epochs.at(self.place) == self.seen
    }
}

/// Counts removals: purges and invalidations, under a key or of many keys at once.
#[derive(Debug, Default)]
pub(super) struct Removals {
    of_keys: Epochs,
    wide: AtomicU32,
}

/// The state of removals when a response was asked for, see [`Store::insert`](super::Store::insert).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Since {
    place: usize,
    of_key: u32,
    wide: u32,
}

impl Removals {
    /// Returns the state of now.
    pub(super) fn now(&self, hash: u64) -> Since {
        self.at(place(hash))
    }

    fn at(&self, place: usize) -> Since {
        Since { place, of_key: self.of_keys.at(place), wide: self.wide.load(Ordering::Acquire) }
    }

    /// Tells whether nothing was removed since.
    pub(super) fn is_current(&self, since: Since) -> bool {
        self.at(since.place) == since
    }

    /// Notes a removal: under the key with this hash, or of whatever a pattern may mean.
    pub(super) fn raise(&self, hash: Option<u64>) {
        match hash {
            Some(hash) => self.of_keys.raise(hash),
            None => {
                self.wide.fetch_add(1, Ordering::Release);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_is_seen_under_its_key_and_not_under_others() {
        let epochs = Arc::new(Epochs::default());
        let (one, other) = (Epochs::seen(&epochs, 1 << 40), Epochs::seen(&epochs, 2 << 40));
        epochs.raise(1 << 40);
        assert!(!one.is_current() && other.is_current());
        assert!(Epochs::seen(&epochs, 1 << 40).is_current());
    }

    #[test]
    fn wide_removals_concern_every_key() {
        let removals = Removals::default();
        let (one, other) = (removals.now(1 << 40), removals.now(2 << 40));
        removals.raise(Some(1 << 40));
        assert!(!removals.is_current(one) && removals.is_current(other));
        removals.raise(None);
        assert!(!removals.is_current(other));
    }
}
