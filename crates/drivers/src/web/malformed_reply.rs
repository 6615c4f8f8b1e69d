//! Replies that are not HTTP/1 as clients read it, explained for people: the reason and the line at fault. Only failures
//! come here.

use http1::{ChunkError, HeadError, RequestMethod, faulty_line, is_http1};
use model::Outcome;

use crate::net::OperationFailure;

/// The most bytes of a line that are shown.
const SHOWN_BYTES_MAX: usize = 80;

/// The failure of a reply that is not HTTP/1, with its explanation.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct MalformedReply {
    /// The failure. That of a head has the detail 1 if it begins as one of HTTP.
    pub(super) failure: OperationFailure,
    /// A clause without a full stop; it shows what the peer sent.
    pub(super) explanation: String,
}

/// Explains why a head is refused: `line 3, "X Bad Name: 1": header line does not begin with "name:"`.
#[cold]
pub(super) fn malformed_head(head: &[u8], method: RequestMethod, error: HeadError) -> MalformedReply {
    let explanation = match faulty_line(head, method) {
        Some(line) => format!("line {}, `{}`: {}", line.number, shown(line.text), reason(error)),
        None => reason(error),
    };
    let failure = OperationFailure::new(Outcome::MalformedHead, u64::from(is_http1(head)));
    MalformedReply { failure, explanation }
}

/// Returns the reason without its first words, which the outcome has already.
fn reason(error: HeadError) -> String {
    match error {
        HeadError::Malformed(part) => part.to_string(),
        other => other.to_string(),
    }
}

/// Explains why a body in chunks is refused, because of the byte of the input at this position and after so many bytes of
/// content.
#[cold]
pub(super) fn malformed_body(input: &[u8], at: usize, content: u64, error: ChunkError) -> MalformedReply {
    let before = input.get(..at).unwrap_or_default();
    let start = before.iter().rposition(|&byte| byte == b'\n').map_or(0, |end| end + 1);
    let line = input[start..].split(|&byte| byte == b'\n').next().unwrap_or_default();
    let explanation = format!("`{}` after {content} bytes of content: {error}", shown(line));
    MalformedReply { failure: OperationFailure::new(Outcome::MalformedBody, content), explanation }
}

/// Returns the beginning of a line, escaped.
fn shown(line: &[u8]) -> String {
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    match line.get(..SHOWN_BYTES_MAX) {
        Some(beginning) if SHOWN_BYTES_MAX < line.len() => format!("{}…", beginning.escape_ascii()),
        _ => line.escape_ascii().to_string(),
    }
}

#[cfg(test)]
mod tests {
    use http1::{BodyReader, Framing, parse_response};

    use super::*;

    #[track_caller]
    fn check_head(head: &str, expected: &str) {
        let error = parse_response(head.as_bytes(), RequestMethod::Get).unwrap_err();
        let found = malformed_head(head.as_bytes(), RequestMethod::Get, error);
        assert_eq!((found.explanation.as_str(), found.failure.detail), (expected, 1));
    }

    #[test]
    fn a_refused_head_is_explained_by_its_line() {
        check_head(
            "HTTP/1.1 200 OK\r\nServer: x\r\nX Bad Name: \x1b[1m\r\n\r\n",
            "line 3, `X Bad Name: \\x1b[1m`: header line does not begin with `name:`",
        );
        check_head(
            "HTTP/1.1 200 OK\r\nContent-Length: +5\r\n\r\n",
            "line 2, `Content-Length: +5`: expected a decimal number below 2^64 as `Content-Length`",
        );
        let long = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", "9".repeat(100));
        let shown = format!("line 2, `Content-Length: {}…`", "9".repeat(64));
        check_head(&long, &format!("{shown}: expected a decimal number below 2^64 as `Content-Length`"));
    }

    #[test]
    fn another_protocol_is_told_from_a_faulty_head() {
        for (bytes, is_http) in [("SSH-2.0-OpenSSH_9.2\r\n", 0), ("<html>", 0), ("http/1.1 200 OK\r\n", 1)] {
            let found = malformed_head(bytes.as_bytes(), RequestMethod::Get, HeadError::UnsupportedVersion);
            assert_eq!(found.failure.detail, is_http, "{bytes}");
        }
    }

    #[track_caller]
    fn check_body(read: &[u8], input: &[u8], expected: &str) {
        let mut reader = BodyReader::of_response(Framing::Chunked);
        let mut rest = read;
        while !rest.is_empty() {
            rest = &rest[reader.read(rest).unwrap().consumed..];
        }
        let error = reader.read(input).unwrap_err();
        let found = malformed_body(input, reader.fault_at(), 5, error);
        assert_eq!((found.explanation.as_str(), found.failure.detail), (expected, 5));
    }

    #[test]
    fn a_refused_body_is_explained_by_its_line() {
        let size = "expected a chunk size of 1 to 16 hexadecimal digits";
        check_body(b"", b"many\r\nhello", &format!("`many` after 5 bytes of content: {size}"));
        check_body(b"5\r\nhello", b"\r\n0x5\r\nworld", &format!("`0x5` after 5 bytes of content: {size}"));
        check_body(
            b"0\r\n",
            b"A: b\r\nnone\r\n",
            "`none` after 5 bytes of content: expected `name: value` in the trailer of a chunked body",
        );
    }
}
