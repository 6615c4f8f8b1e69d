//! Heads and chunks as servers write them.

use thiserror::Error;

use crate::head::{Framing, Http1Version, is_token_byte, is_value_byte};
use crate::response::ResponseHead;

/// The end of a chunked body: the last chunk and an empty trailer (RFC 9112 §7.1).
pub const LAST_CHUNK: &[u8] = b"0\r\n\r\n";

/// A reason why a head was not written; nothing has been added to the output then.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum WriteError {
    /// The status is not a number from 100 to 999.
    #[error("expected a status from 100 to 999, found {0}")]
    Status(u16),
    /// A field's name is not a token, or its value holds a control character such as a line break.
    #[error("header `{}` would break the head", .0.escape_debug())]
    Field(String),
    /// A field that follows from [`ResponseHead`] and is written by us.
    #[error("header `{0}` is written from framing and keep-alive")]
    Reserved(String),
    /// Chunks for HTTP/1.0, which has none (RFC 9112 §7).
    #[error("a chunked body in an HTTP/1.0 response")]
    ChunkedOnHttp10,
}

/// Appends a response's head to `out`: status line, framing, `Connection`, then `fields` in order.
///
/// Reads back as `head` for the GET that it answers, with two exceptions that RFC 9110 makes for us:
/// statuses 1xx and 204 get no framing fields, 304 at most a length; and where a body may be,
/// [`Framing::None`] is written as a length of 0. For a response to HEAD give the framing that
/// GET would have, and send no body (RFC 9110 §9.3.2). [`Framing::ToEof`] closes the connection
/// whatever `keep_alive` says.
///
/// # Errors
///
/// A head that would not mean what was asked for; see [`WriteError`].
pub fn write_response_head(
    out: &mut Vec<u8>,
    head: &ResponseHead,
    fields: &[(&str, &[u8])],
) -> Result<(), WriteError> {
    check(head, fields)?;
    out.extend_from_slice(head.version.as_str().as_bytes());
    out.push(b' ');
    push_decimal(out, u64::from(head.status));
    out.push(b' ');
    out.extend_from_slice(reason_phrase(head.status).as_bytes());
    out.extend_from_slice(b"\r\n");
    push_framing(out, head);
    push_connection(out, head);
    for (name, value) in fields {
        out.extend_from_slice(name.as_bytes());
        out.extend_from_slice(b": ");
        out.extend_from_slice(value);
        out.extend_from_slice(b"\r\n");
    }
    out.extend_from_slice(b"\r\n");
    Ok(())
}

/// Appends one chunk with this content; nothing for empty content, which would end the body.
pub fn write_chunk(out: &mut Vec<u8>, content: &[u8]) {
    if content.is_empty() {
        return;
    }
    let digits = content.len().ilog2() / 4;
    out.extend((0..=digits).rev().map(|digit| b"0123456789abcdef"[content.len() >> (4 * digit) & 15]));
    out.extend_from_slice(b"\r\n");
    out.extend_from_slice(content);
    out.extend_from_slice(b"\r\n");
}

/// Returns the reason phrase of a status (RFC 9110 §15 and the registry); empty if it has none.
pub fn reason_phrase(status: u16) -> &'static str {
    match status {
        100 => "Continue",
        101 => "Switching Protocols",
        102 => "Processing",
        103 => "Early Hints",
        200 => "OK",
        201 => "Created",
        202 => "Accepted",
        203 => "Non-Authoritative Information",
        204 => "No Content",
        205 => "Reset Content",
        206 => "Partial Content",
        207 => "Multi-Status",
        208 => "Already Reported",
        226 => "IM Used",
        300 => "Multiple Choices",
        301 => "Moved Permanently",
        302 => "Found",
        303 => "See Other",
        304 => "Not Modified",
        305 => "Use Proxy",
        307 => "Temporary Redirect",
        308 => "Permanent Redirect",
        400 => "Bad Request",
        401 => "Unauthorized",
        402 => "Payment Required",
        403 => "Forbidden",
        404 => "Not Found",
        405 => "Method Not Allowed",
        406 => "Not Acceptable",
        407 => "Proxy Authentication Required",
        408 => "Request Timeout",
        409 => "Conflict",
        410 => "Gone",
        411 => "Length Required",
        412 => "Precondition Failed",
        413 => "Content Too Large",
        414 => "URI Too Long",
        415 => "Unsupported Media Type",
        416 => "Range Not Satisfiable",
        417 => "Expectation Failed",
        421 => "Misdirected Request",
        422 => "Unprocessable Content",
        423 => "Locked",
        424 => "Failed Dependency",
        425 => "Too Early",
        426 => "Upgrade Required",
        428 => "Precondition Required",
        429 => "Too Many Requests",
        431 => "Request Header Fields Too Large",
        451 => "Unavailable For Legal Reasons",
        500 => "Internal Server Error",
        501 => "Not Implemented",
        502 => "Bad Gateway",
        503 => "Service Unavailable",
        504 => "Gateway Timeout",
        505 => "HTTP Version Not Supported",
        506 => "Variant Also Negotiates",
        507 => "Insufficient Storage",
        508 => "Loop Detected",
        511 => "Network Authentication Required",
        _ => "",
    }
}

