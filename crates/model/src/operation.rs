//! Operations, and the replies of drivers.

use std::fmt;

use serde::{Deserialize, Serialize};
use units::Nanos;

/// An operation of a kind: an index into the workload's list of kinds.
pub trait HasKind {
    /// Returns the index of the operation's kind.
    fn kind(&self) -> u16;
}

/// The outcome of an operation, in terms of any protocol. The protocol's own code stands beside it ([`Reply::code`]), so that
/// a family needs no outcomes of its own.
///
/// Their numbers are stored, and stay below 32.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[repr(u8)]
pub enum Outcome {
    /// The complete and correct reply arrived.
    Ok = 0,
    /// The connection was refused: there is no listener, or its queue is full.
    Refused = 1,
    /// The peer reset the connection.
    Reset = 2,
    /// The peer is unreachable: no route, network down.
    Unreachable = 3,
    /// The operation exceeded its time limit.
    TimedOut = 4,
    /// The reply has a status that the workload does not expect.
    WrongStatus = 5,
    /// The head of the reply violates the protocol.
    MalformedHead = 6,
    /// The head of the reply exceeds the size limit.
    OversizedHead = 7,
    /// The chunked body violates the protocol.
    MalformedBody = 8,
    /// The peer closed the connection before the end of the body or of the head.
    Truncated = 9,
    /// The body has another length than the object.
    WrongLength = 10,
    /// The body has the length of the object but other bytes.
    WrongBytes = 11,
    /// This machine has no local port left for the connection.
    NoLocalPort = 12,
    /// This process may not open more files.
    NoDescriptor = 13,
    /// The target policy does not allow the address.
    Forbidden = 14,
    /// The TLS handshake failed, or the encrypted connection broke the protocol.
    TlsFailed = 15,
    /// HTTP/2: the peer reset or refused the stream.
    StreamReset = 16,
    /// HTTP/2: the connection violated the protocol or ended with an error, and with it all its streams.
    Http2Failed = 17,
    /// The body has a content coding that the request did not accept.
    WrongEncoding = 18,
    /// A value that the user needs is missing: a reply does not have it, or no earlier reply gave it.
    ValueMissing = 19,
    /// A redirect cannot be followed: there are too many, or it leads nowhere, or out of encryption.
    WrongRedirect = 20,
    /// The server had no room for the operation, and said so.
    Busy = 21,
    /// The server closed the session in place of a reply.
    SessionLost = 22,
    /// The server understood the operation and does not allow it.
    Denied = 23,
    /// The reply contradicts itself, as with a checksum that is not that of its content, or what was measured here.
    Inconsistent = 24,
    /// The peer had ended a kept connection, or ended it in place of a reply, and the request may not be made again on
    /// another one, because it is not idempotent (RFC 9110 section 9.2.2).
    ConnectionLost = 25,
    /// The server answered the end of a transaction, and its answer says that nothing was committed.
    NotCommitted = 26,
    /// Somebody else has, or has changed, what the operation is about: it can be begun again.
    Conflict = 27,
    /// The subject of the operation no longer exists.
    Gone = 28,
    /// The server has no room for what the operation would add: a quota, a disk or a mailbox is full.
    Full = 29,
    /// The subject of the operation takes no changes: a file system, a medium or a database has become read-only.
    ReadOnly = 30,
}

impl Outcome {
    /// All outcomes, in the order of their numbers.
    pub const ALL: [Outcome; 31] = [
        Outcome::Ok,
        Outcome::Refused,
        Outcome::Reset,
        Outcome::Unreachable,
        Outcome::TimedOut,
        Outcome::WrongStatus,
        Outcome::MalformedHead,
        Outcome::OversizedHead,
        Outcome::MalformedBody,
        Outcome::Truncated,
        Outcome::WrongLength,
        Outcome::WrongBytes,
        Outcome::NoLocalPort,
        Outcome::NoDescriptor,
        Outcome::Forbidden,
        Outcome::TlsFailed,
        Outcome::StreamReset,
        Outcome::Http2Failed,
        Outcome::WrongEncoding,
        Outcome::ValueMissing,
        Outcome::WrongRedirect,
        Outcome::Busy,
        Outcome::SessionLost,
        Outcome::Denied,
        Outcome::Inconsistent,
        Outcome::ConnectionLost,
        Outcome::NotCommitted,
        Outcome::Conflict,
        Outcome::Gone,
        Outcome::Full,
        Outcome::ReadOnly,
    ];

    /// Returns the outcome with a number, as stored in run files; `None` if there is none.
    pub fn from_number(number: u8) -> Option<Outcome> {
        Outcome::ALL.get(usize::from(number)).copied()
    }

