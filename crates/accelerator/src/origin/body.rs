//! The body of an origin's response as it arrives.

use bytes::{Bytes, BytesMut};
use http1::BodyReader;
use units::Nanos;

use super::connection::{OriginConnection, read_more};
use super::deadline::within;
use super::server_permit::ServerPermit;
use super::tunnel::OriginTunnel;
use crate::message::BodyError;

/// The number of bytes that are read at a time.
const READ_BYTES: usize = 64 * 1024;

/// Pieces below this size are joined as far as they have arrived: a chunk of one byte would cost more to pass on than
/// it carries.
const COALESCE_BELOW: usize = 4 * 1024;

/// The body of a response. Its connection is reused once all of it was read, and closed if it is dropped before.
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
    connection: OriginConnection,
    reader: BodyReader,
    /// Whether the connection may be reused once the body has ended.
    is_reusable: bool,
    between_bytes: Nanos,
    permit: ServerPermit,
}

impl OriginBody {
    /// Makes the body that arrives over this connection.
    pub(super) fn new(
        permit: ServerPermit,
        connection: OriginConnection,
        reader: BodyReader,
        is_reusable: bool,
        between_bytes: Nanos,
    ) -> OriginBody {
        let mut body = OriginBody(State::Open(Box::new(Open {
            connection,
            reader,
            is_reusable,
            between_bytes,
            permit,
        })));
        body.close_if_done();
        body
    }

    /// Makes the body of a 101.
    pub(super) fn upgraded(tunnel: OriginTunnel) -> OriginBody {
        OriginBody(State::Upgraded(Box::new(tunnel)))
    }

    /// Returns the next piece, never an empty one; `None` once the body is complete.
    ///
    /// Cancel safe. A piece may hold more memory than its length: copy what is kept for long.
    ///
    /// # Errors
    /// A body that ends early, is malformed or too slow, now and on every later call.
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
                open.permit.note_body_error(&error);
                self.0 = State::Broken(error.clone());
                Err(error)
            }
        }
    }

    /// Returns whether the body is complete and all of it was read.
    ///
    /// `false` means nothing: the end of a chunked body may not be known before the next read.
    pub fn is_ended(&self) -> bool {
        matches!(self.0, State::Ended | State::Upgraded(_))
    }

    /// Returns the connection of a 101; `None` for any other response.
    pub fn into_tunnel(self) -> Option<OriginTunnel> {
        match self.0 {
            State::Upgraded(tunnel) => Some(*tunnel),
            State::Open(_) | State::Ended | State::Broken(_) => None,
        }
    }

    /// Returns the connection to the pool once the body is complete.
    fn close_if_done(&mut self) {
        if !matches!(&self.0, State::Open(open) if open.reader.is_done()) {
            return;
        }
        if let State::Open(open) = std::mem::replace(&mut self.0, State::Ended) {
            // Bytes after the body belong to no request, so the connection is not reused.
            let is_reusable = open.is_reusable && open.connection.buffer.is_empty();
            open.permit.release(is_reusable.then_some(open.connection));
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
        let OriginConnection { stream, buffer } = &mut self.connection;
        let reading = async { read_more(stream, buffer, READ_BYTES).await.map_err(|_| BodyError::Truncated) };
        let length = within(self.between_bytes, reading, || BodyError::TimedOut).await?;
        if length == 0 {
            self.reader.end_of_input().map_err(|_| BodyError::Truncated)?;
        }
        Ok(())
    }
}

/// Takes the buffered part of the body: the next piece in place, or several small ones joined.
fn buffered(buffer: &mut BytesMut, reader: &mut BodyReader) -> Result<Bytes, BodyError> {
    let first = next_piece(buffer, reader)?;
    if COALESCE_BELOW <= first.len() || buffer.is_empty() || reader.is_done() {
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
        let mut rest = BytesMut::from(buffer);
        let mut reader = BodyReader::new(framing);
        let piece = buffered(&mut rest, &mut reader);
        (piece, rest.len(), reader.is_done())
    }

    #[test]
    fn small_chunks_are_joined() {
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
    fn content_length_leaves_later_bytes_in_the_buffer() {
        assert_eq!(taken(b"abcd", Framing::Length(3)), (Ok(Bytes::from_static(b"abc")), 1, true));
        assert_eq!(taken(b"ab", Framing::Length(3)), (Ok(Bytes::from_static(b"ab")), 0, false));
        assert_eq!(taken(b"", Framing::Length(3)), (Ok(Bytes::new()), 0, false));
    }

    #[test]
    fn a_bad_chunk_after_good_ones_is_an_error() {
        let (piece, ..) = taken(b"1\r\na\r\n-1\r\n", Framing::Chunked);
        assert!(matches!(piece, Err(BodyError::Malformed(_))), "{piece:?}");
    }
}
