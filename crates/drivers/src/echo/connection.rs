//! The connection of a user: what comes on it, a message under way or only notices.

use std::collections::{BTreeMap, VecDeque};

use model::echo::EchoMessage;
use model::{Content, Outcome, UserNotice};
use rustix::io::Errno;
use units::{Clock, Nanos};

use super::EchoContext;
use super::wire::{HEAD_BYTES, Head, PartialHead};
use crate::net::{OperationFailure, ReadOutcome, TcpTransport};

/// The outcomes of refusals by their codes, from 1.
const REFUSALS: [Outcome; 4] = [Outcome::Denied, Outcome::Conflict, Outcome::Gone, Outcome::Full];

/// The most notices that a user awaits, and the most that the engine has not asked for: it does so while users think, which
/// those of an open loop never do. Messages beyond ask for notices that nobody awaits.
const NOTICES_MAX: usize = 1 << 16;

/// The measure of user scope.
const NOTICE: u16 = 0;

/// A connection to an echo server.
#[derive(Debug)]
pub(super) struct EchoConnection {
    pub(super) transport: TcpTransport,
    head: PartialHead,
    /// The number of messages that have come back and asked for a notice.
    n_asked: u32,
    /// The times from which notices are awaited that have not come, by the numbers of their messages.
    awaited: BTreeMap<u32, Nanos>,
}

/// Notices that the engine has not asked for yet, in order.
pub(super) type NoticeQueue = VecDeque<UserNotice>;

/// Bytes that were read at a time.
struct TimedBytes<'a> {
    bytes: &'a [u8],
    at: Nanos,
}

/// A message that is to come back, as far as it has.
pub(super) struct EchoReply {
    /// The number that determines its content.
    object: u32,
    /// Length of its content in bytes.
    expected: usize,
    /// The time from which a notice of it is awaited; `None` if it asks for none, or since it has come back.
    notice_from: Option<Nanos>,
    /// The bytes that have arrived, of its head and its content.
    pub(super) bytes: usize,
    /// The moment at which its head had arrived.
    pub(super) first_byte: Nanos,
}

impl EchoReply {
    /// Makes the one of a message that is sent at a time, of which nothing has arrived.
    pub(super) fn of(message: &EchoMessage, object: u32, sent: Nanos) -> EchoReply {
        let notice_from = message.notice.map(|notice| sent.saturating_add(notice.after));
        let expected = message.bytes as usize;
        EchoReply { object, expected, notice_from, bytes: 0, first_byte: Nanos::ZERO }
    }

    fn is_begun(&self) -> bool {
        0 < self.bytes
    }

    fn is_whole(&self) -> bool {
        self.bytes == HEAD_BYTES + self.expected
    }

    /// Takes a head. Only one of a message of the right length is part of the reply.
    fn begin(&mut self, head: Head, at: Nanos) -> Result<(), OperationFailure> {
        match head {
            Head::Message(length) if !self.is_begun() && length as usize == self.expected => {
                self.bytes = HEAD_BYTES;
                self.first_byte = at;
                Ok(())
            }
            Head::Refusal(code) if !self.is_begun() => Err(refusal(code)),
            Head::Message(_) | Head::Refusal(_) if self.is_begun() => {
                Err(OperationFailure::new(Outcome::WrongLength, (self.bytes + HEAD_BYTES) as u64))
            }
            Head::Message(_) | Head::Refusal(_) | Head::Notice(_) => Err(self.wrong_bytes()),
        }
    }

    /// Takes bytes of its content from the beginning of those that are given.
    fn take(&mut self, content: &Content, received: &mut &[u8]) -> Result<(), OperationFailure> {
        let offset = self.bytes - HEAD_BYTES;
        let n = (self.expected - offset).min(received.len());
        let (part, rest) = received.split_at(n);
        if !content.matches(self.object, offset as u64, part) {
            return Err(self.wrong_bytes());
        }
        *received = rest;
        self.bytes += n;
        Ok(())
    }

