//! The chunked transfer coding, decoded as the bytes arrive (RFC 9112 §7.1).
//!
//! | state | byte | next | note |
//! |---|---|---|---|
//! | size | hex digit | size | at most 16 digits |
//! | size | `;` / CR | extension / size LF | at least one digit before |
//! | size | blank | size blank | the same, and in responses only; counted as an extension |
//! | size blank | blank / `;` / CR | size blank / extension / size LF | |
//! | extension | text / CR | extension / size LF | ignored, its bytes counted |
//! | size LF | LF | data, or line start if the size was 0 | |
//! | data | any | data, data CR after the last | passed on, never copied |
//! | data CR, data LF | CR, LF | data LF, size | |
//! | line start | token byte / CR | trailer name / end LF | |
//! | trailer name | token byte / `:` | trailer name / trailer value | ignored, its bytes counted |
//! | trailer value | text / CR | trailer value / trailer LF | the same |
//! | trailer LF, end LF | LF | line start, done | |
//!
//! Every other byte is an error: blanks before a size, a bare LF, a folded trailer line. Published smuggling attacks
//! lived on such bytes. Blanks behind a size are one too in requests; servers that pad their sizes are common enough that
//! clients take them (RFC 9112 §7.1.1 allows them before `;`).

use std::ops::Range;

use thiserror::Error;

use crate::head::{is_token_byte, is_value_byte};

/// The most bytes of chunk extensions that a whole body may have.
///
/// Counted over all chunks, or a body of tiny chunks with long extensions would cost far more than
/// it carries.
pub const CHUNK_EXTENSION_BYTES_MAX: u32 = 16 * 1024;

/// The most bytes that the trailer section after the last chunk may have.
pub const CHUNK_TRAILER_BYTES_MAX: u32 = 16 * 1024;

/// 16 hexadecimal digits are exactly 64 bits.
const SIZE_DIGITS_MAX: u8 = 16;

/// A reason for refusing a chunked body; the connection has to be closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum ChunkError {
    /// The size line does not begin with 1 to 16 hexadecimal digits and `;` or CR LF after them. In responses, blanks may
    /// come between.
    #[error("expected a chunk size of 1 to 16 hexadecimal digits")]
    Size,
    /// A control character in a chunk extension.
    #[error("control character in a chunk extension")]
    Extension,
    /// A line or the data of a chunk does not end with CR LF where it has to.
    #[error("expected CR LF at the end of a chunk or line")]
    LineEnd,
    /// A trailer line that is not `name: value`.
    #[error("expected `name: value` in the trailer of a chunked body")]
    Trailer,
    /// A body with more than [`CHUNK_EXTENSION_BYTES_MAX`] or [`CHUNK_TRAILER_BYTES_MAX`] bytes of either.
    #[error("extensions or trailer of a chunked body are too long")]
    Oversized,
}

/// The result of one call of a decoder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DecodeOutcome {
    /// Number of input bytes consumed; the next call continues after them.
    pub consumed: usize,
    /// The range of the input that is body content; within the consumed bytes, may be empty.
    pub data: Range<usize>,
    /// Whether the body is complete; input after `consumed` is then the next message's.
    pub done: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Size { digits: u8 },
    SizeBlank,
    Extension,
    SizeLf,
    Data,
    DataCr,
    DataLf,
    LineStart,
    TrailerName,
    TrailerValue,
    TrailerLf,
    EndLf,
    Done,
}

/// A decoder of one chunked body; it keeps its state between calls and copies nothing.
#[derive(Debug, Clone)]
pub struct ChunkDecoder {
    state: State,
    /// The size being read, then the bytes left of the chunk.
    remaining: u64,
    /// Whether blanks may come between a size and what follows it.
    takes_blanks: bool,
    extension_bytes: u32,
    trailer_bytes: u32,
    /// The position in the input of the byte because of which it was refused.
    fault_at: usize,
}

impl Default for ChunkDecoder {
    fn default() -> ChunkDecoder {
        ChunkDecoder::new()
    }
}

impl ChunkDecoder {
    /// Makes a decoder that waits for the first chunk size of a request.
    pub fn new() -> ChunkDecoder {
        ChunkDecoder {
            state: State::Size { digits: 0 },
            remaining: 0,
            takes_blanks: false,
            extension_bytes: 0,
            trailer_bytes: 0,
            fault_at: 0,
        }
    }

    /// Makes a decoder that waits for the first chunk size of a response.
    pub fn of_response() -> ChunkDecoder {
        ChunkDecoder { takes_blanks: true, ..ChunkDecoder::new() }
    }

    /// Returns whether the body is complete.
    pub fn is_done(&self) -> bool {
        self.state == State::Done
    }

    /// Returns the position, in the input of the call that failed, of the byte because of which it was refused.
    pub fn fault_at(&self) -> usize {
        self.fault_at
    }

