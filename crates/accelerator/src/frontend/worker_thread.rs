//! A worker's thread: its runtime, its listeners, and the commands it receives.

use std::io;
use std::net::SocketAddr;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::mpsc::Sender;
use std::time::Duration;

use socket2::Socket;
use tokio::runtime::{Builder, LocalOptions};
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::task::JoinSet;
use units::Nanos;

use super::acceptor::{Listener, accept_all};
use super::connection::ListenerConfig;
use super::connection_limiter::ConnectionLimiter;
use super::deadline::TICK;
use super::worker::Worker;
use super::worker_pool::FrontendConfig;

/// The longest time that a stopping worker accepts the connections in its backlog.
const ACCEPT_DRAIN_MAX: Duration = Duration::from_secs(1);

/// The arguments of a worker's thread.
pub(super) struct WorkerSetup {
    pub(super) index: usize,
    pub(super) config: FrontendConfig,
    pub(super) connection_limiter: Arc<ConnectionLimiter>,
    /// The sockets of each listener of the configuration.
    pub(super) sockets: Vec<Vec<Socket>>,
    pub(super) commands: UnboundedReceiver<WorkerCommand>,
}

/// A command to a worker.
#[derive(Debug)]
pub(super) enum WorkerCommand {
    /// Apply this configuration; with the sockets of each of its listeners that has none yet.
    Reload(Box<FrontendConfig>, Vec<Vec<Socket>>),
    /// Stop gracefully, within this time.
    Stop(Nanos),
}

/// Runs a worker on the calling thread until it is told to stop. Returns the number of requests that were aborted.
pub(super) fn run(setup: WorkerSetup, ready: &Sender<io::Result<()>>) -> usize {
    // The thread that starts the workers may have given up already.
    let runtime = match Builder::new_current_thread().enable_all().build_local(LocalOptions::default()) {
        Ok(runtime) => runtime,
        Err(error) => {
            let _ = ready.send(Err(error));
            return 0;
        }
    };
    runtime.block_on(work(setup, ready))
}

async fn work(setup: WorkerSetup, ready: &Sender<io::Result<()>>) -> usize {
    let WorkerSetup { index, config, connection_limiter, sockets, mut commands } = setup;
    let worker = Rc::new(Worker::new(&config.settings, (config.worker_factory)(index), connection_limiter));
    let mut listeners = Listeners { worker: Rc::clone(&worker), open: Vec::new(), acceptors: JoinSet::new() };
    listeners.arrange(&config, sockets);
    tokio::task::spawn_local(run_ticker(Rc::clone(&worker)));
    let _ = ready.send(Ok(()));
    while let Some(order) = commands.recv().await {
        match order {
            WorkerCommand::Reload(config, sockets) => {
                worker.change(&config.settings, (config.worker_factory)(index));
                listeners.arrange(&config, sockets);
            }
            WorkerCommand::Stop(deadline) => return stop(&worker, listeners, deadline).await,
        }
    }
    worker.in_flight()
}

/// Closes the listeners and waits for the connections to end, up to the deadline.
async fn stop(worker: &Worker, mut listeners: Listeners, deadline: Nanos) -> usize {
    listeners.open.iter().for_each(|(_, listener)| listener.close());
    let all = async { while listeners.acceptors.join_next().await.is_some() {} };
    let _ = tokio::time::timeout(ACCEPT_DRAIN_MAX, all).await;
    worker.start_drain();
    let _ = tokio::time::timeout(Duration::from_nanos(deadline.0), worker.drained()).await;
    worker.in_flight()
}

/// Ticks the timeouts for ever, and runs maintenance at each tick.
async fn run_ticker(worker: Rc<Worker>) {
    loop {
        tokio::time::sleep(Duration::from_nanos(TICK.0)).await;
        worker.ticker.tick();
        worker.run_maintenance();
    }
}

/// The listeners of one worker.
struct Listeners {
    worker: Rc<Worker>,
    /// By the address as configured.
    open: Vec<(SocketAddr, Rc<Listener>)>,
    acceptors: JoinSet<io::Result<()>>,
}

impl Listeners {
    /// Opens the listeners that a configuration adds, changes those that stay, and closes all others.
    fn arrange(&mut self, config: &FrontendConfig, sockets: Vec<Vec<Socket>>) {
        let mut before = std::mem::take(&mut self.open);
        for (listen, sockets) in config.settings.listens.iter().zip(sockets) {
            let config = ListenerConfig::new(listen.clone(), config.tls.as_ref());
            let listener = if sockets.is_empty() {
                let known = before.iter().position(|(address, _)| *address == listen.address);
                let Some(known) = known else { continue };
                let (_, listener) = before.remove(known);
                listener.change(config);
                listener
            } else {
                self.accept(sockets, config)
            };
            self.open.push((listen.address, listener));
        }
        before.iter().for_each(|(_, listener)| listener.close());
    }

    fn accept(&mut self, sockets: Vec<Socket>, config: ListenerConfig) -> Rc<Listener> {
        let listener = Rc::new(Listener::new(config));
        for socket in sockets {
            self.acceptors.spawn_local(accept_all(socket, Rc::clone(&listener), Rc::clone(&self.worker)));
        }
        listener
    }
}
