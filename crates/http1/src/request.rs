//! The head of a request, as servers read it.

use std::mem::MaybeUninit;
use std::ops::Range;

use httparse::{Header, Request, Status};

use crate::error::{HeadError, Limit, Malformed};
use crate::framing::{FramingFields, check_line_ends, head_window, unfinished};
use crate::head::{Framing, HEADERS_MAX, HEADERS_USUAL, Parsed, RequestMethod, Version, offset_in};

/// What a server has to know of a request's head; ranges are positions in the parsed buffer.
///
/// Whatever form the request line has (RFC 9112 §3.2), `host` and `target` mean the same: of an
/// absolute `http://h/p?q` they are `h` and `/p?q`, and `Host` does not count then (§3.2.2).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestHead {
    /// The method, as far as the project tells them apart.
    pub method: RequestMethod,
    /// The method's name as sent.
    pub method_name: Range<usize>,
    /// Path and query, as sent. `*` of OPTIONS and `host:port` of CONNECT stand as they are;
    /// empty if an absolute form has no path, which means `/`.
    pub target: Range<usize>,
    /// The host that is meant, with its port if given; `None` only for HTTP/1.0 without `Host`.
    pub host: Option<Range<usize>>,
    /// The version that the client speaks.
    pub version: Version,
    /// How the end of the body is found; never [`Framing::ToEof`].
    pub framing: Framing,
    /// Whether the client can take another response on the connection (RFC 9112 §9.3).
    pub keep_alive: bool,
}

/// Parses the head at the start of `buf`, of which one empty line before it is part (RFC 9112 §2.2).
///
/// `buf` may go on with a body or further requests; give the same bytes and more after a
/// [`Parsed::Partial`]. Allocates nothing.
///
/// # Errors
///
/// A head that breaks the grammar, exceeds a limit, names no host or several, or frames its body in
/// a way that another server could read differently; see [`HeadError`].
pub fn parse_request(buf: &[u8]) -> Result<Parsed<RequestHead>, HeadError> {
    match parse::<HEADERS_USUAL>(buf) {
        Err(HeadError::Oversized(Limit::Headers)) => parse_long(buf),
        outcome => outcome,
    }
}

#[cold]
fn parse_long(buf: &[u8]) -> Result<Parsed<RequestHead>, HeadError> {
    parse::<HEADERS_MAX>(buf)
}

fn parse<const N: usize>(buf: &[u8]) -> Result<Parsed<RequestHead>, HeadError> {
    let window = head_window(buf);
    let start = if window.starts_with(b"\r\n") { 2 } else { 0 };
    match &window[start..] {
        [] | [b'\r'] => return Ok(Parsed::Partial),
        [b'\r' | b'\n', ..] => return Err(HeadError::Malformed(Malformed::RequestLine)),
        _ => {}
    }
    let mut room = [const { MaybeUninit::<Header>::uninit() }; N];
    let mut request = Request::new(&mut []);
    let status = request
        .parse_with_uninit_headers(&window[start..], &mut room)
        .map_err(|error| HeadError::from_parser(error, Malformed::RequestLine))?;
    let Status::Complete(length) = status else {
        return unfinished(window);
    };
    let length = start + length;
    check_line_ends(&window[..length], request.headers)?;
    Ok(Parsed::Complete { head: interpret(window, &request)?, length })
}

fn interpret(window: &[u8], request: &Request<'_, '_>) -> Result<RequestHead, HeadError> {
    let range_of = |part: &[u8]| {
        let start = offset_in(window, part);
        start..start + part.len()
    };
    let version = Version::from_minor(request.version);
    let (name, target) = (request.method.unwrap_or_default(), request.path.unwrap_or_default().as_bytes());
    let method = RequestMethod::from_name(name.as_bytes());
    let mut fields = FramingFields::new(version);
    let mut host_line = None;
    for header in request.headers.iter() {
        fields.note(header.name, header.value)?;
        if header.name.eq_ignore_ascii_case("host") && host_line.replace(header.value).is_some() {
            return Err(HeadError::RepeatedHost);
        }
    }
    fields.check()?;
    let (authority, target) = split_target(method, target)?;
    let host = checked_host(version, authority, host_line)?;
    Ok(RequestHead {
        method,
        method_name: range_of(name.as_bytes()),
        target: range_of(target),
        host: host.map(range_of),
        version,
        framing: framing(&fields),
        keep_alive: fields.keeps_alive(),
    })
}

/// Applies the rules for requests of RFC 9112 §6.3: without a length there is no body.
fn framing(fields: &FramingFields) -> Framing {
    if fields.chunked {
        return Framing::Chunked;
    }
    fields.length.map_or(Framing::None, Framing::Length)
}

/// Splits a request target into authority, if its form has one, and what is asked for there.
fn split_target(method: RequestMethod, target: &[u8]) -> Result<(Option<&[u8]>, &[u8]), HeadError> {
    let malformed = HeadError::Malformed(Malformed::Target);
    if !target.iter().all(|byte| byte.is_ascii_graphic() && *byte != b'#') {
        return Err(malformed);
    }
    if method == RequestMethod::Connect {
        let (host, port) = target
            .iter()
            .rposition(|&byte| byte == b':')
            .map(|colon| target.split_at(colon))
            .ok_or(malformed)?;
        return if !host.is_empty() && port.len() > 1 { Ok((Some(target), target)) } else { Err(malformed) };
    }
    if target.starts_with(b"/") || (method == RequestMethod::Options && target == b"*") {
        return Ok((None, target));
    }
    let rest = strip_scheme(target).ok_or(malformed)?;
    let end = rest.iter().position(|byte| b"/?".contains(byte)).unwrap_or(rest.len());
    let (authority, target) = rest.split_at(end);
    if authority.is_empty() || target.starts_with(b"?") {
        Err(malformed)
    } else {
        Ok((Some(authority), target))
    }
}

fn strip_scheme(target: &[u8]) -> Option<&[u8]> {
    let strip = |scheme: &[u8]| {
        let (start, rest) = target.split_at_checked(scheme.len())?;
        start.eq_ignore_ascii_case(scheme).then_some(rest)
    };
    strip(b"http://").or_else(|| strip(b"https://"))
}

/// Applies RFC 9112 §3.2: HTTP/1.1 must name one host, and the target's authority outweighs it.
fn checked_host<'a>(
    version: Version,
    authority: Option<&'a [u8]>,
    host_line: Option<&'a [u8]>,
) -> Result<Option<&'a [u8]>, HeadError> {
    if version == Version::Http11 && host_line.is_none() {
        return Err(HeadError::MissingHost);
    }
    if ![authority, host_line].into_iter().flatten().all(is_host) {
        return Err(HeadError::InvalidHost);
    }
    Ok(authority.or(host_line))
}

/// Tells whether `host` has only bytes of `uri-host [":" port]` (RFC 3986 §3.2.2); may be empty.
pub(crate) fn is_host(host: &[u8]) -> bool {
    host.iter().all(|&byte| byte.is_ascii_alphanumeric() || b"-._~%!$&'()*+,;=:[]".contains(&byte))
}
