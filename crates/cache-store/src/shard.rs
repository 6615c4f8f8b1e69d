//! A shard of the store, under one lock.

use std::sync::Arc;

use cache_policy::{HitForMiss, Settings, StoredMeta, Superseded, superseded};
use hashbrown::HashTable;
use hashbrown::hash_table::Entry as TableEntry;
use units::WallTime;

use crate::hit_for_miss::HitForMissTable;
use crate::purge::{Purge, Removal};
use crate::queues::Queues;
use crate::slab::{Entry, Index, NONE, Queue, Slab};
use crate::stored_response::StoredResponse;
use crate::usage::StoreUsage;

/// The largest object: one part in this many of a shard.
pub(crate) const OBJECT_SHARE: usize = 4;

/// Responses that are no longer stored, with the hashes of their keys.
pub(crate) type RemovedResponses = Vec<(u64, Arc<StoredResponse>)>;

/// A shard: objects by key, in the order of the eviction policy, up to a limit.
///
/// Invariants: every entry of the slab is in one queue and in the chain of its key; a chain is never empty. The
/// counted memory is within the limit once a call has returned.
#[derive(Debug)]
pub(crate) struct Shard {
    /// The first variant of each key.
    keys: HashTable<Index>,
    slab: Slab,
    queues: Queues,
    hit_for_misses: HitForMissTable,
    bytes_max: usize,
    /// The counters that cannot be computed from the rest.
    counted: StoreUsage,
}

impl Shard {
    /// Makes an empty shard with this limit in bytes.
    pub(crate) fn new(bytes_max: usize) -> Shard {
        Shard {
            keys: HashTable::new(),
            slab: Slab::with_capacity(0),
            queues: Queues::new(bytes_max),
            hit_for_misses: HitForMissTable::new(),
            bytes_max,
            counted: StoreUsage::default(),
        }
    }

    /// Returns the bytes of memory that the shard takes, objects and tables.
    fn bytes(&self) -> usize {
        let tables = self.slab.bytes()
            + self.keys.allocation_size()
            + self.queues.bytes()
            + self.hit_for_misses.bytes();
        self.queues.objects_bytes() + tables
    }

    pub(crate) fn usage(&self) -> StoreUsage {
        StoreUsage { objects: self.slab.len() as u64, bytes: self.bytes() as u64, ..self.counted.clone() }
    }

    /// Returns all objects, in no order.
    pub(crate) fn objects(&self) -> impl Iterator<Item = &Arc<StoredResponse>> {
        self.slab.iter().map(|(_, entry)| &entry.object)
    }

    /// Returns the objects under a key.
    pub(crate) fn variants(&self, hash: u64, key: &str) -> impl Iterator<Item = &Arc<StoredResponse>> {
        self.chain(hash, key).map(|index| &self.slab.get(index).object)
    }

    fn chain(&self, hash: u64, key: &str) -> impl Iterator<Item = Index> {
        let first = self.keys.find(hash, |&index| self.slab.get(index).object.key.as_str() == key).copied();
        std::iter::successors(first, |&index| Some(self.slab.get(index).sibling).filter(|&next| next != NONE))
    }

    pub(crate) fn hit_for_miss(&self, hash: u64) -> Option<HitForMiss> {
        self.hit_for_misses.get(hash)
    }

    pub(crate) fn set_hit_for_miss(&mut self, hash: u64, hit_for_miss: HitForMiss) {
        self.hit_for_misses.set(hash, hit_for_miss);
    }

    pub(crate) fn note_refused(&mut self) {
        self.counted.refused += 1;
    }

    /// Adds an object in place of those that it supersedes, and evicts until there is room.
    pub(crate) fn insert(
        &mut self,
        object: Arc<StoredResponse>,
        hash: u64,
        settings: &Settings,
        gone: &mut RemovedResponses,
    ) {
        let predecessor = self.remove_superseded(&object, hash, settings, gone);
        let queue = predecessor.unwrap_or_else(|| self.queues.queue_for(hash));
        let entry =
            Entry { cost: object.cost(), object, hash, sibling: NONE, queue, older: NONE, newer: NONE };
        self.counted.inserted += 1;
        self.counted.body_bytes += entry.object.body.len() as u64;
        self.hit_for_misses.clear(hash);
        let index = self.slab.add(entry);
        self.link_first(index);
        self.queues.push(&mut self.slab, index);
        self.evict(gone);
    }

    /// Removes the objects that a new one supersedes; if it replaces one for the same requests, it inherits that
    /// one's history and queue.
    fn remove_superseded(
        &mut self,
        new: &StoredResponse,
        hash: u64,
        settings: &Settings,
        gone: &mut RemovedResponses,
    ) -> Option<Queue> {
        let chain: Vec<Index> = self.chain(hash, new.key.as_str()).collect();
        let stored: Vec<&StoredMeta> =
            chain.iter().map(|&index| &self.slab.get(index).object.stored).collect();
        let mut queue = None;
        for (place, why) in superseded(&stored, &new.stored, settings) {
            let entry = self.remove(chain[place]);
            self.counted.superseded += 1;
            if why == Superseded::SameVariant {
                new.inherit(&entry.object);
                queue = Some(entry.queue);
            }
            gone.push((hash, entry.object));
        }
        queue
    }

