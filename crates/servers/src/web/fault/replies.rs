//! Wrong replies to valid HTTP/1 requests.

use http1::HEAD_BYTES_MAX;
use model::Outcome;

use super::script::{
    CHUNKED_HEAD, ClientProtocol, ConnectionEnding, CorrectReply, DRIP_PAUSE, Fault, FaultAction, Script,
};

/// Number of pieces in which `slow-drip` sends a response.
const DRIP_PIECES: usize = 16;

/// Bytes sent at a time by endless scripts.
const ENDLESS_BYTES: usize = 16 * 1024;

pub(super) const FAULTS: &[Fault] = &[
    // Contents.
    fault(
        "wrong-length",
        "sends one byte more than the file has and announces it",
        Outcome::WrongLength,
        |correct| {
            let body = correct.body();
            Script::as_asked([&correct.head_for_length(body.len() + 1), body, b"?"].concat())
        },
    ),
    fault(
        "short-length",
        "sends the whole file but announces one byte less",
        Outcome::WrongLength,
        |correct| {
            Script::as_asked(
                [&correct.head_for_length(correct.body().len().saturating_sub(1)), correct.body()].concat(),
            )
        },
    ),
    fault("wrong-bytes", "sends one wrong byte in the middle", Outcome::WrongBytes, with_wrong_byte),
    fault(
        "compressed",
        "sends a compressed body that was not requested",
        Outcome::WrongEncoding,
        |correct| {
            Script::as_asked(correct.with_head_lines("Content-Encoding: gzip\r\nContent-Length: N\r\n"))
        },
    ),
    fault(
        "trailing-bytes",
        "sends the correct response followed by extra bytes",
        Outcome::WrongLength,
        |correct| Script::close([&correct.to_bytes()[..], b"HTTP/1.1 200 OK\r\n\r\n"].concat()),
    ),
    // Statuses.
    fault("wrong-status", "answers with status 500", Outcome::WrongStatus, |correct| {
        let reply = &correct.site.server_error;
        Script::as_asked([reply.head(correct.version, correct.keep_alive), &reply.body].concat())
    }),
    fault("unauthorized", "answers with status 401 and asks for a password", Outcome::WrongStatus, |_| {
        status("401 Unauthorized\r\nWWW-Authenticate: Basic realm=\"x\"")
    }),
    fault("unavailable", "answers with status 503 and `Retry-After`", Outcome::WrongStatus, |_| {
        status("503 Service Unavailable\r\nRetry-After: 1")
    }),
    fault("redirect", "redirects to another machine", Outcome::WrongStatus, |_| {
        status("302 Resource\r\nLocation: http://192.0.2.1/")
    }),
    fault("switch", "switches to another protocol", Outcome::WrongStatus, |_| {
        Script::close("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n\0\0")
    }),
    fault("no-content", "answers with status 204 and sends the body", Outcome::WrongStatus, |correct| {
        Script::as_asked([b"HTTP/1.1 204 No Content\r\n\r\n", correct.body()].concat())
    }),
    // Heads.
    fault("malformed-head", "sends a status that is not a number", Outcome::MalformedHead, |_| {
        Script::close("HTTP/1.1 2x0 OK\r\nContent-Length: 0\r\n\r\n")
    }),
    fault("garbage", "sends garbage before the status line", Outcome::MalformedHead, |correct| {
        Script::close([&b"\xff\xfe\0garbage\r\n"[..], &correct.to_bytes()].concat())
    }),
    fault("empty-lines", "sends empty lines forever", Outcome::MalformedHead, |_| {
        Script::endless("", "\r\n".repeat(ENDLESS_BYTES / 2))
    }),
    fault("body-only", "sends the file without a head, as HTTP/0.9 did", Outcome::MalformedHead, |correct| {
        Script::close(correct.body())
    }),
    fault("no-colon", "sends a header line without a colon", Outcome::MalformedHead, |correct| {
        Script::close(correct.with_head_lines("Content-Length: N\r\nno colon\r\n"))
    }),
    fault("nul", "sends a NUL in a header line", Outcome::MalformedHead, |correct| {
        Script::close(correct.with_head_lines("Content-Length: N\r\nX-Name: a\0b\r\n"))
    }),
    fault("bare-cr", "hides a length behind a bare CR", Outcome::MalformedHead, |correct| {
        Script::close(correct.with_head_lines("X-Name: a\rContent-Length: 1\r\nContent-Length: N\r\n"))
    }),
    fault("folded", "folds a header line", Outcome::Ok, |correct| {
        Script::close(correct.with_head_lines("Content-Length:\r\n N\r\nConnection: close\r\n"))
    }),
    fault("bare-lf", "ends lines of the head with a bare LF", Outcome::Ok, |correct| {
        Script::close(correct.with_head_lines("Content-Length : N\nConnection: close\n"))
    }),
    fault("oversized-head", "sends a head larger than 64 KiB", Outcome::OversizedHead, |correct| {
        let padding = "x".repeat(HEAD_BYTES_MAX);
        Script::close(correct.with_head_lines(&format!("X-Padding: {padding}\r\nContent-Length: N\r\n")))
    }),
    fault("endless-head", "sends an endless header line", Outcome::OversizedHead, |_| {
        Script::endless("HTTP/1.1 200 OK\r\nX-Padding: ", [b'x'; ENDLESS_BYTES])
    }),
    fault("header-flood", "sends header lines forever", Outcome::OversizedHead, |_| {
        Script::endless("HTTP/1.1 200 OK\r\n", "X: y\r\n".repeat(ENDLESS_BYTES / 6))
    }),
    fault("interim-flood", "sends interim heads (1xx) forever", Outcome::OversizedHead, |_| {
        Script::endless("", "HTTP/1.1 103 Early Hints\r\n\r\n".repeat(ENDLESS_BYTES / 28))
    }),
    fault("head-drip", "sends an endless head, one byte at a time", Outcome::TimedOut, |_| {
        Script::endless("HTTP/1.1 200 OK\r\nX-Padding: ", "x").in_pieces(1, DRIP_PAUSE)
    }),
    fault("head-cut", "closes in the middle of the head", Outcome::Truncated, |_| {
        Script::close("HTTP/1.1 200 OK\r\nContent-Le")
    }),
    fault("head-reset", "resets the connection in the middle of the head", Outcome::Reset, |_| {
        Script::then(ConnectionEnding::Reset, "HTTP/1.1 200 OK\r\nContent-Le")
    }),
    // Lengths.
    fault("duplicate-lengths", "sends two different content lengths", Outcome::MalformedHead, |correct| {
        let other = correct.body().len() + 1;
        Script::close(correct.with_head_lines(&format!("Content-Length: N\r\nContent-Length: {other}\r\n")))
    }),
    fault("equal-lengths", "sends the same content length twice, which is allowed", Outcome::Ok, |correct| {
        Script::close(
            correct.with_head_lines("Content-Length: N\r\nContent-Length: N\r\nConnection: close\r\n"),
        )
    }),
    fault("negative-length", "sends a negative content length", Outcome::MalformedHead, |correct| {
        Script::close(correct.with_head_lines("Content-Length: -N\r\n"))
    }),
    fault("plus-length", "sends a content length with a plus sign", Outcome::MalformedHead, |correct| {
        Script::close(correct.with_head_lines("Content-Length: +N\r\n"))
    }),
    fault("hex-length", "sends a content length in hexadecimal", Outcome::MalformedHead, |correct| {
        let length = correct.body().len();
        Script::close(correct.with_head_lines(&format!("Content-Length: {length:#x}\r\n")))
    }),
    fault("huge-length", "sends a content length beyond 64 bits", Outcome::MalformedHead, |correct| {
        Script::close(correct.with_head_lines("Content-Length: 18446744073709551616\r\n"))
    }),
    fault("largest-length", "sends the largest 64-bit content length", Outcome::WrongLength, |correct| {
        Script::close(correct.with_head_lines("Content-Length: 18446744073709551615\r\n"))
    }),
    fault("length-and-chunks", "sends both a content length and chunks", Outcome::Ok, |correct| {
        in_chunks(correct, "Content-Length: 1\r\n", "")
    }),
    fault("padded-chunks", "sends blanks behind the sizes of chunks", Outcome::Ok, |correct| {
        in_chunks(correct, "", " \t")
    }),
    fault("no-coding", "names `identity` as transfer coding", Outcome::Ok, |correct| {
        let lines = "Transfer-Encoding: identity\r\nContent-Length: N\r\nConnection: close\r\n";
        Script::close(correct.with_head_lines(lines))
    }),
    fault("unknown-coding", "uses an unknown transfer coding", Outcome::MalformedHead, |correct| {
        Script::close(correct.with_head_lines("Transfer-Encoding: gzip, chunked\r\n"))
    }),
    // Chunks.
    fault("bad-chunk", "sends a chunk size that is not a number", Outcome::MalformedBody, |_| {
        Script::close(format!("{CHUNKED_HEAD}many\r\n"))
    }),
    fault("huge-chunk", "sends a chunk size beyond 64 bits", Outcome::MalformedBody, |_| {
        Script::close(format!("{CHUNKED_HEAD}10000000000000000\r\n"))
    }),
    fault(
        "chunk-overrun",
        "sends more bytes in a chunk than its size announces",
        Outcome::MalformedBody,
        |correct| {
            let chunk = correct.open_chunk();
            Script::close([&chunk[..chunk.len() - 2], b"more\r\n"].concat())
        },
    ),
    fault("extension-flood", "sends an endless chunk extension", Outcome::MalformedBody, |_| {
        Script::endless(format!("{CHUNKED_HEAD}1;"), [b'x'; ENDLESS_BYTES])
    }),
    fault("trailer-flood", "sends an endless trailer", Outcome::MalformedBody, |correct| {
        Script::endless([&correct.open_chunk()[..], b"0\r\n"].concat(), "X: y\r\n".repeat(ENDLESS_BYTES / 6))
    }),
    fault("no-last-chunk", "closes instead of sending the last chunk", Outcome::Truncated, |correct| {
        Script::close(correct.open_chunk())
    }),
    fault("endless-chunks", "sends chunks of one byte forever", Outcome::WrongLength, |correct| {
        Script::endless(correct.open_chunk(), "1\r\nx\r\n".repeat(ENDLESS_BYTES / 6))
    }),
    // Bodies.
    fault("endless-body", "sends an endless body without a length", Outcome::WrongLength, |correct| {
        Script::endless(correct.with_head_lines("Connection: close\r\n"), [b'x'; ENDLESS_BYTES])
    }),
    fault("truncated", "closes after half the body", Outcome::Truncated, |correct| {
        Script::close(correct.first_half())
    }),
    fault("reset", "resets the connection after half the body", Outcome::Reset, |correct| {
        Script::then(ConnectionEnding::Reset, correct.first_half())
    }),
    fault("half-stall", "sends half the body, then nothing", Outcome::TimedOut, |correct| {
        Script::then(ConnectionEnding::Hold, correct.first_half())
    }),
    fault("slow-drip", "sends the correct response in 16 pieces, 20 ms apart", Outcome::Ok, |correct| {
        let bytes = correct.to_bytes();
        let piece = bytes.len().div_ceil(DRIP_PIECES);
        Script::as_asked(bytes).in_pieces(piece, DRIP_PAUSE)
    }),
    fault(
        "byte-drip",
        "sends the correct response one byte at a time, 20 ms apart",
        Outcome::TimedOut,
        |correct| Script::as_asked(correct.to_bytes()).in_pieces(1, DRIP_PAUSE),
    ),
    // No reply.
    fault("stall", "reads the request and never answers", Outcome::TimedOut, |_| {
        Script::then(ConnectionEnding::Hold, "")
    }),
    fault("early-close", "reads the request and closes without sending a byte", Outcome::Truncated, |_| {
        Script::close("")
    }),
    fault("early-reset", "reads the request and resets the connection", Outcome::Reset, |_| {
        Script::then(ConnectionEnding::Reset, "")
    }),
    // Before any request.
    connection_fault(
        "talks-first",
        "answers with status 408 before any request",
        Outcome::WrongStatus,
        || status("408 Request Timeout\r\nConnection: close"),
    ),
    connection_fault("mail-server", "sends the greeting of a mail server", Outcome::MalformedHead, || {
        Script::then(ConnectionEnding::Hold, "220 mail.example ESMTP\r\n")
    }),
    Fault {
        name: "deaf",
        does: "listens but accepts no connection",
        protocol: ClientProtocol::Http1,
        outcome: Outcome::TimedOut,
        action: FaultAction::NeverAccept,
    },
];

