//! A table of request heads that have been answered from the store, with all that is needed to answer them again.
//!
//! A client that repeats a request sends the same bytes. So the bytes themselves are the key: the first request with
//! a head is parsed, checked, decided and answered by the exchange; the next ones cost a hash and a comparison. Each
//! time, [`Exchange::recall`] says whether the response is still valid: it is not if it is no longer fresh, or if
//! anything under its key has changed.

use std::hash::{BuildHasher, Hasher};
use std::ops::Range;
use std::sync::Arc;

use cache_policy::Scheme;
use cache_store::StoredResponse;
use foldhash::fast::RandomState;
use units::WallTime;

use super::http1::write_head;
use crate::exchange::{Exchange, Memo, MemoKind, hit_lines};
use crate::message::ClientVersion;

/// The number of sets of the table.
const SETS: usize = 4096;

/// The number of heads that a set holds; with their hashes they fill one cache line.
const WAYS: usize = 4;

/// The longest head that is remembered; those of browsers are shorter unless they carry many cookies.
pub(super) const HEAD_BYTES_MAX: usize = 1024;

/// The shortest possible head.
const HEAD_BYTES_MIN: usize = 16;

/// The memory that a remembered head takes besides its bytes and those of its response's head.
const OVERHEAD: usize = size_of::<Entry>() + 48;

/// The remembered heads of one worker.
#[derive(Debug)]
pub(super) struct MemoTable {
    sets: Box<[Set]>,
    hasher: RandomState,
    /// The bytes that all entries take.
    bytes: usize,
    bytes_max: usize,
    /// The way that is replaced next when there is no room, counted over all ways of all sets.
    turn: usize,
}

#[derive(Debug, Default)]
#[repr(align(64))]
struct Set {
    hashes: [u64; WAYS],
    entries: [Option<Box<Entry>>; WAYS],
}

/// The position of a head in the table, until the table changes.
#[derive(Debug, Clone, Copy)]
pub(super) struct MemoSlot {
    set: usize,
    way: usize,
}

/// The parsed properties of a head, besides its bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct HeadNotes {
    /// Whether the client spoke TLS.
    pub(super) scheme: Scheme,
    /// The version of the client.
    pub(super) version: ClientVersion,
    /// Whether the connection can take another request after it.
    pub(super) keep_alive: bool,
    /// The position of the method's name in the head.
    pub(super) method: Range<usize>,
    /// The position of the target.
    pub(super) target: Range<usize>,
    /// The position of the host; empty without one.
    pub(super) authority: Range<usize>,
}

/// A head and its response.
#[derive(Debug)]
pub(super) struct Entry {
    head: Box<[u8]>,
    notes: HeadNotes,
    memo: Memo,
    /// The head of the response as of `second`, with its empty line.
    response: Vec<u8>,
    /// The second since 1970 for which the response's head was written.
    second: i64,
}

impl MemoTable {
    /// Makes a table that takes at most so many bytes besides its sets; one that remembers nothing if that is zero.
    pub(super) fn new(bytes_max: usize) -> MemoTable {
        let sets = if bytes_max == 0 { 0 } else { SETS };
        MemoTable {
            sets: (0..sets).map(|_| Set::default()).collect(),
            hasher: RandomState::default(),
            bytes: 0,
            bytes_max,
            turn: 0,
        }
    }

    /// Looks up these very bytes; whether the response is still valid is not checked.
    #[inline]
    pub(super) fn find(&self, scheme: Scheme, head: &[u8]) -> Option<MemoSlot> {
        if !is_rememberable(head) || self.sets.is_empty() {
            return None;
        }
        let hash = self.hash(head);
        let set = hash as usize % SETS;
        let Set { hashes, entries } = &self.sets[set];
        let is_here = |way: &usize| {
            hashes[*way] == hash && entries[*way].as_ref().is_some_and(|entry| entry.is_for(scheme, head))
        };
        (0..WAYS).find(is_here).map(|way| MemoSlot { set, way })
    }

    /// Returns the entry in a slot.
    #[inline]
    pub(super) fn at(&mut self, slot: MemoSlot) -> Option<&mut Entry> {
        self.sets[slot.set].entries[slot.way].as_deref_mut()
    }

