//! Requests whose heads are remembered: from the bytes that were read to the bytes that are to be sent.

use std::rc::Rc;

use bytes::Bytes;
use units::{Nanos, WallTime, wall};

use super::memo::{Entry, HEAD_BYTES_MAX, HeadNotes, MemoTable, Spot};
use super::peer::Peer;
use super::worker::{Kit, Worker};
use crate::exchange::{Exchange, Memo};
use crate::operation::LogEntry;
use crate::store::Object;

/// Bodies up to this are copied behind their head and sent with it by a plain `send`; longer ones go by themselves in the
/// same `writev`, which costs some 0.1 µs more, as copying so many bytes does.
const COPIED_BYTES_MAX: usize = 2 * 1024;

/// Replies are sent when they have become so many bytes, and further requests answered after that.
const OUTPUT_BYTES_MAX: usize = 64 * 1024;

/// The replies to requests at the start of some input: what is in `Buffers::output`, and `body` after it.
#[derive(Debug, Default)]
pub(super) struct Batch {
    /// How many bytes of the input were requests that are answered.
    pub(super) consumed: usize,
    /// How many they were.
    pub(super) replies: u64,
    /// The body of the last reply, if it is not in the output.
    pub(super) body: Bytes,
    /// Whether the connection ends after it.
    pub(super) closes: bool,
}

impl Worker {
    /// Answers the requests at the start of `input` as far as they are remembered, at most `replies_max` of them.
    ///
    /// Neither parses, nor locks, nor allocates once the output has grown; replies are counted and logged as sent.
    pub(super) fn answer_remembered(
        &self,
        peer: &Peer,
        input: &[u8],
        replies_max: u64,
        output: &mut Vec<u8>,
    ) -> Batch {
        let mut batch = Batch::default();
        output.clear();
        if input.is_empty() || self.is_draining() {
            return batch;
        }
        let (kit, mut memo, now) = (self.kit.borrow(), self.memo.borrow_mut(), wall());
        while batch.consumed < input.len() && batch.replies < replies_max && output.len() < OUTPUT_BYTES_MAX {
            let rest = &input[batch.consumed..];
            let Some((spot, length)) = find(&memo, peer, rest) else { break };
            let Some(entry) = memo.at(spot) else { break };
            let Some(object) = entry.recall(&kit.exchange, now) else {
                memo.forget(spot);
                break;
            };
            let before = output.len();
            output.extend_from_slice(entry.reply_head(&object, &kit.exchange, now));
            let body = if entry.has_body() { &object.body } else { &Bytes::new() };
            kit.note_remembered(
                peer,
                &rest[..length],
                entry,
                &object,
                output.len() - before,
                body.len(),
                now,
            );
            batch.consumed += length;
            batch.replies += 1;
            batch.closes = !entry.notes().keep_alive;
            if COPIED_BYTES_MAX < body.len() {
                batch.body = body.clone();
                break;
            }
            output.extend_from_slice(body);
            if batch.closes {
                break;
            }
        }
        batch
    }

    /// Remembers the answer to a head, if `exchange`, which gave it, would still be asked: others may decide otherwise.
    pub(super) fn remember(&self, exchange: &Rc<Exchange>, head: &[u8], notes: HeadNotes, memo: Memo) {
        if Rc::ptr_eq(exchange, &self.kit.borrow().exchange) {
            self.memo.borrow_mut().remember(head, notes, memo);
        }
    }
}

/// Finds the head at the start of some input. The whole input is tried first: usually it is one head, and then its end
/// need not be looked for.
#[inline]
fn find(memo: &MemoTable, peer: &Peer, input: &[u8]) -> Option<(Spot, usize)> {
    if let Some(spot) = memo.find(peer.scheme, input) {
        return Some((spot, input.len()));
    }
    let window = &input[..input.len().min(HEAD_BYTES_MAX)];
    let length = memchr::memmem::find(window, b"\r\n\r\n")? + 4;
    if length == input.len() {
        return None;
    }
    memo.find(peer.scheme, &input[..length]).map(|spot| (spot, length))
}

impl Kit {
    #[expect(
        clippy::too_many_arguments,
        reason = "all that is known of a reply, on its way to counters and log"
    )]
    #[inline]
    fn note_remembered(
        &self,
        peer: &Peer,
        head: &[u8],
        entry: &Entry,
        object: &Object,
        head_bytes: usize,
        body_bytes: usize,
        now: WallTime,
    ) {
        let (handling, status) = (entry.memo().handling(object), entry.memo().status(object));
        self.counters.note(&handling, status, (head_bytes + body_bytes) as u64);
        if !self.log.is_on() {
            return;
        }
        let notes = entry.notes();
        self.log.line(&LogEntry {
            client: peer.client,
            time: now,
            method: &head[notes.method.clone()],
            authority: &head[notes.authority.clone()],
            target: &head[notes.target.clone()],
            version: notes.version,
            referer: ::http1::header(head, "referer"),
            user_agent: ::http1::header(head, "user-agent"),
            status,
            body_bytes: body_bytes as u64,
            duration: Nanos::ZERO,
            handling,
        });
    }
}
