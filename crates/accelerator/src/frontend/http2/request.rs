//! Conversion of an HTTP/2 head into a request that could as well have come by HTTP/1.
//!
//! `h2` refuses most that RFC 9113 §8.1.1 calls malformed by resetting the stream: upper case; pseudo-header fields
//! that are unknown, repeated or late; connection-specific fields; bytes that no value has; lengths that contradict
//! each other or the body. This module checks what `h2` leaves, and the most dangerous of these again.

use std::net::SocketAddr;

use cache_policy::Scheme;
use http::header::{CONTENT_LENGTH, COOKIE, EXPECT, HOST, TE};
use http::request::Parts;
use http::{HeaderMap, HeaderName, HeaderValue, Method, Uri};
use http1::{HEADERS_MAX, HeaderLines, is_host};

use crate::message::{ClientRequest, ClientVersion, ProxyReason};

/// Connection-specific fields, which no message of HTTP/2 has (RFC 9113 §8.2.2).
const CONNECTION_SPECIFIC: [&str; 5] =
    ["connection", "keep-alive", "proxy-connection", "transfer-encoding", "upgrade"];

/// The rejection of a request that is not handled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Rejection {
    /// The status that the client gets.
    pub(super) status: u16,
    /// The reason, for logs and metrics.
    pub(super) reason: ProxyReason,
}

const fn bad(reason: ProxyReason) -> Rejection {
    Rejection { status: 400, reason }
}

/// The client of a connection, and the limit on its requests' bodies.
#[derive(Debug, Clone, Copy)]
pub(super) struct ClientContext {
    /// The client's address.
    pub(super) client: SocketAddr,
    /// The scheme by which it reached this listener; `:scheme` changes nothing.
    pub(super) scheme: Scheme,
    /// The most bytes of a request's body.
    pub(super) body_bytes_max: u64,
}

/// Converts the head of a request; `is_open` if the stream goes on after it, `has_fragment` if its target had a
/// fragment, which `h2` has cut off.
///
/// # Errors
///
/// A head that an origin speaking HTTP/1 could read differently, or that is too long.
pub(super) fn read(
    parts: &Parts,
    is_open: bool,
    has_fragment: bool,
    client_context: &ClientContext,
) -> Result<ClientRequest, Rejection> {
    if parts.method == Method::CONNECT {
        return Err(Rejection { status: 405, reason: ProxyReason::Connect });
    }
    check_scheme(&parts.uri)?;
    if has_fragment {
        return Err(bad(ProxyReason::Fragment));
    }
    check_fields(&parts.headers)?;
    let content_length = content_length(&parts.headers)?;
    if content_length.is_some_and(|length| client_context.body_bytes_max < length) {
        return Err(Rejection { status: 413, reason: ProxyReason::BodyTooLarge });
    }
    Ok(ClientRequest {
        method_name: parts.method.as_str().into(),
        scheme: client_context.scheme,
        authority: authority(&parts.uri, &parts.headers)?.to_vec(),
        target: target(&parts.method, &parts.uri)?.to_vec(),
        lines: lines(&parts.headers),
        version: ClientVersion::Http2,
        client: client_context.client,
        has_body: is_open || content_length.is_some(),
        content_length,
    })
}

/// Returns whether the client waits for 100 (Continue) before it sends a body (RFC 9110 §10.1.1).
pub(super) fn expects_continue(headers: &HeaderMap) -> bool {
    headers.get(EXPECT).is_some_and(|value| value.as_bytes().eq_ignore_ascii_case(b"100-continue"))
}

/// Refuses schemes other than `http` and `https`. Only the connection tells which of the two applies.
fn check_scheme(uri: &Uri) -> Result<(), Rejection> {
    match uri.scheme_str() {
        None | Some("http" | "https") => Ok(()),
        Some(_) => Err(bad(ProxyReason::Scheme)),
    }
}

fn check_fields(headers: &HeaderMap) -> Result<(), Rejection> {
    if HEADERS_MAX < headers.len() {
        return Err(Rejection { status: 431, reason: ProxyReason::HeadTooLarge });
    }
    for (name, value) in headers {
        if CONNECTION_SPECIFIC.contains(&name.as_str()) || (name == TE && value != "trailers") {
            return Err(bad(ProxyReason::FieldOfConnection));
        }
        if !is_value(value.as_bytes()) {
            return Err(bad(ProxyReason::FieldValue));
        }
    }
    Ok(())
}

