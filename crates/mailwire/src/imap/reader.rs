//! The reader of lines and literals.
//!
//! | state | input | next |
//! |---|---|---|
//! | line | a line end, no literal announced | the response is complete |
//! | | a line end, a body announced | body |
//! | | a line end, another literal announced | literal |
//! | literal | its last byte | line |
//! | body | its last byte | line |
//!
//! A body is the literal of a `BODY[…]`, `BINARY[…]` or `RFC822` item of a FETCH response. It passes through, and leaves a
//! mark in the line, which is NUL, its length and NUL again: lines have no NUL themselves. Other literals are part of the
//! line.

use std::ops::Range;

use memchr::memchr;

use super::error::ImapError;
use super::response::{ImapResponse, is_text_response, parse};
use super::value::{BODY_MARK, decimal};

/// The bytes that a reader keeps between responses.
const KEPT_BYTES: usize = 4096;

/// The limits of what a reader takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ImapLimits {
    /// The most bytes of a line with its literals, without bodies.
    pub line_bytes: usize,
    /// The most bytes of a body.
    pub body_bytes: u64,
}

impl Default for ImapLimits {
    /// Lines of 1 MiB, which have the numbers of some 150,000 messages, and bodies of 64 MiB.
    fn default() -> ImapLimits {
        ImapLimits { line_bytes: 1 << 20, body_bytes: 64 << 20 }
    }
}

/// A part of what a server sends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ImapEvent<'a> {
    /// A body begins, with so many bytes. The response that it is part of follows it.
    BodyBegin(u64),
    /// The next bytes of the body.
    Body(&'a [u8]),
    /// A response is complete.
    Response(ImapResponse<'a>),
}

/// The progress of a reader.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImapProgress<'a> {
    /// The number of bytes that were taken, from the beginning of the input.
    pub consumed: usize,
    /// The event; `None` if more input is needed, of which all was taken.
    pub event: Option<ImapEvent<'a>>,
}

/// A reader of a server's responses.
#[derive(Debug, Clone)]
pub struct ImapReader {
    limits: ImapLimits,
    /// The line so far, unless all of it is in the input.
    line: Vec<u8>,
    /// The beginning of the part of the line behind its last literal.
    fragment: usize,
    state: ReaderState,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ReaderState {
    Line,
    /// Within a literal that belongs to the line, with so many bytes left.
    Literal(usize),
    /// Within a body, likewise.
    Body(u64),
    /// The line has been returned as a response.
    Complete,
}

/// What a reader has found.
enum Found {
    Nothing,
    BodyBegin(u64),
    Body(Range<usize>),
    /// A line that is in the input as a whole, without its end.
    LineOfInput(Range<usize>),
    /// A line that is in the reader.
    KeptLine,
}

/// A literal that is announced at the end of a line.
struct Announcement {
    bytes: u64,
    /// The place where it is announced.
    start: usize,
    is_body: bool,
}

impl Default for ImapReader {
    fn default() -> ImapReader {
        ImapReader::new()
    }
}

impl ImapReader {
    /// Makes a reader with the standard limits.
    pub fn new() -> ImapReader {
        ImapReader::with_limits(ImapLimits::default())
    }

    /// Makes a reader.
    pub fn with_limits(limits: ImapLimits) -> ImapReader {
        ImapReader { limits, line: Vec::new(), fragment: 0, state: ReaderState::Line }
    }

    /// Reads until the next event, or to the end of the input.
    ///
    /// # Errors
    ///
    /// When something is longer than the limits, or no response. The reader must not be used any more.
    pub fn read<'a>(&'a mut self, input: &'a [u8]) -> Result<ImapProgress<'a>, ImapError> {
        if self.state == ReaderState::Complete {
            self.begin_line();
        }
        let mut consumed = 0;
        let found = self.find(input, &mut consumed)?;
        let event = match found {
            Found::Nothing => None,
            Found::BodyBegin(bytes) => Some(ImapEvent::BodyBegin(bytes)),
            Found::Body(range) => Some(ImapEvent::Body(&input[range])),
            Found::LineOfInput(range) => Some(ImapEvent::Response(parse(&input[range])?)),
            Found::KeptLine => Some(ImapEvent::Response(parse(&self.line)?)),
        };
        Ok(ImapProgress { consumed, event })
    }

    /// Returns whether a response has begun that is not complete.
    pub fn is_within_response(&self) -> bool {
        match self.state {
            ReaderState::Line => !self.line.is_empty(),
            ReaderState::Complete => false,
            ReaderState::Literal(_) | ReaderState::Body(_) => true,
        }
    }

    fn begin_line(&mut self) {
        self.line.clear();
        if KEPT_BYTES < self.line.capacity() {
            self.line = Vec::new();
        }
        self.fragment = 0;
        self.state = ReaderState::Line;
    }

    fn find(&mut self, input: &[u8], consumed: &mut usize) -> Result<Found, ImapError> {
        loop {
            let rest = &input[*consumed..];
            if rest.is_empty() {
                return Ok(Found::Nothing);
            }
            match self.state {
                ReaderState::Line | ReaderState::Complete => {
                    let start = *consumed;
                    if let Some(found) = self.take_line(rest, start, consumed)? {
                        return Ok(found);
                    }
                }
                ReaderState::Literal(left) => {
                    let n = left.min(rest.len());
                    self.line.extend_from_slice(&rest[..n]);
                    *consumed += n;
                    self.state = ReaderState::Literal(left - n);
                    if left == n {
                        self.fragment = self.line.len();
                        self.state = ReaderState::Line;
                    }
                }
                ReaderState::Body(left) => {
                    let n = usize::try_from(left).map_or(rest.len(), |left| left.min(rest.len()));
                    let range = *consumed..*consumed + n;
                    *consumed += n;
                    let left = left - n as u64;
                    self.state = if left == 0 { ReaderState::Line } else { ReaderState::Body(left) };
                    return Ok(Found::Body(range));
                }
            }
        }
    }

