//! Heads of responses, and the parts of request heads that the parser does not interpret.

use http1::{Framing, HeadError, HeaderLines, Http1Version, RequestHead, header, reason_phrase};

use crate::frontend::memo::HeadNotes;
use crate::frontend::peer::Peer;
use crate::message::{ClientRequest, ClientVersion, Interim, ProxyReason};

/// Appends the status line, the lines and `Connection` of a response; the empty line is left to the caller, who may
/// add lines.
///
/// The version is always HTTP/1.1 (RFC 9110 §2.5).
pub(in crate::frontend) fn write_head(
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

/// Appends the whole head of a response that ends HTTP on the connection.
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

/// Returns the status and the reason for which a head is refused.
pub(super) fn refusal(error: HeadError) -> (u16, ProxyReason) {
    match error {
        HeadError::Malformed(_) => (400, ProxyReason::MalformedHead),
        HeadError::Oversized(_) => (431, ProxyReason::HeadTooLarge),
        HeadError::UnsupportedVersion => (505, ProxyReason::UnsupportedVersion),
        HeadError::InvalidLength => (400, ProxyReason::InvalidLength),
        HeadError::ConflictingLengths => (400, ProxyReason::ConflictingLengths),
        HeadError::LengthWithTransferEncoding => (400, ProxyReason::LengthWithTransferEncoding),
        HeadError::TransferEncodingOnHttp10 => (400, ProxyReason::TransferEncodingOnHttp10),
        HeadError::UnknownTransferEncoding => (501, ProxyReason::UnknownTransferEncoding),
        HeadError::RepeatedChunked => (400, ProxyReason::RepeatedChunked),
        HeadError::MissingHost => (400, ProxyReason::MissingHost),
        HeadError::RepeatedHost => (400, ProxyReason::RepeatedHost),
        HeadError::InvalidHost => (400, ProxyReason::InvalidHost),
    }
}

/// Returns whether the client waits for 100 (Continue) before it sends the body (RFC 9110 §10.1.1), which means nothing
/// in HTTP/1.0 or in a request without a body.
///
/// # Errors
/// The status and the reason for which the request is refused: an unknown expectation, or a body of more than
/// `body_bytes_max` bytes.
pub(super) fn expects_continue(
    bytes: &[u8],
    head: &RequestHead,
    body_bytes_max: u64,
) -> Result<bool, (u16, ProxyReason)> {
    let expectation = header(bytes, "expect");
    if expectation.is_some_and(|value| !value.eq_ignore_ascii_case(b"100-continue")) {
        return Err((417, ProxyReason::UnknownExpectation));
    }
    if matches!(head.framing, Framing::Length(length) if body_bytes_max < length) {
        return Err((413, ProxyReason::BodyTooLarge));
    }
    Ok(expectation.is_some() && head.version == Http1Version::Http11 && has_body(head))
}

/// Returns whether the head is followed by a body.
pub(super) fn has_body(head: &RequestHead) -> bool {
    !matches!(head.framing, Framing::None | Framing::Length(0))
}

/// Converts a parsed head into a request for the exchange.
pub(super) fn to_client_request(bytes: &[u8], head: &RequestHead, peer: &Peer) -> ClientRequest {
    let target = match &bytes[head.target.clone()] {
        [] => b"/",
        target => target,
    };
    ClientRequest {
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

/// Returns the version of the client.
pub(super) fn version(head: &RequestHead) -> ClientVersion {
    match head.version {
        Http1Version::Http10 => ClientVersion::Http10,
        Http1Version::Http11 => ClientVersion::Http11,
    }
}

/// Returns the notes to remember with a head.
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
    use http1::{ParseStatus, parse_request};

    use super::*;

    fn parsed(text: &str) -> RequestHead {
        let Ok(ParseStatus::Complete { head, .. }) = parse_request(text.as_bytes()) else {
            panic!("{text:?}")
        };
        head
    }

    #[test]
    fn responses_announce_keep_alive_or_close() {
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
    fn only_100_continue_of_a_request_with_a_body_is_met() {
        let unknown = Err((417, ProxyReason::UnknownExpectation));
        let too_large = Err((413, ProxyReason::BodyTooLarge));
        let cases = [
            ("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\nExpect: 100-Continue\r\n\r\n", Ok(true)),
            ("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\nExpect: 100-continue\r\n\r\n", Ok(false)),
            ("POST / HTTP/1.0\r\nContent-Length: 1\r\nExpect: 100-continue\r\n\r\n", Ok(false)),
            ("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\nExpect: tea\r\n\r\n", unknown),
            ("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 9\r\nExpect: tea\r\n\r\n", unknown),
            ("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 9\r\nExpect: 100-continue\r\n\r\n", too_large),
            ("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 9\r\n\r\n", too_large),
            ("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\n\r\n", Ok(false)),
        ];
        for (text, expected) in cases {
            assert_eq!(expects_continue(text.as_bytes(), &parsed(text), 8), expected, "{text:?}");
        }
    }
}
