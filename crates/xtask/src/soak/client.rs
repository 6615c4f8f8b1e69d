//! Who asks: for everything, in every way, and compares every byte.

use std::io::{self, ErrorKind};
use std::net::SocketAddr;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use anyhow::Result;
use units::{Nanos, Purpose, Rng};

use super::exchange::{Connection, Pace, Reply};
use super::world::{Class, Edition, OBJECTS, World, class};

/// The pause after a request that failed, so that an accelerator that is away is not asked all the time.
const PAUSE: Duration = Duration::from_millis(20);

/// The part of the objects that is asked for often, and how often, of 100 requests.
const WANTED: u32 = OBJECTS / 10;
const WANTED_SHARE: u32 = 70;

/// A range that every body has, first and last byte.
const RANGE: (u64, u64) = (10, 109);

/// What is asked for, and how.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    Whole,
    SlowReader,
    Head,
    Part,
    IfChanged,
    /// An object that comes slowly.
    Dripping,
    /// A reply that breaks off.
    Cut,
    /// The client goes before the reply.
    Leave,
}

/// Ways and how often they are taken, of 100 requests.
const WAYS: [(Way, u32); 8] = [
    (Way::Whole, 80),
    (Way::SlowReader, 1),
    (Way::Head, 4),
    (Way::Part, 4),
    (Way::IfChanged, 5),
    (Way::Dripping, 2),
    (Way::Cut, 1),
    (Way::Leave, 3),
];

/// Starts one; it ends with the world.
pub fn start(world: &Arc<World>, address: SocketAddr, seed: u64) -> JoinHandle<()> {
    let world = Arc::clone(world);
    std::thread::spawn(move || {
        let mut rng = Rng::new(1, Purpose::User, seed);
        let mut connection = None;
        while !world.is_over() {
            connection = ask(&world, address, connection, &mut rng);
            if connection.is_none() {
                std::thread::sleep(PAUSE);
            }
        }
    })
}

/// Makes one request and judges what comes; returns the connection if it can be used again.
fn ask(
    world: &World,
    address: SocketAddr,
    connection: Option<Connection>,
    rng: &mut Rng,
) -> Option<Connection> {
    let request = Request::draw(world, rng);
    let begin = world.now();
    let mut connection = match connection.map_or_else(|| Connection::open(address), Ok) {
        Ok(connection) => connection,
        Err(error) => {
            failed(world, begin, &request, &format!("no connection: {error:#}"));
            return None;
        }
    };
    match request.perform(&mut connection) {
        Ok(Some(reply)) => {
            judge(world, begin, &request, &reply);
            Some(connection).filter(|_| reply.keep_alive)
        }
        Ok(None) => {
            world.count(|counts| counts.left += 1);
            None
        }
        Err(error) => {
            judge_error(world, begin, &request, &error);
            None
        }
    }
}

/// Judges a reply that did not come whole.
fn judge_error(world: &World, begin: Nanos, request: &Request, error: &anyhow::Error) {
    match error.downcast_ref::<io::Error>().map(io::Error::kind) {
        // What came is no HTTP, which no trouble excuses.
        None => world.note_wrong(format!("{request:?}: {error:#}")),
        Some(ErrorKind::UnexpectedEof | ErrorKind::ConnectionReset) if request.way == Way::Cut => {
            world.count(|counts| counts.cut += 1);
        }
        Some(_) => failed(world, begin, request, &format!("{error:#}")),
    }
}

fn failed(world: &World, begin: Nanos, request: &Request, why: &str) {
    match world.is_excused(begin) {
        true => world.count(|counts| counts.excused += 1),
        false => world.note_dropped(format!("{request:?}: {why}")),
    }
}

/// A request, and what was true when it began.
#[derive(Debug)]
struct Request {
    way: Way,
    id: u32,
    variant: u32,
    /// The oldest version that is right.
    floor: u64,
    /// The content that the client says that it has.
    known: Option<Edition>,
}

