//! The origin server: objects that change, with every form of response framing.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

use anyhow::{Context, Result};
use http1::{ParseStatus, header, parse_request};

use super::fixture::{Fixture, OBJECTS, ObjectClass, Representation, class, lock};

/// Number of objects with the same purge tag.
pub(super) const TAGS: u32 = 16;

/// Number of pieces of a slow response, and the pause between them.
const PIECES: usize = 10;
const PAUSE: Duration = Duration::from_millis(20);

/// Announced and actual length of a truncated response.
const CUT_BYTES: (usize, usize) = (50_000, 20_000);

/// The origin server. It keeps its address when it is stopped and restarted.
pub(super) struct SoakOrigin {
    fixture: Arc<Fixture>,
    address: SocketAddr,
    running: Option<Running>,
}

struct Running {
    is_stopped: Arc<AtomicBool>,
    streams: Arc<Mutex<Vec<TcpStream>>>,
    thread: JoinHandle<()>,
}

impl SoakOrigin {
    /// Starts it.
    pub(super) fn start(fixture: &Arc<Fixture>) -> Result<SoakOrigin> {
        let any = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        let mut origin = SoakOrigin { fixture: Arc::clone(fixture), address: any, running: None };
        origin.listen()?;
        Ok(origin)
    }

    pub(super) fn address(&self) -> SocketAddr {
        self.address
    }

    /// Starts listening, also after a stop.
    pub(super) fn listen(&mut self) -> Result<()> {
        let listener = TcpListener::bind(self.address).with_context(|| format!("at {}", self.address))?;
        self.address = listener.local_addr()?;
        let is_stopped = Arc::new(AtomicBool::new(false));
        let streams = Arc::default();
        let stopped = Arc::clone(&is_stopped);
        let kept = Arc::clone(&streams);
        let fixture = Arc::clone(&self.fixture);
        let thread = std::thread::spawn(move || accept(&listener, &stopped, &kept, &fixture));
        self.running = Some(Running { is_stopped, streams, thread });
        Ok(())
    }

    /// Stops at once, in the middle of any response.
    pub(super) fn stop(&mut self) {
        let Some(running) = self.running.take() else { return };
        running.is_stopped.store(true, Ordering::Relaxed);
        // The listener notices with the next connection.
        let _ = TcpStream::connect(self.address);
        let _ = running.thread.join();
        for stream in lock(&running.streams).drain(..) {
            // The connection may already be closed.
            let _ = stream.shutdown(Shutdown::Both);
        }
    }
}

impl Drop for SoakOrigin {
    fn drop(&mut self) {
        self.stop();
    }
}

fn accept(
    listener: &TcpListener,
    is_stopped: &Arc<AtomicBool>,
    streams: &Mutex<Vec<TcpStream>>,
    fixture: &Arc<Fixture>,
) {
    for mut stream in listener.incoming().flatten() {
        if is_stopped.load(Ordering::Relaxed) {
            return;
        }
        let Ok(kept) = stream.try_clone() else { continue };
        let mut all = lock(streams);
        all.retain(|one| one.peer_addr().is_ok());
        all.push(kept);
        let fixture = Arc::clone(fixture);
        std::thread::spawn(move || {
            // A broken connection is the accelerator's concern.
            let _ = serve(&mut stream, &fixture);
            // The clone kept for stopping would hold it open.
            let _ = stream.shutdown(Shutdown::Both);
        });
    }
}

/// Answers requests without bodies, one after another.
fn serve(stream: &mut TcpStream, fixture: &Fixture) -> Result<()> {
    stream.set_nodelay(true)?;
    let mut asked = Vec::new();
    let mut buffer = vec![0; 16 * 1024];
    loop {
        let n = stream.read(&mut buffer)?;
        if n == 0 {
            return Ok(());
        }
        asked.extend_from_slice(&buffer[..n]);
        while let ParseStatus::Complete { head, length } = parse_request(&asked)? {
            let target = String::from_utf8_lossy(&asked[head.target.clone()]).into_owned();
            answer(stream, &target, &asked[..length], fixture)?;
            asked.drain(..length);
        }
    }
}

