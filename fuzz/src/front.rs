//! What clients send to the accelerator, and what it makes of it.
//!
//! Whatever a request looks like, the accelerator understands it one way, and what it writes to the origin is read
//! there in the same way: one request, for the same thing, with the same body.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use accelerator::front::http2::{Http2Settings, serve};
use accelerator::front::proxy_protocol::{PROXY_HEADER_BYTES_MAX, parse_proxy_header};
use accelerator::front::{Limits, Service};
use accelerator::message::{
    ClientVersion, Handling, HeaderLines, HitPath, Inbound, Reply, ReplyBody, RequestBody,
};
use accelerator::operation::LogEntry;
use accelerator::policy::{DotSegments, Key, RequestField, Scheme, names_of_connection, request_field};
use http1::{BodyReader, Framing, HEADERS_MAX, Parsed, RequestHead, parse_request, write_chunk};
use tokio::io::AsyncWriteExt;

/// A header ends where it ends, whatever follows; before that it is partial.
pub fn proxy(bytes: &[u8]) {
    let parsed = parse_proxy_header(bytes);
    let Ok(Parsed::Complete { length, .. }) = parsed else { return };
    assert!(length <= bytes.len().min(PROXY_HEADER_BYTES_MAX));
    assert_eq!(parse_proxy_header(&bytes[..length]), parsed);
    for end in 0..length {
        assert_eq!(parse_proxy_header(&bytes[..end]), Ok(Parsed::Partial), "{end}");
    }
}

/// Lines: settings, authority, target, and a reference from there. A key is in normal form: its parts make the same.
pub fn cache_key(bytes: &[u8]) {
    let mut lines = bytes.splitn(4, |byte| *byte == b'\n');
    let mut line = || lines.next().unwrap_or_default();
    let (settings, authority, target, reference) = (line(), line(), line(), line());
    let scheme = if settings.contains(&b's') { Scheme::Https } else { Scheme::Http };
    let dots = if settings.contains(&b'.') { DotSegments::Refused } else { DotSegments::Resolved };
    let Ok(key) = Key::new(scheme, authority, target, dots) else { return };
    check_key(scheme, &key);
    if let Ok(other) = key.resolve(reference) {
        let scheme = if other.origin().starts_with("https:") { Scheme::Https } else { Scheme::Http };
        check_key(scheme, &other);
    }
}

fn check_key(scheme: Scheme, key: &Key) {
    assert!(key.as_str().bytes().all(|byte| byte.is_ascii_graphic() && byte != b'#'), "{key:?}");
    let authority = key.origin().split_once("://").expect("it begins with a scheme").1;
    assert!(!authority.is_empty() && !authority.contains(['/', '?', '@']), "{key:?}");
    assert!(key.target().starts_with('/'), "{key:?}");
    let path = key.target().split('?').next().unwrap_or_default();
    assert!(path.split('/').all(|segment| segment != "." && segment != ".."), "{key:?}");
    let again = Key::new(scheme, authority.as_bytes(), key.target().as_bytes(), DotSegments::Refused);
    assert_eq!(again.as_ref(), Ok(key));
}

/// Reads requests one after the other, heads and bodies, as long as they are good; what is written of each is read as
/// the same again.
pub fn requests(bytes: &[u8]) {
    let mut rest = bytes;
    while let Ok(Parsed::Complete { head, length }) = parse_request(rest) {
        let (own, after) = rest.split_at(length);
        let Some((body, consumed)) = read_body(head.framing, after) else { return };
        let range = |range: &std::ops::Range<usize>| own[range.clone()].to_vec();
        let inbound = Inbound {
            method_name: range(&head.method_name),
            scheme: Scheme::Http,
            authority: head.host.as_ref().map_or_else(Vec::new, range),
            target: if head.target.is_empty() { b"/".to_vec() } else { range(&head.target) },
            lines: HeaderLines::of_head(own),
            version: ClientVersion::Http11,
            client: ([127, 0, 0, 1], 1).into(),
            has_body: head.framing != Framing::None,
            content_length: if let Framing::Length(length) = head.framing { Some(length) } else { None },
        };
        check_written(&inbound, &body);
        rest = &after[consumed..];
    }
}

/// Reads a body; `None` if it is malformed, or not all there.
fn read_body(framing: Framing, bytes: &[u8]) -> Option<(Vec<u8>, usize)> {
    let (mut reader, mut body, mut consumed) = (BodyReader::new(framing), Vec::new(), 0);
    while !reader.is_done() {
        let rest = &bytes[consumed..];
        if rest.is_empty() {
            return None;
        }
        let piece = reader.read(rest).ok()?;
        assert!(piece.consumed <= rest.len() && piece.data.end <= piece.consumed);
        assert!(piece.done || 0 < piece.consumed, "it goes on");
        body.extend_from_slice(&rest[piece.data]);
        consumed += piece.consumed;
    }
    Some((body, consumed))
}

