//! The head of a request, as servers read it.

use std::mem::MaybeUninit;
use std::ops::Range;

use httparse::{Header, Request, Status};

use crate::error::{HeadError, HeadLimit, MalformedPart};
use crate::framing::{FramingFields, Sender, check_line_ends, head_window, unfinished};
use crate::head::{Framing, HEADERS_MAX, HEADERS_USUAL, Http1Version, ParseStatus, RequestMethod, offset_in};

/// The parts of a request's head that a server needs; ranges are positions in the parsed buffer.
///
/// Whatever form the request line has (RFC 9112 §3.2), `host` and `target` mean the same: of an
/// absolute `http://h/p?q` they are `h` and `/p?q`, and `Host` does not count then (§3.2.2).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestHead {
    /// The method, as far as the project distinguishes it.
    pub method: RequestMethod,
    /// The method's name as sent.
    pub method_name: Range<usize>,
    /// Path and query, as sent: visible ASCII, and UTF-8 that is not percent-encoded. `*` of OPTIONS and `host:port` of
    /// CONNECT stand as they are; empty if an absolute form has no path, which means `/`.
    pub target: Range<usize>,
    /// The requested host, with its port if given; `None` only for HTTP/1.0 without `Host`.
    pub host: Option<Range<usize>>,
    /// The version that the client speaks.
    pub version: Http1Version,
    /// The framing of the body; never [`Framing::ToEof`].
    pub framing: Framing,
    /// Whether the client can accept another response on the connection (RFC 9112 §9.3).
    pub keep_alive: bool,
}

/// Parses the head at the start of `buf`, including one empty line before it (RFC 9112 §2.2).
///
/// `buf` may go on with a body or further requests; give the same bytes and more after a
/// [`ParseStatus::Partial`]. Allocates nothing.
///
/// # Errors
///
/// A head that breaks the grammar, exceeds a limit, names no host or several, or frames its body in
/// a way that another server could read differently; see [`HeadError`].
pub fn parse_request(buf: &[u8]) -> Result<ParseStatus<RequestHead>, HeadError> {
    match parse::<HEADERS_USUAL>(buf) {
        Err(HeadError::Oversized(HeadLimit::Headers)) => parse_long(buf),
        outcome => outcome,
    }
}

#[cold]
fn parse_long(buf: &[u8]) -> Result<ParseStatus<RequestHead>, HeadError> {
    parse::<HEADERS_MAX>(buf)
}

fn parse<const N: usize>(buf: &[u8]) -> Result<ParseStatus<RequestHead>, HeadError> {
    let window = head_window(buf);
    let start = if window.starts_with(b"\r\n") { 2 } else { 0 };
    match &window[start..] {
        [] | [b'\r'] => return Ok(ParseStatus::Partial),
        [b'\r' | b'\n', ..] => return Err(HeadError::Malformed(MalformedPart::RequestLine)),
        _ => {}
    }
    let mut room = [const { MaybeUninit::<Header>::uninit() }; N];
    let mut request = Request::new(&mut []);
    let status = request
        .parse_with_uninit_headers(&window[start..], &mut room)
        .map_err(|error| HeadError::from_parser(error, MalformedPart::RequestLine))?;
    let Status::Complete(length) = status else {
        return unfinished(window);
    };
    let length = start + length;
    check_line_ends(&window[..length], request.headers)?;
    Ok(ParseStatus::Complete { head: interpret(window, &request)?, length })
}

