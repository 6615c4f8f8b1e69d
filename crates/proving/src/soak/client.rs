//! A client that requests objects in every way, and compares every byte.

use std::io::{self, ErrorKind};
use std::net::SocketAddr;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use anyhow::Result;
use units::{Nanos, Rng, StreamPurpose};

use super::client_connection::{ClientConnection, ClientReply, ReadPace};
use super::fixture::{Fixture, OBJECTS, ObjectClass, Representation, class};

/// The pause after a failed request, so that an unavailable accelerator is not flooded.
const PAUSE: Duration = Duration::from_millis(20);

/// The popular share of the objects, and their share of 100 requests.
const WANTED: u32 = OBJECTS / 10;
const WANTED_SHARE: u32 = 70;

/// A range within every body: first and last byte.
const RANGE: (u64, u64) = (10, 109);

/// The kind of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RequestKind {
    Whole,
    SlowReader,
    Head,
    Part,
    IfChanged,
    /// An object that arrives slowly.
    Dripping,
    /// A response that is truncated.
    Cut,
    /// The client closes before the response.
    Leave,
}

/// Request kinds with their weights, out of 100.
const REQUEST_KINDS: [(RequestKind, u32); 8] = [
    (RequestKind::Whole, 80),
    (RequestKind::SlowReader, 1),
    (RequestKind::Head, 4),
    (RequestKind::Part, 4),
    (RequestKind::IfChanged, 5),
    (RequestKind::Dripping, 2),
    (RequestKind::Cut, 1),
    (RequestKind::Leave, 3),
];

/// Starts a client; it ends with the fixture.
pub(super) fn start(fixture: &Arc<Fixture>, address: SocketAddr, seed: u64) -> JoinHandle<()> {
    let fixture = Arc::clone(fixture);
    std::thread::spawn(move || {
        let mut rng = Rng::new(1, StreamPurpose::User, seed);
        let mut connection = None;
        while !fixture.is_over() {
            connection = ask(&fixture, address, connection, &mut rng);
            if connection.is_none() {
                std::thread::sleep(PAUSE);
            }
        }
    })
}

/// Sends one request and checks the response; returns the connection if it can be reused.
fn ask(
    fixture: &Fixture,
    address: SocketAddr,
    connection: Option<ClientConnection>,
    rng: &mut Rng,
) -> Option<ClientConnection> {
    let request = Request::draw(fixture, rng);
    let begin = fixture.now();
    let mut connection = match connection.map_or_else(|| ClientConnection::open(address), Ok) {
        Ok(connection) => connection,
        Err(error) => {
            failed(fixture, begin, &request, &format!("no connection: {error:#}"));
            return None;
        }
    };
    match request.perform(&mut connection) {
        Ok(Some(reply)) => {
            judge(fixture, begin, &request, &reply);
            Some(connection).filter(|_| reply.keep_alive)
        }
        Ok(None) => {
            fixture.count(|counts| counts.left += 1);
            None
        }
        Err(error) => {
            judge_error(fixture, begin, &request, &error);
            None
        }
    }
}

/// Handles a response that did not arrive completely.
fn judge_error(fixture: &Fixture, begin: Nanos, request: &Request, error: &anyhow::Error) {
    match error.downcast_ref::<io::Error>().map(io::Error::kind) {
        // The bytes are not HTTP, which no outage excuses.
        None => fixture.note_wrong(format!("{request:?}: {error:#}")),
        Some(ErrorKind::UnexpectedEof | ErrorKind::ConnectionReset) if request.kind == RequestKind::Cut => {
            fixture.count(|counts| counts.cut += 1);
        }
        Some(_) => failed(fixture, begin, request, &format!("{error:#}")),
    }
}

fn failed(fixture: &Fixture, begin: Nanos, request: &Request, why: &str) {
    if fixture.is_excused(begin) {
        fixture.count(|counts| counts.excused += 1)
    } else {
        fixture.note_dropped(format!("{request:?}: {why}"))
    }
}

/// A request, and the state of its object when it started.
#[derive(Debug)]
struct Request {
    kind: RequestKind,
    id: u32,
    variant: u32,
    /// The oldest acceptable version.
    floor: u64,
    /// The representation that the client claims to have.
    known: Option<Representation>,
}

