//! The store that all threads share.

use std::cmp::Reverse;
use std::hash::{BuildHasher, RandomState};
use std::sync::{Arc, Mutex, MutexGuard};

use bytes::Bytes;
use cache_policy::{HitForMiss, Key, Settings, StoredMeta};
use units::WallTime;

use crate::body::Packer;
use crate::disk::{Disk, DiskError};
use crate::epochs::{EpochSnapshot, Epochs, RemovalCounters, RemovalSnapshot};
use crate::purge::{Purge, Removal};
use crate::settings::StoreSettings;
use crate::shard::{OBJECT_SHARE, RemovedResponses, Shard};
use crate::shards::Shards;
use crate::stored_response::StoredResponse;
use crate::usage::{HotObject, StoreUsage};

/// The memory per shard that calls for another shard, in bytes.
const SHARD_BYTES: u64 = 64 << 20;

/// The most shards.
const SHARDS_MAX: u64 = 64;

/// The result of a lookup.
#[derive(Debug)]
pub struct Lookup {
    /// The variants; empty if there are none.
    pub objects: Vec<Arc<StoredResponse>>,
    /// The hit-for-miss mark; check whether it is still valid.
    pub hit_for_miss: Option<HitForMiss>,
    /// The epoch of the key, to check later whether the result would still be the same.
    pub epoch: EpochSnapshot,
    /// The removals so far, to be passed to [`Store::insert`] with the response to a request that is made now.
    pub since: RemovalSnapshot,
}

impl Lookup {
    /// Returns the metadata of the variants, in their order.
    pub fn stored(&self) -> impl Iterator<Item = &StoredMeta> {
        self.objects.iter().map(|object| &object.stored)
    }
}

/// The store: responses in memory, and on disk if configured.
///
/// Invariants: the counted memory never exceeds the limit once a call has returned, and every change under a key
/// raises the key's epoch. A body counts until its last reader has gone, whether it is stored or not: what clients read
/// is not evicted, and if it leaves no room for a response, that response is not stored.
#[derive(Debug)]
pub struct Store {
    shards: Arc<Shards>,
    hasher: RandomState,
    removals: RemovalCounters,
    packer: Packer,
    bytes_max: u64,
    object_bytes_max: usize,
    disk: Option<Disk>,
}

impl Store {
    /// Makes a store, and opens its disk tier if configured: the content of an earlier run counts.
    ///
    /// # Errors
    ///
    /// A directory that cannot be used.
    pub fn open(settings: &StoreSettings) -> Result<Store, DiskError> {
        let hasher = RandomState::new();
        let packer = packer(settings.bytes);
        let open = |disk| Disk::open(disk, settings.bytes, &hasher, packer.clone());
        let disk = settings.disk.as_ref().map(open).transpose()?;
        Ok(Store::with(settings, hasher, packer, disk))
    }

    /// Makes a store that keeps up to `bytes` in memory and nothing on disk.
    pub fn in_memory(bytes: u64) -> Store {
        let settings = StoreSettings { bytes, ..StoreSettings::default() };
        Store::with(&settings, RandomState::new(), packer(bytes), None)
    }

    fn with(settings: &StoreSettings, hasher: RandomState, packer: Packer, disk: Option<Disk>) -> Store {
        let bytes = settings.bytes.saturating_sub(disk.as_ref().map_or(0, Disk::index_bytes));
        let share = usize::try_from(bytes / packer.live().len() as u64).unwrap_or(usize::MAX);
        let object_bytes_max = usize::try_from(settings.object_bytes_max).unwrap_or(usize::MAX);
        let shards = packer.live().iter().map(|live| Mutex::new(Shard::new(share, live.clone()))).collect();
        Store {
            shards: Arc::new(Shards { shards, epochs: Arc::default() }),
            hasher,
            removals: RemovalCounters::default(),
            packer,
            bytes_max: settings.bytes,
            object_bytes_max: object_bytes_max.min(share / OBJECT_SHARE),
            disk,
        }
    }

    /// Returns the responses stored in memory under a key ([`Key::as_str`]).
    ///
    /// Counts no hit: the caller does so by [`StoredResponse::note_hit`], once the client's response is decided.
    pub fn lookup(&self, key: &str) -> Lookup {
        let hash = self.hasher.hash_one(key);
        let shard = self.shards.of(hash);
        let objects: Vec<_> = shard.variants(hash, key).map(Arc::clone).collect();
        let hit_for_miss = if objects.is_empty() { shard.hit_for_miss(hash) } else { None };
        Lookup {
            objects,
            hit_for_miss,
            epoch: Epochs::seen(&self.shards.epochs, hash),
            since: self.removals.now(hash),
        }
    }

