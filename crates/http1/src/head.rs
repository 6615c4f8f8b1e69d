//! Parts that heads of requests and responses share.

/// The most bytes that a head may have, the empty line at its end included: 64 KiB.
///
/// Eight times what common servers send or accept (8 KiB), so that only a fault or an attack reaches it.
pub const HEAD_BYTES_MAX: usize = 64 * 1024;

/// The most bytes that interim responses (1xx) before a final one may have, all together.
///
/// A client accepts any number of them (RFC 9110 section 15.2), but no server sends that many bytes before its final
/// response. It is more than a head may have, so that the number of bytes tells which limit was exceeded.
pub const INTERIM_BYTES_MAX: usize = 1 << 20;

/// The most header lines that a request may have.
pub const HEADERS_MAX: usize = 128;

/// The most header lines that a response may have: eight times those of a request, which nobody sends on purpose.
/// Applications add a line per policy, cookie or preload; curl takes 5,000 lines, nginx takes what fits its buffer.
pub const RESPONSE_HEADERS_MAX: usize = 1024;

/// Number of header lines that fit the first attempt; heads with more are parsed again with room for the most.
/// Keeps the common case within 1 KiB of stack.
pub(crate) const HEADERS_USUAL: usize = 32;

/// The result of parsing bytes that may not be complete yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ParseStatus<T> {
    /// An incomplete head: nothing wrong so far, but it does not end within the given bytes.
    Partial,
    /// A complete head.
    Complete {
        /// The parsed head.
        head: T,
        /// The bytes it takes up, the empty line at its end included; the body starts here.
        length: usize,
    },
}

/// The protocol version of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Http1Version {
    /// HTTP/1.0: a connection closes after the response unless both sides say otherwise.
    Http10,
    /// HTTP/1.1: a connection stays open unless one side says otherwise.
    Http11,
}

impl Http1Version {
    /// Returns the version as it is written in a start line.
    pub fn as_str(self) -> &'static str {
        match self {
            Http1Version::Http10 => "HTTP/1.0",
            Http1Version::Http11 => "HTTP/1.1",
        }
    }

    /// Converts the parser's minor version, which it has checked to be 0 or 1.
    pub(crate) fn from_minor(minor: Option<u8>) -> Http1Version {
        if minor == Some(0) { Http1Version::Http10 } else { Http1Version::Http11 }
    }
}

/// The way in which the end of a body is found (RFC 9112 §6.3).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Framing {
    /// There is no body.
    None,
    /// The body has this many bytes.
    Length(u64),
    /// The body is a series of chunks (RFC 9112 §7.1).
    Chunked,
    /// The body ends when the sender closes the connection; responses only.
    ToEof,
}

/// The request methods that the project distinguishes; names are case-sensitive (RFC 9110 §9.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RequestMethod {
    /// GET, for the content of the target.
    Get,
    /// HEAD: as GET, but only for the head; its response never has a body.
    Head,
    /// POST, which hands content to the target to process.
    Post,
    /// PUT, which replaces the target's content.
    Put,
    /// DELETE, which removes the target's content.
    Delete,
    /// OPTIONS, for what may be done with the target, or with the server (`*`).
    Options,
    /// CONNECT, for a tunnel; a 2xx response to it is the last thing that is HTTP on the connection.
    Connect,
    /// Any other method; its name is in the request line.
    Other,
}

impl RequestMethod {
    /// Returns the method with this name, [`RequestMethod::Other`] if the project has no name for it.
    pub fn from_name(name: &[u8]) -> RequestMethod {
        match name {
            b"GET" => RequestMethod::Get,
            b"HEAD" => RequestMethod::Head,
            b"POST" => RequestMethod::Post,
            b"PUT" => RequestMethod::Put,
            b"DELETE" => RequestMethod::Delete,
            b"OPTIONS" => RequestMethod::Options,
            b"CONNECT" => RequestMethod::Connect,
            _ => RequestMethod::Other,
        }
    }
}

/// Returns the position at which `part`, a slice of `whole`, begins in it.
#[inline]
pub(crate) fn offset_in(whole: &[u8], part: &[u8]) -> usize {
    part.as_ptr().addr() - whole.as_ptr().addr()
}

/// Returns whether a byte may be part of a token, such as a field name (RFC 9110 §5.6.2).
pub fn is_token_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

/// Returns whether a byte may be part of a field value (RFC 9110 §5.5): no control character but tab.
pub(crate) fn is_value_byte(byte: u8) -> bool {
    byte == b'\t' || (byte >= b' ' && byte != 0x7f)
}