    fn wrong_bytes(&self) -> OperationFailure {
        OperationFailure::new(Outcome::WrongBytes, self.bytes as u64)
    }
}

/// Returns the failure of a message that the server refused with a code.
fn refusal(code: u32) -> OperationFailure {
    let outcome = (code as usize).checked_sub(1).and_then(|index| REFUSALS.get(index));
    match outcome {
        Some(outcome) => OperationFailure::new(*outcome, code.into()),
        None => OperationFailure::new(Outcome::WrongBytes, 0),
    }
}

impl EchoConnection {
    /// Makes one on which nothing was sent.
    pub(super) fn new(transport: TcpTransport) -> EchoConnection {
        EchoConnection { transport, head: PartialHead::default(), n_asked: 0, awaited: BTreeMap::new() }
    }

    /// Reads until a message has come back, and takes the notices that come before its end.
    pub(super) async fn receive(
        &mut self,
        mut reply: EchoReply,
        context: &EchoContext,
        notices: &mut NoticeQueue,
    ) -> Result<EchoReply, OperationFailure> {
        while !reply.is_whole() {
            let read = self.transport.read(&context.buffer, &[]).await?;
            let buffer = context.buffer.borrow();
            let received = TimedBytes { bytes: &buffer[..read.bytes], at: context.clock.now() };
            self.take(received, Some(&mut reply), &context.content, notices)?;
            if read.is_end && !reply.is_whole() {
                return Err(OperationFailure::new(Outcome::Truncated, reply.bytes as u64));
            }
        }
        Ok(reply)
    }

    /// Takes what was read while no message is under way. Returns whether the connection can still be used.
    pub(super) fn take_at_rest(
        &mut self,
        read: Result<ReadOutcome, Errno>,
        context: &EchoContext,
        notices: &mut NoticeQueue,
    ) -> bool {
        let Ok(read) = read else { return false };
        let buffer = context.buffer.borrow();
        let received = TimedBytes { bytes: &buffer[..read.bytes], at: context.clock.now() };
        self.take(received, None, &context.content, notices).is_ok() && !read.is_end
    }

    /// Awaits a notice from `begun` on: that of the message that has come back last.
    fn await_notice(&mut self, begun: Nanos, notices: &mut NoticeQueue) {
        let number = self.n_asked;
        self.n_asked = number.wrapping_add(1);
        if self.awaited.len() < NOTICES_MAX && notices.len() < NOTICES_MAX {
            self.awaited.insert(number, begun);
            notices.push_back(UserNotice { measure: NOTICE, begun, value: None });
        }
    }

    /// Takes what has arrived: notices, and the reply that is under way. A notice may follow its message at once.
    fn take(
        &mut self,
        received: TimedBytes<'_>,
        mut reply: Option<&mut EchoReply>,
        content: &Content,
        notices: &mut NoticeQueue,
    ) -> Result<(), OperationFailure> {
        let TimedBytes { mut bytes, at } = received;
        while !bytes.is_empty() {
            match reply.as_deref_mut() {
                Some(reply) if reply.is_begun() && !reply.is_whole() => reply.take(content, &mut bytes)?,
                reply => match (self.head.take(&mut bytes), reply) {
                    (None, _) => {}
                    (Some(Head::Notice(number)), _) if number < self.n_asked => {
                        self.came(number, at, notices);
                    }
                    (Some(head), Some(reply)) => reply.begin(head, at)?,
                    (Some(_), None) => return Err(OperationFailure::new(Outcome::WrongBytes, 0)),
                },
            }
            let whole = reply.as_deref_mut().filter(|reply| reply.is_whole());
            if let Some(begun) = whole.and_then(|reply| reply.notice_from.take()) {
                self.await_notice(begun, notices);
            }
        }
        Ok(())
    }

    fn came(&mut self, number: u32, at: Nanos, notices: &mut NoticeQueue) {
        if let Some(begun) = self.awaited.remove(&number) {
            let value = Some(at.saturating_sub(begun).0);
            notices.push_back(UserNotice { measure: NOTICE, begun, value });
        }
    }
}