    /// Takes input to the end of a line. Returns what was found, if that is an event.
    fn take_line(
        &mut self,
        rest: &[u8],
        start: usize,
        consumed: &mut usize,
    ) -> Result<Option<Found>, ImapError> {
        let end = memchr(b'\n', rest);
        let piece = &rest[..end.map_or(rest.len(), |end| end + 1)];
        if self.limits.line_bytes < self.line.len() + piece.len() {
            return Err(ImapError::LineTooLong(self.limits.line_bytes));
        }
        if memchr(BODY_MARK, piece).is_some() {
            return Err(ImapError::ForbiddenByte(BODY_MARK));
        }
        *consumed += piece.len();
        let is_whole = self.line.is_empty() && end.is_some();
        if is_whole {
            let line = without_end(piece)?;
            if announcement(line, 0)?.is_none() {
                self.state = ReaderState::Complete;
                return Ok(Some(Found::LineOfInput(start..start + line.len())));
            }
        }
        self.line.extend_from_slice(piece);
        if end.is_none() {
            return Ok(None);
        }
        let length = without_end(&self.line[self.fragment..])?.len();
        let line = &self.line[..self.fragment + length];
        let Some(announced) = announcement(line, self.fragment)? else {
            self.line.truncate(self.fragment + length);
            self.state = ReaderState::Complete;
            return Ok(Some(Found::KeptLine));
        };
        self.take_announcement(&announced)
    }

    fn take_announcement(&mut self, announced: &Announcement) -> Result<Option<Found>, ImapError> {
        let Announcement { bytes, start, is_body } = *announced;
        if is_body {
            if self.limits.body_bytes < bytes {
                return Err(ImapError::LiteralTooLong { announced: bytes, most: self.limits.body_bytes });
            }
            self.line.truncate(start);
            self.line.push(BODY_MARK);
            self.line.extend_from_slice(bytes.to_string().as_bytes());
            self.line.push(BODY_MARK);
            self.fragment = self.line.len();
            if 0 < bytes {
                self.state = ReaderState::Body(bytes);
            }
            return Ok(Some(Found::BodyBegin(bytes)));
        }
        let most = (self.limits.line_bytes - self.line.len().min(self.limits.line_bytes)) as u64;
        if most < bytes {
            return Err(ImapError::LiteralTooLong { announced: bytes, most });
        }
        self.fragment = self.line.len();
        if 0 < bytes {
            self.state = ReaderState::Literal(bytes as usize);
        }
        Ok(None)
    }
}

/// Returns a line without its end.
fn without_end(line: &[u8]) -> Result<&[u8], ImapError> {
    let line = line.strip_suffix(b"\r\n").ok_or(ImapError::BareLineFeed)?;
    match memchr(b'\r', line) {
        Some(_) => Err(ImapError::ForbiddenByte(b'\r')),
        None => Ok(line),
    }
}

/// Returns the literal that a line without its end announces behind its last literal, which ends at `fragment`.
fn announcement(line: &[u8], fragment: usize) -> Result<Option<Announcement>, ImapError> {
    let part = &line[fragment..];
    let Some(inner) = part.strip_suffix(b"}") else { return Ok(None) };
    // What people are told may end with braces.
    if is_text_response(line) {
        return Ok(None);
    }
    let open = inner.iter().rposition(|byte| *byte == b'{').ok_or(ImapError::LiteralLength)?;
    let bytes = decimal(&inner[open + 1..]).map_err(|_| ImapError::LiteralLength)?;
    // `~{5}` announces bytes of any kind (RFC 3516).
    let before = inner[..open].strip_suffix(b"~").unwrap_or(&inner[..open]);
    let is_body = is_body_item(before) && is_fetch(line);
    Ok(Some(Announcement { bytes, start: fragment + before.len(), is_body }))
}

/// Returns whether a line is a FETCH response.
fn is_fetch(line: &[u8]) -> bool {
    let Some(rest) = line.strip_prefix(b"* ") else { return false };
    let n_digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    rest[n_digits..].get(..7).is_some_and(|word| word.eq_ignore_ascii_case(b" FETCH "))
}

/// Returns whether a part of a line ends with the name of an item that is a body, and a blank.
fn is_body_item(part: &[u8]) -> bool {
    let Some(part) = part.strip_suffix(b" ") else { return false };
    // A part of a body has the place where it begins: `BODY[]<0>`.
    let section = match part.strip_suffix(b">").and_then(|part| part.iter().rposition(|byte| *byte == b'<')) {
        Some(origin) => &part[..origin],
        None => part,
    };
    if section.ends_with(b"]") {
        return true;
    }
    let start = part.iter().rposition(|byte| b" (".contains(byte)).map_or(0, |at| at + 1);
    part[start..].get(..6).is_some_and(|name| name.eq_ignore_ascii_case(b"RFC822"))
}
