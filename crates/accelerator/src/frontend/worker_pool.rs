//! The pool of workers: start, reload and stop.

use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::mpsc;
use std::thread::JoinHandle;

use socket2::Socket;
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};
use units::Nanos;

use super::connection_limiter::ConnectionLimiter;
use super::settings::{FrontendSettings, ListenSettings};
use super::socket::{address_of, listen};
use super::tls::TlsContext;
pub use super::worker::WorkerContext;
use super::worker_thread::{WorkerCommand, WorkerSetup, run};

/// A factory of worker contexts: takes the worker's index and runs on its thread, which has a runtime for local
/// tasks.
pub type WorkerFactory = Arc<dyn Fn(usize) -> WorkerContext + Send + Sync>;

/// The configuration of all workers, until the next reload.
#[derive(Clone)]
pub struct FrontendConfig {
    /// The listeners and limits.
    pub settings: FrontendSettings,
    /// The TLS acceptor of listeners that speak TLS.
    pub tls: Option<Arc<TlsContext>>,
    /// The factory of the workers' contexts.
    pub worker_factory: WorkerFactory,
}

impl fmt::Debug for FrontendConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FrontendConfig").field("settings", &self.settings).finish_non_exhaustive()
    }
}

/// The workers, each on a thread of its own. Dropping the pool ends them at once.
#[derive(Debug)]
pub struct WorkerPool {
    workers: Vec<WorkerHandle>,
    /// The addresses of the listeners: as configured, and as bound.
    addresses: Vec<(SocketAddr, SocketAddr)>,
}

#[derive(Debug)]
struct WorkerHandle {
    commands: UnboundedSender<WorkerCommand>,
    thread: JoinHandle<usize>,
}

/// Starts a number of workers and returns when all of them accept connections.
///
/// # Errors
/// If an address cannot be bound, TLS is wanted and not set up, or the system has no thread or runtime left.
pub fn start(config: FrontendConfig, workers: NonZeroUsize) -> io::Result<WorkerPool> {
    let mut pool = WorkerPool { workers: Vec::new(), addresses: Vec::new() };
    let bound = pool.bind(&config, workers.get())?;
    pool.addresses = bound.addresses;
    let connection_limiter = Arc::<ConnectionLimiter>::default();
    for (index, sockets) in bound.sockets.into_iter().enumerate() {
        let (commands, received) = unbounded_channel();
        let (ready, readied) = mpsc::channel();
        let setup = WorkerSetup {
            index,
            config: config.clone(),
            connection_limiter: Arc::clone(&connection_limiter),
            sockets,
            commands: received,
        };
        let thread =
            std::thread::Builder::new().name(format!("worker-{index}")).spawn(move || run(setup, &ready))?;
        pool.workers.push(WorkerHandle { commands, thread });
        readied.recv().map_err(io::Error::other)??;
    }
    Ok(pool)
}

/// Sockets that a new configuration needs and that are not in use yet.
struct Bound {
    /// The sockets of each worker, in the order of the configured listeners; `None` where it has one already.
    sockets: Vec<Vec<Option<Socket>>>,
    addresses: Vec<(SocketAddr, SocketAddr)>,
}

impl WorkerPool {
    /// Returns the bound addresses, in the order of the configured listeners.
    pub fn addresses(&self) -> Vec<SocketAddr> {
        self.addresses.iter().map(|(_, actual)| *actual).collect()
    }

    /// Switches to another configuration without dropping a connection or a request in progress.
    ///
    /// Returns once the configuration has been sent to all workers. Listeners that stay keep their sockets; new ones
    /// are bound before old ones are closed. Settings that apply when a connection is accepted, TLS for example, take
    /// effect for connections accepted afterwards.
    ///
    /// # Errors
    /// As [`start`]; then everything stays as it was.
    pub fn reload(&mut self, config: FrontendConfig) -> io::Result<()> {
        let bound = self.bind(&config, self.workers.len())?;
        self.addresses = bound.addresses;
        for (worker, sockets) in self.workers.iter().zip(bound.sockets) {
            // A worker that has ended has panicked, which `stop` reports.
            let _ = worker.commands.send(WorkerCommand::Reload(Box::new(config.clone()), sockets));
        }
        Ok(())
    }

    /// Stops gracefully: accepts nothing new, answers the requests in progress, and closes each connection after its
    /// response. Returns the number of requests that were aborted at the deadline, a time from now.
    ///
    /// # Panics
    /// If a worker panicked.
    pub fn stop(self, deadline: Nanos) -> usize {
        for worker in &self.workers {
            let _ = worker.commands.send(WorkerCommand::Stop(deadline));
        }
        let broken_off = |worker: WorkerHandle| worker.thread.join().expect("a worker does not panic");
        self.workers.into_iter().map(broken_off).sum()
    }

    /// Binds the sockets that a configuration needs and that are not there yet.
    fn bind(&self, config: &FrontendConfig, workers: usize) -> io::Result<Bound> {
        let listens = &config.settings.listens;
        check(listens, config.tls.is_some())?;
        let mut known = self.addresses.clone();
        let mut bound = Bound { sockets: (0..workers).map(|_| Vec::new()).collect(), addresses: Vec::new() };
        for ListenSettings { address, .. } in listens {
            if let Some(index) = known.iter().position(|(given, _)| given == address) {
                bound.addresses.push(known.remove(index));
                bound.sockets.iter_mut().for_each(|sockets| sockets.push(None));
                continue;
            }
            let sockets = listen(*address, workers)?;
            let first = sockets.first().ok_or(io::ErrorKind::InvalidInput)?;
            bound.addresses.push((*address, address_of(first)?));
            for (own, socket) in bound.sockets.iter_mut().zip(sockets) {
                own.push(Some(socket));
            }
        }
        Ok(bound)
    }
}

/// Checks the listeners against each other.
fn check(listens: &[ListenSettings], has_tls: bool) -> io::Result<()> {
    let refused = |text: String| Err(io::Error::new(io::ErrorKind::InvalidInput, text));
    for (index, listen) in listens.iter().enumerate() {
        let ListenSettings { address, tls, .. } = listen;
        if *tls && !has_tls {
            return refused(format!("{address} needs TLS, but there is no certificate"));
        }
        // Port 0 is another port each time.
        if address.port() != 0 && listens[..index].iter().any(|other| other.address == *address) {
            return refused(format!("{address} is listed twice"));
        }
    }
    Ok(())
}