fn check(head: &ResponseHead, fields: &[(&str, &[u8])]) -> Result<(), WriteError> {
    if !matches!(head.status, 100..=999) {
        return Err(WriteError::Status(head.status));
    }
    if head.framing == Framing::Chunked && head.version == Http1Version::Http10 {
        return Err(WriteError::ChunkedOnHttp10);
    }
    for (name, value) in fields {
        let named = !name.is_empty() && name.bytes().all(is_token_byte);
        if !named || !value.iter().copied().all(is_value_byte) {
            return Err(WriteError::Field((*name).into()));
        }
        let reserved = ["content-length", "transfer-encoding", "connection"];
        if reserved.iter().any(|own| own.eq_ignore_ascii_case(name)) {
            return Err(WriteError::Reserved((*name).into()));
        }
    }
    Ok(())
}

/// RFC 9110 §8.6 and RFC 9112 §6.1: neither field with 1xx and 204, no coding needed with 304.
fn push_framing(out: &mut Vec<u8>, head: &ResponseHead) {
    let length = match (head.status, head.framing) {
        (100..=199 | 204, _) | (304, Framing::None | Framing::Chunked) | (_, Framing::ToEof) => return,
        (_, Framing::Chunked) => {
            out.extend_from_slice(b"Transfer-Encoding: chunked\r\n");
            return;
        }
        (_, Framing::Length(length)) => length,
        (_, Framing::None) => 0,
    };
    out.extend_from_slice(b"Content-Length: ");
    push_decimal(out, length);
    out.extend_from_slice(b"\r\n");
}

/// Writes `Connection` where it differs from the version's default, and every close, for old clients.
fn push_connection(out: &mut Vec<u8>, head: &ResponseHead) {
    if matches!(head.status, 100..=199) {
        return; // Interim: the final response decides.
    }
    if !head.keep_alive || head.framing == Framing::ToEof {
        out.extend_from_slice(b"Connection: close\r\n");
    } else if head.version == Http1Version::Http10 {
        out.extend_from_slice(b"Connection: keep-alive\r\n");
    }
}

