//! The FastCGI gateway: a fixed number of threads, each with one connection at a time.
//!
//! A worker, one thread each:
//!
//! | state | event | next | note |
//! |---|---|---|---|
//! | accepting | a connection | serving | the kernel wakes one worker for each |
//! | serving | answered, connection ends | accepting | |
//! | serving | answered, connection is kept | kept | |
//! | kept | the next request | serving | |
//! | kept | somebody else waits, and every worker has a connection | accepting | we close: a web server with more connections than there are workers would else wait for its own idle ones |
//! | any | the gateway is stopped | ended | what is being answered is answered first |

use std::fs;
use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use socket2::Socket;
use thiserror::Error;

use super::fastcgi::serve_connection;
use super::pause::PageLock;
use crate::listener::{ACCEPT_PAUSE, BACKLOG, address_of, is_exhausted, listen_tcp, listen_unix};

/// The most workers that can be asked for.
pub const WORKERS_MAX: usize = 1024;

/// How long a peer may take to send the rest of a request, or to take the answer.
const PEER_TIME_MAX: Duration = Duration::from_secs(30);

/// How often a worker with a kept connection looks whether the others are still free.
const LOOK_AROUND: Timespec = Timespec { tv_sec: 0, tv_nsec: 100_000_000 };

/// Where a gateway listens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Address {
    /// A socket in the file system.
    Unix(PathBuf),
    /// A port of the loopback interface.
    Tcp(SocketAddr),
}

/// Why an address was not understood.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("expected `unix:/PATH` or a loopback address such as `127.0.0.1:0`, found `{0}`")]
pub struct AddressError(String);

impl FromStr for Address {
    type Err = AddressError;

    fn from_str(text: &str) -> Result<Address, AddressError> {
        let address = match text.strip_prefix("unix:") {
            Some(path) => Path::new(path).is_absolute().then(|| Address::Unix(path.into())),
            // FastCGI has no protection of its own: whoever reaches it is believed.
            None => text.parse().ok().filter(|tcp: &SocketAddr| tcp.ip().is_loopback()).map(Address::Tcp),
        };
        address.ok_or_else(|| AddressError(text.to_owned()))
    }
}

impl std::fmt::Display for Address {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Address::Unix(path) => write!(out, "unix:{}", path.display()),
            Address::Tcp(address) => write!(out, "{address}"),
        }
    }
}

/// How a gateway is to be started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GatewayOptions {
    /// Where to listen; port 0 lets the kernel choose.
    pub listen: Address,
    /// How many threads answer requests, and so the most requests that are answered at once; from 1 to [`WORKERS_MAX`].
    pub workers: usize,
}

/// A running FastCGI gateway; dropping it leaves it running.
#[derive(Debug)]
pub struct Gateway {
    address: Address,
    shared: Arc<Shared>,
    threads: Vec<JoinHandle<()>>,
}

#[derive(Debug)]
struct Shared {
    listener: Socket,
    workers: usize,
    /// How many workers have a connection.
    taken: AtomicUsize,
    stopped: AtomicBool,
    lock: PageLock,
}

impl Gateway {
    /// Starts a gateway, which listens when this returns.
    ///
    /// A socket that a gateway left in the file system is replaced. Every user of the machine may
    /// connect to it, since web servers run as users of their own.
    ///
    /// # Errors
    ///
    /// A number of workers out of range, an address that cannot be listened on, no more threads.
    pub fn start(options: &GatewayOptions) -> io::Result<Gateway> {
        check_workers(options.workers)?;
        let (listener, address) = listen(&options.listen)?;
        let (taken, stopped) = (AtomicUsize::new(0), AtomicBool::new(false));
        let lock = PageLock::default();
        let shared = Shared { listener, workers: options.workers, taken, stopped, lock };
        let mut gateway = Gateway { address, shared: Arc::new(shared), threads: Vec::new() };
        for _ in 0..options.workers {
            let shared = Arc::clone(&gateway.shared);
            let body = move || shared.work();
            match std::thread::Builder::new().name("gateway".to_owned()).spawn(body) {
                Ok(thread) => gateway.threads.push(thread),
                Err(error) => {
                    gateway.stop();
                    return Err(error);
                }
            }
        }
        Ok(gateway)
    }

