//! A slab: values at fixed indices, which queues and chains link without allocation.

use std::sync::Arc;

use crate::stored_response::StoredResponse;

/// The index of an entry.
pub(crate) type Index = u32;

/// No entry.
pub(crate) const NONE: Index = Index::MAX;

/// The queue of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Queue {
    /// New objects.
    Small,
    /// Objects that have been used again.
    Main,
}

/// A stored response and its links.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) object: Arc<StoredResponse>,
    /// The hash of the key.
    pub(crate) hash: u64,
    /// [`StoredResponse::cost`].
    pub(crate) cost: usize,
    /// The next variant under the same key.
    pub(crate) sibling: Index,
    pub(crate) queue: Queue,
    /// The next older and the next newer entry of the queue.
    pub(crate) older: Index,
    pub(crate) newer: Index,
}

#[derive(Debug)]
enum Slot<T> {
    Used(T),
    /// A free slot; holds the next free one.
    Free(Index),
}

/// Entries by index.
#[derive(Debug)]
pub(crate) struct Slab<T = Entry> {
    slots: Vec<Slot<T>>,
    free: Index,
    used: usize,
}

impl<T> Slab<T> {
    /// The bytes that one entry takes.
    pub(crate) const SLOT_BYTES: usize = size_of::<Slot<T>>();

    /// Makes a slab that allocates as it grows, once there are more than `n` entries.
    pub(crate) fn with_capacity(n: usize) -> Slab<T> {
        Slab { slots: Vec::with_capacity(n), free: NONE, used: 0 }
    }

    /// Returns the number of entries.
    pub(crate) fn len(&self) -> usize {
        self.used
    }

    /// Returns the bytes of memory that the slab takes, without the allocations of its entries.
    pub(crate) fn bytes(&self) -> usize {
        self.slots.capacity() * Self::SLOT_BYTES
    }

    /// Adds an entry.
    pub(crate) fn add(&mut self, entry: T) -> Index {
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

    /// Removes an entry; the caller has unlinked it.
    pub(crate) fn remove(&mut self, index: Index) -> T {
        let slot = std::mem::replace(&mut self.slots[index as usize], Slot::Free(self.free));
        self.free = index;
        self.used -= 1;
        match slot {
            Slot::Used(entry) => entry,
            Slot::Free(_) => unreachable!("only entries that are there are removed"),
        }
    }

    pub(crate) fn get(&self, index: Index) -> &T {
        match &self.slots[index as usize] {
            Slot::Used(entry) => entry,
            Slot::Free(_) => unreachable!("only entries that are there are linked"),
        }
    }

    pub(crate) fn get_mut(&mut self, index: Index) -> &mut T {
        match &mut self.slots[index as usize] {
            Slot::Used(entry) => entry,
            Slot::Free(_) => unreachable!("only entries that are there are linked"),
        }
    }

    /// Returns all entries, in no order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (Index, &T)> {
        self.slots.iter().zip(0..).filter_map(|(slot, index)| match slot {
            Slot::Used(entry) => Some((index, entry)),
            Slot::Free(_) => None,
        })
    }
}
