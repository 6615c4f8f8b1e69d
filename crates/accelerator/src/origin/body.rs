//! The body of a reply as it comes.

use bytes::{Bytes, BytesMut};
use http1::BodyReader;
use units::Nanos;

use super::connection::{Connection, read_more};
use super::deadline::within;
use super::seat::Seat;
use super::tunnel::OriginTunnel;
use crate::message::BodyError;

/// How much is read at a time.
const READ_BYTES: usize = 64 * 1024;

/// Pieces below this are put together as far as they are there already: a chunk of one byte would cost more to pass on
/// than it carries.
const GATHERED_BELOW: usize = 4 * 1024;

/// The body of a reply. Its connection is kept for others once all of it was taken, and closed when dropped before.
#[derive(Debug)]
pub struct OriginBody(State);

#[derive(Debug)]
enum State {
    Open(Box<Open>),
    Upgraded(Box<OriginTunnel>),
    Ended,
    Broken(BodyError),
}

#[derive(Debug)]
struct Open {
    connection: Connection,
    reader: BodyReader,
    /// Whether the connection may be used for another request once the body has ended.
    is_reusable: bool,
    between_bytes: Nanos,
    seat: Seat,
}

impl OriginBody {
    /// Makes the body that comes over this connection.
    pub(super) fn new(
        seat: Seat,
        connection: Connection,
        reader: BodyReader,
        is_reusable: bool,
        between_bytes: Nanos,
    ) -> OriginBody {
        let mut body =
            OriginBody(State::Open(Box::new(Open { connection, reader, is_reusable, between_bytes, seat })));
        body.close_if_done();
        body
    }

    /// Makes the body of a 101.
    pub(super) fn upgraded(tunnel: OriginTunnel) -> OriginBody {
        OriginBody(State::Upgraded(Box::new(tunnel)))
    }

    /// Returns the next piece, never an empty one; `None` once the body is complete.
    ///
    /// May be dropped while it waits; nothing is lost. A piece may hold more memory than its length: copy what is kept
    /// for long.
    ///
    /// # Errors
    /// A body that ends early, is malformed or too slow, now and from now on.
    pub async fn next(&mut self) -> Result<Option<Bytes>, BodyError> {
        let open = match &mut self.0 {
            State::Open(open) => open,
            State::Upgraded(_) | State::Ended => return Ok(None),
            State::Broken(error) => return Err(error.clone()),
        };
        match open.next().await {
            Ok(piece) => {
                self.close_if_done();
                Ok(piece)
            }
            Err(error) => {
                open.seat.broke_off();
                self.0 = State::Broken(error.clone());
                Err(error)
            }
        }
    }

    /// Tells whether the body is complete and all of it was taken.
    ///
    /// `false` says nothing: of a body in chunks the end may be known only when asked for.
    pub fn is_ended(&self) -> bool {
        matches!(self.0, State::Ended | State::Upgraded(_))
    }

    /// Returns the connection of a 101; `None` of any other reply.
    pub fn into_tunnel(self) -> Option<OriginTunnel> {
        match self.0 {
            State::Upgraded(tunnel) => Some(*tunnel),
            State::Open(_) | State::Ended | State::Broken(_) => None,
        }
    }

    /// Gives the connection back once the body is complete.
    fn close_if_done(&mut self) {
        if !matches!(&self.0, State::Open(open) if open.reader.is_done()) {
            return;
        }
        if let State::Open(open) = std::mem::replace(&mut self.0, State::Ended) {
            // What came after the body nobody has asked for; whose it is nobody knows.
            let is_reusable = open.is_reusable && open.connection.buffer.is_empty();
            open.seat.leave(is_reusable.then_some(open.connection));
        }
    }
}

impl Open {
    async fn next(&mut self) -> Result<Option<Bytes>, BodyError> {
        loop {
            let piece = buffered(&mut self.connection.buffer, &mut self.reader)?;
            if !piece.is_empty() {
                return Ok(Some(piece));
            }
            if self.reader.is_done() {
                return Ok(None);
            }
            self.read().await?;
        }
    }

    async fn read(&mut self) -> Result<(), BodyError> {
        let Connection { stream, buffer } = &mut self.connection;
        let reading = async { read_more(stream, buffer, READ_BYTES).await.map_err(|_| BodyError::Truncated) };
        let length = within(self.between_bytes, reading, || BodyError::TimedOut).await?;
        if length == 0 {
            self.reader.end_of_input().map_err(|_| BodyError::Truncated)?;
        }
        Ok(())
    }
}

/// Takes what the buffer has of the body: the next piece in place, or several small ones in one.
fn buffered(buffer: &mut BytesMut, reader: &mut BodyReader) -> Result<Bytes, BodyError> {
    let first = next_piece(buffer, reader)?;
    if GATHERED_BELOW <= first.len() || buffer.is_empty() || reader.is_done() {
        return Ok(first);
    }
    let mut all = Vec::from(first);
    while !buffer.is_empty() && !reader.is_done() {
        all.extend_from_slice(&next_piece(buffer, reader)?);
    }
    Ok(all.into())
}

fn next_piece(buffer: &mut BytesMut, reader: &mut BodyReader) -> Result<Bytes, BodyError> {
    let found = reader.read(buffer).map_err(|error| BodyError::Malformed(error.to_string()))?;
    Ok(buffer.split_to(found.consumed).freeze().slice(found.data))
}

#[cfg(test)]
mod tests {
    use http1::Framing;

    use super::*;

    fn taken(buffer: &[u8], framing: Framing) -> (Result<Bytes, BodyError>, usize, bool) {
        let (mut rest, mut reader) = (BytesMut::from(buffer), BodyReader::new(framing));
        let piece = buffered(&mut rest, &mut reader);
        (piece, rest.len(), reader.is_done())
    }

    #[test]
    fn small_chunks_come_as_one_piece_with_their_end() {
        let (piece, rest, done) =
            taken(b"1\r\na\r\n1;x\r\nb\r\n1\r\nc\r\n0\r\nA: b\r\n\r\nmore", Framing::Chunked);
        assert_eq!((piece, rest, done), (Ok(Bytes::from_static(b"abc")), 4, true));
    }

    #[test]
    fn large_pieces_are_not_copied() {
        let large = [b"2000\r\n", &[b'x'; 0x2000][..], b"\r\n0\r\n\r\n"].concat();
        let mut buffer = BytesMut::from(&large[..]);
        let start = buffer.as_ptr();
        let piece = buffered(&mut buffer, &mut BodyReader::new(Framing::Chunked)).expect("well formed");
        assert_eq!((piece.len(), piece.as_ptr()), (0x2000, start.wrapping_add(6)));
    }

    #[test]
    fn a_length_leaves_what_is_not_of_the_body() {
        assert_eq!(taken(b"abcd", Framing::Length(3)), (Ok(Bytes::from_static(b"abc")), 1, true));
        assert_eq!(taken(b"ab", Framing::Length(3)), (Ok(Bytes::from_static(b"ab")), 0, false));
        assert_eq!(taken(b"", Framing::Length(3)), (Ok(Bytes::new()), 0, false));
    }

    #[test]
    fn a_bad_chunk_is_an_error_even_behind_good_ones() {
        let (piece, ..) = taken(b"1\r\na\r\n-1\r\n", Framing::Chunked);
        assert!(matches!(piece, Err(BodyError::Malformed(_))), "{piece:?}");
    }
}