    /// Decodes up to the end of the next piece of content, or of the input, or of the body.
    ///
    /// A call with input left makes progress, unless the body is complete.
    ///
    /// # Errors
    ///
    /// [`ChunkError`]; the decoder is of no use afterwards.
    pub fn decode(&mut self, input: &[u8]) -> Result<DecodeOutcome, ChunkError> {
        let mut at = 0;
        while at < input.len() && self.state != State::Done {
            if self.state == State::Data {
                let data = at..at + self.take(input.len() - at);
                return Ok(DecodeOutcome { consumed: data.end, data, done: false });
            }
            match self.step(input[at]) {
                Ok(state) => self.state = state,
                Err(error) => {
                    self.fault_at = at;
                    return Err(error);
                }
            }
            at += 1;
        }
        Ok(DecodeOutcome { consumed: at, data: at..at, done: self.is_done() })
    }

    /// Takes as much content of the current chunk as is available.
    fn take(&mut self, available: usize) -> usize {
        let taken = usize::try_from(self.remaining).unwrap_or(usize::MAX).min(available);
        self.remaining -= taken as u64;
        if self.remaining == 0 {
            self.state = State::DataCr;
        }
        taken
    }

    /// Returns the state after one byte that is not content.
    fn step(&mut self, byte: u8) -> Result<State, ChunkError> {
        match (self.state, byte) {
            (State::Size { digits }, _) if byte.is_ascii_hexdigit() => self.push_digit(digits, byte),
            (State::Size { digits: 1.. } | State::SizeBlank, b';') => self.count_extension(State::Extension),
            (State::Size { digits: 1.. } | State::SizeBlank | State::Extension, b'\r') => Ok(State::SizeLf),
            (State::Size { digits: 1.. } | State::SizeBlank, b' ' | b'\t') if self.takes_blanks => {
                self.count_extension(State::SizeBlank)
            }
            (State::Size { .. } | State::SizeBlank, _) => Err(ChunkError::Size),
            (State::Extension, _) if is_value_byte(byte) => self.count_extension(State::Extension),
            (State::Extension, _) => Err(ChunkError::Extension),
            (State::SizeLf, b'\n') if self.remaining == 0 => Ok(State::LineStart),
            (State::SizeLf, b'\n') => Ok(State::Data),
            (State::DataCr, b'\r') => Ok(State::DataLf),
            (State::DataLf, b'\n') => Ok(State::Size { digits: 0 }),
            (State::LineStart, b'\r') => Ok(State::EndLf),
            (State::TrailerName, b':') => self.count_trailer(State::TrailerValue),
            (State::LineStart | State::TrailerName, _) if is_token_byte(byte) => {
                self.count_trailer(State::TrailerName)
            }
            (State::TrailerValue, b'\r') => Ok(State::TrailerLf),
            (State::TrailerValue, _) if is_value_byte(byte) => self.count_trailer(State::TrailerValue),
            (State::LineStart | State::TrailerName | State::TrailerValue, _) => Err(ChunkError::Trailer),
            (State::TrailerLf, b'\n') => Ok(State::LineStart),
            (State::EndLf, b'\n') => Ok(State::Done),
            // The caller hands `Data` and `Done` no bytes; the others expect a line end.
            (State::Data | State::Done, _) => Ok(self.state),
            (State::SizeLf | State::DataCr | State::DataLf | State::TrailerLf | State::EndLf, _) => {
                Err(ChunkError::LineEnd)
            }
        }
    }

    /// Appends a digit to the size. `remaining` is 0 before the first digit, so nothing is reset.
    fn push_digit(&mut self, digits: u8, byte: u8) -> Result<State, ChunkError> {
        if digits == SIZE_DIGITS_MAX {
            return Err(ChunkError::Size);
        }
        let value = char::from(byte).to_digit(16).map_or(0, u64::from);
        self.remaining = self.remaining << 4 | value;
        Ok(State::Size { digits: digits + 1 })
    }

    fn count_extension(&mut self, next: State) -> Result<State, ChunkError> {
        self.extension_bytes += 1;
        if self.extension_bytes > CHUNK_EXTENSION_BYTES_MAX {
            return Err(ChunkError::Oversized);
        }
        Ok(next)
    }

