//! The state that the connections of one thread share.

use std::cell::{Cell, RefCell};
use std::fmt;
use std::rc::Rc;
use std::sync::Arc;

use tokio::sync::Notify;
use units::{Clock, Nanos, RealClock, wall};

use super::connection_limiter::ConnectionLimiter;
use super::deadline::{Deadline, TimeoutTicker};
use super::http2::Http2Settings;
use super::memo::MemoTable;
use super::service::Service;
use super::settings::{ClientLimits, FrontendSettings};
use crate::exchange::{Exchange, Response, error_page};
use crate::message::{ClientRequest, DisconnectReason, ProxyReason, RequestBody, RequestHandling};
use crate::observation::{LogEntry, LogWriter, WorkerCounters};

/// The size of the read buffer: also the longest possible head.
const INPUT_BYTES: usize = ::http1::HEAD_BYTES_MAX;

/// The context of a worker: made on its own thread, at the start and at every reload.
pub struct WorkerContext {
    /// The handler of requests.
    pub exchange: Rc<Exchange>,
    /// The worker's counters.
    pub counters: Arc<WorkerCounters>,
    /// The worker's writer of the access log.
    pub log: LogWriter,
    /// A callback that runs on this thread about four times a second.
    pub maintenance: Option<Box<dyn Fn()>>,
}

impl fmt::Debug for WorkerContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WorkerContext").finish_non_exhaustive()
    }
}

/// The state that the connections of one thread share.
#[derive(Debug)]
pub(super) struct Worker {
    pub(super) context: RefCell<WorkerContext>,
    reloads: Cell<u64>,
    limits: Cell<ClientLimits>,
    http2: Cell<Http2Settings>,
    pub(super) memo: RefCell<MemoTable>,
    pub(super) buffers: RefCell<Buffers>,
    pub(super) ticker: Rc<TimeoutTicker>,
    pub(super) connection_limiter: Arc<ConnectionLimiter>,
    clock: RealClock,
    /// Whether a graceful stop has begun.
    is_draining: Cell<bool>,
    drain: Notify,
    /// The number of connections that have a task.
    connections: Cell<usize>,
    /// The number of requests in flight: until the last byte of their response is sent.
    in_flight: Cell<usize>,
    all_closed: Notify,
}

/// Buffers that every connection uses for a moment; their content belongs to nobody afterwards.
#[derive(Debug)]
pub(super) struct Buffers {
    /// The input that was read; of fixed length.
    pub(super) input: Box<[u8]>,
    /// The output that is to be sent.
    pub(super) output: Vec<u8>,
}

impl Worker {
    /// Makes the shared state for the calling thread.
    pub(super) fn new(
        settings: &FrontendSettings,
        context: WorkerContext,
        connection_limiter: Arc<ConnectionLimiter>,
    ) -> Worker {
        Worker {
            context: RefCell::new(context),
            reloads: Cell::new(0),
            limits: Cell::new(settings.limits),
            http2: Cell::new(settings.http2),
            memo: RefCell::new(MemoTable::new(settings.memo_bytes_max)),
            buffers: RefCell::new(Buffers { input: vec![0; INPUT_BYTES].into(), output: Vec::new() }),
            ticker: Rc::default(),
            connection_limiter,
            clock: RealClock::start(),
            is_draining: Cell::new(false),
            drain: Notify::new(),
            connections: Cell::new(0),
            in_flight: Cell::new(0),
            all_closed: Notify::new(),
        }
    }

    /// Applies other settings. Requests in progress keep those they began with; remembered heads are forgotten,
    /// because they were decided by the old settings.
    pub(super) fn change(&self, settings: &FrontendSettings, context: WorkerContext) {
        self.limits.set(settings.limits);
        self.http2.set(settings.http2);
        self.memo.replace(MemoTable::new(settings.memo_bytes_max));
        self.reloads.set(self.reloads.get() + 1);
        drop(self.context.replace(context));
    }

    /// Returns the handler of requests.
    fn exchange(&self) -> Rc<Exchange> {
        Rc::clone(&self.context.borrow().exchange)
    }

    /// Returns the number of reloads so far.
    pub(super) fn reloads(&self) -> u64 {
        self.reloads.get()
    }