/// Returns whether a value stays within its line and keeps its meaning there (RFC 9113 §8.2.1).
fn is_value(value: &[u8]) -> bool {
    let is_ended = value.iter().any(|byte| matches!(byte, b'\r' | b'\n' | 0));
    !is_ended && value.trim_ascii().len() == value.len()
}

/// Returns the requested host: that of `:authority`, which `Host` must not contradict (RFC 9113 §8.3.1).
fn authority<'a>(uri: &'a Uri, headers: &'a HeaderMap) -> Result<&'a [u8], Rejection> {
    let mut hosts = headers.get_all(HOST).iter().map(HeaderValue::as_bytes);
    let host = hosts.next();
    if hosts.next().is_some() {
        return Err(bad(ProxyReason::RepeatedHost));
    }
    let authority = uri.authority().map(|authority| authority.as_str().as_bytes());
    if let (Some(one), Some(other)) = (authority, host)
        && !one.eq_ignore_ascii_case(other)
    {
        return Err(bad(ProxyReason::TwoHosts));
    }
    match authority.or(host) {
        None | Some([]) => Err(bad(ProxyReason::MissingHost)),
        Some(named) if is_host(named) => Ok(named),
        Some(_) => Err(bad(ProxyReason::InvalidHost)),
    }
}

/// Returns path and query, in the same form as in HTTP/1.
fn target<'a>(method: &Method, uri: &'a Uri) -> Result<&'a [u8], Rejection> {
    let target = uri.path_and_query().map_or("", |target| target.as_str()).as_bytes();
    let is_plain = target.iter().all(|byte| (byte.is_ascii_graphic() && *byte != b'#') || !byte.is_ascii());
    if is_plain && (target.starts_with(b"/") || (target == b"*" && method == Method::OPTIONS)) {
        Ok(target)
    } else {
        Err(bad(ProxyReason::Target))
    }
}

/// Reads the content length: digits, and the same value if it is repeated.
fn content_length(headers: &HeaderMap) -> Result<Option<u64>, Rejection> {
    let mut length = None;
    for value in headers.get_all(CONTENT_LENGTH) {
        let digits = value.to_str().ok().filter(|text| text.bytes().all(|byte| byte.is_ascii_digit()));
        let one: u64 = digits.and_then(|text| text.parse().ok()).ok_or(bad(ProxyReason::InvalidLength))?;
        if length.replace(one).is_some_and(|other| other != one) {
            return Err(bad(ProxyReason::ConflictingLengths));
        }
    }
    Ok(length)
}

/// Writes the fields as lines, except those that have become part of the request itself; a cookie in pieces is joined
/// (RFC 9113 §8.2.3).
fn lines(headers: &HeaderMap) -> HeaderLines {
    let is_apart = |name: &HeaderName| name == HOST || name == CONTENT_LENGTH || name == COOKIE;
    let mut lines = HeaderLines::new();
    for (name, value) in headers.iter().filter(|(name, _)| !is_apart(name)) {
        lines.push(name.as_str().as_bytes(), value.as_bytes());
    }
    let crumbs: Vec<&[u8]> = headers.get_all(COOKIE).iter().map(HeaderValue::as_bytes).collect();
    if !crumbs.is_empty() {
        lines.push(COOKIE.as_str().as_bytes(), &crumbs.join(&b"; "[..]));
    }
    lines
}

#[cfg(test)]
mod tests {

    use super::*;

    const CLIENT: ClientContext = ClientContext {
        client: SocketAddr::new(std::net::IpAddr::V4(std::net::Ipv4Addr::LOCALHOST), 1),
        scheme: Scheme::Https,
        body_bytes_max: 100,
    };