impl Request {
    fn draw(world: &World, rng: &mut Rng) -> Request {
        let mut rest = rng.below(100) as u32;
        let drawn = WAYS.iter().find(|(_, share)| {
            let is_it = rest < *share;
            rest = rest.saturating_sub(*share);
            is_it
        });
        let way = drawn.map_or(Way::Whole, |(way, _)| *way);
        let most = if (rng.below(100) as u32) < WANTED_SHARE { WANTED } else { OBJECTS };
        let id = rng.below(most.into()) as u32;
        let variant =
            if class(id) == Class::Varying && way != Way::Dripping { rng.below(2) as u32 } else { 0 };
        let version = world.version(id);
        let known = (way == Way::IfChanged).then_some(Edition { id, version, variant });
        Request { way, id, variant, floor: world.floor(id), known }
    }

    fn perform(&self, connection: &mut Connection) -> Result<Option<Reply>> {
        let path = match self.way {
            Way::Dripping => format!("/slow/{}", self.id),
            Way::Cut => format!("/cut/{}", self.id % 8),
            _ => format!("/o/{}", self.id),
        };
        let mut fields = format!("X-Variant: {}\r\n", self.variant);
        if self.way == Way::Part {
            fields += &format!("Range: bytes={}-{}\r\n", RANGE.0, RANGE.1);
        }
        if let Some(known) = self.known {
            fields += &format!("If-None-Match: {}\r\n", known.tag());
        }
        let method = if self.way == Way::Head { "HEAD" } else { "GET" };
        let pace = match self.way {
            Way::SlowReader => Pace::Slow,
            Way::Leave => Pace::Leave,
            _ => Pace::Usual,
        };
        connection.perform(method, &path, &fields, pace)
    }
}

fn judge(world: &World, begin: Nanos, request: &Request, reply: &Reply) {
    if request.way == Way::Cut {
        return match reply.status {
            500.. => world.count(|counts| counts.cut += 1),
            status => world.note_wrong(format!("{request:?}: status {status}, whole, of what was cut off")),
        };
    }
    match (reply.status, verdict(world, request, reply)) {
        (500.., _) => failed(world, begin, request, &format!("status {}", reply.status)),
        (_, Err(why)) => world.note_wrong(format!("{request:?}: status {}: {why}", reply.status)),
        (status, Ok(())) => world.count(|counts| {
            counts.right += 1;
            counts.bytes += reply.body.len() as u64;
            counts.unchanged += u64::from(status == 304);
            counts.ranges += u64::from(status == 206);
        }),
    }
}

