//! The thread on which metrics are handed over, and what tells it what happens.

use std::io;
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;

use model::{IntervalRecord, LoadPoint};
use thiserror::Error;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::watch;
use units::wall;

use crate::endpoint::{Endpoint, EndpointError};
use crate::push::{closed, push_until_closed};
use crate::server::serve;
use crate::totals::{RunName, RunTotals, Snapshot};

/// The receivers of metrics.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Options {
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
    /// Nobody can listen there.
    #[error(
        "nobody can scrape metrics at `{address}`: {why}\nhint: choose another address, such as `127.0.0.1:0`"
    )]
    Listen {
        /// The address.
        address: SocketAddr,
        /// The error of the system.
        why: io::Error,
    },
    /// Nobody may be told of a run there.
    #[error(transparent)]
    Push(#[from] EndpointError),
    /// The thread cannot be started.
    #[error("metrics cannot be handed over: {0}")]
    System(#[from] io::Error),
}

/// Hands metrics over while runs go on, in which it is told what happens.
#[derive(Debug)]
pub struct Telemetry {
    totals: Snapshot,
    sender: watch::Sender<Arc<Snapshot>>,
    address: Option<SocketAddr>,
    warnings: Receiver<String>,
    thread: JoinHandle<()>,
}

impl Telemetry {
    /// Begins to hand over metrics of runs, which are told apart by their places. `prepare` is what the thread does
    /// first: standing back from the load, for instance.
    ///
    /// # Errors
    ///
    /// If nobody can listen at the address, nothing may be pushed to the collector, or no thread can be started.
    pub fn start(
        options: Options,
        runs: Vec<RunName>,
        prepare: impl FnOnce() + Send + 'static,
    ) -> Result<Telemetry, TelemetryError> {
        options.push.as_ref().map_or(Ok(()), Endpoint::check)?;
        let listener = options.listen.map(listen).transpose()?;
        let address = listener.as_ref().map(TcpListener::local_addr).transpose()?;
        let runs = runs.into_iter().map(RunTotals::new).collect();
        let totals = Snapshot { program: options.program, began: wall(), runs, turn: 0 };
        let (sender, snapshots) = watch::channel(Arc::new(totals.clone()));
        let (warn, warnings) = channel();
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let work = move || {
            prepare();
            hand_over(runtime, listener, options.push, snapshots, warn);
        };
        let thread = std::thread::Builder::new().name("telemetry".to_owned()).spawn(work)?;
        Ok(Telemetry { totals, sender, address, warnings, thread })
    }

    /// Returns where Prometheus may scrape: the port too, where the system chose it.
    pub fn address(&self) -> Option<SocketAddr> {
        self.address
    }

    /// Selects the run at this index, to which what follows belongs.
    pub fn turn(&mut self, place: usize) {
        self.totals.turn = place;
    }

    /// A load point begins.
    pub fn load_point(&mut self, point: LoadPoint) {
        self.tell(|run| run.load_point(point));
    }

    /// An interval is over, of all load threads together.
    pub fn interval(&mut self, record: &IntervalRecord) {
        self.tell(|run| run.interval(record));
    }

    /// Returns a warning that was not returned yet.
    pub fn warning(&mut self) -> Option<String> {
        self.warnings.try_recv().ok()
    }

    /// Pushes for the last time, if anything is pushed, and ends the endpoint. Returns the warnings that are left.
    pub fn end(self) -> Vec<String> {
        let Telemetry { sender, warnings, thread, .. } = self;
        drop(sender);
        // It is our own mistake if it panicked, and no reason to lose the run; the panic has told itself.
        let _ = thread.join();
        warnings.try_iter().collect()
    }

    fn tell(&mut self, change: impl FnOnce(&mut RunTotals)) {
        let Some(run) = self.totals.runs.get_mut(self.totals.turn) else { return };
        change(run);
        // Takes the place of the state before, whether anybody has seen it or not.
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

/// Answers scrapes and pushes until nobody tells any more what happens.
fn hand_over(
    runtime: Runtime,
    listener: Option<TcpListener>,
    push: Option<Endpoint>,
    mut snapshots: watch::Receiver<Arc<Snapshot>>,
    warn: Sender<String>,
) {
    // Nobody is left to hear of what nobody listens to.
    let warn = |text| drop(warn.send(text));
    runtime.block_on(async {
        match listener.map(tokio::net::TcpListener::from_std) {
            Some(Ok(listener)) => drop(tokio::spawn(serve(listener, snapshots.clone()))),
            Some(Err(why)) => warn(format!("nobody can scrape metrics: {why}")),
            None => {}
        }
        match &push {
            Some(endpoint) => push_until_closed(endpoint, snapshots, warn).await,
            None => closed(&mut snapshots).await,
        }
    });
    // The look-up of a name may still be under way, and has no end that we could wait for.
    runtime.shutdown_background();
}
