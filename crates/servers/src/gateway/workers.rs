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
//! | kept | another connection waits, and every worker has one | accepting | the worker closes it: otherwise a web server with more connections than workers would wait for its own idle ones |
//! | any | the gateway is stopped | ended | requests in progress are answered first |

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
use super::page_delay::PageLock;
use crate::listener::{ACCEPT_PAUSE, BACKLOG, address_of, is_exhausted, listen_tcp, listen_unix};

/// The maximum number of workers.
pub const WORKERS_MAX: usize = 1024;

/// Time limit for a peer to send the rest of a request, or to read the response.
const PEER_TIME_MAX: Duration = Duration::from_secs(30);

/// Interval at which a worker with a kept connection checks that other workers are free.
const FREE_WORKER_CHECK_INTERVAL: Timespec = Timespec { tv_sec: 0, tv_nsec: 100_000_000 };

/// The address that a gateway listens on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GatewayAddress {
    /// A Unix socket in the file system.
    Unix(PathBuf),
    /// A port of the loopback interface.
    Tcp(SocketAddr),
}

/// An address that is neither a Unix socket nor a loopback port.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("expected `unix:/PATH` or a loopback address for example `127.0.0.1:0`, found `{0}`")]
pub struct GatewayAddressError(String);

impl FromStr for GatewayAddress {
    type Err = GatewayAddressError;

    fn from_str(text: &str) -> Result<GatewayAddress, GatewayAddressError> {
        let address = match text.strip_prefix("unix:") {
            Some(path) => Path::new(path).is_absolute().then(|| GatewayAddress::Unix(path.into())),
            // FastCGI has no authentication: every peer that can connect is trusted.
            None => {
                text.parse().ok().filter(|tcp: &SocketAddr| tcp.ip().is_loopback()).map(GatewayAddress::Tcp)
            }
        };
        address.ok_or_else(|| GatewayAddressError(text.to_owned()))
    }
}

impl std::fmt::Display for GatewayAddress {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            GatewayAddress::Unix(path) => write!(out, "unix:{}", path.display()),
            GatewayAddress::Tcp(address) => write!(out, "{address}"),
        }
    }
}

/// Options of a gateway.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GatewayOptions {
    /// Address to listen on; port 0 lets the kernel choose.
    pub listen: GatewayAddress,
    /// Number of threads, and so the most requests that are answered at once; from 1 to [`WORKERS_MAX`].
    pub workers: usize,
}

/// A running FastCGI gateway; dropping it leaves it running.
#[derive(Debug)]
pub struct FastCgiGateway {
    address: GatewayAddress,
    shared: Arc<Shared>,
    threads: Vec<JoinHandle<()>>,
}

#[derive(Debug)]
struct Shared {
    listener: Socket,
    workers: usize,
    /// Number of workers that have a connection.
    taken: AtomicUsize,
    stopped: AtomicBool,
    lock: PageLock,
}

impl FastCgiGateway {
    /// Starts a gateway, which listens when this returns.
    ///
    /// A socket that an earlier gateway left in the file system is replaced. Every user of the machine may
    /// connect to it, since web servers run as users of their own.
    ///
    /// # Errors
    ///
    /// The number of workers is out of range, the address cannot be listened on, or no more threads can be
    /// created.
    pub fn start(options: &GatewayOptions) -> io::Result<FastCgiGateway> {
        check_workers(options.workers)?;
        let (listener, address) = listen(&options.listen)?;
        let taken = AtomicUsize::new(0);
        let stopped = AtomicBool::new(false);
        let lock = PageLock::default();
        let shared = Shared { listener, workers: options.workers, taken, stopped, lock };
        let mut gateway = FastCgiGateway { address, shared: Arc::new(shared), threads: Vec::new() };
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

    /// Returns the address it listens on.
    pub fn address(&self) -> &GatewayAddress {
        &self.address
    }

    /// Stops the gateway and waits for its workers; requests in progress are answered first.
    pub fn stop(self) {
        self.shared.stopped.store(true, Ordering::Relaxed);
        // Wakes the workers in `accept`. It cannot fail on a listener.
        let _ = self.shared.listener.shutdown(std::net::Shutdown::Both);
        if let GatewayAddress::Unix(path) = &self.address {
            // The socket may already have been removed.
            let _ = fs::remove_file(path);
        }
        for thread in self.threads {
            // A worker that panicked has reported it, and the others go on.
            let _ = thread.join();
        }
    }
}

/// Checks that a number of workers is in range.
pub(crate) fn check_workers(workers: usize) -> io::Result<()> {
    if (1..=WORKERS_MAX).contains(&workers) {
        return Ok(());
    }
    let text = format!("expected from 1 to {WORKERS_MAX} workers, found {workers}");
    Err(io::Error::new(io::ErrorKind::InvalidInput, text))
}

fn listen(address: &GatewayAddress) -> io::Result<(Socket, GatewayAddress)> {
    match address {
        GatewayAddress::Unix(path) => Ok((listen_unix(path)?, address.clone())),
        GatewayAddress::Tcp(tcp) => {
            let socket = listen_tcp(*tcp, BACKLOG)?;
            let found = address_of(&socket)?;
            Ok((socket, GatewayAddress::Tcp(found)))
        }
    }
}

impl Shared {
    /// Serves one connection after another until the gateway is stopped.
    fn work(&self) {
        loop {
            match self.listener.accept() {
                Ok((stream, _)) => {
                    self.taken.fetch_add(1, Ordering::Relaxed);
                    // A failed connection is the peer's concern.
                    let _ = self.serve(&stream);
                    self.taken.fetch_sub(1, Ordering::Relaxed);
                }
                Err(error) => match error.raw_os_error().map(Errno::from_raw_os_error) {
                    Some(Errno::INVAL) => return, // Stopped.
                    Some(error) if is_exhausted(error) => std::thread::sleep(ACCEPT_PAUSE),
                    _ => {} // The peer or the network gave up before the connection was accepted.
                },
            }
        }
    }

    fn serve(&self, stream: &Socket) -> io::Result<()> {
        stream.set_read_timeout(Some(PEER_TIME_MAX))?;
        stream.set_write_timeout(Some(PEER_TIME_MAX))?;
        serve_connection(&mut &*stream, self.workers, &self.lock, || self.wait(stream))
    }

    /// Waits on a kept connection for the next request; returns whether to keep the connection.
    fn wait(&self, stream: &Socket) -> bool {
        while !self.stopped.load(Ordering::Relaxed) {
            let mut watched =
                [PollFd::new(stream, PollFlags::IN), PollFd::new(&self.listener, PollFlags::IN)];
            let found = if self.taken.load(Ordering::Relaxed) < self.workers {
                poll(&mut watched[..1], Some(&FREE_WORKER_CHECK_INTERVAL))
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
    fn addresses_round_trip_through_text() {
        for text in ["unix:/run/gateway.sock", "127.0.0.1:9000", "[::1]:0"] {
            assert_eq!(text.parse::<GatewayAddress>().unwrap().to_string(), text);
        }
        for text in ["", "unix:", "unix:relative", "/run/gateway.sock", "0.0.0.0:9000", "localhost:9000"] {
            let error = text.parse::<GatewayAddress>().unwrap_err().to_string();
            assert!(error.starts_with("expected `unix:/PATH` or a loopback address"), "{error}");
        }
    }
}
