//! The shards of a store.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::epochs::Epochs;
use crate::shard::{RemovedResponses, Shard};
use crate::shard_index::shard_of;

/// The shards, and the epochs of the keys in them.
#[derive(Debug)]
pub(crate) struct Shards {
    pub(crate) shards: Box<[Mutex<Shard>]>,
    pub(crate) epochs: Arc<Epochs>,
}

impl Shards {
    /// Evicts until a response whose key has this hash has so many bytes of room; `false` if there is none.
    pub(crate) fn make_room(&self, hash: u64, bytes: usize) -> bool {
        // Removed objects are freed after the lock.
        let mut gone = RemovedResponses::default();
        let mut shard = self.of(hash);
        let has_room = shard.make_room(bytes, &mut gone);
        self.raise(&gone);
        drop(shard);
        has_room
    }

    /// Raises the epochs of objects that are no longer stored.
    pub(crate) fn raise(&self, gone: &RemovedResponses) {
        gone.hashes().for_each(|hash| self.epochs.raise(hash));
    }

    /// Returns the shard of a hash.
    pub(crate) fn of(&self, hash: u64) -> MutexGuard<'_, Shard> {
        locked(&self.shards[shard_of(hash, self.shards.len())])
    }

    /// Returns the shards, one after another.
    pub(crate) fn iter(&self) -> impl Iterator<Item = MutexGuard<'_, Shard>> {
        self.shards.iter().map(locked)
    }
}

/// Locks; a thread that panicked has left nothing half done that others could not go on with.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
