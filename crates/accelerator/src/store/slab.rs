//! Values at fixed indices, such as the entries of a shard: queues and chains link them without allocation.

use std::sync::Arc;

use super::object::Object;

/// Where an entry is.
pub(super) type Index = u32;

/// No entry.
pub(super) const NONE: Index = Index::MAX;

/// Which queue an entry is in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Queue {
    /// New objects.
    Small,
    /// Objects that have been used again.
    Main,
}

/// A stored object and its place.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) object: Arc<Object>,
    /// The hash of the key.
    pub(super) hash: u64,
    /// [`Object::cost`].
    pub(super) cost: usize,
    /// The next variant under the same key.
    pub(super) sibling: Index,
    pub(super) queue: Queue,
    /// The next older and the next newer entry of the queue.
    pub(super) older: Index,
    pub(super) newer: Index,
}

#[derive(Debug)]
enum Slot<T> {
    Used(T),
    /// Free; the next free one.
    Free(Index),
}

/// Entries by index.
#[derive(Debug)]
pub(super) struct Slab<T = Entry> {
    slots: Vec<Slot<T>>,
    free: Index,
    used: usize,
}

impl<T> Slab<T> {
    /// What one entry takes, in bytes.
    pub(super) const SLOT_BYTES: usize = size_of::<Slot<T>>();

    /// Makes a slab that takes memory as it grows, once there are more than `n` entries.
    pub(super) fn with_capacity(n: usize) -> Slab<T> {
        Slab { slots: Vec::with_capacity(n), free: NONE, used: 0 }
    }

    /// Returns how many entries there are.
    pub(super) fn len(&self) -> usize {
        self.used
    }

    /// Returns the bytes of memory that the slab takes, without what its entries have allocated.
    pub(super) fn bytes(&self) -> usize {
        self.slots.capacity() * Self::SLOT_BYTES
    }

    /// Puts an entry anywhere.
    pub(super) fn add(&mut self, entry: T) -> Index {
        self.used += 1;
        if self.free == NONE {
            self.slots.push(Slot::Used(entry));
            return Index::try_from(self.slots.len() - 1)
                .expect("entries take more bytes than there are indices");
        }
        let index = self.free;
        let slot = &mut self.slots[index as usize];
        if let Slot::Free(next) = *slot {
            self.free = next;
        }
        *slot = Slot::Used(entry);
        index
    }

    /// Takes an entry out; the caller has unlinked it.
    pub(super) fn remove(&mut self, index: Index) -> T {
        let slot = std::mem::replace(&mut self.slots[index as usize], Slot::Free(self.free));
        self.free = index;
        self.used -= 1;
        match slot {
            Slot::Used(entry) => entry,
            Slot::Free(_) => unreachable!("only entries that are there are removed"),
        }
    }

    pub(super) fn get(&self, index: Index) -> &T {
        match &self.slots[index as usize] {
            Slot::Used(entry) => entry,
            Slot::Free(_) => unreachable!("only entries that are there are linked"),
        }
    }

    pub(super) fn get_mut(&mut self, index: Index) -> &mut T {
        match &mut self.slots[index as usize] {
            Slot::Used(entry) => entry,
            Slot::Free(_) => unreachable!("only entries that are there are linked"),
        }
    }

    /// Returns all entries, in no order.
    pub(super) fn iter(&self) -> impl Iterator<Item = (Index, &T)> {
        self.slots.iter().zip(0..).filter_map(|(slot, index)| match slot {
            Slot::Used(entry) => Some((index, entry)),
            Slot::Free(_) => None,
        })
    }
}