const fn fault(
    name: &'static str,
    does: &'static str,
    outcome: Outcome,
    script: fn(&CorrectReply<'_>) -> Script,
) -> Fault {
    Fault { name, does, protocol: ClientProtocol::Http1, outcome, action: FaultAction::OnRequest(script) }
}

const fn connection_fault(
    name: &'static str,
    does: &'static str,
    outcome: Outcome,
    script: fn() -> Script,
) -> Fault {
    Fault { name, does, protocol: ClientProtocol::Http1, outcome, action: FaultAction::OnConnect(script) }
}

/// Returns a reply without a body.
fn status(rest: &str) -> Script {
    Script::as_asked(format!("HTTP/1.1 {rest}\r\nContent-Length: 0\r\n\r\n"))
}

/// Returns the reply with one byte changed; an empty file stays correct.
/// Returns the correct reply in one chunk, with these header lines and this text behind the chunk sizes.
fn in_chunks(correct: &CorrectReply<'_>, lines: &str, padding: &str) -> Script {
    let body = correct.body();
    let head = format!("HTTP/1.1 200 OK\r\nConnection: close\r\n{lines}Transfer-Encoding: chunked\r\n\r\n");
    let size = format!("{:x}{padding}\r\n", body.len());
    Script::close(
        [head.as_bytes(), size.as_bytes(), body, format!("\r\n0{padding}\r\n\r\n").as_bytes()].concat(),
    )
}

fn with_wrong_byte(correct: &CorrectReply<'_>) -> Script {
    let mut bytes = correct.to_bytes();
    let length = correct.body().len();
    if 0 < length {
        let middle = bytes.len() - length + length / 2;
        bytes[middle] ^= 1;
    }
    Script::as_asked(bytes)
}
