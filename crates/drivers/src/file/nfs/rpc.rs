//! Remote procedure calls over a stream: records in fragments, the heads of calls, and those of replies.
//!
//! A record has one fragment or more, each behind 31 bits with its length and one that says whether it is the last. The heads
//! of fragments after the first are taken out where they arrive, so that a reply lies in one piece.
//!
//! Source: RFC 5531.

use super::failure::{NfsFailure, Violation};
use super::target::NfsOwner;
use super::xdr::XdrReader;
use crate::file::frame_buffer::{BufferPool, FrameBuffer};

/// Size of the head of a fragment.
pub(super) const FRAGMENT_HEAD_BYTES: usize = 4;

/// The bit that says that a fragment is the last of its record.
const LAST_FRAGMENT: u32 = 1 << 31;

/// The most fragments of a record: a server may send small ones, but not none forever.
const FRAGMENTS_MAX: u32 = 1 << 14;

/// The version of the protocol.
const RPC_VERSION: u32 = 2;

const CALL: u32 = 0;
const REPLY: u32 = 1;

/// The flavor of a credential that has user and group.
const AUTH_SYS: u32 = 1;

/// The most bytes of the credential or the verifier of a reply.
const AUTH_BYTES_MAX: usize = 400;

/// The most bytes of the head of a reply, which precede what the procedure returns.
pub(super) const REPLY_HEAD_BYTES_MAX: usize = 512;

/// A version of a program on a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Program {
    pub(super) number: u32,
    pub(super) version: u32,
}

/// Begins the record of a call, which [`seal`] completes.
pub(super) fn begin_call(
    frame: &mut FrameBuffer,
    call_number: u32,
    program: Program,
    procedure: u32,
    owner: &NfsOwner,
) {
    frame.clear();
    frame.put_zeros(FRAGMENT_HEAD_BYTES);
    frame.numbers(&[call_number, CALL, RPC_VERSION, program.number, program.version, procedure, AUTH_SYS]);
    let length_at = frame.len();
    frame.number(0);
    // The stamp, which nobody reads.
    frame.number(0);
    frame.opaque(owner.machine.as_bytes());
    frame.numbers(&[owner.uid, owner.gid, 0]);
    let length = (frame.len() - length_at - 4) as u32;
    frame.filled_mut()[length_at..length_at + 4].copy_from_slice(&length.to_be_bytes());
    // The verifier: none.
    frame.numbers(&[0, 0]);
}

/// Completes a record, of one fragment.
///
/// # Errors
/// It is longer than a fragment can be.
pub(super) fn seal(frame: &mut FrameBuffer) -> Result<(), NfsFailure> {
    let length = frame.len() - FRAGMENT_HEAD_BYTES;
    let head = u32::try_from(length).ok().filter(|length| length & LAST_FRAGMENT == 0);
    let head = head.ok_or_else(|| NfsFailure::violation(Violation::RecordTooLong, length as u64))?;
    frame.filled_mut()[..FRAGMENT_HEAD_BYTES].copy_from_slice(&(head | LAST_FRAGMENT).to_be_bytes());
    Ok(())
}

/// A record that arrives. The bytes of its fragments are one behind another, from [`FRAGMENT_HEAD_BYTES`] on.
#[derive(Debug, Default)]
pub(super) struct ArrivingRecord {
    pub(super) buffer: FrameBuffer,
    /// The end of the fragments whose heads have arrived, from the beginning of the buffer; 0 before the first.
    end: usize,
    has_last: bool,
    n_fragments: u32,
}

impl ArrivingRecord {
    /// Makes a record of which nothing has arrived, in an empty buffer.
    pub(super) fn new(buffer: FrameBuffer) -> ArrivingRecord {
        ArrivingRecord { buffer, ..ArrivingRecord::default() }
    }

    /// Returns whether a byte has arrived.
    pub(super) fn has_begun(&self) -> bool {
        0 < self.buffer.len()
    }

    /// Returns how many bytes of the record have not arrived, as far as is known: none if it is complete.
    ///
    /// # Errors
    /// It is longer than so many bytes, or something follows it.
    pub(super) fn missing(&mut self, bytes_max: usize) -> Result<usize, NfsFailure> {
        let missing = self.missing_of_first(bytes_max)?;
        let n_bytes = self.buffer.len();
        if self.has_last && self.end < n_bytes {
            // Nothing was asked for that these bytes could answer.
            return Err(NfsFailure::violation(Violation::OtherReply, (n_bytes - self.end) as u64));
        }
        Ok(missing)
    }

