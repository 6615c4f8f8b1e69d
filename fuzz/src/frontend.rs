//! The input of clients, and the requests that the accelerator makes of it.
//!
//! Every request has exactly one meaning, and the request to the origin has the same: one request, for the same
//! resource, with the same body.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use accelerator::exchange::{Response, ResponseBody};
use accelerator::frontend::http2::{Http2Settings, serve};
use accelerator::frontend::proxy_protocol::{PROXY_HEADER_BYTES_MAX, parse_proxy_header};
use accelerator::frontend::{ClientLimits, Service};
use accelerator::message::{
    ClientRequest, ClientVersion, ProxyReason, RequestBody, RequestHandling, ResponsePath,
};
use accelerator::observation::LogEntry;
use cache_policy::{DotSegments, Key, RequestField, Scheme, names_of_connection, request_field};
use http1::{
    BodyReader, Framing, HEADERS_MAX, HeaderLines, ParseStatus, RequestHead, parse_request, write_chunk,
};
use tokio::io::AsyncWriteExt;

/// Checks that a header has the same end whatever follows, and that every prefix of it is partial.
pub fn proxy(bytes: &[u8]) {
    let parsed = parse_proxy_header(bytes);
    let Ok(ParseStatus::Complete { length, .. }) = parsed else { return };
    assert!(length <= bytes.len().min(PROXY_HEADER_BYTES_MAX));
    assert_eq!(parse_proxy_header(&bytes[..length]), parsed);
    for end in 0..length {
        assert_eq!(parse_proxy_header(&bytes[..end]), Ok(ParseStatus::Partial), "{end}");
    }
}