    /// Replaces an object; `false` if it is not there.
    pub(crate) fn replace(
        &mut self,
        old: &Arc<StoredResponse>,
        new: Arc<StoredResponse>,
        hash: u64,
        gone: &mut RemovedResponses,
    ) -> bool {
        let found =
            self.chain(hash, old.key.as_str()).find(|&index| Arc::ptr_eq(&self.slab.get(index).object, old));
        let Some(index) = found else {
            return false;
        };
        self.counted.replaced += 1;
        self.exchange(index, new, gone);
        self.evict(gone);
        true
    }

    /// Puts another object into an entry.
    fn exchange(&mut self, index: Index, new: Arc<StoredResponse>, gone: &mut RemovedResponses) {
        self.queues.recount(&mut self.slab, index, new.cost());
        let entry = self.slab.get_mut(index);
        let (added, removed) = (new.body.len() as u64, entry.object.body.len() as u64);
        self.counted.body_bytes = self.counted.body_bytes + added - removed;
        gone.push((entry.hash, std::mem::replace(&mut entry.object, new)));
    }

    /// Removes the objects that a purge matches, or changes them as the removal says; returns their number.
    ///
    /// `hash` is that of the key if one is named.
    pub(crate) fn purge(
        &mut self,
        what: &Purge,
        hash: Option<u64>,
        how: Removal,
        now: WallTime,
        gone: &mut RemovedResponses,
    ) -> usize {
        let meant: Vec<Index> = match (what.key(), hash) {
            (Some(key), Some(hash)) => self.chain(hash, key).collect(),
            _ => {
                let meant = self.slab.iter().filter(|(_, entry)| what.matches(&entry.object));
                meant.map(|(index, _)| index).collect()
            }
        };
        for &index in &meant {
            match aged(&self.slab.get(index).object, how, now) {
                Some(new) => self.exchange(index, Arc::new(new), gone),
                None => {
                    let entry = self.remove(index);
                    gone.push((entry.hash, entry.object));
                }
            }
        }
        self.counted.purged += meant.len() as u64;
        self.evict(gone);
        meant.len()
    }

    /// Evicts until the counted memory is within the limit.
    fn evict(&mut self, gone: &mut RemovedResponses) {
        while self.bytes_max < self.bytes() {
            let Some(index) = self.queues.pop_victim(&mut self.slab) else {
                return;
            };
            self.unchain(index);
            let entry = self.take(index);
            self.counted.evicted += 1;
            gone.push((entry.hash, entry.object));
        }
    }

    /// Removes an entry from all structures.
    fn remove(&mut self, index: Index) -> Entry {
        self.queues.unlink(&mut self.slab, index);
        self.unchain(index);
        self.take(index)
    }

    /// Takes an entry out of the slab, once it is linked nowhere.
    fn take(&mut self, index: Index) -> Entry {
        let entry = self.slab.remove(index);
        self.counted.body_bytes -= entry.object.body.len() as u64;
        entry
    }

    /// Makes an entry the first of its key's chain.
    fn link_first(&mut self, index: Index) {
        let Shard { keys, slab, .. } = self;
        let entry = slab.get(index);
        let hash = entry.hash;
        let is_same = |&first: &Index| slab.get(first).object.key == entry.object.key;
        let place = keys.entry(hash, is_same, |&first| slab.get(first).hash);
        let sibling = match place {
            TableEntry::Occupied(mut first) => std::mem::replace(first.get_mut(), index),
            TableEntry::Vacant(vacant) => {
                vacant.insert(index);
                NONE
            }
        };
        slab.get_mut(index).sibling = sibling;
    }

    /// Unlinks an entry from its key's chain.
    fn unchain(&mut self, index: Index) {
        let Shard { keys, slab, .. } = self;
        let entry = slab.get(index);
        let (hash, sibling) = (entry.hash, entry.sibling);
        let is_same = |&first: &Index| slab.get(first).object.key == entry.object.key;
        let Ok(mut first) = keys.find_entry(hash, is_same) else {
            return;
        };
        let mut link = *first.get();
        match (link == index, sibling) {
            (true, NONE) => {
                first.remove();
            }
            (true, _) => *first.get_mut() = sibling,
            (false, _) => {
                while slab.get(link).sibling != index {
                    link = slab.get(link).sibling;
                }
                slab.get_mut(link).sibling = sibling;
            }
        }
    }
}

/// Returns the object that replaces another after a removal; `None` if none does.
fn aged(object: &StoredResponse, how: Removal, now: WallTime) -> Option<StoredResponse> {
    let mut stored = object.stored.clone();
    match how {
        Removal::Delete => return None,
        Removal::Expire => stored.expire(now),
        Removal::Invalidate => stored.invalidate(),
    }
    Some(object.updated(stored, object.lines.clone()))
}