    fn count_trailer(&mut self, next: State) -> Result<State, ChunkError> {
        self.trailer_bytes += 1;
        if self.trailer_bytes > CHUNK_TRAILER_BYTES_MAX {
            return Err(ChunkError::Oversized);
        }
        Ok(next)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Decodes the whole input; content, bytes consumed, whether the body is complete.
    fn decode(input: &[u8]) -> Result<(Vec<u8>, usize, bool), ChunkError> {
        let mut decoder = ChunkDecoder::new();
        let mut content = Vec::new();
        let mut at = 0;
        loop {
            let piece = decoder.decode(&input[at..])?;
            content.extend_from_slice(&input[at..][piece.data]);
            at += piece.consumed;
            if piece.done || at == input.len() {
                return Ok((content, at, piece.done));
            }
        }
    }

    #[test]
    fn well_formed_bodies_give_their_content() {
        let cases: [(&[u8], &[u8]); 9] = [
            (b"0\r\n\r\n", b""),
            (b"5\r\nhello\r\n0\r\n\r\n", b"hello"),
            (b"1\r\na\r\n2\r\nbc\r\n0\r\n\r\n", b"abc"),
            (b"A\r\n0123456789\r\n000\r\n\r\n", b"0123456789"),
            (b"0000000000000001\r\na\r\n0\r\n\r\n", b"a"),
            (b"2;x=\"y z\";q\r\n\r\n\r\n0;last\r\n\r\n", b"\r\n"),
            (b"1;\r\na\r\n0\r\n\r\n", b"a"),
            (b"1\r\na\r\n0\r\nExpires: never\r\n\r\n", b"a"),
            (b"0\r\na:\r\nb:c\r\n\r\n", b""),
        ];
        for (input, content) in cases {
            assert_eq!(decode(input), Ok((content.to_vec(), input.len(), true)), "{}", input.escape_ascii());
        }
    }

    #[test]
    fn bytes_after_the_body_are_left_for_the_next_message() {
        assert_eq!(decode(b"1\r\na\r\n0\r\n\r\nHTTP/1.1"), Ok((b"a".to_vec(), 11, true)));
        let mut decoder = ChunkDecoder::new();
        assert!(decoder.decode(b"0\r\n\r\n").unwrap().done);
        assert_eq!(decoder.decode(b"x"), Ok(DecodeOutcome { consumed: 0, data: 0..0, done: true }));
    }

    #[test]
    fn unfinished_bodies_are_not_done() {
        let whole = b"2;e\r\nab\r\n0\r\nt: v\r\n\r\n";
        for cut in 0..whole.len() {
            let (_, consumed, done) = decode(&whole[..cut]).unwrap();
            assert!(!done && consumed == cut, "cut at {cut}");
        }
    }

    #[test]
    fn malformed_bodies_are_refused_with_a_reason() {
        use ChunkError::{Extension, LineEnd, Size, Trailer};
        let cases: [(&[u8], ChunkError); 26] = [
            (b"\r\n", Size),
            (b";x\r\n", Size),
            (b"g\r\n", Size),
            (b" 5\r\nhello", Size),
            (b"5 \r\nhello", Size),
            (b"5 ;x\r\nhello", Size),
            (b"+5\r\nhello", Size),
            (b"-1\r\n", Size),
            (b"0x5\r\nhello", Size),
            (b"5_0\r\n", Size),
            (b"5\nhello", Size),
            (b"5\0\r\n", Size),
            (b"00000000000000001\r\na", Size),
            (b"FFFFFFFFFFFFFFFFF\r\n", Size),
            (b"1;\x01\r\na", Extension),
            (b"1;x\na\r\n", Extension),
            (b"1\rXa", LineEnd),
            (b"1\r\r\na", LineEnd),
            (b"1\r\nab", LineEnd),
            (b"1\r\na\n0\r\n", LineEnd),
            (b"1\r\na\rX", LineEnd),
            (b"0\r\n\n", Trailer),
            (b"0\r\n\rX", LineEnd),
            (b"0\r\n folded: x\r\n", Trailer),
            (b"0\r\nname : x\r\n", Trailer),
            (b"0\r\nname: a\0b\r\n", Trailer),
        ];
        for (input, reason) in cases {
            assert_eq!(decode(input), Err(reason), "{}", input.escape_ascii());
        }
        assert_eq!(decode(b"0\r\na: b\n\r\n"), Err(Trailer));
        assert_eq!(decode(b"0\r\na: b\rX"), Err(LineEnd));
        assert_eq!(decode(b"1;\x7f\r\n"), Err(Extension));
    }

    #[test]
    fn sizes_up_to_64_bits_are_understood() {
        let mut decoder = ChunkDecoder::new();
        let head = b"FfFfFfFfFfFfFfFf\r\n";
        assert_eq!(decoder.decode(head), Ok(DecodeOutcome { consumed: 18, data: 18..18, done: false }));
        assert_eq!(decoder.remaining, u64::MAX);
        assert_eq!(decoder.decode(b"abc"), Ok(DecodeOutcome { consumed: 3, data: 0..3, done: false }));
    }

    #[test]
    fn extensions_are_bounded_over_the_whole_body() {
        // Every byte between the size and the line end counts: 64 chunks with 256 make 16 384.
        let chunk = [b"1;", &[b'x'; 255][..], b"\r\na\r\n"].concat();
        assert!(decode(&chunk.repeat(64)).is_ok());
        assert_eq!(decode(&[chunk.repeat(64), b"1;".to_vec()].concat()), Err(ChunkError::Oversized));
    }

    #[test]
    fn the_trailer_is_bounded() {
        let trailer = |value: usize| [b"0\r\na:", &vec![b'v'; value][..], b"\r\n\r\n"].concat();
        let limit = CHUNK_TRAILER_BYTES_MAX as usize;
        assert!(decode(&trailer(limit - 2)).unwrap().2);
        assert_eq!(decode(&trailer(limit - 1)), Err(ChunkError::Oversized));
    }
}