/// Checks that a key is in normal form: its parts make the same key. Input lines: settings, authority, target, and a
/// reference from there.
pub fn cache_key(bytes: &[u8]) {
    let mut lines = bytes.splitn(4, |byte| *byte == b'\n');
    let mut line = || lines.next().unwrap_or_default();
    let settings = line();
    let authority = line();
    let target = line();
    let reference = line();
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

/// Parses requests one after the other, heads and bodies, up to the first invalid one; each is written and parsed again
/// as the same request.
pub fn requests(bytes: &[u8]) {
    let mut rest = bytes;
    while let Ok(ParseStatus::Complete { head, length }) = parse_request(rest) {
        let (own, after) = rest.split_at(length);
        let Some((body, consumed)) = read_body(head.framing, after) else { return };
        let range = |range: &std::ops::Range<usize>| own[range.clone()].to_vec();
        let request = ClientRequest {
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
        check_written(&request, &body);
        rest = &after[consumed..];
    }
}

/// Reads a body; `None` if it is malformed or incomplete.
fn read_body(framing: Framing, bytes: &[u8]) -> Option<(Vec<u8>, usize)> {
    let mut reader = BodyReader::new(framing);
    let mut body = Vec::new();
    let mut consumed = 0;
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

/// Writes a request as it is sent to an origin with HTTP/1, and parses it as that would.
fn check_written(request: &ClientRequest, body: &[u8]) {
    let Ok(key) = Key::new(request.scheme, &request.authority, &request.target, DotSegments::Resolved) else {
        return;
    };
    let authority = key.origin().split_once("://").expect("it begins with a scheme").1;
    let mut written = [&request.method_name[..], b" ", key.target().as_bytes(), b" HTTP/1.1\r\n"].concat();
    written.extend_from_slice(format!("Host: {authority}\r\n").as_bytes());
    let lines = forwarded(request);
    written.extend_from_slice(lines.as_bytes());
    let framing = match (request.has_body, request.content_length) {
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
    if HEADERS_MAX < lines.iter().count() + 2 || request.method_name == b"CONNECT" {
        return;
    }
    let shown = || written.escape_ascii();
    let Ok(ParseStatus::Complete { head, length }) = parse_request(&written) else {
        panic!("not read again: {}", shown());
    };
    check_head(&head, &written, request, &key, framing);
    let (again, consumed) = read_body(head.framing, &written[length..]).expect("it is all there");
    assert!(again == body && length + consumed == written.len(), "one request and no more: {}", shown());
}

fn check_head(head: &RequestHead, written: &[u8], request: &ClientRequest, key: &Key, framing: Framing) {
    let text = |range: &std::ops::Range<usize>| &written[range.clone()];
    assert_eq!(text(&head.method_name), request.method_name);
    assert_eq!(text(&head.target), key.target().as_bytes());
    assert_eq!(
        head.host.as_ref().map(text),
        Some(key.origin().split_once("://").unwrap_or_default().1.as_bytes())
    );
    assert_eq!(head.framing, framing);
    assert!(head.keep_alive, "nothing of the client's connection goes on");
}

/// Returns the forwarded lines.
fn forwarded(request: &ClientRequest) -> HeaderLines {
    const WRITTEN_ANEW: [&str; 4] = ["host", "content-length", "expect", "trailer"];
    let ended = names_of_connection(request.lines.iter());
    let goes_on = |name: &&[u8]| {
        let is = |one: &str| one.as_bytes().eq_ignore_ascii_case(name);
        request_field(name) != RequestField::Connection
            && !WRITTEN_ANEW.into_iter().any(is)
            && !ended.iter().any(|one| is(one))
    };
    let mut lines = HeaderLines::new();
    for (name, value) in request.lines.iter().filter(|(name, _)| goes_on(name)) {
        lines.push(name, value);
    }
    lines
}

/// A service that checks every request and answers without a body.
#[derive(Default)]
struct CheckingService {
    handled: RefCell<usize>,
}

impl Service for CheckingService {
    fn track_request(&self) -> impl Sized {}

    async fn handle<B: RequestBody>(self: &Rc<Self>, request: ClientRequest, mut body: B) -> Response {
        *self.handled.borrow_mut() += 1;
        let mut content = Vec::new();
        loop {
            match body.next().await {
                Ok(Some(piece)) => {
                    assert!(!piece.is_empty());
                    content.extend_from_slice(&piece);
                }
                Ok(None) => break check_written(&request, &content),
                Err(_) => break,
            }
        }
        nothing(204, ProxyReason::Fresh)
    }

    fn refuse(&self, status: u16, reason: ProxyReason, _is_head: bool) -> Response {
        nothing(status, reason)
    }

    fn note(&self, _handling: &RequestHandling, _status: u16, _bytes_out: u64) {}

    fn is_logged(&self) -> bool {
        true
    }

    fn log(&self, entry: &LogEntry<'_>) {
        assert!(entry.status != 0);
    }
}

fn nothing(status: u16, reason: ProxyReason) -> Response {
    let handling = RequestHandling { path: ResponsePath::Error, reason: reason.into(), origin_time: None };
    Response { status, lines: HeaderLines::new(), body: ResponseBody::Empty, handling, memo: None }
}

/// Serves an HTTP/2 connection that begins with a valid preface and continues with any frames.
pub fn http2(bytes: &[u8]) {
    const START: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0";
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build_local(tokio::runtime::LocalOptions::default())
        .expect("a thread without sockets");
    runtime.block_on(async {
        // Room for everything in either direction: nothing reads the responses.
        let (mut near, far) = tokio::io::duplex(1 << 20);
        near.write_all(START).await.expect("there is room");
        near.write_all(bytes).await.expect("there is room");
        near.shutdown().await.expect("it is open");
        let service = Rc::<CheckingService>::default();
        let peer = (([127, 0, 0, 1], 1).into(), Scheme::Https);
        let limits = ClientLimits::default();
        let settings = Http2Settings::default();
        let serving = serve((far, |_| 0), peer, &service, &limits, &settings, std::future::pending::<()>());
        let ended = tokio::time::timeout(Duration::from_secs(5), serving).await;
        assert!(ended.is_ok(), "a connection whose client has left ends");
        assert!(*service.handled.borrow() <= bytes.len(), "no request without bytes");
    });
}