/// Compares a reply with what it says that it is, and that with what it may be.
fn verdict(world: &World, request: &Request, reply: &Reply) -> Result<(), String> {
    let edition = reply.field("etag").and_then(Edition::of_tag).ok_or("no entity tag of ours")?;
    let Edition { id, version, variant } = edition;
    let newest = world.version(request.id);
    // What comes slowly has a copy of its own, which no purge here is about.
    let floor = if request.way == Way::Dripping { 0 } else { request.floor };
    if id != request.id || variant != request.variant || version < floor || newest < version {
        return Err(format!("it is {edition:?}; purged up to version {floor}, the newest is {newest}"));
    }
    let whole = edition.bytes();
    let (offset, length) = match (reply.status, request.way) {
        (200, Way::Head) => return Ok(()),
        (200, _) => (0, whole),
        (206, Way::Part) => {
            let range = format!("bytes {}-{}/{whole}", RANGE.0, RANGE.1);
            if reply.field("content-range") != Some(range.as_bytes()) {
                return Err(format!("not the range `{range}`"));
            }
            (RANGE.0, (RANGE.1 - RANGE.0 + 1) as usize)
        }
        (304, Way::IfChanged) if request.known == Some(edition) => (0, 0),
        _ => return Err("not a status that was to be expected".to_owned()),
    };
    if reply.body.len() != length {
        return Err(format!("{edition:?} came with {} bytes of {length}", reply.body.len()));
    }
    match world.content.matches(edition.object(), offset, &reply.body) {
        true => Ok(()),
        false => Err(format!("{edition:?} came with other bytes")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Goal: what is wrong is called so. The right reply to a request for object 9, and one change at a time.
    #[test]
    fn only_what_it_says_it_is_and_may_be_is_right() {
        let world = World::new();
        let edition = Edition { id: 9, version: 0, variant: 0 };
        let mut body = vec![0; edition.bytes()];
        world.content.fill(edition.object(), 0, &mut body);
        let request = |way| Request { way, id: 9, variant: 0, floor: 0, known: None };
        let reply = |status, more: &str, body: &[u8]| {
            let head = format!("HTTP/1.1 {status} X\r\nETag: {}\r\n{more}\r\n", edition.tag());
            Reply { status, keep_alive: true, head: head.into_bytes(), body: body.to_vec() }
        };
        let is_right = |request: &Request, reply: &Reply| verdict(&world, request, reply).is_ok();
        assert!(is_right(&request(Way::Whole), &reply(200, "", &body)));
        let range = format!("Content-Range: bytes 10-109/{}\r\n", body.len());
        assert!(is_right(&request(Way::Part), &reply(206, &range, &body[10..110])));
        assert!(is_right(&request(Way::Head), &reply(200, "", b"")));
        let known = Request { known: Some(edition), ..request(Way::IfChanged) };
        assert!(is_right(&known, &reply(304, "", b"")));

        let mut spoilt = body.clone();
        spoilt[150] ^= 1;
        for (request, reply) in [
            (request(Way::Whole), reply(200, "", &spoilt)),
            (request(Way::Whole), reply(200, "", &body[..body.len() - 1])),
            (request(Way::Whole), reply(206, &range, &body[10..110])),
            (request(Way::Whole), reply(304, "", b"")),
            (request(Way::Whole), reply(404, "", &body)),
            (request(Way::Part), reply(206, &range, &body[11..111])),
            (request(Way::Part), reply(206, "Content-Range: bytes 10-109/7\r\n", &body[10..110])),
            (Request { id: 10, ..request(Way::Whole) }, reply(200, "", &body)),
            (Request { variant: 1, ..request(Way::Whole) }, reply(200, "", &body)),
            (Request { floor: 1, ..request(Way::Whole) }, reply(200, "", &body)),
        ] {
            assert!(!is_right(&request, &reply), "{request:?}: {}", reply.status);
        }
    }

    /// Goal: an excuse is only for what a trouble can do, and a reply that never comes is not one that was cut off.
    #[test]
    fn what_is_no_http_has_no_excuse_and_silence_is_not_a_cut() {
        use super::super::world::Counts;
        let judged = |way, error: anyhow::Error, is_in_trouble: bool| {
            let world = World::new();
            let _trouble = is_in_trouble.then(|| world.begin_trouble());
            let request = Request { way, id: 9, variant: 0, floor: 0, known: None };
            judge_error(&world, world.now(), &request, &error);
            world.counts()
        };
        let broken = |kind| anyhow::Error::from(io::Error::from(kind));
        let (ended, silent) = (ErrorKind::UnexpectedEof, ErrorKind::WouldBlock);
        let none = Counts::default();
        let no_http = || anyhow::anyhow!("malformed head");
        assert_eq!(judged(Way::Whole, no_http(), true), Counts { wrong: 1, ..none });
        assert_eq!(judged(Way::Cut, no_http(), true), Counts { wrong: 1, ..none });
        assert_eq!(judged(Way::Whole, broken(ended), true), Counts { excused: 1, ..none });
        assert_eq!(judged(Way::Whole, broken(ended), false), Counts { dropped: 1, ..none });
        assert_eq!(judged(Way::Cut, broken(ended), false), Counts { cut: 1, ..none });
        assert_eq!(judged(Way::Cut, broken(silent), false), Counts { dropped: 1, ..none });
    }

    #[test]
    fn ways_are_all_of_a_hundred() {
        assert_eq!(WAYS.iter().map(|(_, share)| share).sum::<u32>(), 100);
        let (world, mut rng) = (World::new(), Rng::new(1, Purpose::User, 0));
        let drawn: Vec<Way> = (0..2000).map(|_| Request::draw(&world, &mut rng).way).collect();
        for (way, _) in WAYS {
            assert!(drawn.contains(&way), "{way:?}");
        }
    }
}
