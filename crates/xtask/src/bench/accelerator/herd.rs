//! Many that wait for one slow page: how often is it made, and how long after it has come do they have it?
//!
//! The page takes a second to make, as a CGI program's might, may be kept for an hour, and is not in the cache.

use std::io::{ErrorKind, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use anyhow::{Context, Result, anyhow, bail, ensure};
use http1::{BodyReader, Parsed, RequestMethod, parse_response};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use testbed::pin_current_thread;
use units::{Clock, Nanos, RealClock};

use super::cases::CONNECTIONS;
use super::lab::Lab;
use crate::bench::LOAD_CPU;

/// How long the page takes to make.
const MAKING: Duration = Duration::from_secs(1);
/// How long it is asked for.
const ASKING: Nanos = Nanos::from_secs(4);
/// The longest that all may take to get it for the first time: each of a hundred from a program of its own.
const FIRST_MAX: Nanos = Nanos::from_secs(30);
/// How often a look at the clock is taken while nothing comes.
const TICK: Timespec = Timespec { tv_sec: 0, tv_nsec: 100_000_000 };

/// The path of the page.
const SLOW: &str = "/cgi-bin/slow";
/// Its body, and that of everything else.
const BODY: [u8; 10_000] = [b'x'; 10_000];

/// Takes a turn.
pub fn perform(lab: &Lab, peer: &str) -> Result<Vec<f64>> {
    let cpu = LOAD_CPU.parse()?;
    let origin = SlowOrigin::start(cpu)?;
    let accelerator = lab.start(peer, lab.roomy(), origin.address)?;
    let address = accelerator.addr();
    let state = Arc::clone(&origin.state);
    let herd = std::thread::spawn(move || {
        pin_current_thread(&[cpu])?;
        ask(address, &state)
    });
    let mut waits = herd.join().map_err(|_| anyhow!("the herd broke"))??;
    waits.sort_unstable();
    let longest = *waits.last().context("nobody waited")?;
    let median = waits[waits.len() / 2];
    let calls = origin.state.calls.load(Ordering::Relaxed);
    Ok(vec![calls as f64, longest.as_millis_f64(), median.as_millis_f64()])
}

/// What the origin and those who ask know in common.
struct State {
    clock: RealClock,
    calls: AtomicU64,
    /// When the page was first sent, in ns; the largest number until then.
    sent: AtomicU64,
    is_over: AtomicBool,
}

/// A server whose one page takes a second to make, for as many at a time as want it.
struct SlowOrigin {
    address: SocketAddr,
    state: Arc<State>,
}

impl SlowOrigin {
    fn start(cpu: u32) -> Result<SlowOrigin> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let address = listener.local_addr()?;
        let state = Arc::new(State {
            clock: RealClock::start(),
            calls: AtomicU64::new(0),
            sent: AtomicU64::new(u64::MAX),
            is_over: AtomicBool::new(false),
        });
        let shared = Arc::clone(&state);
        std::thread::spawn(move || {
            // Those that it starts for its connections are where it is. Unpinned, it would only disturb.
            let _ = pin_current_thread(&[cpu]);
            for stream in listener.incoming().flatten() {
                if shared.is_over.load(Ordering::Relaxed) {
                    return;
                }
                let shared = Arc::clone(&shared);
                // A connection that breaks is the accelerator's business.
                std::thread::spawn(move || serve(stream, &shared).ok());
            }
        });
        Ok(SlowOrigin { address, state })
    }
}

impl Drop for SlowOrigin {
    fn drop(&mut self) {
        self.state.is_over.store(true, Ordering::Relaxed);
        // It looks at that when somebody comes.
        let _ = TcpStream::connect(self.address);
    }
}

/// Answers requests without bodies, one after another.
fn serve(mut stream: TcpStream, state: &State) -> std::io::Result<()> {
    stream.set_nodelay(true)?;
    let reply = format!(
        "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nCache-Control: max-age=3600\r\n\
         Last-Modified: Sat, 01 Jan 2000 00:00:00 GMT\r\nContent-Length: {}\r\n\r\n",
        BODY.len()
    );
    let reply = [reply.as_bytes(), &BODY].concat();
    let mut asked = Vec::new();
    let mut buffer = [0; 4096];
    loop {
        let n = stream.read(&mut buffer)?;
        if n == 0 {
            return Ok(());
        }
        asked.extend_from_slice(&buffer[..n]);
        let Some(end) = asked.windows(4).position(|four| four == b"\r\n\r\n") else { continue };
        if asked.starts_with(format!("GET {SLOW} ").as_bytes()) {
            state.calls.fetch_add(1, Ordering::Relaxed);
            std::thread::sleep(MAKING);
            state.sent.fetch_min(state.clock.now().0, Ordering::Relaxed);
        }
        stream.write_all(&reply)?;
        asked.drain(..end + 4);
    }
}

