//! The head of a reply, and what a request's head says besides what the parser tells.

use http1::{Framing, HeadError, HeadLimit, RequestHead, Version, header, reason_phrase};

use crate::front::memo::HeadNotes;
use crate::front::peer::Peer;
use crate::message::{ClientVersion, HeaderLines, Inbound, Interim};

/// Appends status line, lines and `Connection` of a reply; the empty line is left to the caller, who may have more.
///
/// The version is always HTTP/1.1, which is what we speak (RFC 9110 §2.5).
pub(in crate::front) fn write_head(
    out: &mut Vec<u8>,
    status: u16,
    lines: &HeaderLines,
    version: ClientVersion,
    keep_alive: bool,
) {
    write_start(out, status, lines);
    if !keep_alive {
        out.extend_from_slice(b"Connection: close\r\n");
    } else if version == ClientVersion::Http10 {
        out.extend_from_slice(b"Connection: keep-alive\r\n");
    }
}

/// Appends the whole head of a reply that ends HTTP on the connection.
pub(super) fn write_upgrade(out: &mut Vec<u8>, status: u16, lines: &HeaderLines) {
    write_start(out, status, lines);
    out.extend_from_slice(b"Connection: Upgrade\r\n\r\n");
}

/// Appends an interim response.
pub(super) fn write_interim(out: &mut Vec<u8>, interim: &Interim) {
    write_start(out, interim.status, &interim.lines);
    out.extend_from_slice(b"\r\n");
}

fn write_start(out: &mut Vec<u8>, status: u16, lines: &HeaderLines) {
    let digit = |place: u16| b'0' + (status / place % 10) as u8;
    out.extend_from_slice(b"HTTP/1.1 ");
    out.extend_from_slice(&[digit(100), digit(10), digit(1), b' ']);
    out.extend_from_slice(reason_phrase(status).as_bytes());
    out.extend_from_slice(b"\r\n");
    out.extend_from_slice(lines.as_bytes());
}

/// Returns the status and the reason's name with which a head is refused.
pub(super) fn refusal(error: HeadError) -> (u16, &'static str) {
    match error {
        HeadError::Malformed(_) => (400, "malformed-head"),
        HeadError::Oversized(HeadLimit::Bytes | HeadLimit::Headers | HeadLimit::Interim) => {
            (431, "head-too-large")
        }
        HeadError::UnsupportedVersion => (505, "unsupported-version"),
        HeadError::InvalidLength => (400, "invalid-length"),
        HeadError::ConflictingLengths => (400, "conflicting-lengths"),
        HeadError::LengthWithTransferEncoding => (400, "length-with-transfer-encoding"),
        HeadError::TransferEncodingOnHttp10 => (400, "transfer-encoding-on-http10"),
        HeadError::UnknownTransferEncoding => (501, "unknown-transfer-encoding"),
        HeadError::RepeatedChunked => (400, "repeated-chunked"),
        HeadError::MissingHost => (400, "missing-host"),
        HeadError::RepeatedHost => (400, "repeated-host"),
        HeadError::InvalidHost => (400, "invalid-host"),
    }
}

/// What a request wants before it sends its body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Expectation {
    /// Nothing.
    None,
    /// To be told to go on (100).
    Continue,
    /// Something that nobody knows.
    Unknown,
}

/// Reads `Expect` (RFC 9110 §10.1.1): it means nothing in HTTP/1.0, and nothing to a request without a body.
pub(super) fn expectation(bytes: &[u8], head: &RequestHead) -> Expectation {
    match header(bytes, "expect") {
        Some(value) if !value.eq_ignore_ascii_case(b"100-continue") => Expectation::Unknown,
        Some(_) if head.version == Version::Http11 && has_body(head) => Expectation::Continue,
        _ => Expectation::None,
    }
}

/// Tells whether bytes follow the head that are not the next request.
pub(super) fn has_body(head: &RequestHead) -> bool {
    !matches!(head.framing, Framing::None | Framing::Length(0))
}

/// Makes of a parsed head what the exchange wants to know.
pub(super) fn inbound(bytes: &[u8], head: &RequestHead, peer: &Peer) -> Inbound {
    let target = match &bytes[head.target.clone()] {
        [] => b"/",
        target => target,
    };
    Inbound {
        method_name: bytes[head.method_name.clone()].to_vec(),
        scheme: peer.scheme,
        authority: head.host.clone().map_or_else(Vec::new, |host| bytes[host].to_vec()),
        target: target.to_vec(),
        lines: HeaderLines::of_head(bytes),
        version: version(head),
        client: peer.client,
        has_body: head.framing != Framing::None,
        content_length: if let Framing::Length(length) = head.framing { Some(length) } else { None },
    }
}

/// Returns what the client speaks.
pub(super) fn version(head: &RequestHead) -> ClientVersion {
    match head.version {
        Version::Http10 => ClientVersion::Http10,
        Version::Http11 => ClientVersion::Http11,
    }
}

/// Returns what is worth remembering of a head besides its bytes.
pub(super) fn notes(head: &RequestHead, peer: &Peer) -> HeadNotes {
    HeadNotes {
        scheme: peer.scheme,
        version: version(head),
        keep_alive: head.keep_alive,
        method: head.method_name.clone(),
        target: head.target.clone(),
        authority: head.host.clone().unwrap_or(0..0),
    }
}

#[cfg(test)]
mod tests {
    use http1::{Parsed, parse_request};

    use super::*;

    fn parsed(text: &str) -> RequestHead {
        let Ok(Parsed::Complete { head, .. }) = parse_request(text.as_bytes()) else { panic!("{text:?}") };
        head
    }

    #[test]
    fn replies_say_what_becomes_of_the_connection() {
        let mut lines = HeaderLines::new();
        lines.push(b"ETag", b"\"a\"");
        let written = |version, keep_alive| {
            let mut out = Vec::new();
            write_head(&mut out, 404, &lines, version, keep_alive);
            String::from_utf8(out).unwrap()
        };
        let start = "HTTP/1.1 404 Not Found\r\nETag: \"a\"\r\n";
        assert_eq!(written(ClientVersion::Http11, true), start);
        assert_eq!(written(ClientVersion::Http11, false), format!("{start}Connection: close\r\n"));
        assert_eq!(written(ClientVersion::Http10, true), format!("{start}Connection: keep-alive\r\n"));
        assert_eq!(written(ClientVersion::Http10, false), format!("{start}Connection: close\r\n"));
    }

    #[test]
    fn only_a_known_expectation_of_a_request_with_a_body_is_met() {
        let cases = [
            (
                "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\nExpect: 100-Continue\r\n\r\n",
                Expectation::Continue,
            ),
            (
                "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\nExpect: 100-continue\r\n\r\n",
                Expectation::None,
            ),
            ("POST / HTTP/1.0\r\nContent-Length: 1\r\nExpect: 100-continue\r\n\r\n", Expectation::None),
            ("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\nExpect: tea\r\n\r\n", Expectation::Unknown),
            ("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\n\r\n", Expectation::None),
        ];
        for (text, expected) in cases {
            assert_eq!(expectation(text.as_bytes(), &parsed(text)), expected, "{text:?}");
        }
    }
}
