//! The thread that exports metrics, and the handle that updates it.

use std::io;
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;

use analysis::LoadPointStatus;
use model::{IntervalRecord, LoadPoint};
use thiserror::Error;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::watch;
use tokio::task::{LocalSet, spawn_local};
use units::wall;

use crate::endpoint::{Endpoint, EndpointError};
use crate::push::{closed, push_until_closed};
use crate::server::serve;
use crate::totals::{MonitoredRun, RunTotals, Snapshot};

/// The receivers of metrics.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TelemetryOptions {
    /// The address at which Prometheus may scrape.
    pub listen: Option<SocketAddr>,
    /// The endpoint that metrics are pushed to.
    pub push: Option<Endpoint>,
    /// The program's version.
    pub program: String,
}

/// A reason why there are no metrics.
#[derive(Debug, Error)]
pub enum TelemetryError {
    /// The address cannot be listened on.
    #[error(
        "metrics cannot be served at `{address}`: {why}\nhint: choose another address, such as `127.0.0.1:0`"
    )]
    Listen {
        /// The address.
        address: SocketAddr,
        /// The error of the system.
        why: io::Error,
    },
    /// The endpoint of a push is not allowed.
    #[error(transparent)]
    Push(#[from] EndpointError),
    /// The thread cannot be started.
    #[error("metrics cannot be exported: {0}")]
    System(#[from] io::Error),
}

/// A handle to the exporter of live metrics, which is updated during runs.
#[derive(Debug)]
pub struct Telemetry {
    totals: Snapshot,
    sender: watch::Sender<Arc<Snapshot>>,
    address: Option<SocketAddr>,
    warnings: Receiver<String>,
    thread: JoinHandle<()>,
}

impl Telemetry {
    /// Starts to export metrics of runs, which are selected by their indexes. The thread first calls `prepare`, for
    /// instance to lower its priority.
    ///
    /// # Errors
    ///
    /// The address cannot be listened on, the collector is not allowed, or no thread can be started.
    pub fn start(
        options: TelemetryOptions,
        runs: Vec<MonitoredRun>,
        prepare: impl FnOnce() + Send + 'static,
    ) -> Result<Telemetry, TelemetryError> {
        options.push.as_ref().map_or(Ok(()), Endpoint::check)?;
        let listener = options.listen.map(listen).transpose()?;
        let address = listener.as_ref().map(TcpListener::local_addr).transpose()?;
        let runs = runs.into_iter().map(RunTotals::new).collect();
        let totals = Snapshot { program: options.program, began: wall(), runs, current: 0 };
        let (sender, snapshots) = watch::channel(Arc::new(totals.clone()));
        let (warn, warnings) = channel();
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let work = move || {
            prepare();
            export(runtime, listener, options.push, snapshots, warn);
        };
        let thread = std::thread::Builder::new().name("telemetry".to_owned()).spawn(work)?;
        Ok(Telemetry { totals, sender, address, warnings, thread })
    }

    /// Returns the address at which Prometheus may scrape, with the port that the system chose.
    pub fn address(&self) -> Option<SocketAddr> {
        self.address
    }

    /// Selects the run at this index, to which all further updates belong.
    pub fn select_run(&mut self, index: usize) {
        self.totals.current = index;
    }

    /// Begins a load point.
    pub fn load_point(&mut self, point: LoadPoint) {
        self.update(|run| run.load_point(point));
    }

    /// Adds an interval of all load threads together.
    pub fn interval(&mut self, record: &IntervalRecord) {
        self.update(|run| run.interval(record));
    }

    /// Takes over the score and the standings from the status of the current load point.
    pub fn status(&mut self, status: &LoadPointStatus) {
        self.update(|run| run.status(status));
    }

    /// Returns the next warning, if there is one.
    pub fn warning(&mut self) -> Option<String> {
        self.warnings.try_recv().ok()
    }

    /// Pushes for the last time, if there is a push, and closes the endpoint. Returns the remaining warnings.
    pub fn end(self) -> Vec<String> {
        let Telemetry { sender, warnings, thread, .. } = self;
        drop(sender);
        // A panic of the thread is our own mistake and no reason to lose the run; it was already printed.
        let _ = thread.join();
        warnings.try_iter().collect()
    }

    fn update(&mut self, change: impl FnOnce(&mut RunTotals)) {
        let Some(run) = self.totals.runs.get_mut(self.totals.current) else { return };
        change(run);
        // Replaces the state before, whether it was read or not.
        self.sender.send_replace(Arc::new(self.totals.clone()));
    }
}

fn listen(address: SocketAddr) -> Result<TcpListener, TelemetryError> {
    let listening = TcpListener::bind(address).and_then(|listener| {
        listener.set_nonblocking(true)?;
        Ok(listener)
    });
    listening.map_err(|why| TelemetryError::Listen { address, why })
}

/// Serves scrapes and pushes until the channel is closed.
fn export(
    runtime: Runtime,
    listener: Option<TcpListener>,
    push: Option<Endpoint>,
    mut snapshots: watch::Receiver<Arc<Snapshot>>,
    warn: Sender<String>,
) {
    // A warning that nobody receives any more is dropped.
    let warn = |text| drop(warn.send(text));
    let tasks = LocalSet::new();
    tasks.block_on(&runtime, async {
        match listener.map(tokio::net::TcpListener::from_std) {
            Some(Ok(listener)) => drop(spawn_local(serve(listener, snapshots.clone()))),
            Some(Err(why)) => warn(format!("metrics cannot be served: {why}")),
            None => {}
        }
        match &push {
            Some(endpoint) => push_until_closed(endpoint, snapshots, warn).await,
            None => closed(&mut snapshots).await,
        }
    });
    drop(tasks);
    // Name resolution may still be in progress, and cannot be interrupted.
    runtime.shutdown_background();
}
