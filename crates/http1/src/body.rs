//! A reader that finds the end of a body, whatever its framing.

use thiserror::Error;

use crate::chunk::{ChunkDecoder, ChunkError, DecodeOutcome};
use crate::head::Framing;

/// The connection ended before the body did (RFC 9112 §8).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("connection closed before the end of the body{}", missing_text(*missing))]
pub struct TruncatedBody {
    /// Number of missing bytes, if the framing tells it.
    pub missing: Option<u64>,
}

fn missing_text(missing: Option<u64>) -> String {
    missing.map(|bytes| format!(", {bytes} bytes missing")).unwrap_or_default()
}

/// A reader that follows one body through the bytes after its head.
#[derive(Debug, Clone)]
pub struct BodyReader {
    state: State,
}

#[derive(Debug, Clone)]
enum State {
    Length { remaining: u64 },
    Chunked(ChunkDecoder),
    ToEof { ended: bool },
}

impl BodyReader {
    /// Makes a reader for the body of a request with this framing.
    pub fn new(framing: Framing) -> BodyReader {
        BodyReader::with(framing, ChunkDecoder::new)
    }

    /// Makes a reader for the body of a response, which may have blanks behind the sizes of its chunks.
    pub fn of_response(framing: Framing) -> BodyReader {
        BodyReader::with(framing, ChunkDecoder::of_response)
    }

    fn with(framing: Framing, chunks: fn() -> ChunkDecoder) -> BodyReader {
        let state = match framing {
            Framing::None => State::Length { remaining: 0 },
            Framing::Length(remaining) => State::Length { remaining },
            Framing::Chunked => State::Chunked(chunks()),
            Framing::ToEof => State::ToEof { ended: false },
        };
        BodyReader { state }
    }

    /// Returns whether the body is complete: without a body, from the beginning.
    #[inline]
    pub fn is_done(&self) -> bool {
        match &self.state {
            State::Length { remaining } => *remaining == 0,
            State::Chunked(decoder) => decoder.is_done(),
            State::ToEof { ended } => *ended,
        }
    }

    /// Returns the position, in the input of the call that failed, of the byte because of which it was refused.
    pub fn fault_at(&self) -> usize {
        match &self.state {
            State::Chunked(decoder) => decoder.fault_at(),
            State::Length { .. } | State::ToEof { .. } => 0,
        }
    }

    /// Returns which part of `input` belongs to the body, up to the end of one piece of content.
    ///
    /// Call again with the input after `consumed` while there is any and the body is not done.
    ///
    /// # Errors
    ///
    /// A chunked body that is not well formed; no other framing can fail.
    #[inline]
    pub fn read(&mut self, input: &[u8]) -> Result<DecodeOutcome, ChunkError> {
        let taken = match &mut self.state {
            State::Length { remaining } => {
                let taken = usize::try_from(*remaining).unwrap_or(usize::MAX).min(input.len());
                *remaining -= taken as u64;
                taken
            }
            State::Chunked(decoder) => return decoder.decode(input),
            State::ToEof { ended } => {
                if *ended {
                    0
                } else {
                    input.len()
                }
            }
        };
        Ok(DecodeOutcome { consumed: taken, data: 0..taken, done: self.is_done() })
    }

    /// Records that the connection has ended, which completes a body that is framed by it.
    ///
    /// # Errors
    ///
    /// [`TruncatedBody`] if more should have come.
    pub fn end_of_input(&mut self) -> Result<(), TruncatedBody> {
        match &mut self.state {
            State::ToEof { ended } => *ended = true,
            State::Length { remaining } if *remaining > 0 => {
                return Err(TruncatedBody { missing: Some(*remaining) });
            }
            State::Chunked(decoder) if !decoder.is_done() => return Err(TruncatedBody { missing: None }),
            State::Length { .. } | State::Chunked(_) => {}
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn piece(consumed: usize, done: bool) -> Result<DecodeOutcome, ChunkError> {
        Ok(DecodeOutcome { consumed, data: 0..consumed, done })
    }

    #[test]
    fn no_body_is_done_before_any_input() {
        for framing in [Framing::None, Framing::Length(0)] {
            let mut body = BodyReader::new(framing);
            assert!(body.is_done());
            assert_eq!(body.read(b"HTTP/1.1"), piece(0, true));
            assert_eq!(body.end_of_input(), Ok(()));
        }
    }

    #[test]
    fn a_length_ends_the_body_and_leaves_the_rest() {
        let mut body = BodyReader::new(Framing::Length(5));
        assert_eq!(body.read(b"abc"), piece(3, false));
        assert_eq!(body.end_of_input(), Err(TruncatedBody { missing: Some(2) }));
        assert_eq!(body.read(b""), piece(0, false));
        assert_eq!(body.read(b"deHTTP"), piece(2, true));
        assert_eq!(body.end_of_input(), Ok(()));
    }

    #[test]
    fn chunks_end_with_the_last_chunk_only() {
        let mut body = BodyReader::new(Framing::Chunked);
        assert_eq!(body.read(b"2\r\nab\r\n"), Ok(DecodeOutcome { consumed: 5, data: 3..5, done: false }));
        assert_eq!(body.end_of_input(), Err(TruncatedBody { missing: None }));
        assert_eq!(body.read(b"\r\n0\r\n\r\n"), Ok(DecodeOutcome { consumed: 7, data: 7..7, done: true }));
        assert!(body.is_done());
        assert_eq!(body.end_of_input(), Ok(()));
        let mut refused = BodyReader::new(Framing::Chunked);
        assert_eq!((refused.read(b"2\r\nab").map(|piece| piece.done), refused.fault_at()), (Ok(false), 0));
        assert_eq!((refused.read(b"\r\nx\r\n"), refused.fault_at()), (Err(ChunkError::Size), 2));
    }

    #[test]
    fn without_a_length_the_end_of_the_connection_completes_the_body() {
        let mut body = BodyReader::new(Framing::ToEof);
        assert_eq!(body.read(b"abc"), piece(3, false));
        assert!(!body.is_done());
        assert_eq!(body.end_of_input(), Ok(()));
        assert!(body.is_done());
        assert_eq!(body.read(b"late"), piece(0, true));
    }

    #[test]
    fn truncation_tells_how_much_is_missing() {
        assert_eq!(
            TruncatedBody { missing: Some(2) }.to_string(),
            "connection closed before the end of the body, 2 bytes missing"
        );
        assert_eq!(
            TruncatedBody { missing: None }.to_string(),
            "connection closed before the end of the body"
        );
    }
}
