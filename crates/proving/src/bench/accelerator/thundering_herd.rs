//! A thundering herd: many clients wait for one slow page. How often is it generated, and how soon after that
//! do they have it?
//!
//! The page takes a second to generate, as a CGI program's might, may be cached for an hour, and is not in
//! the cache.

use std::io::{ErrorKind, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use anyhow::{Context, Result, anyhow, bail, ensure};
use http_lite::ResponseReader;
use http1::RequestMethod;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use testbed::pin_current_thread;
use units::{Clock, Nanos, RealClock};

use super::cases::{CONNECTIONS, Values};
use super::fixture::Fixture;
use crate::bench::LOAD_CPU;
use crate::bench::rounds::Contender;

/// Time to generate the page.
const MAKING: Duration = Duration::from_secs(1);
/// Duration of the requests.
const ASKING: Nanos = Nanos::from_secs(4);
/// Time limit for all clients to get the page once: in the worst case each of a hundred by a request of its
/// own.
const FIRST_MAX: Nanos = Nanos::from_secs(30);
/// Interval of clock checks while nothing arrives.
const TICK: Timespec = Timespec { tv_sec: 0, tv_nsec: 100_000_000 };

/// The path of the page.
const SLOW: &str = "/cgi-bin/slow";
/// Its body, and that of everything else.
const BODY: [u8; 10_000] = [b'x'; 10_000];

/// Runs a turn.
pub(super) fn perform(fixture: &Fixture, contender: &Contender, _: u32) -> Result<Values> {
    let cpu = LOAD_CPU.parse()?;
    let origin = SlowOrigin::start(cpu)?;
    let accelerator = fixture.start(contender, fixture.roomy(), origin.address)?;
    let address = accelerator.addr();
    let state = Arc::clone(&origin.state);
    let herd = std::thread::spawn(move || {
        pin_current_thread(&[cpu])?;
        ask(address, &state)
    });
    let mut waits = herd.join().map_err(|_| anyhow!("a client thread panicked"))??;
    waits.sort_unstable();
    let longest = *waits.last().context("nobody waited")?;
    let median = waits[waits.len() / 2];
    let calls = origin.state.calls.load(Ordering::Relaxed);
    Ok(vec![calls as f64, longest.as_millis_f64(), median.as_millis_f64()])
}

/// State shared by the origin and the clients.
struct State {
    clock: RealClock,
    calls: AtomicU64,
    /// Time at which the page was first sent, in ns; the maximum until then.
    sent: AtomicU64,
    is_over: AtomicBool,
}

/// An origin server whose one page takes a second to generate, for any number of requests at a time.
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
            // Its connection threads inherit the CPU. Unpinned, they would only disturb.
            let _ = pin_current_thread(&[cpu]);
            for stream in listener.incoming().flatten() {
                if shared.is_over.load(Ordering::Relaxed) {
                    return;
                }
                let shared = Arc::clone(&shared);
                // A broken connection is the accelerator's concern.
                std::thread::spawn(move || serve(stream, &shared).ok());
            }
        });
        Ok(SlowOrigin { address, state })
    }
}

impl Drop for SlowOrigin {
    fn drop(&mut self) {
        self.state.is_over.store(true, Ordering::Relaxed);
        // The listener notices with the next connection.
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

/// A client of the herd.
struct HerdClient {
    stream: TcpStream,
    response: ResponseReader,
    /// Time from the first sending of the page until this client first had it.
    waited: Option<Nanos>,
}

impl HerdClient {
    fn connect(address: SocketAddr) -> Result<HerdClient> {
        let stream = TcpStream::connect(address)?;
        stream.set_nodelay(true)?;
        let mut client = HerdClient { stream, response: response_reader(), waited: None };
        client.ask(address)?;
        client.stream.set_nonblocking(true)?;
        Ok(client)
    }

    fn ask(&mut self, address: SocketAddr) -> Result<()> {
        self.response = response_reader();
        Ok(write!(self.stream, "GET {SLOW} HTTP/1.1\r\nHost: {address}\r\n\r\n")?)
    }

    /// Reads available bytes; returns whether the response is complete, which has to be the page.
    fn read(&mut self) -> Result<bool> {
        let mut buffer = [0; 32 * 1024];
        let mut is_complete = false;
        loop {
            match self.stream.read(&mut buffer) {
                Ok(0) => bail!("the accelerator closed a connection"),
                Ok(n) => is_complete = self.response.read(&buffer[..n])?,
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(error) => return Err(error.into()),
            }
        }
        if let Some(head) = self.response.head() {
            ensure!(head.status == 200, "the page came with status {}", head.status);
        }
        Ok(is_complete)
    }
}

fn response_reader() -> ResponseReader {
    ResponseReader::new(RequestMethod::Get, BODY.len())
}

/// Sends requests over all connections until every client has the page, and on until the time is over;
/// returns each client's wait after the page was sent.
fn ask(address: SocketAddr, state: &State) -> Result<Vec<Nanos>> {
    let begin = state.clock.now();
    let mut clients =
        (0..CONNECTIONS).map(|_| HerdClient::connect(address)).collect::<Result<Vec<HerdClient>>>()?;
    let mut n_waiting = clients.len();
    loop {
        let at = state.clock.now().saturating_sub(begin);
        ensure!(n_waiting == 0 || at < FIRST_MAX, "{n_waiting} connections got no page");
        if n_waiting == 0 && ASKING <= at {
            return Ok(clients.iter().filter_map(|client| client.waited).collect());
        }
        for place in readable(&clients)? {
            let client = &mut clients[place];
            if !client.read()? {
                continue;
            }
            if client.waited.is_none() {
                let sent = Nanos(state.sent.load(Ordering::Relaxed));
                client.waited = Some(state.clock.now().saturating_sub(sent));
                n_waiting -= 1;
                // No client repeats its request before all have the page, so that none waits for that.
                if n_waiting == 0 {
                    clients.iter_mut().try_for_each(|client| client.ask(address))?;
                }
            } else {
                client.ask(address)?;
            }
        }
    }
}

/// Returns the indices of the clients with available bytes.
fn readable(clients: &[HerdClient]) -> Result<Vec<usize>> {
    let mut descriptors: Vec<PollFd> =
        clients.iter().map(|client| PollFd::new(&client.stream, PollFlags::IN)).collect();
    poll(&mut descriptors, Some(&TICK))?;
    let come = descriptors.iter().enumerate().filter(|(_, one)| !one.revents().is_empty());
    Ok(come.map(|(place, _)| place).collect())
}