impl Request {
    fn draw(fixture: &Fixture, rng: &mut Rng) -> Request {
        let mut rest = rng.below(100) as u32;
        let drawn = REQUEST_KINDS.iter().find(|(_, share)| {
            let is_it = rest < *share;
            rest = rest.saturating_sub(*share);
            is_it
        });
        let kind = drawn.map_or(RequestKind::Whole, |(kind, _)| *kind);
        let most = if (rng.below(100) as u32) < WANTED_SHARE { WANTED } else { OBJECTS };
        let id = rng.below(most.into()) as u32;
        let variant = if class(id) == ObjectClass::Varying && kind != RequestKind::Dripping {
            rng.below(2) as u32
        } else {
            0
        };
        let version = fixture.version(id);
        let known = (kind == RequestKind::IfChanged).then_some(Representation { id, version, variant });
        Request { kind, id, variant, floor: fixture.floor(id), known }
    }

    fn perform(&self, connection: &mut ClientConnection) -> Result<Option<ClientReply>> {
        let path = match self.kind {
            RequestKind::Dripping => format!("/slow/{}", self.id),
            RequestKind::Cut => format!("/cut/{}", self.id % 8),
            _ => format!("/o/{}", self.id),
        };
        let mut fields = format!("X-Variant: {}\r\n", self.variant);
        if self.kind == RequestKind::Part {
            fields += &format!("Range: bytes={}-{}\r\n", RANGE.0, RANGE.1);
        }
        if let Some(known) = self.known {
            fields += &format!("If-None-Match: {}\r\n", known.tag());
        }
        let method = if self.kind == RequestKind::Head { "HEAD" } else { "GET" };
        let pace = match self.kind {
            RequestKind::SlowReader => ReadPace::Slow,
            RequestKind::Leave => ReadPace::Leave,
            _ => ReadPace::Usual,
        };
        connection.perform(method, &path, &fields, pace)
    }
}

fn judge(fixture: &Fixture, begin: Nanos, request: &Request, reply: &ClientReply) {
    if request.kind == RequestKind::Cut {
        return match reply.status {
            500.. => fixture.count(|counts| counts.cut += 1),
            status => fixture.note_wrong(format!("{request:?}: status {status}, whole, of what was cut off")),
        };
    }
    match (reply.status, verdict(fixture, request, reply)) {
        (500.., _) => failed(fixture, begin, request, &format!("status {}", reply.status)),
        (_, Err(why)) => fixture.note_wrong(format!("{request:?}: status {}: {why}", reply.status)),
        (status, Ok(())) => fixture.count(|counts| {
            counts.right += 1;
            counts.bytes += reply.body.len() as u64;
            counts.unchanged += u64::from(status == 304);
            counts.ranges += u64::from(status == 206);
        }),
    }
}

