//! The pool of workers: start, reload and stop.

use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::num::NonZeroUsize;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::mpsc;
use std::thread::JoinHandle;

use socket2::Socket;
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};
use units::Nanos;

use super::connection_limiter::ConnectionLimiter;
use super::inherited::{InheritedSockets, deal};
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
    listeners: Vec<BoundListener>,
}

/// A listener that all workers have.
#[derive(Debug, Clone)]
struct BoundListener {
    configured: SocketAddr,
    actual: SocketAddr,
    /// The sockets, of which each worker has duplicates; they close with the last of these.
    sockets: Arc<[Socket]>,
}

#[derive(Debug)]
struct WorkerHandle {
    commands: UnboundedSender<WorkerCommand>,
    thread: JoinHandle<usize>,
}

/// Starts a number of workers and returns when all of them accept connections. Listeners take inherited sockets of
/// their address in place of new ones.
///
/// # Errors
/// If an address cannot be bound, TLS is wanted and not set up, or the system has no thread or runtime left.
pub fn start(
    config: FrontendConfig,
    workers: NonZeroUsize,
    inherited: &mut InheritedSockets,
) -> io::Result<WorkerPool> {
    let mut pool = WorkerPool { workers: Vec::new(), listeners: Vec::new() };
    let bound = pool.bind(&config, workers.get(), inherited)?;
    pool.listeners = bound.listeners;
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

/// The listeners of a new configuration.
struct Bound {
    /// The sockets of each worker, in the order of the configured listeners; empty where it has them already.
    sockets: Vec<Vec<Vec<Socket>>>,
    listeners: Vec<BoundListener>,
}

impl WorkerPool {
    /// Returns the bound addresses, in the order of the configured listeners.
    pub fn addresses(&self) -> Vec<SocketAddr> {
        self.listeners.iter().map(|listener| listener.actual).collect()
    }

    /// Returns duplicates of all listening sockets, for a process that takes them over.
    ///
    /// # Errors
    /// If the system has no descriptor left.
    pub fn sockets(&self) -> io::Result<Vec<OwnedFd>> {
        let all = self.listeners.iter().flat_map(|listener| listener.sockets.iter());
        all.map(|socket| socket.try_clone().map(OwnedFd::from)).collect()
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
        let bound = self.bind(&config, self.workers.len(), &mut InheritedSockets::default())?;
        self.listeners = bound.listeners;
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
        // Those of the workers are the last duplicates then.
        drop(self.listeners);
        for worker in &self.workers {
            let _ = worker.commands.send(WorkerCommand::Stop(deadline));
        }
        let broken_off = |worker: WorkerHandle| worker.thread.join().expect("a worker does not panic");
        self.workers.into_iter().map(broken_off).sum()
    }

    /// Finds or binds the sockets that a configuration needs and that are not there yet.
    fn bind(
        &self,
        config: &FrontendConfig,
        workers: usize,
        inherited: &mut InheritedSockets,
    ) -> io::Result<Bound> {
        let listens = &config.settings.listens;
        check(listens, config.tls.is_some())?;
        let configured: Vec<_> = listens.iter().map(|listen| listen.address).collect();
        let mut known = self.listeners.clone();
        let mut bound = Bound { sockets: (0..workers).map(|_| Vec::new()).collect(), listeners: Vec::new() };
        for address in &configured {
            if let Some(index) = known.iter().position(|listener| listener.configured == *address) {
                bound.listeners.push(known.remove(index));
                bound.sockets.iter_mut().for_each(|sockets| sockets.push(Vec::new()));
                continue;
            }
            let sockets = match inherited.take(*address, &configured) {
                none if none.is_empty() => listen(*address, workers)?,
                sockets => sockets,
            };
            let actual = address_of(sockets.first().ok_or(io::ErrorKind::InvalidInput)?)?;
            for (own, dealt) in bound.sockets.iter_mut().zip(deal(&sockets, workers)?) {
                own.push(dealt);
            }
            bound.listeners.push(BoundListener { configured: *address, actual, sockets: sockets.into() });
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
