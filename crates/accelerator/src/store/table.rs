//! The store that all threads share.

use std::cmp::Reverse;
use std::hash::{BuildHasher, RandomState};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use units::WallTime;

use super::body::Packer;
use super::disk::{Disk, DiskError};
use super::epochs::{EpochSeen, Epochs, Removals, Since};
use super::object::Object;
use super::purge::{Purge, Removal};
use super::settings::StoreSettings;
use super::shard::{OBJECT_SHARE, Shard};
use super::usage::{HotObject, Usage};
use crate::policy::{Key, Mark, Settings};

/// The most memory that one shard answers for if there may be more shards, in bytes.
const SHARD_BYTES: u64 = 64 << 20;

/// The most shards.
const SHARDS_MAX: u64 = 64;

/// What is stored under a key.
#[derive(Debug)]
pub struct Found {
    /// The variants; empty if there are none.
    pub objects: Vec<Arc<Object>>,
    /// Says that requests need not wait for each other; look whether it is still valid.
    pub mark: Option<Mark>,
    /// Tells later whether the answer would still be the same.
    pub epoch: EpochSeen,
    /// To be handed to [`Store::insert`] with the response to a request that is made now.
    pub since: Since,
}

/// Stored responses in memory, and on disk if the operator wants that.
///
/// Invariants: what is counted never exceeds the limit once a call has returned, and every change to what is stored
/// under a key raises the key's epoch. What has been evicted while a client is still being sent it is no longer counted.
#[derive(Debug)]
pub struct Store {
    shards: Box<[Mutex<Shard>]>,
    hasher: RandomState,
    epochs: Arc<Epochs>,
    removals: Removals,
    packer: Packer,
    bytes_max: u64,
    object_bytes_max: usize,
    disk: Option<Disk>,
}

impl Store {
    /// Makes a store, and opens its tier on disk if there is to be one: what is there of an earlier run counts.
    ///
    /// # Errors
    ///
    /// A directory that cannot be used.
    pub fn open(settings: &StoreSettings) -> Result<Store, DiskError> {
        let (hasher, packer) = (RandomState::new(), Packer::new(settings.bytes));
        let open = |disk| Disk::open(disk, settings.bytes, &hasher, packer);
        let disk = settings.disk.as_ref().map(open).transpose()?;
        Ok(Store::with(settings, hasher, packer, disk))
    }

    /// Makes a store that keeps up to `bytes` in memory and nothing on disk.
    pub fn in_memory(bytes: u64) -> Store {
        let settings = StoreSettings { bytes, ..StoreSettings::default() };
        Store::with(&settings, RandomState::new(), Packer::new(bytes), None)
    }

    fn with(settings: &StoreSettings, hasher: RandomState, packer: Packer, disk: Option<Disk>) -> Store {
        let bytes = settings.bytes.saturating_sub(disk.as_ref().map_or(0, Disk::index_bytes));
        let shards = 1 << (bytes / SHARD_BYTES).clamp(1, SHARDS_MAX).ilog2();
        let share = usize::try_from(bytes / shards).unwrap_or(usize::MAX);
        let object_bytes_max = usize::try_from(settings.object_bytes_max).unwrap_or(usize::MAX);
        Store {
            shards: (0..shards).map(|_| Mutex::new(Shard::new(share))).collect(),
            hasher,
            epochs: Arc::default(),
            removals: Removals::default(),
            packer,
            bytes_max: settings.bytes,
            object_bytes_max: object_bytes_max.min(share / OBJECT_SHARE),
            disk,
        }
    }

    /// Returns what is stored in memory under a key ([`Key::as_str`]).
    ///
    /// Notes no hit: that is [`Object::note_hit`], once it is clear what the client gets.
    pub fn lookup(&self, key: &str) -> Found {
        let hash = self.hasher.hash_one(key);
        let shard = self.shard(hash);
        let objects: Vec<_> = shard.variants(hash, key).map(Arc::clone).collect();
        let mark = if objects.is_empty() { shard.mark(hash) } else { None };
        Found { objects, mark, epoch: Epochs::seen(&self.epochs, hash), since: self.removals.now(hash) }
    }