fn answer(stream: &mut TcpStream, target: &str, asked: &[u8], fixture: &Fixture) -> Result<()> {
    fixture.note_origin_request();
    let mut parts = target.trim_start_matches('/').split('/');
    let kind = parts.next().unwrap_or_default();
    let id = parts.next().and_then(|id| id.parse::<u32>().ok());
    let is_head = asked.starts_with(b"HEAD ");
    match (kind, id.filter(|id| *id < OBJECTS)) {
        ("o", Some(id)) => object(stream, id, asked, is_head, fixture),
        ("slow", Some(id)) => slow(stream, id, is_head, fixture),
        ("cut", _) => cut(stream),
        ("health", _) => Ok(stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")?),
        _ => Ok(stream.write_all(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n")?),
    }
}

/// Returns the body of a representation.
fn body(representation: Representation, fixture: &Fixture) -> Vec<u8> {
    let mut body = vec![0; representation.bytes()];
    fixture.content.fill(representation.object(), 0, &mut body);
    body
}

fn representation(id: u32, asked: &[u8], fixture: &Fixture) -> Representation {
    let is_other = class(id) == ObjectClass::Varying && header(asked, "x-variant") == Some(b"1");
    Representation { id, version: fixture.version(id), variant: u32::from(is_other) }
}

fn object(stream: &mut TcpStream, id: u32, asked: &[u8], is_head: bool, fixture: &Fixture) -> Result<()> {
    let representation = representation(id, asked, fixture);
    let tag = representation.tag();
    let fields = match class(id) {
        ObjectClass::Lasting => format!("Cache-Control: max-age=60\r\nSurrogate-Key: all g{}\r\n", id % TAGS),
        ObjectClass::Brief => "Cache-Control: max-age=1\r\n".to_owned(),
        ObjectClass::Never => "Cache-Control: no-store\r\n".to_owned(),
        ObjectClass::Chunked => "Cache-Control: max-age=5\r\n".to_owned(),
        ObjectClass::Varying => "Cache-Control: max-age=10\r\nVary: X-Variant\r\n".to_owned(),
        ObjectClass::Stale => "Cache-Control: max-age=1, stale-while-revalidate=5\r\n".to_owned(),
    };
    if header(asked, "if-none-match").is_some_and(|known| known == tag.as_bytes()) {
        return Ok(write!(stream, "HTTP/1.1 304 Not Modified\r\nETag: {tag}\r\n{fields}\r\n")?);
    }
    let body = body(representation, fixture);
    if class(id) == ObjectClass::Chunked {
        write!(stream, "HTTP/1.1 200 OK\r\nETag: {tag}\r\n{fields}Transfer-Encoding: chunked\r\n\r\n")?;
        return if is_head { Ok(()) } else { chunks(stream, &body) };
    }
    let length = body.len();
    let head = format!("HTTP/1.1 200 OK\r\nETag: {tag}\r\n{fields}Content-Length: {length}\r\n\r\n");
    let body = if is_head { &[][..] } else { &body };
    Ok(stream.write_all(&[head.as_bytes(), body].concat())?)
}

fn chunks(stream: &mut TcpStream, body: &[u8]) -> Result<()> {
    for piece in body.chunks(3000) {
        let head = format!("{:x}\r\n", piece.len());
        stream.write_all(&[head.as_bytes(), piece, b"\r\n"].concat())?;
    }
    Ok(stream.write_all(b"0\r\n\r\n")?)
}

/// Sends a response piece by piece, cacheable for two seconds: concurrent requests get the pieces as they
/// arrive.
fn slow(stream: &mut TcpStream, id: u32, is_head: bool, fixture: &Fixture) -> Result<()> {
    let representation = Representation { id, version: fixture.version(id), variant: 0 };
    let tag = representation.tag();
    let body = body(representation, fixture);
    let length = body.len();
    write!(
        stream,
        "HTTP/1.1 200 OK\r\nETag: {tag}\r\nCache-Control: max-age=2\r\nContent-Length: {length}\r\n\r\n"
    )?;
    if is_head {
        return Ok(());
    }
    for piece in body.chunks(length.div_ceil(PIECES)) {
        stream.write_all(piece)?;
        std::thread::sleep(PAUSE);
    }
    Ok(())
}

/// Announces more than it sends.
fn cut(stream: &mut TcpStream) -> Result<()> {
    let (promised, sent) = CUT_BYTES;
    write!(stream, "HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\nContent-Length: {promised}\r\n\r\n")?;
    stream.write_all(&vec![b'c'; sent])?;
    anyhow::bail!("truncated on purpose")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finished_connections_are_closed() {
        let origin = SoakOrigin::start(&Arc::new(Fixture::new())).unwrap();
        let mut stream = TcpStream::connect(origin.address()).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
        stream.write_all(b"no request\r\n\r\n").unwrap();
        assert_eq!(stream.read(&mut [0; 10]).unwrap(), 0);
    }
}