    /// Returns whether the disk tier may have responses under a key, so that [`Store::fetch`] is worthwhile.
    pub fn is_on_disk(&self, key: &str) -> bool {
        self.disk.as_ref().is_some_and(|disk| disk.has(self.hasher.hash_one(key)))
    }

    /// Returns the responses that the disk tier has under a key, and puts them into memory again.
    ///
    /// Empty if there are none, or none intact: a torn record is never returned.
    pub async fn fetch(&self, key: &Key, settings: &Settings) -> Vec<Arc<StoredResponse>> {
        let Some(disk) = &self.disk else {
            return Vec::new();
        };
        let hash = self.hasher.hash_one(key.as_str());
        let since = self.removals.now(hash);
        let objects = disk.fetch(hash, key, settings, &self.shards).await;
        for object in &objects {
            self.keep(object, hash, since, settings);
        }
        objects
    }

    /// Stores a response in place of those that it supersedes, and evicts others until there is room.
    ///
    /// `since` is from the lookup before the response was fetched: if a removal since then could have matched it, the
    /// response is outdated and not stored. Returns whether it is stored; one that is too large is not, nor one for
    /// which others that are held leave no room.
    pub fn insert(&self, object: &Arc<StoredResponse>, since: RemovalSnapshot, settings: &Settings) -> bool {
        let hash = self.hasher.hash_one(object.key.as_str());
        let is_kept = self.keep(object, hash, since, settings);
        if is_kept {
            self.write(object, hash, since);
        }
        is_kept
    }

    /// Queues an object to be written to disk, unless a removal has outdated it.
    fn write(&self, object: &Arc<StoredResponse>, hash: u64, since: RemovalSnapshot) {
        let Some(disk) = &self.disk else { return };
        disk.put(object, hash);
        // A removal since may have checked the disk just before.
        if !self.removals.is_current(since) {
            disk.remove(&Purge::Key(object.key.as_str().to_owned()), Some(hash));
        }
    }

    fn keep(
        &self,
        object: &Arc<StoredResponse>,
        hash: u64,
        since: RemovalSnapshot,
        settings: &Settings,
    ) -> bool {
        if self.object_bytes_max < object.cost() {
            self.shards.of(hash).note_refused();
            return false;
        }
        // Removed objects are freed after the lock.
        let mut gone = RemovedResponses::default();
        let mut shard = self.shards.of(hash);
        if !self.removals.is_current(since) {
            return false;
        }
        let is_kept = shard.insert(Arc::clone(object), hash, settings, &mut gone);
        self.shards.raise(&gone);
        self.shards.epochs.raise(hash);
        drop(shard);
        is_kept
    }

    /// Replaces a response by an updated one: after 304, or a response to HEAD.
    ///
    /// `since` is from before the update was fetched. Returns whether it is stored: not if the old one is gone
    /// meanwhile, because it may have been purged.
    pub fn replace(
        &self,
        old: &Arc<StoredResponse>,
        new: &Arc<StoredResponse>,
        since: RemovalSnapshot,
    ) -> bool {
        let hash = self.hasher.hash_one(old.key.as_str());
        let mut gone = RemovedResponses::default();
        let mut shard = self.shards.of(hash);
        if old.key != new.key || !shard.replace(old, Arc::clone(new), hash, &mut gone) {
            return false;
        }
        self.shards.raise(&gone);
        self.shards.epochs.raise(hash);
        drop(shard);
        self.write(new, hash, since);
        true
    }

    /// Marks a key as hit-for-miss: its responses cannot be stored for now; the next one that can removes the mark.
    ///
    /// Marks are kept in a table of fixed size: a new one may overwrite another.
    pub fn set_hit_for_miss(&self, key: &str, hit_for_miss: HitForMiss) {
        let hash = self.hasher.hash_one(key);
        self.shards.of(hash).set_hit_for_miss(hash, hit_for_miss);
    }