    /// Returns the outcome's name in reports and files.
    pub fn name(self) -> &'static str {
        match self {
            Outcome::Ok => "ok",
            Outcome::Refused => "refused",
            Outcome::Reset => "reset",
            Outcome::Unreachable => "unreachable",
            Outcome::TimedOut => "timed out",
            Outcome::WrongStatus => "wrong status",
            Outcome::MalformedHead => "malformed head",
            Outcome::OversizedHead => "oversized head",
            Outcome::MalformedBody => "malformed body",
            Outcome::Truncated => "truncated",
            Outcome::WrongLength => "wrong length",
            Outcome::WrongBytes => "wrong bytes",
            Outcome::NoLocalPort => "no local port",
            Outcome::NoDescriptor => "no descriptor",
            Outcome::Forbidden => "forbidden",
            Outcome::TlsFailed => "tls failed",
            Outcome::StreamReset => "stream reset",
            Outcome::Http2Failed => "http2 failed",
            Outcome::WrongEncoding => "wrong encoding",
            Outcome::ValueMissing => "value missing",
            Outcome::WrongRedirect => "wrong redirect",
            Outcome::Busy => "busy",
            Outcome::SessionLost => "session lost",
            Outcome::Denied => "denied",
            Outcome::Inconsistent => "inconsistent",
            Outcome::ConnectionLost => "connection lost",
            Outcome::NotCommitted => "not committed",
            Outcome::Conflict => "conflict",
            Outcome::Gone => "gone",
            Outcome::Full => "full",
            Outcome::ReadOnly => "read-only",
        }
    }

    /// Returns whether the generator's own machine caused the failure, not the SUT.
    pub fn is_ours(self) -> bool {
        matches!(self, Outcome::NoLocalPort | Outcome::NoDescriptor | Outcome::Forbidden)
    }
}

/// The greatest number of different protocol codes that are counted for one kind of operation.
pub const CODES_MAX: usize = 256;

/// The greatest number of measures of an operation: the slots of [`MeasuredValues`].
pub const SLOTS_MAX: usize = 8;

/// The values of an operation's measures, by slots: slot i has measure i of those of the operation's kind
/// ([`crate::OperationKind::measures`]).
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub struct MeasuredValues {
    /// A bit per slot that was taken, lowest first.
    taken: u8,
    values: [u64; SLOTS_MAX],
}

impl MeasuredValues {
    /// Sets the value of a slot, below [`SLOTS_MAX`].
    #[inline]
    pub fn set(&mut self, slot: usize, value: u64) {
        self.values[slot] = value;
        self.taken |= 1 << slot;
    }

    /// Returns the value of a slot; `None` if the operation has none.
    pub fn get(&self, slot: usize) -> Option<u64> {
        let is_taken = slot < SLOTS_MAX && self.taken & 1 << slot != 0;
        is_taken.then(|| self.values[slot])
    }

    /// Returns the slots that were taken, in order, with their values.
    #[inline]
    pub fn iter(self) -> impl Iterator<Item = (usize, u64)> {
        let mut left = self.taken;
        std::iter::from_fn(move || {
            let slot = left.trailing_zeros() as usize;
            // The lowest bit is taken out; without any bit, `slot` is the width of the set.
            left &= left.wrapping_sub(1);
            self.values.get(slot).map(|value| (slot, *value))
        })
    }
}

impl fmt::Debug for MeasuredValues {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.iter()).finish()
    }
}

/// A driver's reply for one operation. Times are on the clock of the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reply {
    /// The outcome of the operation.
    pub outcome: Outcome,
    /// The moment before its first byte was written, or before anything else that belongs to the operation.
    pub sent: Nanos,
    /// The moment at which it had ended; not before `sent`.
    pub done: Nanos,
    /// The values of its measures; they count if it succeeded.
    pub measured: MeasuredValues,
    /// The value for its user ([`crate::UserReply::value`]); 0 if the family has none.
    pub answer: u64,
    /// The protocol's own code of the failure, as its family defines it: an HTTP status; 0 if it has none.
    pub code: u32,
    /// A detail of the failure (the status found, the position of the wrong byte, an error number); 0 if none.
    pub detail: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The numbers are those of run files; one of 32 is left for families to come.
    #[test]
    fn outcomes_have_the_numbers_of_their_places_and_names_of_their_own() {
        let numbers = Outcome::ALL.map(|outcome| outcome as u8);
        assert!(numbers.iter().copied().eq(0..31), "{numbers:?}");
        assert_eq!(numbers.map(Outcome::from_number), Outcome::ALL.map(Some));
        assert_eq!(Outcome::from_number(31), None);
        let names: std::collections::BTreeSet<_> = Outcome::ALL.map(Outcome::name).into();
        assert_eq!(names.len(), Outcome::ALL.len());
    }

    #[test]
    fn measures_are_returned_in_order_with_their_values() {
        let mut measured = MeasuredValues::default();
        assert_eq!((measured.iter().count(), measured.get(0)), (0, None));
        measured.set(SLOTS_MAX - 1, 70);
        measured.set(0, 5);
        measured.set(3, 0);
        measured.set(0, 6);
        assert_eq!(measured.iter().collect::<Vec<_>>(), [(0, 6), (3, 0), (SLOTS_MAX - 1, 70)]);
        assert_eq!((measured.get(3), measured.get(4), measured.get(SLOTS_MAX)), (Some(0), None, None));
    }
}