    /// Returns the current limits.
    #[inline]
    pub(super) fn limits(&self) -> ClientLimits {
        self.limits.get()
    }

    /// Returns the current settings of HTTP/2.
    pub(super) fn http2(&self) -> Http2Settings {
        self.http2.get()
    }

    /// Returns the monotonic time.
    pub(super) fn now(&self) -> Nanos {
        self.clock.now()
    }

    /// Runs the maintenance callback.
    pub(super) fn run_maintenance(&self) {
        if let Some(maintenance) = &self.context.borrow().maintenance {
            maintenance();
        }
    }

    /// Makes the deadline of a connection.
    pub(super) fn deadline(&self) -> Deadline {
        self.ticker.deadline()
    }

    /// Counts a connection that is refused or broken off.
    pub(super) fn refused(&self, reason: DisconnectReason) {
        self.context.borrow().counters.connection_refused(reason);
    }

    /// Counts a connection that was accepted.
    pub(super) fn opened(&self) {
        self.context.borrow().counters.connection_opened();
    }

    /// Counts the end of a connection that was accepted.
    pub(super) fn closed(&self) {
        self.context.borrow().counters.connection_closed();
    }
}

/// Graceful stop.
impl Worker {
    /// Returns whether a graceful stop has begun: each connection's next response is its last.
    #[inline]
    pub(super) fn is_draining(&self) -> bool {
        self.is_draining.get()
    }

    /// Waits until a graceful stop begins.
    pub(super) async fn draining(&self) {
        let begun = self.drain.notified();
        if !self.is_draining() {
            begun.await;
        }
    }

    /// Begins a graceful stop.
    pub(super) fn start_drain(&self) {
        self.is_draining.set(true);
        self.ticker.shorten_idle();
        self.drain.notify_waiters();
    }

    /// Waits until no connection is left.
    pub(super) async fn drained(&self) {
        while self.connections.get() != 0 {
            self.all_closed.notified().await;
        }
    }

    /// Counts a connection that has a task, until the guard is dropped.
    pub(super) fn track_connection(self: &Rc<Self>) -> ConnectionGuard {
        self.connections.set(self.connections.get() + 1);
        ConnectionGuard(Rc::clone(self))
    }

    /// Returns the number of requests in flight.
    pub(super) fn in_flight(&self) -> usize {
        self.in_flight.get()
    }
}

/// A guard that counts a connection with a task.
#[derive(Debug)]
pub(super) struct ConnectionGuard(Rc<Worker>);

impl ConnectionGuard {
    /// Returns the worker of the connection.
    pub(super) fn worker(&self) -> Rc<Worker> {
        Rc::clone(&self.0)
    }
}

impl Drop for ConnectionGuard {
    fn drop(&mut self) {
        let worker = &self.0;
        worker.connections.set(worker.connections.get() - 1);
        if worker.connections.get() == 0 {
            worker.all_closed.notify_one();
        }
        worker.closed();
    }
}

/// A guard that counts a request in flight.
#[derive(Debug)]
struct InFlightGuard<'a>(&'a Cell<usize>);

impl Drop for InFlightGuard<'_> {
    fn drop(&mut self) {
        self.0.set(self.0.get() - 1);
    }
}

impl Service for Worker {
    fn track_request(&self) -> impl Sized {
        self.in_flight.set(self.in_flight.get() + 1);
        InFlightGuard(&self.in_flight)
    }

    async fn handle<B: RequestBody>(self: &Rc<Self>, request: ClientRequest, body: B) -> Response {
        self.exchange().handle(request, body).await
    }

    fn refuse(&self, status: u16, reason: ProxyReason, is_head: bool) -> Response {
        error_page(status, reason.into(), is_head, self.exchange().settings(), wall())
    }

    fn note(&self, handling: &RequestHandling, status: u16, bytes_out: u64) {
        self.context.borrow().counters.note(handling, status, bytes_out);
    }

    fn is_logged(&self) -> bool {
        self.context.borrow().log.is_on()
    }

    fn log(&self, entry: &LogEntry<'_>) {
        self.context.borrow().log.line(entry);
    }
}
