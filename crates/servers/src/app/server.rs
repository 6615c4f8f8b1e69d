//! An application server on threads of its own.

use std::collections::HashMap;
use std::io;
use std::net::SocketAddr;
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{Builder, JoinHandle};

use frame::app::AppServerStats;
use rustix::event::{EventfdFlags, eventfd};
use units::RealClock;

use super::client_data::ClientData;
use super::data_directory::DataDirectory;
use super::fault::AppFaultPlan;
use super::options::{AppOptions, AppServerError, SERVICE_THREADS_MAX};
use super::queue::JobQueue;
use super::reactor::Reactor;
use super::service::{Job, ServiceThread};
use super::session::ClientConnection;
use crate::allowance::SharedThrottle;
use crate::listener::{address_of, listen_tcp};

/// Connections beyond one per client: those of clients that connect again before the end of the last one is known.
const CONNECTIONS_SPARE: usize = 64;

/// The state that all threads of a server share.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) queue: JobQueue<Job>,
    pub(super) clock: RealClock,
    pub(super) throttle: Option<SharedThrottle>,
    pub(super) faults: AppFaultPlan,
    pub(super) limits: ClientLimits,
    pub(super) service_threads: u32,
    pub(super) queue_max: u32,
    pub(super) is_stopping: AtomicBool,
    /// Wakes the reactor: there are connections to be resumed, or the server is to stop.
    pub(super) waker: OwnedFd,
    pub(super) resumed: Mutex<Vec<u64>>,
    pub(super) connections: AtomicUsize,
    pub(super) connections_max: usize,
    clients: Mutex<HashMap<u32, Arc<Mutex<ClientData>>>>,
    /// Dropped last, with the files of all clients.
    pub(super) directory: Option<DataDirectory>,
}

/// The bounds of what a client may ask for.
#[derive(Debug)]
pub(super) struct ClientLimits {
    pub(super) clients_max: u32,
    pub(super) file_bytes_max: u64,
}

/// A running application server; dropping it stops it.
#[derive(Debug)]
pub struct AppServer {
    address: SocketAddr,
    shared: Arc<Shared>,
    reactor: Option<JoinHandle<io::Result<()>>>,
    service: Vec<JoinHandle<()>>,
}

impl Shared {
    /// Returns the data of a client; the same for all of its connections.
    pub(super) fn client_data(&self, client: u32) -> Arc<Mutex<ClientData>> {
        let mut clients = self.clients.lock().expect("no thread panics with the clients");
        Arc::clone(clients.entry(client).or_insert_with(|| Arc::new(Mutex::new(ClientData::new(client)))))
    }

    /// Returns the load of the server.
    pub(super) fn stats(&self) -> AppServerStats {
        let load = self.queue.load();
        let count = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        AppServerStats {
            threads: self.service_threads,
            busy_threads: load.busy,
            queued: count(load.queued),
            queue_max: self.queue_max,
            connections: count(self.connections.load(Ordering::Relaxed)),
            performed: load.performed,
            refused: load.refused,
        }
    }

    /// Reads on from a connection after its reply.
    pub(super) fn go_on(&self, connection: &ClientConnection) {
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

impl AppServer {
    /// Starts a server; it listens when this returns.
    ///
    /// # Errors
    /// The directory cannot be used, the address cannot be listened on, or no further thread can be created.
    ///
    /// # Panics
    /// The number of service threads is not within its bounds.
    pub fn start(options: AppOptions) -> Result<AppServer, AppServerError> {
        assert!((1..=SERVICE_THREADS_MAX).contains(&options.service_threads), "bounded service threads");
        let directory = options.directory.as_deref().map(DataDirectory::create).transpose()?;
        let listener = listen_tcp(options.listen, options.backlog())?;
        let address = address_of(&listener)?;
        let clock = RealClock::start();
        let shared = Arc::new(Shared {
            queue: JobQueue::new(options.queue_max as usize),
            clock,
            throttle: options.cpu_allowance.map(|share| SharedThrottle::new(share, clock)),
            faults: options.faults,
            limits: ClientLimits { clients_max: options.clients_max, file_bytes_max: options.file_bytes_max },
            service_threads: options.service_threads,
            queue_max: options.queue_max,
            is_stopping: AtomicBool::new(false),
            waker: eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK).map_err(io::Error::from)?,
            resumed: Mutex::default(),
            connections: AtomicUsize::new(0),
            connections_max: options.clients_max as usize + CONNECTIONS_SPARE,
            clients: Mutex::default(),
            directory,
        });
        // Dropped on an error, it stops what it has started.
        let mut server = AppServer { address, shared, reactor: None, service: Vec::new() };
        for _ in 0..options.service_threads {
            let shared = Arc::clone(&server.shared);
            let body = move || ServiceThread::new(&shared).run();
            server.service.push(Builder::new().name("app-service".to_owned()).spawn(body)?);
        }
        let mut reactor = Reactor::new(Arc::clone(&server.shared), listener)?;
        let spawned = Builder::new().name("app-reactor".to_owned()).spawn(move || reactor.run())?;
        server.reactor = Some(spawned);
        Ok(server)
    }

    /// Returns the address it listens on.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Stops it, and removes the files of its clients. Requests in service are completed.
    ///
    /// # Errors
    /// The reactor had failed before.
    pub fn stop(mut self) -> io::Result<()> {
        self.halt()
    }

    fn halt(&mut self) -> io::Result<()> {
        self.shared.is_stopping.store(true, Ordering::Relaxed);
        self.shared.wake();
        self.shared.queue.close();
        let panicked = |_| io::Error::other("a thread of the application server panicked");
        let reactor = self.reactor.take().map(JoinHandle::join);
        let service: Result<Vec<()>, _> = self.service.drain(..).map(JoinHandle::join).collect();
        reactor.transpose().map_err(panicked)?.transpose()?;
        service.map_err(panicked).map(drop)
    }
}

impl Drop for AppServer {
    fn drop(&mut self) {
        // Whoever wants the error calls `stop`.
        let _ = self.halt();
    }
}