/// One of those who ask.
struct Asker {
    stream: TcpStream,
    reply: Vec<u8>,
    /// How long after the page was sent it had the page for the first time.
    waited: Option<Nanos>,
}

impl Asker {
    fn connect(address: SocketAddr) -> Result<Asker> {
        let stream = TcpStream::connect(address)?;
        stream.set_nodelay(true)?;
        let mut asker = Asker { stream, reply: Vec::new(), waited: None };
        asker.ask(address)?;
        asker.stream.set_nonblocking(true)?;
        Ok(asker)
    }

    fn ask(&mut self, address: SocketAddr) -> Result<()> {
        self.reply.clear();
        Ok(write!(self.stream, "GET {SLOW} HTTP/1.1\r\nHost: {address}\r\n\r\n")?)
    }

    /// Reads what has come; returns whether the reply is whole.
    fn read(&mut self) -> Result<bool> {
        let mut buffer = [0; 32 * 1024];
        loop {
            match self.stream.read(&mut buffer) {
                Ok(0) => bail!("the accelerator closed a connection"),
                Ok(n) => self.reply.extend_from_slice(&buffer[..n]),
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(error) => return Err(error.into()),
            }
        }
        is_whole(&self.reply)
    }
}

/// Returns whether a reply has come to its end; it has to be the page.
fn is_whole(reply: &[u8]) -> Result<bool> {
    let Parsed::Complete { head, length } = parse_response(reply, RequestMethod::Get)? else {
        return Ok(false);
    };
    ensure!(head.status == 200, "the page came with status {}", head.status);
    let mut body = BodyReader::new(head.framing);
    let mut at = length;
    while at < reply.len() && !body.is_done() {
        at += body.read(&reply[at..])?.consumed;
    }
    Ok(body.is_done())
}

/// Asks over all connections until everyone has the page, and on and on until the time is over; returns how long after it
/// was sent each had it.
fn ask(address: SocketAddr, state: &State) -> Result<Vec<Nanos>> {
    let begin = state.clock.now();
    let mut askers = (0..CONNECTIONS).map(|_| Asker::connect(address)).collect::<Result<Vec<Asker>>>()?;
    let mut n_waiting = askers.len();
    loop {
        let at = state.clock.now().saturating_sub(begin);
        ensure!(n_waiting == 0 || at < FIRST_MAX, "{n_waiting} connections got no page");
        if n_waiting == 0 && ASKING <= at {
            return Ok(askers.iter().filter_map(|asker| asker.waited).collect());
        }
        for place in readable(&askers)? {
            let asker = &mut askers[place];
            if !asker.read()? {
                continue;
            }
            if asker.waited.is_none() {
                let sent = Nanos(state.sent.load(Ordering::Relaxed));
                asker.waited = Some(state.clock.now().saturating_sub(sent));
                n_waiting -= 1;
                // Nobody asks again before all have it, so that nobody waits for that.
                if n_waiting == 0 {
                    askers.iter_mut().try_for_each(|asker| asker.ask(address))?;
                }
            } else {
                asker.ask(address)?;
            }
        }
    }
}

/// Returns the places of those for whom something has come.
fn readable(askers: &[Asker]) -> Result<Vec<usize>> {
    let mut descriptors: Vec<PollFd> =
        askers.iter().map(|asker| PollFd::new(&asker.stream, PollFlags::IN)).collect();
    poll(&mut descriptors, Some(&TICK))?;
    let come = descriptors.iter().enumerate().filter(|(_, one)| !one.revents().is_empty());
    Ok(come.map(|(place, _)| place).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reply_is_whole_when_its_body_is() {
        let reply = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n12345";
        assert!(is_whole(reply).unwrap());
        for length in 0..reply.len() {
            assert!(!is_whole(&reply[..length]).unwrap(), "{length}");
        }
        assert!(is_whole(b"HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n").is_err());
    }
}
