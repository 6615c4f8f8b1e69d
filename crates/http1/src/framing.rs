//! The fields of a head that decide about its body and its connection.

use httparse::Header;

use crate::error::{HeadError, HeadLimit, MalformedPart};
use crate::head::{HEAD_BYTES_MAX, Http1Version, ParseStatus, offset_in};

/// The sender of a head: a client, whose framing must have one meaning only, or a server, whose framing a client reads
/// as RFC 9112 says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sender {
    Client,
    Server,
}

/// The combined framing fields of one head, collected line by line.
#[derive(Debug)]
pub(crate) struct FramingFields<'a> {
    version: Http1Version,
    sender: Sender,
    pub(crate) length: Option<u64>,
    pub(crate) chunked: bool,
    /// Whether the body is compressed, or encoded in another way (`Content-Encoding`).
    pub(crate) encoded: bool,
    /// The first `Content-Type`.
    pub(crate) content_type: Option<&'a [u8]>,
    close: bool,
    keep_alive: bool,
}

impl<'a> FramingFields<'a> {
    pub(crate) fn new(version: Http1Version, sender: Sender) -> FramingFields<'a> {
        FramingFields {
            version,
            sender,
            length: None,
            chunked: false,
            encoded: false,
            content_type: None,
            close: false,
            keep_alive: false,
        }
    }

    /// Adds one header line. Compares the length of its name first, because most lines are not framing fields.
    #[inline]
    pub(crate) fn note(&mut self, name: &str, value: &'a [u8]) -> Result<(), HeadError> {
        match name.len() {
            10 if name.eq_ignore_ascii_case("connection") => self.note_connection(value),
            12 if name.eq_ignore_ascii_case("content-type") => {
                self.content_type.get_or_insert(value);
            }
            14 if name.eq_ignore_ascii_case("content-length") => self.note_length(value)?,
            16 if name.eq_ignore_ascii_case("content-encoding") => {
                self.encoded |= names_content_coding(value)
            }
            17 if name.eq_ignore_ascii_case("transfer-encoding") => self.note_coding(value)?,
            _ => {}
        }
        Ok(())
    }

    /// Checks the combination of lines: a request with a length beside a transfer coding may be an attack. In a response
    /// the coding counts (RFC 9112 §6.3 item 3).
    pub(crate) fn check(&self) -> Result<(), HeadError> {
        if self.sender == Sender::Client && self.chunked && self.length.is_some() {
            return Err(HeadError::LengthWithTransferEncoding);
        }
        Ok(())
    }

    /// Returns whether the connection outlives the message (RFC 9112 §9.3); `close` outweighs all else, and so do chunks
    /// of HTTP/1.0 (§6.1).
    pub(crate) fn keeps_alive(&self) -> bool {
        match self.version {
            Http1Version::Http11 => !self.close,
            Http1Version::Http10 => !self.close && self.keep_alive && !self.chunked,
        }
    }

    fn note_connection(&mut self, value: &[u8]) {
        for option in value.split(|&byte| byte == b',') {
            let option = option.trim_ascii();
            self.close |= option.eq_ignore_ascii_case(b"close");
            self.keep_alive |= option.eq_ignore_ascii_case(b"keep-alive");
        }
    }

    /// Folds equal lengths into one, within a line and across lines (RFC 9110 §8.6).
    fn note_length(&mut self, value: &[u8]) -> Result<(), HeadError> {
        for element in value.split(|&byte| byte == b',') {
            let length = parse_length(element.trim_ascii()).ok_or(HeadError::InvalidLength)?;
            if self.length.is_some_and(|known| known != length) {
                return Err(HeadError::ConflictingLengths);
            }
            self.length = Some(length);
        }
        Ok(())
    }

    fn note_coding(&mut self, value: &[u8]) -> Result<(), HeadError> {
        if self.sender == Sender::Client && self.version == Http1Version::Http10 {
            return Err(HeadError::TransferEncodingOnHttp10);
        }
        for coding in value.split(|&byte| byte == b',').map(<[u8]>::trim_ascii) {
            // RFC 2616 had `identity` for no coding at all.
            if self.sender == Sender::Server && coding.eq_ignore_ascii_case(b"identity") {
                continue;
            }
            if !coding.eq_ignore_ascii_case(b"chunked") {
                return Err(HeadError::UnknownTransferEncoding);
            }
            if self.chunked {
                return Err(HeadError::RepeatedChunked);
            }
            self.chunked = true;
        }
        Ok(())
    }
}

/// Returns whether a line of `Content-Encoding` names a coding of the body. `identity` is none (RFC 9110 §8.4.1),
/// though no server should name it.
pub fn names_content_coding(value: &[u8]) -> bool {
    let mut codings = value.split(|&byte| byte == b',').map(<[u8]>::trim_ascii);
    codings.any(|coding| !coding.is_empty() && !coding.eq_ignore_ascii_case(b"identity"))
}

/// Reads 1*DIGIT (RFC 9110 §8.6): no sign, no blank, no other base, no overflow.
fn parse_length(digits: &[u8]) -> Option<u64> {
    if digits.is_empty() {
        return None;
    }
    digits.iter().try_fold(0u64, |length, &digit| {
        let value = digit.is_ascii_digit().then(|| u64::from(digit - b'0'))?;
        length.checked_mul(10)?.checked_add(value)
    })
}

/// Returns the bytes in which a head has to end.
pub(crate) fn head_window(buf: &[u8]) -> &[u8] {
    &buf[..buf.len().min(HEAD_BYTES_MAX)]
}

/// Returns `Partial` for an unfinished head, or an error if it is already too long.
pub(crate) fn unfinished<T>(window: &[u8]) -> Result<ParseStatus<T>, HeadError> {
    if window.len() == HEAD_BYTES_MAX {
        return Err(HeadError::Oversized(HeadLimit::Bytes));
    }
    Ok(ParseStatus::Partial)
}

/// Refuses a head of a request in which any line ends with a bare LF, which the parser accepts.
///
/// Every header line begins right after the LF of the line before it, so it is enough to look two
/// bytes back from each, and at the four bytes that end the head.
#[inline]
pub(crate) fn check_line_ends(head: &[u8], headers: &[Header<'_>]) -> Result<(), HeadError> {
    let preceded = |header: &Header<'_>| {
        let start = offset_in(head, header.name.as_bytes());
        start >= 2 && head[start - 2] == b'\r'
    };
    if headers.iter().all(preceded) && head.ends_with(b"\r\n\r\n") {
        return Ok(());
    }
    Err(HeadError::Malformed(MalformedPart::LineEnd))
}