    /// Tells whether the tier on disk may have something under a key, so that [`Store::fetch`] is worth a try.
    pub fn is_on_disk(&self, key: &str) -> bool {
        self.disk.as_ref().is_some_and(|disk| disk.has(self.hasher.hash_one(key)))
    }

    /// Returns what the tier on disk has under a key, and keeps it in memory again.
    ///
    /// Empty if there is nothing, or nothing whole: what is torn is never returned.
    pub async fn fetch(&self, key: &Key, settings: &Settings) -> Vec<Arc<Object>> {
        let Some(disk) = &self.disk else {
            return Vec::new();
        };
        let hash = self.hasher.hash_one(key.as_str());
        let since = self.removals.now(hash);
        let objects = disk.fetch(hash, key, settings).await;
        for object in &objects {
            self.keep(object, hash, since, settings);
        }
        objects
    }

    /// Keeps an object in place of those that it supersedes, and evicts others until there is room.
    ///
    /// `since` is from the lookup before the response was asked for: if what it could have seen has been removed since,
    /// the object is older than the removal and not kept. Returns whether it is kept; one that is too large is not.
    pub fn insert(&self, object: &Arc<Object>, since: Since, settings: &Settings) -> bool {
        let hash = self.hasher.hash_one(object.key.as_str());
        let is_kept = self.keep(object, hash, since, settings);
        if is_kept {
            self.write(object, hash, since);
        }
        is_kept
    }

    /// Has an object written to disk, unless it is older than a removal.
    fn write(&self, object: &Arc<Object>, hash: u64, since: Since) {
        let Some(disk) = &self.disk else { return };
        disk.put(object, hash);
        // A removal since may have looked there just before.
        if !self.removals.is_current(since) {
            disk.remove(&Purge::Key(object.key.as_str().to_owned()), Some(hash));
        }
    }

    fn keep(&self, object: &Arc<Object>, hash: u64, since: Since, settings: &Settings) -> bool {
        if self.object_bytes_max < object.cost() {
            self.shard(hash).note_refused();
            return false;
        }
        // What goes is freed after the lock.
        let mut gone = Vec::new();
        let mut shard = self.shard(hash);
        if !self.removals.is_current(since) {
            return false;
        }
        shard.insert(Arc::clone(object), hash, settings, &mut gone);
        self.raise(&gone);
        self.epochs.raise(hash);
        true
    }

    /// Puts an object in the place of one that it brings up to date: after 304, a reply to HEAD.
    ///
    /// `since` is from before the update was asked for. Returns whether it is kept: not if the old one is gone meanwhile,
    /// for it may have been purged.
    pub fn replace(&self, old: &Arc<Object>, new: &Arc<Object>, since: Since) -> bool {
        let hash = self.hasher.hash_one(old.key.as_str());
        let mut gone = Vec::new();
        let mut shard = self.shard(hash);
        if old.key != new.key || !shard.replace(old, Arc::clone(new), hash, &mut gone) {
            return false;
        }
        self.raise(&gone);
        self.epochs.raise(hash);
        drop(shard);
        self.write(new, hash, since);
        true
    }

    /// Says that responses under a key cannot be stored for now; the next that can be takes the mark away.
    ///
    /// Few marks are kept, in a table of fixed size: a new one may take another's place.
    pub fn set_mark(&self, key: &str, mark: Mark) {
        let hash = self.hasher.hash_one(key);
        self.shard(hash).set_mark(hash, mark);
    }