    /// Returns the same where other records may follow.
    ///
    /// # Errors
    /// It is longer than so many bytes.
    pub(super) fn missing_of_first(&mut self, bytes_max: usize) -> Result<usize, NfsFailure> {
        while !self.has_last && self.end + FRAGMENT_HEAD_BYTES <= self.buffer.len() {
            self.take_head(bytes_max)?;
        }
        let n_bytes = self.buffer.len();
        let head_bytes = if self.has_last { 0 } else { FRAGMENT_HEAD_BYTES };
        Ok((self.end + head_bytes).saturating_sub(n_bytes))
    }

    /// Takes out what follows the complete record, as the next one; `None` if nothing does.
    pub(super) fn split(&mut self, pool: &BufferPool) -> Option<ArrivingRecord> {
        let rest = self.buffer.filled().get(self.end..).filter(|rest| self.has_last && !rest.is_empty())?;
        let mut buffer = pool.take();
        buffer.put(rest);
        self.buffer.cut(self.end);
        Some(ArrivingRecord::new(buffer))
    }

    /// Takes the next head, and all but the first out of the record.
    fn take_head(&mut self, bytes_max: usize) -> Result<(), NfsFailure> {
        let at = self.end;
        let bytes = self.buffer.filled_mut();
        let head = bytes[at..].first_chunk().map_or(0, |head| u32::from_be_bytes(*head));
        let length = (head & !LAST_FRAGMENT) as usize;
        let before = at.saturating_sub(FRAGMENT_HEAD_BYTES);
        self.n_fragments += 1;
        if bytes_max < before.saturating_add(length) || FRAGMENTS_MAX < self.n_fragments {
            return Err(NfsFailure::violation(Violation::RecordTooLong, (before + length) as u64));
        }
        self.has_last = head & LAST_FRAGMENT != 0;
        if at == 0 {
            self.end = FRAGMENT_HEAD_BYTES + length;
        } else {
            bytes.copy_within(at + FRAGMENT_HEAD_BYTES.., at);
            self.buffer.cut(self.buffer.len() - FRAGMENT_HEAD_BYTES);
            self.end = at + length;
        }
        Ok(())
    }

    /// Returns the bytes of the complete record.
    pub(super) fn bytes(&self) -> &[u8] {
        self.buffer.filled().get(FRAGMENT_HEAD_BYTES..).unwrap_or_default()
    }
}

/// Returns the number of the call that a record says it answers.
///
/// # Errors
/// It is too short to say one.
pub(super) fn answered_call(bytes: &[u8]) -> Result<u32, NfsFailure> {
    let number = XdrReader::new(bytes).number();
    number.map_err(|_| NfsFailure::violation(Violation::NotRpc, bytes.len() as u64))
}

/// Reads the head of the reply to a call, and returns a reader of what the procedure returned.
///
/// # Errors
/// It is no reply to this call, or the server refused the call.
pub(super) fn reply(bytes: &[u8], call_number: u32) -> Result<XdrReader<'_>, NfsFailure> {
    let not_rpc = |_| NfsFailure::violation(Violation::NotRpc, bytes.len() as u64);
    let mut reader = XdrReader::new(bytes);
    let found = reader.number().map_err(not_rpc)?;
    if reader.number().map_err(not_rpc)? != REPLY {
        return Err(NfsFailure::violation(Violation::NotRpc, bytes.len() as u64));
    }
    if found != call_number {
        return Err(NfsFailure::violation(Violation::OtherReply, found.into()));
    }
    if reader.number().map_err(not_rpc)? != 0 {
        return Err(denied(&mut reader).unwrap_or_else(not_rpc));
    }
    let _flavor = reader.number().map_err(not_rpc)?;
    reader.opaque(AUTH_BYTES_MAX).map_err(not_rpc)?;
    let violation = match reader.number().map_err(not_rpc)? {
        0 => return Ok(reader),
        1 => Violation::NoProgram,
        2 => Violation::NoVersion,
        3 => Violation::NoProcedure,
        4 => Violation::GarbageArguments,
        5 => Violation::SystemError,
        _ => Violation::NotRpc,
    };
    Err(NfsFailure::violation(violation, 0))
}

