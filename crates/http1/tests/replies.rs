//! Replies that are not as RFC 9112 demands: which of them a client takes, and the reason.
//!
//! The table is that of `docs/design/hostile-servers.md`. Requests with the same peculiarities are refused
//! (`src/request.rs`, `src/chunk.rs`), because who sends them may mean another server to read them otherwise.

use http1::{BodyReader, HeadError, ParseStatus, RequestMethod, faulty_line, parse_response, unfolded};

const LENGTH: &str = "Content-Length: 5\r\n\r\nhello";
const CHUNKED: &str = "Transfer-Encoding: chunked\r\n";
const CHUNKS: &str = "\r\n5\r\nhello\r\n0\r\n\r\n";

/// Reads a whole reply as clients do: its body and whether the connection may be used again, or the reason and the line.
fn read(reply: &str) -> Result<(String, bool), String> {
    let folded = unfolded(reply.as_bytes());
    let bytes = folded.as_deref().unwrap_or(reply.as_bytes());
    let of_head = |error: HeadError| match faulty_line(bytes, RequestMethod::Get) {
        Some(line) => format!("{error} | line {}: {}", line.number, line.text.escape_ascii()),
        None => error.to_string(),
    };
    let ParseStatus::Complete { head, length } =
        parse_response(bytes, RequestMethod::Get).map_err(of_head)?
    else {
        return Err("partial".to_owned());
    };
    let mut reader = BodyReader::of_response(head.framing);
    let mut body = String::new();
    let mut rest = &bytes[length..];
    while !rest.is_empty() && !reader.is_done() {
        let piece = reader.read(rest).map_err(|error| error.to_string())?;
        body.push_str(std::str::from_utf8(&rest[piece.data]).unwrap());
        rest = &rest[piece.consumed..];
    }
    reader.end_of_input().map_err(|error| error.to_string())?;
    Ok((body, head.keep_alive))
}

#[test]
fn peculiar_replies_are_taken_where_they_have_one_meaning() {
    let lines = "X: 1\r\n".repeat(300);
    let taken = [
        ("blanks behind a chunk size", format!("{CHUNKED}\r\n5  \r\nhello\r\n0\t\r\n\r\n"), true),
        ("blank before an extension", format!("{CHUNKED}\r\n5 ;a=b\r\nhello\r\n0\r\n\r\n"), true),
        ("a length beside chunks", format!("Content-Length: 99\r\n{CHUNKED}{CHUNKS}"), true),
        ("coding `identity` with a length", format!("Transfer-Encoding: identity\r\n{LENGTH}"), true),
        ("coding `identity` without", "Transfer-Encoding: identity\r\n\r\nhello".to_owned(), false),
        (
            "coding `identity` beside chunks",
            format!("Transfer-Encoding: identity, chunked\r\n{CHUNKS}"),
            true,
        ),
        ("a folded line", format!("X: 1\r\n 2\r\n{LENGTH}"), true),
        ("300 lines", format!("{lines}{LENGTH}"), true),
        ("a blank before the colon", "Content-Length : 5\r\n\r\nhello".to_owned(), true),
        ("the same length twice", format!("Content-Length: 5\r\n{LENGTH}"), true),
        ("bare LF in the head", "X: 1\nContent-Length: 5\n\nhello".to_owned(), true),
    ];
    for (name, rest, keeps_alive) in taken {
        let expected = Ok(("hello".to_owned(), keeps_alive));
        assert_eq!(read(&format!("HTTP/1.1 200 OK\r\n{rest}")), expected, "{name}");
        assert_eq!(read(&format!("HTTP/1.1 200 OK\n{rest}")), expected, "{name}, after a bare LF");
    }
    // Chunks are not in HTTP/1.0: taken, and the connection ends after them (RFC 9112 §6.1).
    let old = format!("HTTP/1.0 200 OK\r\nConnection: keep-alive\r\n{CHUNKED}{CHUNKS}");
    assert_eq!(read(&old), Ok(("hello".to_owned(), false)));
}

#[test]
fn replies_with_two_meanings_or_none_are_refused_with_the_line() {
    let refused = [
        (
            "HTTP/1.1 200 OK\r\nX Bad Name: 1\r\n",
            "malformed head: header line does not begin with `name:` | line 2: X Bad Name: 1",
        ),
        (
            "HTTP/1.1 200 OK\r\nno colon\r\n",
            "malformed head: header line does not begin with `name:` | line 2: no colon",
        ),
        (
            "HTTP/1.1 200 OK\r\n X: 1\r\n",
            "malformed head: header line does not begin with `name:` | line 2:  X: 1",
        ),
        (
            "HTTP/1.1 200 OK\r\nX: a\0b\r\n",
            "malformed head: control character in a header value | line 2: X: a\\x00b",
        ),
        (
            "HTTP/1.1 200 OK\r\nX: a\rb\r\n",
            "malformed head: control character in a header value | line 2: X: a\\rb",
        ),
        (
            "HTTP/1.1 200 OK\r\nContent-Length: +5\r\n",
            "expected a decimal number below 2^64 as `Content-Length` | line 2: Content-Length: +5",
        ),
        (
            "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n 6\r\n",
            "expected a decimal number below 2^64 as `Content-Length` | line 2: Content-Length: 5   6",
        ),
        (
            "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n",
            "several `Content-Length` values that differ | line 3: Content-Length: 5",
        ),
        (
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n",
            "expected `chunked` as the only transfer coding | line 2: Transfer-Encoding: gzip, chunked",
        ),
        (
            "http/1.1 200 OK\r\n",
            "expected version HTTP/1.0 or HTTP/1.1 in the start line | line 1: http/1.1 200 OK",
        ),
        (
            "HTTP/1.1  200 OK\r\n",
            "malformed head: status line is not `HTTP-version SP 3 digits [SP reason]` | line 1: HTTP/1.1  200 OK",
        ),
    ];
    for (start, reason) in refused {
        assert_eq!(read(&format!("{start}{LENGTH}")), Err(reason.to_owned()), "{start:?}");
    }
    let chunks =
        [" 5\r\nhello\r\n", "5\nhello\r\n", "0x5\r\nhello\r\n", "5 x\r\nhello\r\n", "5 5\r\nhello\r\n"];
    for first in chunks {
        let reply = format!("HTTP/1.1 200 OK\r\n{CHUNKED}\r\n{first}0\r\n\r\n");
        assert_eq!(
            read(&reply),
            Err("expected a chunk size of 1 to 16 hexadecimal digits".to_owned()),
            "{first:?}"
        );
    }
}