    /// Removes what is meant, or keeps it as [`Removal`] says, and returns how many objects in memory that were.
    ///
    /// Nothing that was asked for before is kept afterwards. The tier on disk forgets it in any case, for good, even if
    /// the process is killed right after.
    pub fn purge(&self, what: &Purge, how: Removal, now: WallTime) -> usize {
        let hash = what.key().map(|key| self.hasher.hash_one(key));
        self.removals.raise(hash);
        if let Some(disk) = &self.disk {
            disk.remove(what, hash);
            // What was read from there before must not come into memory afterwards.
            self.removals.raise(hash);
        }
        let purge = |mut shard: MutexGuard<Shard>| {
            let mut gone = Vec::new();
            let purged = shard.purge(what, hash, how, now, &mut gone);
            self.raise(&gone);
            drop(shard);
            purged
        };
        match hash {
            Some(hash) => purge(self.shard(hash)),
            None => self.shards.iter().map(|shard| purge(locked(shard))).sum(),
        }
    }

    /// Makes what is stored under a key unusable without validation: an unsafe request went through (RFC 9111 §4.4).
    pub fn invalidate(&self, key: &str, now: WallTime) -> usize {
        self.purge(&Purge::Key(key.to_owned()), Removal::Invalidate, now)
    }

    /// Returns the mark of this moment, for a response that is not asked for after a lookup.
    pub fn since(&self, key: &str) -> Since {
        self.removals.now(self.hasher.hash_one(key))
    }

    /// Packs a body into one piece of memory of just its size, so that what is counted is what it takes.
    pub fn pack(&self, pieces: &[Bytes]) -> Bytes {
        self.packer.pack(pieces)
    }

    /// Returns the largest cost of an object that is kept, in bytes.
    pub fn object_bytes_max(&self) -> usize {
        self.object_bytes_max
    }

    /// Returns what the store holds and what has become of the rest.
    pub fn usage(&self) -> Usage {
        let mut usage = Usage { bytes_max: self.bytes_max, ..Usage::default() };
        for shard in &self.shards {
            usage.add(&locked(shard).usage());
        }
        usage.disk = self.disk.as_ref().map(Disk::usage);
        usage.bytes += usage.disk.as_ref().map_or(0, |disk| disk.index_bytes);
        usage
    }

    /// Returns the `n` objects that were used most, most used first.
    pub fn hottest(&self, n: usize) -> Vec<HotObject> {
        let mut objects: Vec<(u32, Arc<Object>)> = Vec::new();
        for shard in &self.shards {
            // Most are used less than those found so far, and not worth to be taken along.
            let least = n.checked_sub(1).and_then(|last| objects.get(last)).map(|(hits, _)| *hits);
            let hotter = |object: &Arc<Object>| {
                let hits = object.hits();
                least.is_none_or(|least| least < hits).then(|| (hits, Arc::clone(object)))
            };
            objects.extend(locked(shard).objects().filter_map(hotter));
            objects.sort_by_key(|(hits, _)| Reverse(*hits));
            objects.truncate(n);
        }
        objects.iter().map(|(_, object)| HotObject::of(object)).collect()
    }

    /// Returns all objects in memory, in no order; for tests and small stores.
    pub fn objects(&self) -> Vec<Arc<Object>> {
        self.shards.iter().flat_map(|shard| locked(shard).objects().cloned().collect::<Vec<_>>()).collect()
    }

    /// Waits until everything that is to be written to disk is written: at shutdown, and in tests.
    pub fn flush(&self) {
        if let Some(disk) = &self.disk {
            disk.flush();
        }
    }

    /// Raises the epochs of objects that are stored no longer.
    fn raise(&self, gone: &[(u64, Arc<Object>)]) {
        gone.iter().for_each(|(hash, _)| self.epochs.raise(*hash));
    }

    fn shard(&self, hash: u64) -> MutexGuard<'_, Shard> {
        // The tables inside go by the lowest and the highest bits.
        locked(&self.shards[(hash >> 32) as usize & (self.shards.len() - 1)])
    }
}

/// Locks; a thread that panicked meanwhile has left nothing half done that the others could not go on with.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
