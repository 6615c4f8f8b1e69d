//! A server on threads of its own.

use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{Builder, JoinHandle};

use rustix::event::{EventfdFlags, eventfd};
use units::{Ratio, RealClock};

use super::connection::ClientConnection;
use super::fault::FrameFaultPlan;
use super::queue::JobQueue;
use super::reactor::Reactor;
use super::requests::{FrameRequest, Requests};
use super::service::{FrameService, ServerLoad};
use crate::allowance::SharedThrottle;
use crate::listener::{BACKLOG, address_of, listen_tcp};

/// Connections beyond one per client: those of clients that connect again before the end of the last one is known.
const CONNECTIONS_SPARE: usize = 64;

/// The settings that all servers have.
#[derive(Debug)]
pub(crate) struct FrameServerOptions {
    /// Address to listen on; port 0 lets the kernel choose.
    pub(crate) listen: SocketAddr,
    /// Number of service threads, by lane of the queue; none is 0.
    pub(crate) threads: Vec<u32>,
    /// Number of requests that may wait for a service thread.
    pub(crate) queue_max: u32,
    /// Number of clients.
    pub(crate) clients_max: u32,
    /// CPUs that all threads together limit themselves to; `None` for no limit.
    pub(crate) cpu_allowance: Option<Ratio>,
    /// Misbehavior.
    pub(crate) faults: FrameFaultPlan,
}

/// The state that all threads of a server share.
pub(super) struct SharedState<S: FrameService> {
    pub(super) queue: JobQueue<FrameRequest<S::Session>>,
    pub(super) clock: RealClock,
    pub(super) throttle: Option<Arc<SharedThrottle>>,
    pub(super) faults: FrameFaultPlan,
    service_threads: u32,
    queue_max: u32,
    pub(super) is_stopping: AtomicBool,
    /// Wakes the reactor: there are connections to be resumed, or the server is to stop.
    pub(super) waker: OwnedFd,
    pub(super) resumed: Mutex<Vec<u64>>,
    pub(super) connections: AtomicUsize,
    pub(super) connections_max: usize,
    /// Dropped last, with its files.
    pub(super) service: S,
}

/// A running server; dropping it stops it.
pub(crate) struct FrameServer<S: FrameService> {
    address: SocketAddr,
    shared: Arc<SharedState<S>>,
    reactor: Option<JoinHandle<io::Result<()>>>,
    service: Vec<JoinHandle<()>>,
}

impl<S: FrameService> SharedState<S> {
    fn new(options: FrameServerOptions, service: S) -> io::Result<SharedState<S>> {
        let clock = RealClock::start();
        Ok(SharedState {
            queue: JobQueue::new(options.threads.len(), options.queue_max as usize),
            clock,
            throttle: options.cpu_allowance.map(|share| Arc::new(SharedThrottle::new(share, clock))),
            faults: options.faults,
            service_threads: options.threads.iter().sum(),
            queue_max: options.queue_max,
            is_stopping: AtomicBool::new(false),
            waker: eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?,
            resumed: Mutex::default(),
            connections: AtomicUsize::new(0),
            connections_max: options.clients_max as usize + CONNECTIONS_SPARE,
            service,
        })
    }

    /// Returns the load of the server.
    pub(super) fn load(&self) -> ServerLoad {
        let load = self.queue.load();
        let count = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        ServerLoad {
            threads: self.service_threads,
            busy_threads: load.busy,
            queued: count(load.queued),
            queued_in_first: count(load.queued_in_first),
            queue_max: self.queue_max,
            connections: count(self.connections.load(Ordering::Relaxed)),
            performed: load.performed,
            refused: load.refused,
        }
    }

    /// Reads on from a connection after its reply.
    pub(super) fn go_on(&self, connection: &ClientConnection<S::Session>) {
        if connection.complete() {
            self.resumed.lock().expect("no thread panics with it").push(connection.id);
            self.wake();
        }
    }

    fn wake(&self) {
        // It fails only if the counter is full, and then the reactor is awake.
        let _ = rustix::io::write(&self.waker, &1_u64.to_ne_bytes());
    }
}

impl<S: FrameService> FrameServer<S> {
    /// Starts a server; it listens when this returns.
    ///
    /// # Errors
    /// The address cannot be listened on, or no further thread can be created.
    pub(crate) fn start(options: FrameServerOptions, service: S) -> io::Result<FrameServer<S>> {
        let listener = listen_tcp(options.listen, BACKLOG)?;
        let address = address_of(&listener)?;
        let threads = options.threads.clone();
        let shared = Arc::new(SharedState::new(options, service)?);
        // Dropped on an error, it stops what it has started.
        let mut server = FrameServer { address, shared, reactor: None, service: Vec::new() };
        for (lane, n_threads) in threads.into_iter().enumerate() {
            for _ in 0..n_threads {
                server.spawn_service(lane)?;
            }
        }
        let mut reactor = Reactor::new(Arc::clone(&server.shared), listener)?;
        let name = format!("{}-reactor", S::PROTOCOL.name);
        server.reactor = Some(Builder::new().name(name).spawn(move || reactor.run())?);
        Ok(server)
    }

    fn spawn_service(&mut self, lane: usize) -> io::Result<()> {
        let shared = Arc::clone(&self.shared);
        let body = move || shared.service.run(lane, Requests::new(&shared, lane));
        let name = format!("{}-service", S::PROTOCOL.name);
        self.service.push(Builder::new().name(name).spawn(body)?);
        Ok(())
    }

    /// Returns the address it listens on.
    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    /// Stops it, and drops its service when all threads have ended. Requests in service are completed.
    ///
    /// # Errors
    /// The reactor had failed before.
    pub(crate) fn stop(mut self) -> io::Result<()> {
        self.halt()
    }

    fn halt(&mut self) -> io::Result<()> {
        self.shared.is_stopping.store(true, Ordering::Relaxed);
        self.shared.wake();
        self.shared.queue.close();
        let panicked = |_| io::Error::other("a thread of the server panicked");
        let reactor = self.reactor.take().map(JoinHandle::join);
        let service: Result<Vec<()>, _> = self.service.drain(..).map(JoinHandle::join).collect();
        reactor.transpose().map_err(panicked)?.transpose()?;
        service.map_err(panicked).map(drop)
    }
}

impl<S: FrameService> fmt::Debug for FrameServer<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FrameServer").field("address", &self.address).finish_non_exhaustive()
    }
}

impl<S: FrameService> Drop for FrameServer<S> {
    fn drop(&mut self) {
        // Whoever wants the error calls `stop`.
        let _ = self.halt();
    }
}