    /// Removes the entry in a slot.
    pub(super) fn forget(&mut self, slot: MemoSlot) {
        let gone = self.sets[slot.set].entries[slot.way].take();
        self.bytes -= gone.map_or(0, |entry| entry.cost());
    }

    /// Remembers a head and its response, in place of an older one; other entries are evicted if there is no room.
    pub(super) fn remember(&mut self, head: &[u8], notes: HeadNotes, memo: Memo) {
        if !is_rememberable(head) {
            return;
        }
        let entry = Entry { head: head.into(), notes, memo, response: Vec::new(), second: i64::MIN };
        if self.bytes_max < entry.cost() {
            return;
        }
        let slot = self.find(entry.notes.scheme, head).unwrap_or_else(|| self.slot_for(head));
        self.forget(slot);
        while self.bytes_max < self.bytes + entry.cost() {
            let turn = self.next_turn();
            self.forget(MemoSlot { set: turn / WAYS, way: turn % WAYS });
        }
        self.bytes += entry.cost();
        let hash = self.hash(head);
        let set = &mut self.sets[slot.set];
        set.hashes[slot.way] = hash;
        set.entries[slot.way] = Some(Box::new(entry));
    }

    fn hash(&self, head: &[u8]) -> u64 {
        let mut hasher = self.hasher.build_hasher();
        hasher.write(head);
        hasher.finish()
    }

    /// Chooses the slot for a new head: an empty one, or the one that is replaced next.
    fn slot_for(&mut self, head: &[u8]) -> MemoSlot {
        let set = self.hash(head) as usize % SETS;
        let free = self.sets[set].entries.iter().position(Option::is_none);
        MemoSlot { set, way: free.unwrap_or_else(|| self.next_turn() % WAYS) }
    }

    fn next_turn(&mut self) -> usize {
        self.turn = (self.turn + 1) % (SETS * WAYS);
        self.turn
    }
}

fn is_rememberable(head: &[u8]) -> bool {
    (HEAD_BYTES_MIN..=HEAD_BYTES_MAX).contains(&head.len())
}

impl Entry {
    #[inline]
    fn is_for(&self, scheme: Scheme, head: &[u8]) -> bool {
        *self.head == *head && self.notes.scheme == scheme
    }

    /// Returns the memory that the entry takes. The head of its response is counted before it is written, as most
    /// will be.
    fn cost(&self) -> usize {
        OVERHEAD + self.head.len() + 512
    }

    /// Returns the stored response, if it still answers the head.
    #[inline]
    pub(super) fn recall(&self, exchange: &Exchange, now: WallTime) -> Option<Arc<StoredResponse>> {
        exchange.recall(&self.memo, now)
    }

    /// Returns the head of the response, rewritten once a second because it includes the response's age.
    #[inline]
    pub(super) fn response_head(
        &mut self,
        object: &StoredResponse,
        exchange: &Exchange,
        now: WallTime,
    ) -> &[u8] {
        let second = now.0.div_euclid(1000);
        if second != self.second {
            self.make_response_head(object, exchange, now);
            self.second = second;
        }
        &self.response
    }

    #[cold]
    fn make_response_head(&mut self, object: &StoredResponse, exchange: &Exchange, now: WallTime) {
        let lines = hit_lines(object, self.memo.kind(), now, exchange.settings());
        self.response.clear();
        write_head(
            &mut self.response,
            self.memo.status(object),
            &lines,
            self.notes.version,
            self.notes.keep_alive,
        );
        self.response.extend_from_slice(b"\r\n");
    }

    /// Returns whether the response has a body.
    #[inline]
    pub(super) fn has_body(&self) -> bool {
        self.memo.kind() == MemoKind::Whole
    }

    /// Returns the parsed properties of the head.
    #[inline]
    pub(super) fn notes(&self) -> &HeadNotes {
        &self.notes
    }

    /// Returns the memoized response.
    #[inline]
    pub(super) fn memo(&self) -> &Memo {
        &self.memo
    }
}
