//! The head of a response.

use std::mem::MaybeUninit;

use httparse::{Header, ParserConfig, Response, Status};

use crate::error::{HeadError, Limit, Malformed};
use crate::framing::{FramingFields, check_line_ends, head_window, unfinished};
use crate::head::{Framing, HEADERS_MAX, HEADERS_USUAL, Parsed, RequestMethod, Version};

/// What a client has to know of a response's head; nothing in it refers to the bytes.
///
/// Other headers are looked up with [`header`](crate::header) by those who want them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ResponseHead {
    /// The status code, 100 to 999. 1xx means that another head follows (RFC 9110 §15.2).
    pub status: u16,
    /// The version that the server speaks.
    pub version: Version,
    /// How the end of the body is found.
    pub framing: Framing,
    /// Whether the connection can take another request once the body has been read (RFC 9112 §9.3).
    pub keep_alive: bool,
}

/// Parses the head at the start of `buf`, a response to a request with this method.
///
/// `buf` may go on with the body; give the same bytes and more after a [`Parsed::Partial`].
/// Allocates nothing.
///
/// # Errors
///
/// A head that breaks the grammar, exceeds a limit or frames its body ambiguously; see [`HeadError`].
pub fn parse_response(buf: &[u8], method: RequestMethod) -> Result<Parsed<ResponseHead>, HeadError> {
    match parse::<HEADERS_USUAL>(buf, method) {
        Err(HeadError::Oversized(Limit::Headers)) => parse_long(buf, method),
        outcome => outcome,
    }
}

#[cold]
fn parse_long(buf: &[u8], method: RequestMethod) -> Result<Parsed<ResponseHead>, HeadError> {
    parse::<HEADERS_MAX>(buf, method)
}

#[inline]
fn parse<const N: usize>(buf: &[u8], method: RequestMethod) -> Result<Parsed<ResponseHead>, HeadError> {
    let window = head_window(buf);
    if matches!(window.first(), Some(b'\r' | b'\n')) {
        // The parser would skip empty lines; a server has no business sending any.
        return Err(HeadError::Malformed(Malformed::StatusLine));
    }
    // Uninitialised room: clearing 32 places would cost more than parsing a usual head.
    let mut room = [const { MaybeUninit::<Header>::uninit() }; N];
    let mut response = Response::new(&mut []);
    let status = ParserConfig::default()
        .parse_response_with_uninit_headers(&mut response, window, &mut room)
        .map_err(|error| HeadError::from_parser(error, Malformed::StatusLine))?;
    let Status::Complete(length) = status else {
        return unfinished(window);
    };
    check_line_ends(&window[..length], response.headers)?;
    Ok(Parsed::Complete { head: interpret(&response, method)?, length })
}

#[inline]
fn interpret(response: &Response<'_, '_>, method: RequestMethod) -> Result<ResponseHead, HeadError> {
    let version = Version::from_minor(response.version);
    let mut fields = FramingFields::new(version);
    for header in response.headers.iter() {
        fields.note(header.name, header.value)?;
    }
    fields.check()?;
    let status = response.code.filter(|&code| code >= 100);
    let status = status.ok_or(HeadError::Malformed(Malformed::StatusLine))?;
    let framing = framing(status, method, &fields);
    let stays_http = status != 101 && !opens_tunnel(status, method);
    let keep_alive = framing != Framing::ToEof && stays_http && fields.keeps_alive();
    Ok(ResponseHead { status, version, framing, keep_alive })
}

/// Applies the rules for responses of RFC 9112 §6.3, in their order.
fn framing(status: u16, method: RequestMethod, fields: &FramingFields) -> Framing {
    let bodiless = method == RequestMethod::Head || matches!(status, 100..=199 | 204 | 304);
    if bodiless || opens_tunnel(status, method) {
        Framing::None
    } else if fields.chunked {
        Framing::Chunked
    } else {
        fields.length.map_or(Framing::ToEof, Framing::Length)
    }
}

/// Tells whether what follows is no longer HTTP (RFC 9110 §9.3.6).
fn opens_tunnel(status: u16, method: RequestMethod) -> bool {
    method == RequestMethod::Connect && matches!(status, 200..=299)
}