    /// A method, a URI, fields, and the reason for which they are refused.
    type Case<'a> = (&'a str, &'a str, &'a [(&'a str, &'a str)], ProxyReason);

    /// Reads a request for `uri` with these fields.
    fn convert(method: &str, uri: &str, fields: &[(&str, &str)]) -> Result<ClientRequest, Rejection> {
        let mut request = http::Request::builder().method(method).uri(uri);
        for (name, value) in fields {
            request = request.header(*name, *value);
        }
        read(&request.body(()).unwrap().into_parts().0, false, false, &CLIENT)
    }

    #[test]
    fn an_http2_request_equals_its_http1_form() {
        let fields =
            [("accept", "*/*"), ("cookie", "a=1"), ("x-a", "1"), ("cookie", "b=2"), ("content-length", "5")];
        let request = convert("POST", "https://example.org:8443/a?b", &fields).unwrap();
        assert_eq!(request.method_name, b"POST");
        assert_eq!((&*request.authority, &*request.target), (&b"example.org:8443"[..], &b"/a?b"[..]));
        assert_eq!(request.lines.as_bytes(), b"accept: */*\r\nx-a: 1\r\ncookie: a=1; b=2\r\n");
        assert_eq!((request.has_body, request.content_length), (true, Some(5)));
        assert_eq!((request.version, request.scheme), (ClientVersion::Http2, Scheme::Https));
    }

    #[test]
    fn authority_and_host_may_agree_or_host_stand_alone() {
        let twice = convert("GET", "https://example.org/", &[("host", "EXAMPLE.org")]).unwrap();
        assert_eq!((&*twice.authority, twice.lines.as_bytes()), (&b"example.org"[..], &b""[..]));
        let alone = convert("GET", "/", &[("host", "example.org")]).unwrap();
        assert_eq!(&*alone.authority, b"example.org");
    }

    #[test]
    fn ambiguous_requests_are_refused() {
        let uri = "https://h/";
        let cases: [Case<'_>; 20] = [
            ("GET", "ftp://h/", &[], ProxyReason::Scheme),
            ("GET", uri, &[("host", "other")], ProxyReason::TwoHosts),
            ("GET", uri, &[("host", "h"), ("host", "h")], ProxyReason::RepeatedHost),
            ("GET", "/", &[], ProxyReason::MissingHost),
            ("GET", "/", &[("host", "")], ProxyReason::MissingHost),
            ("GET", "/", &[("host", "a b")], ProxyReason::InvalidHost),
            ("GET", "/", &[("host", "user@h")], ProxyReason::InvalidHost),
            ("GET", "https://user@h/", &[], ProxyReason::InvalidHost),
            ("GET", uri, &[("connection", "close")], ProxyReason::FieldOfConnection),
            ("GET", uri, &[("transfer-encoding", "chunked")], ProxyReason::FieldOfConnection),
            ("GET", uri, &[("upgrade", "websocket")], ProxyReason::FieldOfConnection),
            ("GET", uri, &[("keep-alive", "1")], ProxyReason::FieldOfConnection),
            ("GET", uri, &[("proxy-connection", "close")], ProxyReason::FieldOfConnection),
            ("GET", uri, &[("te", "gzip")], ProxyReason::FieldOfConnection),
            ("GET", uri, &[("x", " a")], ProxyReason::FieldValue),
            ("GET", uri, &[("x", "a\t")], ProxyReason::FieldValue),
            ("POST", uri, &[("content-length", "+5")], ProxyReason::InvalidLength),
            ("POST", uri, &[("content-length", "")], ProxyReason::InvalidLength),
            (
                "POST",
                uri,
                &[("content-length", "5"), ("content-length", "6")],
                ProxyReason::ConflictingLengths,
            ),
            ("GET", "*", &[("host", "h")], ProxyReason::Target),
        ];
        for (method, uri, fields, reason) in cases {
            assert_eq!(convert(method, uri, fields), Err(bad(reason)), "{uri} {fields:?}");
        }
    }

    #[test]
    fn line_ends_and_nul_in_values_are_invalid() {
        for value in [&b"a\r\nb: c"[..], b"a\nb", b"a\rb", b"a\0", b" a", b"a "] {
            assert!(!is_value(value), "{value:?}");
        }
        for value in [&b""[..], b"a b", b"a\tb", b"\xe9"] {
            assert!(is_value(value), "{value:?}");
        }
    }

    #[test]
    fn long_targets_and_unsupported_methods_have_their_own_status() {
        let status = |refused: Result<ClientRequest, Rejection>| {
            refused.map_err(|refused| refused.status).unwrap_err()
        };
        assert_eq!(status(convert("CONNECT", "h:443", &[])), 405);
        assert_eq!(status(convert("POST", "https://h/", &[("content-length", "101")])), 413);
        let names: Vec<String> = (0..=HEADERS_MAX).map(|k| format!("x-{k}")).collect();
        let fields: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), "1")).collect();
        assert_eq!(status(convert("GET", "https://h/", &fields)), 431);
        assert!(convert("GET", "https://h/", &fields[1..]).is_ok());
    }

    #[test]
    fn asterisk_needs_options_and_te_allows_trailers() {
        assert_eq!(&*convert("OPTIONS", "*", &[("host", "h")]).unwrap().target, b"*");
        assert!(convert("GET", "https://h/", &[("te", "trailers")]).is_ok());
    }
}