/// Reads why a call was denied: another version of the protocol, or a credential that is not accepted.
fn denied(reader: &mut XdrReader<'_>) -> Result<NfsFailure, NfsFailure> {
    Ok(match reader.number()? {
        1 => NfsFailure::violation(Violation::AuthError, reader.number()?.into()),
        _ => NfsFailure::violation(Violation::NoVersion, 0),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fragment(bytes: &[u8], is_last: bool) -> Vec<u8> {
        let head = bytes.len() as u32 | if is_last { LAST_FRAGMENT } else { 0 };
        [&head.to_be_bytes(), bytes].concat()
    }

    /// Feeds a stream in pieces of so many bytes, as the connection does.
    fn arrived(stream: &[u8], n_piece: usize, bytes_max: usize) -> Result<Vec<u8>, NfsFailure> {
        let mut record = ArrivingRecord::new(FrameBuffer::default());
        for piece in stream.chunks(n_piece) {
            record.buffer.put(piece);
            record.missing(bytes_max)?;
        }
        assert_eq!(record.missing(bytes_max)?, 0);
        Ok(record.bytes().to_vec())
    }

    #[test]
    fn records_are_put_together_however_they_arrive() {
        let one = fragment(b"abcdefgh", true);
        let three = [fragment(b"abc", false), fragment(b"", false), fragment(b"defgh", true)].concat();
        for stream in [one, three] {
            for n_piece in 1..=stream.len() {
                assert_eq!(arrived(&stream, n_piece, 8), Ok(b"abcdefgh".to_vec()), "{n_piece}");
            }
        }
    }

    #[test]
    fn records_longer_than_what_was_asked_for_are_refused_before_they_are_read() {
        let too_long = |length| Err(NfsFailure::violation(Violation::RecordTooLong, length));
        assert_eq!(arrived(&[0xff, 0xff, 0xff, 0xff], 4, 1 << 20), too_long(0x7fff_ffff));
        assert_eq!(arrived(&[0x7f, 0xff, 0xff, 0xff], 4, 1 << 20), too_long(0x7fff_ffff));
        let two = [fragment(b"abcd", false), fragment(b"efghi", true)].concat();
        assert_eq!(arrived(&two, 5, 8), too_long(9));
        let none_forever = fragment(b"", false).repeat(FRAGMENTS_MAX as usize + 1);
        assert_eq!(arrived(&none_forever, 4096, 8), too_long(0));
        let more = [fragment(b"abcd", true), vec![1, 2]].concat();
        assert_eq!(arrived(&more, 99, 8), Err(NfsFailure::violation(Violation::OtherReply, 2)));
    }

    #[test]
    fn records_that_follow_are_taken_apart() {
        let stream = [
            fragment(b"abcd", true),
            fragment(b"ef", false),
            fragment(b"gh", true),
            fragment(b"ijkl", true)[..6].to_vec(),
        ];
        let pool = BufferPool::default();
        let mut record = ArrivingRecord::new(FrameBuffer::default());
        record.buffer.put(&stream.concat());
        assert_eq!(record.missing_of_first(8), Ok(0));
        let mut second = record.split(&pool).unwrap();
        assert_eq!(second.missing_of_first(8), Ok(0));
        let mut third = second.split(&pool).unwrap();
        assert_eq!((record.bytes(), second.bytes()), (&b"abcd"[..], &b"efgh"[..]));
        assert_eq!(third.missing_of_first(8), Ok(2));
        assert!(third.split(&pool).is_none() && record.split(&pool).is_none());
    }

    #[test]
    fn refused_calls_have_names() {
        let accepted = |state: u32| [5, 1, 0, 0, 0, state].map(u32::to_be_bytes).concat();
        assert_eq!(reply(&accepted(0), 5).map(|reader| reader.n_left()), Ok(0));
        let of = |bytes: &[u8]| reply(bytes, 5).map(|_| ()).unwrap_err();
        for (state, violation) in [
            (1, Violation::NoProgram),
            (2, Violation::NoVersion),
            (3, Violation::NoProcedure),
            (4, Violation::GarbageArguments),
            (5, Violation::SystemError),
            (9, Violation::NotRpc),
        ] {
            assert!(of(&accepted(state)).is(violation), "{state}");
        }
        let denied = [5, 1, 1, 1, 5].map(u32::to_be_bytes).concat();
        assert_eq!(of(&denied), NfsFailure::violation(Violation::AuthError, 5));
        assert!(of(&[6, 1, 0, 0, 0, 0].map(u32::to_be_bytes).concat()).is(Violation::OtherReply));
        assert!(of(&[5, 0, 0, 0, 0, 0].map(u32::to_be_bytes).concat()).is(Violation::NotRpc));
        for length in 0..24 {
            assert!(of(&accepted(0)[..length]).is(Violation::NotRpc), "{length}");
        }
    }
}
