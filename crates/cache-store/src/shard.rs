//! A shard of the store, under one lock.

use std::sync::Arc;

use cache_policy::{HitForMiss, Settings, StoredMeta, Superseded, superseded};
use hashbrown::HashTable;
use hashbrown::hash_table::Entry as TableEntry;
use units::WallTime;

use crate::body::LiveBodies;
use crate::hit_for_miss::HitForMissTable;
use crate::purge::{Purge, Removal};
use crate::queues::Queues;
use crate::slab::{Entry, Index, NONE, Queue, Slab};
use crate::stored_response::StoredResponse;
use crate::usage::StoreUsage;

/// The largest object: one part in this many of a shard.
pub(crate) const OBJECT_SHARE: usize = 4;

/// Responses that are no longer stored, with the hashes of their keys.
#[derive(Debug, Default)]
pub(crate) struct RemovedResponses {
    objects: Vec<(u64, Arc<StoredResponse>)>,
    /// The bytes of bodies that become free when this is dropped.
    freed: usize,
}

impl RemovedResponses {
    fn push(&mut self, hash: u64, object: Arc<StoredResponse>) {
        self.freed += if object.is_held() { 0 } else { object.body_cost() };
        self.objects.push((hash, object));
    }

    /// Returns the hashes of the keys.
    pub(crate) fn hashes(&self) -> impl Iterator<Item = u64> {
        self.objects.iter().map(|(hash, _)| *hash)
    }
}

/// A shard: objects by key, in the order of the eviction policy, up to a limit.
///
/// Invariants: every entry of the slab is in one queue and in the chain of its key; a chain is never empty. The
/// counted memory, which includes bodies that are stored no longer but still held, is within the limit once a call has
/// returned.
#[derive(Debug)]
pub(crate) struct Shard {
    /// The first variant of each key.
    keys: HashTable<Index>,
    slab: Slab,
    queues: Queues,
    hit_for_misses: HitForMissTable,
    bytes_max: usize,
    /// The bodies in memory.
    live: LiveBodies,
    /// The cost of those among them that are stored.
    stored_bodies_bytes: usize,
    /// The counters that cannot be computed from the rest.
    counted: StoreUsage,
}

impl Shard {
    /// Makes an empty shard with this limit in bytes; `live` counts its bodies.
    pub(crate) fn new(bytes_max: usize, live: LiveBodies) -> Shard {
        Shard {
            keys: HashTable::new(),
            slab: Slab::with_capacity(0),
            queues: Queues::new(bytes_max),
            hit_for_misses: HitForMissTable::new(),
            bytes_max,
            live,
            stored_bodies_bytes: 0,
            counted: StoreUsage::default(),
        }
    }

    /// Returns the bytes of memory that the shard takes: objects, bodies that are stored no longer, and tables.
    fn bytes(&self) -> usize {
        let tables = self.slab.bytes()
            + self.keys.allocation_size()
            + self.queues.bytes()
            + self.hit_for_misses.bytes();
        self.queues.objects_bytes() + self.unstored_bytes() + tables
    }

    /// Returns the bytes of bodies that are in memory though they are stored no longer, or not yet.
    fn unstored_bytes(&self) -> usize {
        self.live.bytes().saturating_sub(self.stored_bodies_bytes)
    }

    pub(crate) fn usage(&self) -> StoreUsage {
        StoreUsage { objects: self.slab.len() as u64, bytes: self.bytes() as u64, ..self.counted.clone() }
    }

    /// Returns the bytes of bodies that cannot be freed; looks at every object.
    pub(crate) fn held_bytes(&self) -> usize {
        let held = self.objects().filter(|object| object.is_held()).map(|object| object.body_cost());
        self.unstored_bytes() + held.sum::<usize>()
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

    /// Adds an object in place of those that it supersedes, and evicts until there is room; `false` if there is none,
    /// because others are held.
    pub(crate) fn insert(
        &mut self,
        object: Arc<StoredResponse>,
        hash: u64,
        settings: &Settings,
        gone: &mut RemovedResponses,
    ) -> bool {
        let predecessor = self.remove_superseded(&object, hash, settings, gone);
        let queue = predecessor.unwrap_or_else(|| self.queues.queue_for(hash));
        let entry =
            Entry { cost: object.cost(), object, hash, sibling: NONE, queue, older: NONE, newer: NONE };
        self.count_body(&entry.object);
        let index = self.slab.add(entry);
        self.link_first(index);
        self.queues.push(&mut self.slab, index);
        // The caller holds the new object, which is therefore no victim.
        if !self.make_room(0, gone) {
            let entry = self.remove(index);
            gone.push(hash, entry.object);
            self.note_refused();
            return false;
        }
        self.counted.inserted += 1;
        self.hit_for_misses.clear(hash);
        true
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
            gone.push(hash, entry.object);
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
        // An update has the body of what it replaces, and needs little more memory.
        self.make_room(0, gone);
        true
    }

    /// Puts another object into an entry.
    fn exchange(&mut self, index: Index, new: Arc<StoredResponse>, gone: &mut RemovedResponses) {
        self.queues.recount(&mut self.slab, index, new.cost());
        self.count_body(&new);
        let entry = self.slab.get_mut(index);
        let hash = entry.hash;
        let old = std::mem::replace(&mut entry.object, new);
        self.discount_body(&old);
        gone.push(hash, old);
    }

    fn count_body(&mut self, object: &StoredResponse) {
        self.stored_bodies_bytes += object.body_cost();
        self.counted.body_bytes += object.body.len() as u64;
    }

    fn discount_body(&mut self, object: &StoredResponse) {
        self.stored_bodies_bytes -= object.body_cost();
        self.counted.body_bytes -= object.body.len() as u64;
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
                    gone.push(entry.hash, entry.object);
                }
            }
        }
        self.counted.purged += meant.len() as u64;
        self.make_room(0, gone);
        meant.len()
    }

    /// Evicts until there is room for so many bytes more. Evicts nothing and returns `false` if what is held leaves too
    /// little room.
    pub(crate) fn make_room(&mut self, more: usize, gone: &mut RemovedResponses) -> bool {
        // More than once only where the queues take more memory, to remember what was evicted.
        loop {
            let missing = (self.bytes() + more).saturating_sub(self.bytes_max + gone.freed);
            if missing == 0 {
                return true;
            }
            let Some(victims) = self.victims(missing) else { return false };
            for index in victims {
                self.unchain(index);
                let entry = self.take(index);
                self.counted.evicted += 1;
                gone.push(entry.hash, entry.object);
            }
        }
    }

    /// Takes entries that cost so many bytes out of their queues; `None`, with all of them in their place, if what is held
    /// leaves too little.
    fn victims(&mut self, mut missing: usize) -> Option<Vec<Index>> {
        let mut victims = Vec::new();
        while 0 < missing {
            let Some(index) = self.queues.pop_victim(&mut self.slab) else {
                victims.into_iter().for_each(|index| self.queues.push(&mut self.slab, index));
                return None;
            };
            missing = missing.saturating_sub(self.slab.get(index).cost);
            victims.push(index);
        }
        Some(victims)
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
        self.discount_body(&entry.object);
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
        let hash = entry.hash;
        let sibling = entry.sibling;
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