fn push_decimal(out: &mut Vec<u8>, mut number: u64) {
    let mut digits = [0; 20]; // 2^64 has 20 digits.
    let mut start = digits.len();
    loop {
        start -= 1;
        digits[start] = b'0' + (number % 10) as u8;
        number /= 10;
        if number == 0 {
            break;
        }
    }
    out.extend_from_slice(&digits[start..]);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head(status: u16, version: Http1Version, framing: Framing, keep_alive: bool) -> ResponseHead {
        ResponseHead { status, version, framing, keep_alive }
    }

    fn written(head: ResponseHead, fields: &[(&str, &[u8])]) -> Result<String, WriteError> {
        let mut out = Vec::new();
        let outcome = write_response_head(&mut out, &head, fields);
        assert!(outcome.is_ok() || out.is_empty());
        outcome.map(|()| String::from_utf8(out).unwrap())
    }

    #[test]
    fn heads_have_framing_and_connection_fields() {
        use Framing::{Chunked, Length, None, ToEof};
        use Http1Version::{Http10, Http11};
        let cases = [
            (head(200, Http11, Length(18), true), "HTTP/1.1 200 OK\r\nContent-Length: 18\r\n\r\n"),
            (head(200, Http11, None, true), "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"),
            (head(200, Http11, Chunked, true), "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"),
            (head(200, Http11, ToEof, true), "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n"),
            (
                head(404, Http11, Length(9), false),
                "HTTP/1.1 404 Not Found\r\nContent-Length: 9\r\nConnection: close\r\n\r\n",
            ),
            (
                head(200, Http10, Length(1), true),
                "HTTP/1.0 200 OK\r\nContent-Length: 1\r\nConnection: keep-alive\r\n\r\n",
            ),
            (head(200, Http10, ToEof, false), "HTTP/1.0 200 OK\r\nConnection: close\r\n\r\n"),
            (head(100, Http11, None, true), "HTTP/1.1 100 Continue\r\n\r\n"),
            (head(204, Http11, Length(5), true), "HTTP/1.1 204 No Content\r\n\r\n"),
            (head(304, Http11, None, true), "HTTP/1.1 304 Not Modified\r\n\r\n"),
            (head(304, Http11, Length(7), true), "HTTP/1.1 304 Not Modified\r\nContent-Length: 7\r\n\r\n"),
            (
                head(999, Http11, Length(u64::MAX), true),
                "HTTP/1.1 999 \r\nContent-Length: 18446744073709551615\r\n\r\n",
            ),
        ];
        for (head, text) in cases {
            assert_eq!(written(head, &[]).as_deref(), Ok(text));
        }
    }

    #[test]
    fn statuses_of_the_standard_have_a_phrase() {
        let of_rfc9110 =
            [100..=101, 200..=206, 300..=305, 307..=308, 400..=417, 421..=422, 426..=426, 500..=505];
        assert!(of_rfc9110.into_iter().flatten().all(|status| !reason_phrase(status).is_empty()));
        assert_eq!([306, 418, 499, 600].map(reason_phrase), [""; 4]);
    }

    #[test]
    fn fields_follow_in_order() {
        let head = head(200, Http1Version::Http11, Framing::Length(0), true);
        assert_eq!(
            written(head, &[("Server", b"plimsoll"), ("X", b"")]).as_deref(),
            Ok("HTTP/1.1 200 OK\r\nContent-Length: 0\r\nServer: plimsoll\r\nX: \r\n\r\n")
        );
    }

    #[test]
    fn heads_with_another_meaning_are_refused() {
        let fine = head(200, Http1Version::Http11, Framing::Length(0), true);
        for (name, value) in
            [("", "x"), ("a b", "x"), ("a:", "x"), ("a", "x\r\nSet-Cookie: y"), ("a", "\0"), ("a\r", "")]
        {
            assert_eq!(written(fine, &[(name, value.as_bytes())]), Err(WriteError::Field(name.into())));
        }
        for name in ["content-LENGTH", "Transfer-Encoding", "Connection"] {
            assert_eq!(written(fine, &[(name, b"1")]), Err(WriteError::Reserved(name.into())));
        }
        assert_eq!(written(ResponseHead { status: 99, ..fine }, &[]), Err(WriteError::Status(99)));
        assert_eq!(written(ResponseHead { status: 1000, ..fine }, &[]), Err(WriteError::Status(1000)));
        let old = head(200, Http1Version::Http10, Framing::Chunked, true);
        assert_eq!(written(old, &[]), Err(WriteError::ChunkedOnHttp10));
    }

    #[test]
    fn chunks_carry_their_size_in_hexadecimal() {
        for (length, size) in [(1, "1"), (15, "f"), (16, "10"), (255, "ff"), (256, "100"), (4096, "1000")] {
            let mut out = Vec::new();
            write_chunk(&mut out, &vec![b'x'; length]);
            assert_eq!(out, format!("{size}\r\n{}\r\n", "x".repeat(length)).into_bytes());
        }
        let mut out = Vec::new();
        write_chunk(&mut out, b"");
        assert!(out.is_empty());
    }
}
