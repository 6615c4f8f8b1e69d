//! The fast path: requests whose heads are remembered, from the bytes read to the bytes to send.

use bytes::Bytes;
use cache_store::StoredResponse;
use units::{Nanos, WallTime, wall};

use super::memo::{Entry, HEAD_BYTES_MAX, MemoSlot, MemoTable};
use super::peer::Peer;
use super::worker::{Worker, WorkerContext};
use crate::observation::LogEntry;

/// The longest body that is copied behind its head and sent with it by a plain `send`; a longer one goes by itself in
/// the same `writev`, which costs some 0.1 µs more, as much as copying so many bytes.
const COPIED_BYTES_MAX: usize = 2 * 1024;

/// The number of bytes after which responses are sent before further requests are answered.
const OUTPUT_BYTES_MAX: usize = 64 * 1024;

/// The responses to requests at the start of some input: the content of `Buffers::output`, followed by `body`.
#[derive(Debug, Default)]
pub(super) struct ResponseBatch {
    /// The bytes of input that the answered requests took.
    pub(super) consumed: usize,
    /// The number of responses.
    pub(super) responses: u64,
    /// The body of the last response, if it is not in the output.
    pub(super) body: Bytes,
    /// Whether the connection ends after the batch.
    pub(super) closes: bool,
}

impl Worker {
    /// Answers the requests at the start of `input` as far as their heads are remembered, at most `responses_max` of
    /// them.
    ///
    /// Does not parse or lock, and allocates only the handle of a large body once the output has grown; responses are counted and logged as sent.
    pub(super) fn answer_remembered(
        &self,
        peer: &Peer,
        input: &[u8],
        responses_max: u64,
        output: &mut Vec<u8>,
    ) -> ResponseBatch {
        let mut batch = ResponseBatch::default();
        output.clear();
        if input.is_empty() || self.is_draining() {
            return batch;
        }
        let context = self.context.borrow();
        let mut memo = self.memo.borrow_mut();
        let now = wall();
        while batch.consumed < input.len()
            && batch.responses < responses_max
            && output.len() < OUTPUT_BYTES_MAX
        {
            let rest = &input[batch.consumed..];
            let Some((slot, length)) = find(&memo, peer, rest) else { break };
            let Some(entry) = memo.at(slot) else { break };
            let Some(object) = entry.recall(&context.exchange, now) else {
                memo.forget(slot);
                break;
            };
            let before = output.len();
            output.extend_from_slice(entry.response_head(&object, &context.exchange, now));
            let body = if entry.has_body() { &object.body } else { &Bytes::new() };
            context.note_remembered(
                peer,
                &rest[..length],
                entry,
                &object,
                output.len() - before,
                body.len(),
                now,
            );
            batch.consumed += length;
            batch.responses += 1;
            batch.closes = !entry.notes().keep_alive;
            if COPIED_BYTES_MAX < body.len() {
                batch.body = object.lend();
                break;
            }
            output.extend_from_slice(body);
            if batch.closes {
                break;
            }
        }
        batch
    }
}

/// Finds the head at the start of some input. The whole input is tried first: usually it is one head, and its end
/// need not be searched for.
#[inline]
fn find(memo: &MemoTable, peer: &Peer, input: &[u8]) -> Option<(MemoSlot, usize)> {
    if let Some(slot) = memo.find(peer.scheme, input) {
        return Some((slot, input.len()));
    }
    let window = &input[..input.len().min(HEAD_BYTES_MAX)];
    let length = memchr::memmem::find(window, b"\r\n\r\n")? + 4;
    if length == input.len() {
        return None;
    }
    memo.find(peer.scheme, &input[..length]).map(|slot| (slot, length))
}

impl WorkerContext {
    #[expect(
        clippy::too_many_arguments,
        reason = "the arguments are all fields of a response for counters and log"
    )]
    #[inline]
    fn note_remembered(
        &self,
        peer: &Peer,
        head: &[u8],
        entry: &Entry,
        object: &StoredResponse,
        head_bytes: usize,
        body_bytes: usize,
        now: WallTime,
    ) {
        let handling = entry.memo().handling(object);
        let status = entry.memo().status(object);
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