fn interpret(window: &[u8], request: &Request<'_, '_>) -> Result<RequestHead, HeadError> {
    let range_of = |part: &[u8]| {
        let start = offset_in(window, part);
        start..start + part.len()
    };
    let version = Http1Version::from_minor(request.version);
    let name = request.method.unwrap_or_default();
    let target = request.path.unwrap_or_default().as_bytes();
    let method = RequestMethod::from_name(name.as_bytes());
    let mut fields = FramingFields::new(version, Sender::Client);
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
fn framing(fields: &FramingFields<'_>) -> Framing {
    if fields.chunked {
        return Framing::Chunked;
    }
    fields.length.map_or(Framing::None, Framing::Length)
}

/// Splits a request target into its authority, if its form has one, and the rest.
fn split_target(method: RequestMethod, target: &[u8]) -> Result<(Option<&[u8]>, &[u8]), HeadError> {
    let malformed = HeadError::Malformed(MalformedPart::Target);
    // UTF-8 that is not percent-encoded is no URI, but browsers and old links send it: the caller encodes it.
    if !target.iter().all(|byte| (byte.is_ascii_graphic() && *byte != b'#') || !byte.is_ascii()) {
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
    version: Http1Version,
    authority: Option<&'a [u8]>,
    host_line: Option<&'a [u8]>,
) -> Result<Option<&'a [u8]>, HeadError> {
    if version == Http1Version::Http11 && host_line.is_none() {
        return Err(HeadError::MissingHost);
    }
    if ![authority, host_line].into_iter().flatten().all(is_host) {
        return Err(HeadError::InvalidHost);
    }
    Ok(authority.or(host_line))
}

/// Returns whether `host` has only bytes of `uri-host [":" port]` (RFC 3986 §3.2.2); may be empty.
pub fn is_host(host: &[u8]) -> bool {
    host.iter().all(|&byte| byte.is_ascii_alphanumeric() || b"-._~%!$&'()*+,;=:[]".contains(&byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a request in words: method name, target, host, version, framing, keep-alive.
    fn described(text: &str) -> Result<String, HeadError> {
        let ParseStatus::Complete { head, length } = parse_request(text.as_bytes())? else {
            return Ok("partial".into());
        };
        assert_eq!(length, text.len(), "{text:?}");
        assert_eq!(head.method, RequestMethod::from_name(&text.as_bytes()[head.method_name.clone()]));
        let host = head.host.map_or("-", |host| &text[host]);
        let keep = if head.keep_alive { "keep" } else { "close" };
        let name = &text[head.method_name];
        let target = &text[head.target];
        Ok(format!("{name} {target} {host} {:?} {:?} {keep}", head.version, head.framing))
    }

    /// Returns the same for an HTTP/1.1 request for `/` on host `h` with these further lines.
    fn with_lines(lines: &str) -> Result<String, HeadError> {
        described(&format!("POST / HTTP/1.1\r\nHost: h\r\n{lines}\r\n"))
    }

    #[test]
    fn request_lines_and_hosts_are_parsed() {
        let cases = [
            ("GET /a?b HTTP/1.1\r\nHost: h:80\r\n\r\n", "GET /a?b h:80 Http11 None keep"),
            ("\r\nGET / HTTP/1.1\r\nhOST:h\r\n\r\n", "GET / h Http11 None keep"),
            ("GET / HTTP/1.0\r\nAccept: */*\r\n\r\n", "GET / - Http10 None close"),
            ("GET / HTTP/1.0\r\n\r\n", "GET / - Http10 None close"),
            ("GET / HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n", "GET / - Http10 None keep"),
            ("HEAD / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n", "HEAD / h Http11 None close"),
            ("GET / HTTP/1.1\r\nHost:\r\n\r\n", "GET /  Http11 None keep"),
            ("GET / HTTP/1.1\r\nHost: [::1]:8080\r\n\r\n", "GET / [::1]:8080 Http11 None keep"),
            ("GET http://a/b?c HTTP/1.1\r\nHost: other\r\n\r\n", "GET /b?c a Http11 None keep"),
            ("GET HTTPS://a:1 HTTP/1.1\r\nHost: a:1\r\n\r\n", "GET  a:1 Http11 None keep"),
            ("OPTIONS * HTTP/1.1\r\nHost: h\r\n\r\n", "OPTIONS * h Http11 None keep"),
            ("CONNECT h:443 HTTP/1.1\r\nHost: x\r\n\r\n", "CONNECT h:443 h:443 Http11 None keep"),
            ("PURGE /%7e//.. HTTP/1.1\r\nHost: h\r\n\r\n", "PURGE /%7e//.. h Http11 None keep"),
            ("PUT / HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\n", "PUT / h Http11 Length(3) keep"),
            (
                "DELETE / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n",
                "DELETE / h Http11 Chunked keep",
            ),
        ];
        for (text, expected) in cases {
            assert_eq!(described(text).as_deref(), Ok(expected), "{text:?}");
        }
    }

    #[test]
    fn ambiguous_requests_are_refused() {
        use HeadError::{
            ConflictingLengths, InvalidLength, LengthWithTransferEncoding, RepeatedChunked, RepeatedHost,
            UnknownTransferEncoding,
        };
        let cases = [
            ("Content-Length: 5\r\nTransfer-Encoding: chunked\r\n", LengthWithTransferEncoding),
            ("Transfer-Encoding: chunked\r\nContent-Length: 5\r\n", LengthWithTransferEncoding),
            ("Content-Length: 5\r\nContent-Length: 6\r\n", ConflictingLengths),
            ("Content-Length: 5, 6\r\n", ConflictingLengths),
            ("Content-Length: +5\r\n", InvalidLength),
            ("Content-Length: 0x5\r\n", InvalidLength),
            ("Content-Length: 5_0\r\n", InvalidLength),
            ("Content-Length:\r\n", InvalidLength),
            ("Content-Length: 99999999999999999999\r\n", InvalidLength),
            ("Transfer-Encoding: chunked, chunked\r\n", RepeatedChunked),
            ("Transfer-Encoding: chunked\r\ntransfer-encoding: chunked\r\n", RepeatedChunked),
            ("Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n", UnknownTransferEncoding),
            ("Transfer-Encoding: x\r\n", UnknownTransferEncoding),
            ("Host: h\r\n", RepeatedHost),
            ("hOsT: other\r\n", RepeatedHost),
        ];
        for (lines, reason) in cases {
            assert_eq!(with_lines(lines), Err(reason), "{lines:?}");
        }
        assert_eq!(
            with_lines("Content-Length: 5\r\nContent-Length: 5\r\n").as_deref(),
            Ok("POST / h Http11 Length(5) keep")
        );
        let old = "POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n";
        assert_eq!(described(old), Err(HeadError::TransferEncodingOnHttp10));
    }

    #[test]
    fn hosts_are_required_and_checked() {
        assert_eq!(described("GET / HTTP/1.1\r\n\r\n"), Err(HeadError::MissingHost));
        assert_eq!(described("GET http://a/ HTTP/1.1\r\n\r\n"), Err(HeadError::MissingHost));
        for host in ["a b", "a/b", "u@h", "a\\b", "a?b", "a#b", "h\u{e9}", "<a>", "\"a\""] {
            let text = format!("GET / HTTP/1.1\r\nHost: {host}\r\n\r\n");
            assert_eq!(described(&text), Err(HeadError::InvalidHost), "{host:?}");
        }
        assert_eq!(described("GET http://u@h/ HTTP/1.1\r\nHost: h\r\n\r\n"), Err(HeadError::InvalidHost));
    }

    #[test]
    fn targets_must_have_a_form_that_the_method_allows() {
        let refused = [
            "a",
            "*",
            "?a",
            "/a#b",
            "/\u{e9}#b",
            "ftp://h/",
            "http://",
            "http:///a",
            "http://h?a",
            "http:/h",
            "h:80",
        ];
        for target in refused {
            let text = format!("GET {target} HTTP/1.1\r\nHost: h\r\n\r\n");
            assert_eq!(described(&text), Err(HeadError::Malformed(MalformedPart::Target)), "{target:?}");
        }
        // Bytes that are no character of a URI in any encoding are not even a request line.
        assert_eq!(
            described("GET /a\u{7f}b HTTP/1.1\r\nHost: h\r\n\r\n"),
            Err(HeadError::Malformed(MalformedPart::RequestLine))
        );
        assert_eq!(
            described("GET /caf\u{e9}?\u{20ac} HTTP/1.1\r\nHost: h\r\n\r\n").as_deref(),
            Ok("GET /caf\u{e9}?\u{20ac} h Http11 None keep")
        );
        for target in ["/", "h", "h:", ":80", "*"] {
            let text = format!("CONNECT {target} HTTP/1.1\r\nHost: h\r\n\r\n");
            assert_eq!(described(&text), Err(HeadError::Malformed(MalformedPart::Target)), "{target:?}");
        }
    }

    #[test]
    fn heads_outside_the_grammar_are_refused_with_the_part() {
        use MalformedPart::{FieldName, FieldValue, LineEnd, RequestLine};
        let cases = [
            ("\r\n\r\nGET / HTTP/1.0\r\n\r\n", RequestLine),
            ("\nGET / HTTP/1.0\r\n\r\n", RequestLine),
            ("\rGET / HTTP/1.0\r\n\r\n", RequestLine),
            (" GET / HTTP/1.0\r\n\r\n", RequestLine),
            ("G(T / HTTP/1.0\r\n\r\n", RequestLine),
            ("GET  / HTTP/1.0\r\n\r\n", RequestLine),
            ("GET\t/ HTTP/1.0\r\n\r\n", RequestLine),
            ("GET /\r\n\r\n", RequestLine),
            ("GET /\0 HTTP/1.0\r\n\r\n", RequestLine),
            ("GET / HTTP/1.0 \r\n\r\n", LineEnd),
            ("GET / HTTP/1.0\rHost: h\r\n\r\n", LineEnd),
            ("GET / HTTP/1.0\n\n", LineEnd),
            ("GET / HTTP/1.0\nHost: h\r\n\r\n", LineEnd),
            ("GET / HTTP/1.0\r\nHost: h\n\r\n", LineEnd),
            ("GET / HTTP/1.0\r\nHost: h\r\n\n", LineEnd),
            ("GET / HTTP/1.0\r\nHost: h\r\n folded\r\n\r\n", FieldName),
            ("GET / HTTP/1.0\r\n\tHost: h\r\n\r\n", FieldName),
            ("GET / HTTP/1.0\r\nContent-Length : 5\r\n\r\n", FieldName),
            ("GET / HTTP/1.0\r\nHost\r\n\r\n", FieldName),
            ("GET / HTTP/1.0\r\nA: b\0\r\n\r\n", FieldValue),
            ("GET / HTTP/1.0\r\nA: b\rc\r\n\r\n", FieldValue),
        ];
        for (text, part) in cases {
            assert_eq!(described(text), Err(HeadError::Malformed(part)), "{text:?}");
        }
        for version in ["HTTP/2.0", "HTTP/1.2", "http/1.1", "HTTQ/1.1"] {
            let text = format!("GET / {version}\r\n\r\n");
            assert_eq!(described(&text), Err(HeadError::UnsupportedVersion), "{version:?}");
        }
    }

    #[test]
    fn pipelined_requests_are_parsed_one_by_one() {
        let one = "GET /1 HTTP/1.1\r\nHost: h\r\n\r\n";
        let both = format!("{one}GET /2 HTTP/1.1\r\nHost: h\r\n\r\n");
        let Ok(ParseStatus::Complete { length, .. }) = parse_request(both.as_bytes()) else { panic!() };
        assert_eq!(length, one.len());
        assert_eq!(described(&both[length..]).as_deref(), Ok("GET /2 h Http11 None keep"));
    }

    #[test]
    fn no_bytes_or_half_a_line_are_partial() {
        for text in ["", "\r", "\r\n", "\r\n\r", "G", "GET", "GET /", "GET / HTTP/1.1\r\nHost: h\r\n\r"] {
            assert_eq!(described(text).as_deref(), Ok("partial"), "{text:?}");
        }
    }

    #[test]
    fn requests_are_bounded() {
        assert!(with_lines(&"A: b\r\n".repeat(HEADERS_MAX - 1)).is_ok());
        assert_eq!(
            with_lines(&"A: b\r\n".repeat(HEADERS_MAX)),
            Err(HeadError::Oversized(HeadLimit::Headers))
        );
        let long = format!("GET /{} HTTP/1.0\r\n\r\n", "x".repeat(crate::HEAD_BYTES_MAX));
        assert_eq!(described(&long), Err(HeadError::Oversized(HeadLimit::Bytes)));
    }
}
