//! Heads of requests that have been answered from the store, with what is needed to answer them again.
//!
//! A client that asks again sends the same bytes. So the bytes themselves are the key: the first request of a head is
//! parsed, checked, decided and answered by the exchange; the next ones cost a hash and a comparison. Whether the answer
//! still stands is asked of the exchange each time ([`Exchange::recall`]): it does not if the response is no longer
//! fresh, or if anything under its key has changed.

use std::hash::{BuildHasher, Hasher};
use std::ops::Range;
use std::sync::Arc;

use foldhash::fast::RandomState;
use units::WallTime;

use super::http1::write_head;
use crate::exchange::{Exchange, Memo, MemoKind, hit_lines};
use crate::message::ClientVersion;
use crate::policy::Scheme;
use crate::store::Object;

/// How many sets the table has.
const SETS: usize = 4096;

/// How many heads a set holds; with their hashes they fill one cache line.
const WAYS: usize = 4;

/// The longest head that is remembered; those of browsers are shorter unless they carry many cookies.
pub(super) const HEAD_BYTES_MAX: usize = 1024;

/// A head that is shorter is none.
const HEAD_BYTES_MIN: usize = 16;

/// What a remembered head takes besides its bytes and those of its reply's head.
const OVERHEAD: usize = size_of::<Entry>() + 48;

/// The memory of one worker.
#[derive(Debug)]
pub(super) struct MemoTable {
    sets: Box<[Set]>,
    hasher: RandomState,
    /// What all entries take.
    bytes: usize,
    bytes_max: usize,
    /// Whose turn it is to go when there is no room, counted over all ways of all sets.
    turn: usize,
}

#[derive(Debug, Default)]
#[repr(align(64))]
struct Set {
    hashes: [u64; WAYS],
    entries: [Option<Box<Entry>>; WAYS],
}

/// Where in the table a head is, until the table changes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Spot {
    set: usize,
    way: usize,
}

/// What is known of a head besides its bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct HeadNotes {
    /// Whether the client spoke TLS to us.
    pub(super) scheme: Scheme,
    /// What the client speaks.
    pub(super) version: ClientVersion,
    /// Whether the connection can take another request after it.
    pub(super) keep_alive: bool,
    /// Where the method's name is in the head.
    pub(super) method: Range<usize>,
    /// Where the target is.
    pub(super) target: Range<usize>,
    /// Where the host is; empty without one.
    pub(super) authority: Range<usize>,
}

/// A head and its answer.
#[derive(Debug)]
pub(super) struct Entry {
    head: Box<[u8]>,
    notes: HeadNotes,
    memo: Memo,
    /// The head of the reply as of `second`, with its empty line.
    reply: Vec<u8>,
    /// The second since 1970 that the reply's head is for.
    second: i64,
}

impl MemoTable {
    /// Makes a table that takes at most so many bytes beside its sets; none at all if that is zero.
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

    /// Looks for these very bytes; whether their answer still holds is another question.
    #[inline]
    pub(super) fn find(&self, scheme: Scheme, head: &[u8]) -> Option<Spot> {
        if !is_rememberable(head) || self.sets.is_empty() {
            return None;
        }
        let hash = self.hash(head);
        let set = hash as usize % SETS;
        let Set { hashes, entries } = &self.sets[set];
        let is_here = |way: &usize| {
            hashes[*way] == hash && entries[*way].as_ref().is_some_and(|entry| entry.is_for(scheme, head))
        };
        (0..WAYS).find(is_here).map(|way| Spot { set, way })
    }

    /// Returns what was found.
    #[inline]
    pub(super) fn at(&mut self, spot: Spot) -> Option<&mut Entry> {
        self.sets[spot.set].entries[spot.way].as_deref_mut()
    }

    /// Forgets what was found.
    pub(super) fn forget(&mut self, spot: Spot) {
        let gone = self.sets[spot.set].entries[spot.way].take();
        self.bytes -= gone.map_or(0, |entry| entry.cost());
    }

    /// Remembers a head and its answer, in place of an older answer to it; others go if there is no room.
    pub(super) fn remember(&mut self, head: &[u8], notes: HeadNotes, memo: Memo) {
        if !is_rememberable(head) {
            return;
        }
        let entry = Entry { head: head.into(), notes, memo, reply: Vec::new(), second: i64::MIN };
        if self.bytes_max < entry.cost() {
            return;
        }
        let spot = self.find(entry.notes.scheme, head).unwrap_or_else(|| self.spot_for(head));
        self.forget(spot);
        while self.bytes_max < self.bytes + entry.cost() {
            let turn = self.next_turn();
            self.forget(Spot { set: turn / WAYS, way: turn % WAYS });
        }
        self.bytes += entry.cost();
        let hash = self.hash(head);
        let set = &mut self.sets[spot.set];
        set.hashes[spot.way] = hash;
        set.entries[spot.way] = Some(Box::new(entry));
    }

    fn hash(&self, head: &[u8]) -> u64 {
        let mut hasher = self.hasher.build_hasher();
        hasher.write(head);
        hasher.finish()
    }

    /// Chooses where a head goes that is not there yet: where nothing is, or where it is an older one's turn.
    fn spot_for(&mut self, head: &[u8]) -> Spot {
        let set = self.hash(head) as usize % SETS;
        let free = self.sets[set].entries.iter().position(Option::is_none);
        Spot { set, way: free.unwrap_or_else(|| self.next_turn() % WAYS) }
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

    /// What it takes of memory. Its reply's head is counted before it is there: as long as most are.
    fn cost(&self) -> usize {
        OVERHEAD + self.head.len() + 512
    }

    /// Returns the stored response, if the answer still holds.
    #[inline]
    pub(super) fn recall(&self, exchange: &Exchange, now: WallTime) -> Option<Arc<Object>> {
        exchange.recall(&self.memo, now)
    }

    /// Returns the head of the reply, made anew once a second: it tells the response's age.
    #[inline]
    pub(super) fn reply_head(&mut self, object: &Object, exchange: &Exchange, now: WallTime) -> &[u8] {
        let second = now.0.div_euclid(1000);
        if second != self.second {
            self.make_reply_head(object, exchange, now);
            self.second = second;
        }
        &self.reply
    }

    #[cold]
    fn make_reply_head(&mut self, object: &Object, exchange: &Exchange, now: WallTime) {
        let lines = hit_lines(object, self.memo.kind(), now, exchange.settings());
        self.reply.clear();
        write_head(
            &mut self.reply,
            self.memo.status(object),
            &lines,
            self.notes.version,
            self.notes.keep_alive,
        );
        self.reply.extend_from_slice(b"\r\n");
    }

    /// Returns whether the reply has a body.
    #[inline]
    pub(super) fn has_body(&self) -> bool {
        self.memo.kind() == MemoKind::Whole
    }

    /// Returns what is known of the head.
    #[inline]
    pub(super) fn notes(&self) -> &HeadNotes {
        &self.notes
    }

    /// Returns the answer.
    #[inline]
    pub(super) fn memo(&self) -> &Memo {
        &self.memo
    }
}
