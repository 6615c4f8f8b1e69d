//! Wrong replies to right requests of HTTP/1.

use http1::HEAD_BYTES_MAX;
use model::Outcome;

use super::script::{Act, CHUNKED_HEAD, DRIP_PAUSE, Ending, Fault, Right, Script, Speech};

/// How many pieces `slow-drip` cuts a response into.
const DRIP_PIECES: usize = 16;

/// How much is sent at a time of what has no end.
const ENDLESS_BYTES: usize = 16 * 1024;

pub(super) const FAULTS: &[Fault] = &[
    // Contents.
    fault(
        "wrong-length",
        "sends one byte more than the file has, and says so",
        Outcome::WrongLength,
        |right| {
            let body = right.body();
            Script::as_asked([&right.announced(body.len() + 1), body, b"?"].concat())
        },
    ),
    fault(
        "short-length",
        "sends the whole file and announces one byte less",
        Outcome::WrongLength,
        |right| {
            Script::as_asked([&right.announced(right.body().len().saturating_sub(1)), right.body()].concat())
        },
    ),
    fault("wrong-bytes", "sends one wrong byte in the middle", Outcome::WrongBytes, with_wrong_byte),
    fault("compressed", "sends a compressed body that nobody asked for", Outcome::WrongEncoding, |right| {
        Script::as_asked(right.under("Content-Encoding: gzip\r\nContent-Length: N\r\n"))
    }),
    fault("trailing-bytes", "sends the right reply and more behind it", Outcome::WrongLength, |right| {
        Script::close([&right.whole()[..], b"HTTP/1.1 200 OK\r\n\r\n"].concat())
    }),
    // Statuses.
    fault("wrong-status", "answers with status 500", Outcome::WrongStatus, |right| {
        let reply = &right.site.server_error;
        Script::as_asked([reply.head(right.version, right.keep_alive), &reply.body].concat())
    }),
    fault("unauthorized", "answers with status 401 and asks for a password", Outcome::WrongStatus, |_| {
        status("401 Unauthorized\r\nWWW-Authenticate: Basic realm=\"x\"")
    }),
    fault("unavailable", "answers with status 503 and asks to come again", Outcome::WrongStatus, |_| {
        status("503 Service Unavailable\r\nRetry-After: 1")
    }),
    fault("redirect", "points to a machine elsewhere", Outcome::WrongStatus, |_| {
        status("302 Found\r\nLocation: http://192.0.2.1/")
    }),
    fault("switch", "switches to another protocol", Outcome::WrongStatus, |_| {
        Script::close("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n\0\0")
    }),
    fault("no-content", "answers with status 204 and sends the body", Outcome::WrongStatus, |right| {
        Script::as_asked([b"HTTP/1.1 204 No Content\r\n\r\n", right.body()].concat())
    }),
    // Heads.
    fault("malformed-head", "sends a status that is no number", Outcome::MalformedHead, |_| {
        Script::close("HTTP/1.1 2x0 OK\r\nContent-Length: 0\r\n\r\n")
    }),
    fault("garbage", "sends garbage before the status line", Outcome::MalformedHead, |right| {
        Script::close([&b"\xff\xfe\0garbage\r\n"[..], &right.whole()].concat())
    }),
    fault("empty-lines", "sends empty lines for ever", Outcome::MalformedHead, |_| {
        Script::endless("", "\r\n".repeat(ENDLESS_BYTES / 2))
    }),
    fault("body-only", "sends the file without a head, as HTTP/0.9 did", Outcome::MalformedHead, |right| {
        Script::close(right.body())
    }),
    fault("no-colon", "sends a header line without a colon", Outcome::MalformedHead, |right| {
        Script::close(right.under("Content-Length: N\r\nno colon\r\n"))
    }),
    fault("nul", "sends a NUL in a header line", Outcome::MalformedHead, |right| {
        Script::close(right.under("Content-Length: N\r\nX-Name: a\0b\r\n"))
    }),
    fault("bare-cr", "hides a length behind a bare CR", Outcome::MalformedHead, |right| {
        Script::close(right.under("X-Name: a\rContent-Length: 1\r\nContent-Length: N\r\n"))
    }),
    fault("folded", "folds a header line", Outcome::MalformedHead, |right| {
        Script::close(right.under("Content-Length:\r\n N\r\n"))
    }),
    fault("oversized-head", "sends a head larger than 64 KiB", Outcome::OversizedHead, |right| {
        let padding = "x".repeat(HEAD_BYTES_MAX);
        Script::close(right.under(&format!("X-Padding: {padding}\r\nContent-Length: N\r\n")))
    }),
    fault("endless-head", "sends a header line without an end", Outcome::OversizedHead, |_| {
        Script::endless("HTTP/1.1 200 OK\r\nX-Padding: ", [b'x'; ENDLESS_BYTES])
    }),
    fault("header-flood", "sends header lines for ever", Outcome::OversizedHead, |_| {
        Script::endless("HTTP/1.1 200 OK\r\n", "X: y\r\n".repeat(ENDLESS_BYTES / 6))
    }),
    fault("interim-flood", "sends interim heads (1xx) for ever", Outcome::OversizedHead, |_| {
        Script::endless("", "HTTP/1.1 103 Early Hints\r\n\r\n".repeat(ENDLESS_BYTES / 28))
    }),
    fault("head-drip", "sends a head without an end, a byte at a time", Outcome::TimedOut, |_| {
        Script::endless("HTTP/1.1 200 OK\r\nX-Padding: ", "x").in_pieces(1, DRIP_PAUSE)
    }),
    fault("head-cut", "closes within the head", Outcome::Truncated, |_| {
        Script::close("HTTP/1.1 200 OK\r\nContent-Le")
    }),
    fault("head-reset", "breaks the connection off within the head", Outcome::Reset, |_| {
        Script::then(Ending::Reset, "HTTP/1.1 200 OK\r\nContent-Le")
    }),
    // Lengths.
    fault("duplicate-lengths", "gives two different lengths", Outcome::MalformedHead, |right| {
        let other = right.body().len() + 1;
        Script::close(right.under(&format!("Content-Length: N\r\nContent-Length: {other}\r\n")))
    }),
    fault("equal-lengths", "gives the same length twice, which is allowed", Outcome::Ok, |right| {
        Script::close(right.under("Content-Length: N\r\nContent-Length: N\r\nConnection: close\r\n"))
    }),
    fault("negative-length", "gives a length below zero", Outcome::MalformedHead, |right| {
        Script::close(right.under("Content-Length: -N\r\n"))
    }),
    fault("plus-length", "gives a length with a sign", Outcome::MalformedHead, |right| {
        Script::close(right.under("Content-Length: +N\r\n"))
    }),
    fault("hex-length", "gives a length in hexadecimal", Outcome::MalformedHead, |right| {
        let length = right.body().len();
        Script::close(right.under(&format!("Content-Length: {length:#x}\r\n")))
    }),
    fault("huge-length", "gives a length beyond 64 bits", Outcome::MalformedHead, |right| {
        Script::close(right.under("Content-Length: 18446744073709551616\r\n"))
    }),
    fault("largest-length", "gives the largest length of 64 bits", Outcome::WrongLength, |right| {
        Script::close(right.under("Content-Length: 18446744073709551615\r\n"))
    }),
    fault("length-and-chunks", "gives a length and chunks as well", Outcome::MalformedHead, |right| {
        Script::close(right.under("Content-Length: N\r\nTransfer-Encoding: chunked\r\n"))
    }),
    fault("unknown-coding", "uses a transfer coding that nobody knows", Outcome::MalformedHead, |right| {
        Script::close(right.under("Transfer-Encoding: gzip, chunked\r\n"))
    }),
    // Chunks.
    fault("bad-chunk", "sends a chunk size that is no number", Outcome::MalformedBody, |_| {
        Script::close(format!("{CHUNKED_HEAD}many\r\n"))
    }),
    fault("huge-chunk", "sends a chunk size beyond 64 bits", Outcome::MalformedBody, |_| {
        Script::close(format!("{CHUNKED_HEAD}10000000000000000\r\n"))
    }),
    fault("chunk-overrun", "sends more in a chunk than its size says", Outcome::MalformedBody, |right| {
        let chunk = right.chunk();
        Script::close([&chunk[..chunk.len() - 2], b"more\r\n"].concat())
    }),
    fault("extension-flood", "sends a chunk extension without an end", Outcome::MalformedBody, |_| {
        Script::endless(format!("{CHUNKED_HEAD}1;"), [b'x'; ENDLESS_BYTES])
    }),
    fault("trailer-flood", "sends a trailer without an end", Outcome::MalformedBody, |right| {
        Script::endless([&right.chunk()[..], b"0\r\n"].concat(), "X: y\r\n".repeat(ENDLESS_BYTES / 6))
    }),
    fault("no-last-chunk", "closes where the last chunk should be", Outcome::Truncated, |right| {
        Script::close(right.chunk())
    }),
    fault("endless-chunks", "sends chunks of one byte for ever", Outcome::WrongLength, |right| {
        Script::endless(right.chunk(), "1\r\nx\r\n".repeat(ENDLESS_BYTES / 6))
    }),
    // Bodies.
    fault("endless-body", "sends a body without a length and an end", Outcome::WrongLength, |right| {
        Script::endless(right.under("Connection: close\r\n"), [b'x'; ENDLESS_BYTES])
    }),
    fault("truncated", "closes after half the body", Outcome::Truncated, |right| Script::close(right.half())),
    fault("reset", "breaks the connection off after half the body", Outcome::Reset, |right| {
        Script::then(Ending::Reset, right.half())
    }),
    fault("half-stall", "sends half the body and falls silent", Outcome::TimedOut, |right| {
        Script::then(Ending::Hold, right.half())
    }),
    fault("slow-drip", "sends the right response in 16 pieces, 20 ms apart", Outcome::Ok, |right| {
        let bytes = right.whole();
        let piece = bytes.len().div_ceil(DRIP_PIECES);
        Script::as_asked(bytes).in_pieces(piece, DRIP_PAUSE)
    }),
    fault(
        "byte-drip",
        "sends the right response a byte at a time, 20 ms apart",
        Outcome::TimedOut,
        |right| Script::as_asked(right.whole()).in_pieces(1, DRIP_PAUSE),
    ),
    // No reply.
    fault("stall", "takes the request and never answers", Outcome::TimedOut, |_| {
        Script::then(Ending::Hold, "")
    }),
    fault("early-close", "takes the request and closes without a byte", Outcome::Truncated, |_| {
        Script::close("")
    }),
    fault("early-reset", "takes the request and breaks the connection off", Outcome::Reset, |_| {
        Script::then(Ending::Reset, "")
    }),
    // Before the request.
    of_connection("talks-first", "answers with status 408 before it is asked", Outcome::WrongStatus, || {
        status("408 Request Timeout\r\nConnection: close")
    }),
    of_connection("mail-server", "greets as a mail server does", Outcome::MalformedHead, || {
        Script::then(Ending::Hold, "220 mail.example ESMTP\r\n")
    }),
    Fault {
        name: "deaf",
        does: "listens and accepts nobody",
        speech: Speech::Http1,
        outcome: Outcome::TimedOut,
        act: Act::Deaf,
    },
];

const fn fault(
    name: &'static str,
    does: &'static str,
    outcome: Outcome,
    script: fn(&Right<'_>) -> Script,
) -> Fault {
    Fault { name, does, speech: Speech::Http1, outcome, act: Act::Reply(script) }
}

const fn of_connection(
    name: &'static str,
    does: &'static str,
    outcome: Outcome,
    script: fn() -> Script,
) -> Fault {
    Fault { name, does, speech: Speech::Http1, outcome, act: Act::Unasked(script) }
}

/// A reply without a body.
fn status(rest: &str) -> Script {
    Script::as_asked(format!("HTTP/1.1 {rest}\r\nContent-Length: 0\r\n\r\n"))
}

/// An empty file stays right.
fn with_wrong_byte(right: &Right<'_>) -> Script {
    let (mut bytes, length) = (right.whole(), right.body().len());
    if 0 < length {
        let middle = bytes.len() - length + length / 2;
        bytes[middle] ^= 1;
    }
    Script::as_asked(bytes)
}