/// Compares a response with its own metadata, and these with the acceptable ones.
fn verdict(fixture: &Fixture, request: &Request, reply: &ClientReply) -> Result<(), String> {
    let representation =
        reply.field("etag").and_then(Representation::of_tag).ok_or("not one of our entity tags")?;
    let Representation { id, version, variant } = representation;
    let newest = fixture.version(request.id);
    // Slow objects are cached separately; purges here do not concern them.
    let floor = if request.kind == RequestKind::Dripping { 0 } else { request.floor };
    if id != request.id || variant != request.variant || version < floor || newest < version {
        return Err(format!(
            "it is {representation:?}; purged up to version {floor}, the newest is {newest}"
        ));
    }
    let whole = representation.bytes();
    let (offset, length) = match (reply.status, request.kind) {
        (200, RequestKind::Head) => return Ok(()),
        (200, _) => (0, whole),
        (206, RequestKind::Part) => {
            let range = format!("bytes {}-{}/{whole}", RANGE.0, RANGE.1);
            if reply.field("content-range") != Some(range.as_bytes()) {
                return Err(format!("not the range `{range}`"));
            }
            (RANGE.0, (RANGE.1 - RANGE.0 + 1) as usize)
        }
        (304, RequestKind::IfChanged) if request.known == Some(representation) => (0, 0),
        _ => return Err("unexpected status".to_owned()),
    };
    if reply.body.len() != length {
        return Err(format!("{representation:?} came with {} bytes of {length}", reply.body.len()));
    }
    if fixture.content.matches(representation.object(), offset, &reply.body) {
        Ok(())
    } else {
        Err(format!("{representation:?} came with other bytes"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Goal: wrong responses are detected. The correct response to a request for object 9, with one change at
    /// a time.
    #[test]
    fn only_consistent_and_acceptable_responses_are_correct() {
        let fixture = Fixture::new();
        let representation = Representation { id: 9, version: 0, variant: 0 };
        let mut body = vec![0; representation.bytes()];
        fixture.content.fill(representation.object(), 0, &mut body);
        let request = |kind| Request { kind, id: 9, variant: 0, floor: 0, known: None };
        let reply = |status, more: &str, body: &[u8]| {
            let head = format!("HTTP/1.1 {status} X\r\nETag: {}\r\n{more}\r\n", representation.tag());
            ClientReply { status, keep_alive: true, head: head.into_bytes(), body: body.to_vec() }
        };
        let is_right = |request: &Request, reply: &ClientReply| verdict(&fixture, request, reply).is_ok();
        assert!(is_right(&request(RequestKind::Whole), &reply(200, "", &body)));
        let range = format!("Content-Range: bytes 10-109/{}\r\n", body.len());
        assert!(is_right(&request(RequestKind::Part), &reply(206, &range, &body[10..110])));
        assert!(is_right(&request(RequestKind::Head), &reply(200, "", b"")));
        let known = Request { known: Some(representation), ..request(RequestKind::IfChanged) };
        assert!(is_right(&known, &reply(304, "", b"")));

        let mut spoilt = body.clone();
        spoilt[150] ^= 1;
        for (request, reply) in [
            (request(RequestKind::Whole), reply(200, "", &spoilt)),
            (request(RequestKind::Whole), reply(200, "", &body[..body.len() - 1])),
            (request(RequestKind::Whole), reply(206, &range, &body[10..110])),
            (request(RequestKind::Whole), reply(304, "", b"")),
            (request(RequestKind::Whole), reply(404, "", &body)),
            (request(RequestKind::Part), reply(206, &range, &body[11..111])),
            (request(RequestKind::Part), reply(206, "Content-Range: bytes 10-109/7\r\n", &body[10..110])),
            (Request { id: 10, ..request(RequestKind::Whole) }, reply(200, "", &body)),
            (Request { variant: 1, ..request(RequestKind::Whole) }, reply(200, "", &body)),
            (Request { floor: 1, ..request(RequestKind::Whole) }, reply(200, "", &body)),
        ] {
            assert!(!is_right(&request, &reply), "{request:?}: {}", reply.status);
        }
    }

    /// Goal: outages excuse only their possible effects, and a missing response is not a truncated one.
    #[test]
    fn invalid_http_is_not_excused_and_silence_is_not_truncation() {
        use super::super::fixture::SoakCounts;
        let judged = |kind, error: anyhow::Error, is_in_trouble: bool| {
            let fixture = Fixture::new();
            let _trouble = is_in_trouble.then(|| fixture.begin_outage());
            let request = Request { kind, id: 9, variant: 0, floor: 0, known: None };
            judge_error(&fixture, fixture.now(), &request, &error);
            fixture.counts()
        };
        let broken = |kind| anyhow::Error::from(io::Error::from(kind));
        let ended = ErrorKind::UnexpectedEof;
        let silent = ErrorKind::WouldBlock;
        let none = SoakCounts::default();
        let no_http = || anyhow::anyhow!("malformed head");
        assert_eq!(judged(RequestKind::Whole, no_http(), true), SoakCounts { wrong: 1, ..none });
        assert_eq!(judged(RequestKind::Cut, no_http(), true), SoakCounts { wrong: 1, ..none });
        assert_eq!(judged(RequestKind::Whole, broken(ended), true), SoakCounts { excused: 1, ..none });
        assert_eq!(judged(RequestKind::Whole, broken(ended), false), SoakCounts { dropped: 1, ..none });
        assert_eq!(judged(RequestKind::Cut, broken(ended), false), SoakCounts { cut: 1, ..none });
        assert_eq!(judged(RequestKind::Cut, broken(silent), false), SoakCounts { dropped: 1, ..none });
    }

    #[test]
    fn weights_add_up_to_a_hundred() {
        assert_eq!(REQUEST_KINDS.iter().map(|(_, share)| share).sum::<u32>(), 100);
        let fixture = Fixture::new();
        let mut rng = Rng::new(1, StreamPurpose::User, 0);
        let drawn: Vec<RequestKind> = (0..2000).map(|_| Request::draw(&fixture, &mut rng).kind).collect();
        for (kind, _) in REQUEST_KINDS {
            assert!(drawn.contains(&kind), "{kind:?}");
        }
    }
}
