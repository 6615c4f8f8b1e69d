//! The page server behind a reverse proxy: pages of dynamic benchmarks over HTTP/1, on a fixed number of event loops.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::thread::JoinHandle;

use tokio::sync::oneshot;
use units::Nanos;

use super::options::ServeReport;
use super::server::{WebServerState, join};
use crate::gateway::{PageLock, check_workers};
use crate::listener::{BACKLOG, address_of, listen_tcp};

/// Idle timeout of connections: longer than that of proxies, so that the proxy closes first.
const IDLE_TIMEOUT: Nanos = Nanos::from_secs(300);

/// Options of a page server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PagesOptions {
    /// Address to listen on; port 0 lets the kernel choose.
    pub listen: SocketAddr,
    /// Number of worker threads, and so the most pages that are generated at once; from 1 to
    /// [`WORKERS_MAX`](crate::gateway::WORKERS_MAX).
    ///
    /// Each has an event loop and any number of kept connections, as a proxy's connection pool expects.
    pub workers: usize,
}

/// A running page server; dropping it stops it without waiting.
#[derive(Debug)]
pub struct PagesServer {
    address: SocketAddr,
    workers: Vec<(oneshot::Sender<()>, JoinHandle<io::Result<ServeReport>>)>,
}

impl PagesServer {
    /// Starts a server, which listens when this returns.
    ///
    /// # Errors
    ///
    /// The number of workers is out of range, the address cannot be listened on, or no more threads can be
    /// created.
    pub fn start(options: &PagesOptions) -> io::Result<PagesServer> {
        check_workers(options.workers)?;
        let listener = listen_tcp(options.listen, BACKLOG)?;
        let address = address_of(&listener)?;
        let mut server = PagesServer { address, workers: Vec::new() };
        let lock = Arc::new(PageLock::default());
        for _ in 0..options.workers {
            let (listener, (stop, stopped)) = (listener.try_clone()?, oneshot::channel());
            let one = WebServerState::pages_only(IDLE_TIMEOUT, Arc::clone(&lock));
            let body = move || one.run(listener, |_| {}, stopped);
            let thread = std::thread::Builder::new().name("pages".to_owned()).spawn(body)?;
            server.workers.push((stop, thread));
        }
        Ok(server)
    }

    /// Returns the address it listens on.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Stops the server and returns the report of each worker.
    ///
    /// # Errors
    ///
    /// The error that had already ended a worker.
    pub fn stop(self) -> io::Result<Vec<ServeReport>> {
        let (stops, threads): (Vec<_>, Vec<_>) = self.workers.into_iter().unzip();
        drop(stops);
        threads.into_iter().map(join).collect()
    }
}