    /// Returns where it listens.
    pub fn address(&self) -> &Address {
        &self.address
    }

    /// Stops the gateway and waits until its workers have ended: what is being answered is answered first.
    pub fn stop(self) {
        self.shared.stopped.store(true, Ordering::Relaxed);
        // Wakes those who accept. It cannot fail on a listener.
        let _ = self.shared.listener.shutdown(std::net::Shutdown::Both);
        if let Address::Unix(path) = &self.address {
            // It may have been removed already.
            let _ = fs::remove_file(path);
        }
        for thread in self.threads {
            // A worker that panicked has said so, and the others go on.
            let _ = thread.join();
        }
    }
}

/// Checks a number of workers.
pub(crate) fn check_workers(workers: usize) -> io::Result<()> {
    if (1..=WORKERS_MAX).contains(&workers) {
        return Ok(());
    }
    let text = format!("expected from 1 to {WORKERS_MAX} workers, found {workers}");
    Err(io::Error::new(io::ErrorKind::InvalidInput, text))
}

fn listen(address: &Address) -> io::Result<(Socket, Address)> {
    match address {
        Address::Unix(path) => Ok((listen_unix(path)?, address.clone())),
        Address::Tcp(tcp) => {
            let socket = listen_tcp(*tcp, BACKLOG)?;
            let found = address_of(&socket)?;
            Ok((socket, Address::Tcp(found)))
        }
    }
}

impl Shared {
    /// Serves one connection after the other until the gateway is stopped.
    fn work(&self) {
        loop {
            match self.listener.accept() {
                Ok((stream, _)) => {
                    self.taken.fetch_add(1, Ordering::Relaxed);
                    // What went wrong with a connection is the peer's business.
                    let _ = self.serve(&stream);
                    self.taken.fetch_sub(1, Ordering::Relaxed);
                }
                Err(error) => match error.raw_os_error().map(Errno::from_raw_os_error) {
                    Some(Errno::INVAL) => return, // Stopped.
                    Some(error) if is_exhausted(error) => std::thread::sleep(ACCEPT_PAUSE),
                    _ => {} // The peer, or the network under it, gave up before we came.
                },
            }
        }
    }

    fn serve(&self, stream: &Socket) -> io::Result<()> {
        stream.set_read_timeout(Some(PEER_TIME_MAX))?;
        stream.set_write_timeout(Some(PEER_TIME_MAX))?;
        serve_connection(&mut &*stream, self.workers, &self.lock, || self.wait(stream))
    }

    /// Waits on a kept connection for the next request, and says whether to go on with it.
    fn wait(&self, stream: &Socket) -> bool {
        while !self.stopped.load(Ordering::Relaxed) {
            let mut watched =
                [PollFd::new(stream, PollFlags::IN), PollFd::new(&self.listener, PollFlags::IN)];
            let found = if self.taken.load(Ordering::Relaxed) < self.workers {
                poll(&mut watched[..1], Some(&LOOK_AROUND))
            } else {
                poll(&mut watched, None)
            };
            let [next, others] = watched.map(|one| !one.revents().is_empty());
            match found {
                Ok(_) if next => return true,
                Ok(_) if others => return false,
                Ok(_) | Err(Errno::INTR) => {}
                Err(_) => return false,
            }
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read_and_shown() {
        for text in ["unix:/run/gateway.sock", "127.0.0.1:9000", "[::1]:0"] {
            assert_eq!(text.parse::<Address>().unwrap().to_string(), text);
        }
        for text in ["", "unix:", "unix:relative", "/run/gateway.sock", "0.0.0.0:9000", "localhost:9000"] {
            let error = text.parse::<Address>().unwrap_err().to_string();
            assert!(error.starts_with("expected `unix:/PATH` or a loopback address"), "{error}");
        }
    }
}