    /// Removes the objects that a purge matches, or changes them as [`Removal`] says, and returns their number in
    /// memory.
    ///
    /// No response that was fetched before is stored afterwards. The disk tier deletes them in any case, for good,
    /// even if the process is killed right after.
    pub fn purge(&self, what: &Purge, how: Removal, now: WallTime) -> usize {
        let hash = what.key().map(|key| self.hasher.hash_one(key));
        self.removals.raise(hash);
        if let Some(disk) = &self.disk {
            disk.remove(what, hash);
            // A disk read that began before must not come into memory afterwards.
            self.removals.raise(hash);
        }
        let purge = |mut shard: MutexGuard<Shard>| {
            let mut gone = RemovedResponses::default();
            let purged = shard.purge(what, hash, how, now, &mut gone);
            self.shards.raise(&gone);
            drop(shard);
            purged
        };
        match hash {
            Some(hash) => purge(self.shards.of(hash)),
            None => self.shards.iter().map(purge).sum(),
        }
    }

    /// Makes the responses under a key unusable without validation: an unsafe request succeeded (RFC 9111 §4.4).
    pub fn invalidate(&self, key: &str, now: WallTime) -> usize {
        self.purge(&Purge::Key(key.to_owned()), Removal::Invalidate, now)
    }

    /// Returns the removals so far, for a fetch without a lookup.
    pub fn since(&self, key: &str) -> RemovalSnapshot {
        self.removals.now(self.hasher.hash_one(key))
    }

    /// Packs the body of a response under a key into one allocation of exactly its size, so that the counted size is
    /// the real one. It counts until it is freed.
    pub fn pack(&self, key: &str, pieces: &[Bytes]) -> Bytes {
        self.packer.pack(self.hasher.hash_one(key), pieces)
    }

    /// Evicts until a response under a key has so many bytes of room. Evicts nothing and returns `false` if what
    /// others hold, such as slow clients, leaves too little; then it will not be stored.
    pub fn make_room(&self, key: &str, bytes: u64) -> bool {
        usize::try_from(bytes).is_ok_and(|bytes| self.shards.make_room(self.hasher.hash_one(key), bytes))
    }

    /// Returns the largest cost of an object that is stored, in bytes.
    pub fn object_bytes_max(&self) -> usize {
        self.object_bytes_max
    }

    /// Returns the usage of the store.
    pub fn usage(&self) -> StoreUsage {
        let mut usage = StoreUsage { bytes_max: self.bytes_max, ..StoreUsage::default() };
        self.shards.iter().for_each(|shard| usage.add(&shard.usage()));
        usage.disk = self.disk.as_ref().map(Disk::usage);
        usage.bytes += usage.disk.as_ref().map_or(0, |disk| disk.index_bytes);
        usage
    }

    /// Returns the bytes of bodies that cannot be freed, stored or stored no longer: they are being sent to clients, or
    /// wait to be written to disk. Looks at every object, so not for every request.
    pub fn held_bytes(&self) -> u64 {
        self.shards.iter().map(|shard| shard.held_bytes() as u64).sum()
    }

    /// Returns the `n` most used objects, most used first.
    pub fn hottest(&self, n: usize) -> Vec<HotObject> {
        let mut objects: Vec<(u32, Arc<StoredResponse>)> = Vec::new();
        for shard in self.shards.iter() {
            // Most objects are used less than those found so far, and are skipped.
            let least = n.checked_sub(1).and_then(|last| objects.get(last)).map(|(hits, _)| *hits);
            let hotter = |object: &Arc<StoredResponse>| {
                let hits = object.hits();
                least.is_none_or(|least| least < hits).then(|| (hits, Arc::clone(object)))
            };
            objects.extend(shard.objects().filter_map(hotter));
            drop(shard);
            objects.sort_by_key(|(hits, _)| Reverse(*hits));
            objects.truncate(n);
        }
        objects.iter().map(|(_, object)| HotObject::of(object)).collect()
    }

    /// Returns all objects in memory, in no order; for tests and small stores.
    pub fn objects(&self) -> Vec<Arc<StoredResponse>> {
        self.shards.iter().flat_map(|shard| shard.objects().cloned().collect::<Vec<_>>()).collect()
    }

    /// Waits until everything queued for the disk is written: at shutdown, and in tests.
    pub fn flush(&self) {
        if let Some(disk) = &self.disk {
            disk.flush();
        }
    }
}

/// Makes the packer of a store of this size, which also says how many shards there are.
fn packer(bytes: u64) -> Packer {
    Packer::new(bytes, 1 << (bytes / SHARD_BYTES).clamp(1, SHARDS_MAX).ilog2())
}
