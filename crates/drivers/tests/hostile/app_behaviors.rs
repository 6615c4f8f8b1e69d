//! Behaviors of application servers over HTTP, each a row of a table.

use model::{AppTransaction, Outcome};

/// A behavior, with what clients must make of it.
pub(crate) struct AppBehavior {
    pub(crate) name: &'static str,
    /// A clause that begins with a verb.
    pub(crate) does: &'static str,
    /// The transaction whose reply is affected.
    pub(crate) transaction: AppTransaction,
    pub(crate) outcome: Outcome,
    /// The code of the outcome, as the page of the benchmark lists them; 0 without one.
    pub(crate) code: u32,
    /// Returns what is sent, of the body that would be right.
    pub(crate) reply: fn(&[u8]) -> Vec<u8>,
    pub(crate) then: AfterReply,
}

/// The continuation after the bytes of a reply.
#[derive(Debug, Clone, Copy)]
pub(crate) enum AfterReply {
    /// The next request is read.
    GoOn,
    /// The same, after a reply that is sent in pieces of a byte.
    GoOnFromPieces,
    /// The connection ends with the last byte.
    Close,
    /// It is reset.
    Reset,
    /// Nothing follows, and the connection stays open.
    Stall,
    /// These bytes follow, again and again.
    Repeat(&'static [u8]),
    /// So do these, one at a time, 10 ms apart.
    Drip(&'static [u8]),
}

const CS: AppTransaction = AppTransaction::ClientServer;
const SC: AppTransaction = AppTransaction::ServerClient;
const RREAD: AppTransaction = AppTransaction::RandomRead;

const OK: (Outcome, u32) = (Outcome::Ok, 0);
const MALFORMED_HEAD: (Outcome, u32) = (Outcome::MalformedHead, 0);
const MALFORMED_BODY: (Outcome, u32) = (Outcome::MalformedBody, 0);
const OVERSIZED_HEAD: (Outcome, u32) = (Outcome::OversizedHead, 0);
const WRONG_LENGTH: (Outcome, u32) = (Outcome::WrongLength, 0);
const WRONG_CONTENT: (Outcome, u32) = (Outcome::WrongBytes, 2);
const WRONG_BLOCK: (Outcome, u32) = (Outcome::WrongBytes, 4);
const TOO_LONG_TIMES: (Outcome, u32) = (Outcome::Inconsistent, 2);
const TRUNCATED: (Outcome, u32) = (Outcome::Truncated, 0);
const TIMED_OUT: (Outcome, u32) = (Outcome::TimedOut, 0);

const fn wrong_status(status: u32) -> (Outcome, u32) {
    (Outcome::WrongStatus, status)
}

/// Creates a behavior in reply to a transaction.
const fn to(
    transaction: AppTransaction,
    name: &'static str,
    does: &'static str,
    (outcome, code): (Outcome, u32),
    reply: fn(&[u8]) -> Vec<u8>,
    then: AfterReply,
) -> AppBehavior {
    AppBehavior { name, does, transaction, outcome, code, reply, then }
}

/// Creates one in reply to a read, whose connection goes on.
const fn read(
    name: &'static str,
    does: &'static str,
    outcome: (Outcome, u32),
    reply: fn(&[u8]) -> Vec<u8>,
) -> AppBehavior {
    to(RREAD, name, does, outcome, reply, AfterReply::GoOn)
}

/// Creates one in reply to a read, whose connection does not simply go on.
const fn read_then(
    name: &'static str,
    does: &'static str,
    outcome: (Outcome, u32),
    reply: fn(&[u8]) -> Vec<u8>,
    then: AfterReply,
) -> AppBehavior {
    to(RREAD, name, does, outcome, reply, then)
}

/// Returns a reply with a status and fields; its body has the length that they say.
pub(crate) fn reply(status: &str, fields: &str, body: &[u8]) -> Vec<u8> {
    [format!("HTTP/1.1 {status} X\r\n{fields}\r\n").as_bytes(), body].concat()
}

/// Returns a right reply with further fields.
pub(crate) fn ok(fields: &str, body: &[u8]) -> Vec<u8> {
    reply("200", &format!("{fields}Content-Length: {}\r\n", body.len()), body)
}

/// Returns a right reply with times.
fn timed(times: &str, body: &[u8]) -> Vec<u8> {
    ok(&format!("Server-Timing: {times}\r\n"), body)
}

/// Returns a reply that announces a body of so many bytes.
fn announced(length: usize, body: &[u8]) -> Vec<u8> {
    reply("200", &format!("Content-Length: {length}\r\n"), body)
}

/// Returns a reply with a body in chunks, which is given as it is sent.
fn in_chunks(body: &[u8]) -> Vec<u8> {
    reply("200", "Transfer-Encoding: chunked\r\n", body)
}

/// All behaviors.
pub(crate) static BEHAVIORS: &[AppBehavior] = &[
    // Times.
    read("no-times", "states no times", OK, |body| ok("", body)),
    read("one-time", "states the time of service only", OK, |body| timed("service;dur=0", body)),
    read("other-times", "states times that nobody asked for, in quotes and with escapes", OK, |body| {
        timed(r#"db;dur=9e9, x;desc="a, queue;dur=-1", service;desc="\", queue;dur=-1";dur=0"#, body)
    }),
    read("open-quote", "opens a quote in the times and does not close it", OK, |body| {
        timed(r#"service;desc="x, queue;dur=-1"#, body)
    }),
    read("empty-time", "states an empty time", MALFORMED_HEAD, |body| timed("queue;dur=", body)),
    read("word-time", "states a word as time", MALFORMED_HEAD, |body| timed("queue;dur=soon", body)),
    read("unit-time", "states a time with a unit", MALFORMED_HEAD, |body| timed("service;dur=1ms", body)),
    read("negative-time", "states a negative time", MALFORMED_HEAD, |body| timed("queue;dur=-1", body)),
    read("nan-time", "states a time that is not a number", MALFORMED_HEAD, |body| {
        timed("queue;dur=NaN", body)
    }),
    read("infinite-time", "states an infinite time", MALFORMED_HEAD, |body| timed("service;dur=inf", body)),
    read("overflowing-time", "states a time beyond floating-point numbers", MALFORMED_HEAD, |body| {
        timed("queue;dur=1e999", body)
    }),
    read("huge-time", "states a time of 10³⁰⁰ ms", TOO_LONG_TIMES, |body| {
        timed("queue;dur=1e300", body)
    }),
    read("long-time", "states a time that is longer than the response", TOO_LONG_TIMES, |body| {
        timed("service;dur=9e9", body)
    }),
    read(
        "overflowing-sum",
        "states two times whose sum in nanoseconds exceeds 64 bits",
        TOO_LONG_TIMES,
        |body| timed("queue;dur=1e13, service;dur=1e13", body),
    ),
    // Content.
    to(
        CS,
        "wrong-checksum",
        "states another checksum than that of the message",
        (Outcome::WrongBytes, 1),
        |_| ok("", b"1"),
        AfterReply::GoOn,
    ),
    read("wrong-block", "states the number of another block", WRONG_BLOCK, |_| ok("", b"999")),
    read("no-number", "states a word as result", WRONG_BLOCK, |_| ok("", b"none")),
    read("empty-body", "states no result", WRONG_BLOCK, |_| ok("", b"")),
    read("signed-number", "states the result with a sign", WRONG_BLOCK, |body| {
        ok("", &[&b"+"[..], body].concat())
    }),
    read("huge-number", "states a result beyond 64 bits", WRONG_BLOCK, |_| ok("", b"18446744073709551616")),
    to(
        SC,
        "short-content",
        "sends one byte less than was asked for",
        WRONG_LENGTH,
        |body| ok("", &body[1..]),
        AfterReply::GoOn,
    ),
    to(
        SC,
        "long-content",
        "sends one byte more than was asked for",
        WRONG_LENGTH,
        |body| ok("", &[body, b"x"].concat()),
        AfterReply::GoOn,
    ),
    to(
        SC,
        "wrong-content",
        "sends one wrong byte",
        WRONG_CONTENT,
        |body| ok("", &[&[!body[0]][..], &body[1..]].concat()),
        AfterReply::GoOn,
    ),
    // Bodies.
    to(
        SC,
        "short-length",
        "announces one byte less than it sends",
        WRONG_LENGTH,
        |body| announced(body.len() - 1, body),
        AfterReply::GoOn,
    ),
    to(
        SC,
        "long-length",
        "announces one byte more than it sends, and closes",
        TRUNCATED,
        |body| announced(body.len() + 1, body),
        AfterReply::Close,
    ),
    read("trailing-bytes", "sends the right reply followed by extra bytes", WRONG_LENGTH, |body| {
        [ok("", body), b"HTTP".into()].concat()
    }),
    read("two-replies", "sends the right reply twice", WRONG_LENGTH, |body| ok("", body).repeat(2)),
    read("largest-length", "announces the largest 64-bit length", WRONG_LENGTH, |body| {
        announced(usize::MAX, body)
    }),
    read("long-body", "sends one byte more than replies may have", WRONG_LENGTH, |_| {
        ok("", &[b'1'; 131_073])
    }),
    read_then(
        "endless-body",
        "sends an endless body without a length",
        WRONG_LENGTH,
        |body| reply("200", "", body),
        AfterReply::Repeat(b"1"),
    ),
    read_then(
        "to-the-end",
        "sends a body without a length, which the end of the connection completes",
        OK,
        |body| reply("200", "", body),
        AfterReply::Close,
    ),
    read("chunked", "sends the right body in chunks, with an extension and a trailer", OK, |body| {
        in_chunks(&[&b"1;x=y\r\n"[..], body, b"\r\n0\r\nServer-Timing: queue;dur=-1\r\n\r\n"].concat())
    }),
    read("bad-chunk", "sends a chunk size that is not a number", MALFORMED_BODY, |_| in_chunks(b"x\r\n")),
    read_then(
        "endless-chunks",
        "sends chunks of one byte forever",
        WRONG_LENGTH,
        |_| in_chunks(b""),
        AfterReply::Repeat(b"1\r\n1\r\n"),
    ),
    read_then(
        "extension-flood",
        "sends an endless chunk extension",
        MALFORMED_BODY,
        |_| in_chunks(b"1;"),
        AfterReply::Repeat(b"x"),
    ),
    read_then(
        "trailer-flood",
        "sends an endless trailer",
        MALFORMED_BODY,
        |_| in_chunks(b"0\r\n"),
        AfterReply::Repeat(b"a: b\r\n"),
    ),
    read_then(
        "no-last-chunk",
        "closes instead of sending the last chunk",
        TRUNCATED,
        |_| in_chunks(b"1\r\n1\r\n"),
        AfterReply::Close,
    ),
    read("length-and-chunks", "sends both a length and chunks, with blanks behind their sizes", OK, |body| {
        let lines = "Content-Length: 99\r\nServer-Timing: service;dur=0\r\nTransfer-Encoding: chunked\r\n";
        reply("200", lines, &[&b"1 \r\n"[..], body, b"\r\n0\r\n\r\n"].concat())
    }),
    to(
        SC,
        "half-stall",
        "sends half of the body, then nothing",
        TIMED_OUT,
        |body| announced(body.len(), &body[..body.len() / 2]),
        AfterReply::Stall,
    ),
    read_then(
        "pieces",
        "sends the right reply in pieces of a byte",
        OK,
        |body| timed("service;dur=0", body),
        AfterReply::GoOnFromPieces,
    ),
    // Heads.
    read("interim", "sends interim heads (1xx), with wrong times, before the reply", OK, |body| {
        let interim =
            "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nServer-Timing: queue;dur=-1\r\n\r\n";
        [interim.as_bytes(), &ok("", body)].concat()
    }),
    read_then(
        "interim-flood",
        "sends interim heads (1xx) forever",
        OVERSIZED_HEAD,
        |_| Vec::new(),
        AfterReply::Repeat(b"HTTP/1.1 103 Early Hints\r\n\r\n"),
    ),
    read_then(
        "header-flood",
        "sends header lines forever",
        OVERSIZED_HEAD,
        |_| b"HTTP/1.1 200 OK\r\n".to_vec(),
        AfterReply::Repeat(b"a: b\r\n"),
    ),
    read_then(
        "endless-times",
        "sends an endless list of times",
        OVERSIZED_HEAD,
        |_| b"HTTP/1.1 200 OK\r\nServer-Timing: queue;dur=0".to_vec(),
        AfterReply::Repeat(b", queue;dur=0"),
    ),
    read_then(
        "head-drip",
        "sends an endless head, one byte at a time",
        TIMED_OUT,
        |_| b"HTTP/1.1 200 OK\r\na: ".to_vec(),
        AfterReply::Drip(b"b"),
    ),
    read_then(
        "half-head",
        "closes in the middle of the head",
        TRUNCATED,
        |_| b"HTTP/1.1 200 OK\r\nContent-".to_vec(),
        AfterReply::Close,
    ),
    read("garbage", "sends bytes that are no head", MALFORMED_HEAD, |_| b"garbage\r\n\r\n".to_vec()),
    read("frame", "answers in the binary protocol", MALFORMED_HEAD, |_| {
        [&b"TRBS\x01"[..], &[0; 51]].concat()
    }),
    read("body-only", "sends the result without a head", MALFORMED_HEAD, <[u8]>::to_vec),
    // Statuses.
    read("busy", "answers with status 503", (Outcome::Busy, 503), |_| {
        reply("503", "Retry-After: 1\r\nServer-Timing: queue;dur=-1\r\nContent-Length: 5\r\n", b"later")
    }),
    read("forgotten", "has forgotten the client", wrong_status(409), |_| {
        reply("409", "Content-Length: 0\r\n", b"")
    }),
    read("storage-failed", "says that the disk is full", wrong_status(507), |_| {
        reply("507", "Content-Length: 0\r\n", b"")
    }),
    read("redirect", "redirects to another machine", wrong_status(302), |_| {
        reply("302", "Location: http://192.0.2.1/\r\nContent-Length: 0\r\n", b"")
    }),
    read("switch", "switches to another protocol", wrong_status(101), |_| {
        reply("101", "Upgrade: x\r\nConnection: upgrade\r\n", b"")
    }),
    read("no-content", "answers with status 204 and sends the body", wrong_status(204), |body| {
        reply("204", "", body)
    }),
    read("long-page", "fails with a page of 1 MiB", wrong_status(500), |_| {
        reply("500", "Content-Length: 1048576\r\n", &[b'x'; 1 << 20])
    }),
    read_then(
        "endless-page",
        "fails with an endless page",
        wrong_status(500),
        |_| reply("500", "", b""),
        AfterReply::Repeat(b"x"),
    ),
    read_then(
        "half-page",
        "fails, and closes in the middle of the page",
        wrong_status(500),
        |_| reply("500", "Content-Length: 9\r\n", b"half"),
        AfterReply::Close,
    ),
    // Connections.
    read_then(
        "says-close",
        "closes after the reply, and says so",
        OK,
        |body| ok("Connection: close\r\n", body),
        AfterReply::Close,
    ),
    read_then(
        "only-close",
        "closes after the reply without saying so",
        OK,
        |body| ok("", body),
        AfterReply::Close,
    ),
    read("only-says-close", "says that it closes, and does not", OK, |body| {
        ok("Connection: close\r\n", body)
    }),
    read("http-1.0", "answers in HTTP/1.0", OK, |body| {
        let rest = ok("", body);
        [&b"HTTP/1.0"[..], &rest[b"HTTP/1.0".len()..]].concat()
    }),
    read_then(
        "closed",
        "closes instead of answering",
        (Outcome::SessionLost, 0),
        |_| Vec::new(),
        AfterReply::Close,
    ),
    read_then(
        "reset",
        "resets the connection instead of answering",
        (Outcome::Reset, 0),
        |_| Vec::new(),
        AfterReply::Reset,
    ),
    read_then(
        "half-reset",
        "resets the connection in the middle of the reply",
        (Outcome::Reset, 0),
        |body| announced(body.len() + 9, body),
        AfterReply::Reset,
    ),
    read_then("stall", "never answers", TIMED_OUT, |_| Vec::new(), AfterReply::Stall),
];