/// Writes a request as it goes to an origin that speaks HTTP/1, and reads it as that would.
fn check_written(inbound: &Inbound, body: &[u8]) {
    let Ok(key) = Key::new(inbound.scheme, &inbound.authority, &inbound.target, DotSegments::Resolved) else {
        return;
    };
    let authority = key.origin().split_once("://").expect("it begins with a scheme").1;
    let mut written = [&inbound.method_name[..], b" ", key.target().as_bytes(), b" HTTP/1.1\r\n"].concat();
    written.extend_from_slice(format!("Host: {authority}\r\n").as_bytes());
    let lines = forwarded(inbound);
    written.extend_from_slice(lines.as_bytes());
    let framing = match (inbound.has_body, inbound.content_length) {
        (false, _) => Framing::None,
        (true, Some(length)) => Framing::Length(length),
        (true, None) => Framing::Chunked,
    };
    match framing {
        Framing::Length(length) => {
            assert_eq!(length, body.len() as u64, "a complete body is as long as announced");
            written.extend_from_slice(format!("Content-Length: {length}\r\n\r\n").as_bytes());
            written.extend_from_slice(body);
        }
        Framing::Chunked => {
            written.extend_from_slice(b"Transfer-Encoding: chunked\r\n\r\n");
            write_chunk(&mut written, body);
            written.extend_from_slice(http1::LAST_CHUNK);
        }
        Framing::None | Framing::ToEof => written.extend_from_slice(b"\r\n"),
    }
    if HEADERS_MAX < lines.iter().count() + 2 || inbound.method_name == b"CONNECT" {
        return;
    }
    let shown = || written.escape_ascii();
    let Ok(Parsed::Complete { head, length }) = parse_request(&written) else {
        panic!("not read again: {}", shown());
    };
    check_head(&head, &written, inbound, &key, framing);
    let (again, consumed) = read_body(head.framing, &written[length..]).expect("it is all there");
    assert!(again == body && length + consumed == written.len(), "one request and no more: {}", shown());
}

fn check_head(head: &RequestHead, written: &[u8], inbound: &Inbound, key: &Key, framing: Framing) {
    let text = |range: &std::ops::Range<usize>| &written[range.clone()];
    assert_eq!(text(&head.method_name), inbound.method_name);
    assert_eq!(text(&head.target), key.target().as_bytes());
    assert_eq!(
        head.host.as_ref().map(text),
        Some(key.origin().split_once("://").unwrap_or_default().1.as_bytes())
    );
    assert_eq!(head.framing, framing);
    assert!(head.keep_alive, "nothing of the client's connection goes on");
}

/// Returns the lines that go on.
fn forwarded(inbound: &Inbound) -> HeaderLines {
    const WRITTEN_ANEW: [&str; 4] = ["host", "content-length", "expect", "trailer"];
    let ended = names_of_connection(inbound.lines.iter());
    let goes_on = |name: &&[u8]| {
        let is = |one: &str| one.as_bytes().eq_ignore_ascii_case(name);
        request_field(name) != RequestField::Connection
            && !WRITTEN_ANEW.into_iter().any(is)
            && !ended.iter().any(|one| is(one))
    };
    let mut lines = HeaderLines::new();
    for (name, value) in inbound.lines.iter().filter(|(name, _)| goes_on(name)) {
        lines.push(name, value);
    }
    lines
}

/// Answers every request with nothing, once it has looked at it.
#[derive(Default)]
struct Witness {
    handled: RefCell<usize>,
}

impl Service for Witness {
    fn engage(&self) -> impl Sized {}

    async fn handle<B: RequestBody>(self: &Rc<Self>, inbound: Inbound, mut body: B) -> Reply {
        *self.handled.borrow_mut() += 1;
        let mut content = Vec::new();
        loop {
            match body.next().await {
                Ok(Some(piece)) => {
                    assert!(!piece.is_empty());
                    content.extend_from_slice(&piece);
                }
                Ok(None) => break check_written(&inbound, &content),
                Err(_) => break,
            }
        }
        nothing(204, "looked-at")
    }

    fn refuse(&self, status: u16, reason: &'static str, _is_head: bool) -> Reply {
        nothing(status, reason)
    }

    fn note(&self, _handling: &Handling, _status: u16, _bytes_out: u64) {}

    fn is_logged(&self) -> bool {
        true
    }

    fn log(&self, entry: &LogEntry<'_>) {
        assert!(entry.status != 0);
    }
}

fn nothing(status: u16, reason: &'static str) -> Reply {
    let handling = Handling { path: HitPath::Error, reason, origin_time: None };
    Reply { status, lines: HeaderLines::new(), body: ReplyBody::Empty, handling, memo: None }
}

/// Serves a connection of HTTP/2 that begins as one should and goes on with any frames.
pub fn http2(bytes: &[u8]) {
    const START: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0";
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build_local(tokio::runtime::LocalOptions::default())
        .expect("a thread without sockets");
    runtime.block_on(async {
        // Room for all that is sent, in either direction: nobody reads what is answered.
        let (mut near, far) = tokio::io::duplex(1 << 20);
        near.write_all(START).await.expect("there is room");
        near.write_all(bytes).await.expect("there is room");
        near.shutdown().await.expect("it is open");
        let witness = Rc::<Witness>::default();
        let peer = (([127, 0, 0, 1], 1).into(), Scheme::Https);
        let (limits, settings) = (Limits::default(), Http2Settings::default());
        let serving = serve(far, peer, &witness, &limits, &settings, std::future::pending::<()>());
        let ended = tokio::time::timeout(Duration::from_secs(5), serving).await;
        assert!(ended.is_ok(), "a connection whose client has left ends");
        assert!(*witness.handled.borrow() <= bytes.len(), "no request without bytes");
    });
}
