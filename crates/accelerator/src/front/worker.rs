//! What the connections of one thread share.

use std::cell::{Cell, RefCell};
use std::fmt;
use std::rc::Rc;
use std::sync::Arc;

use tokio::sync::Notify;
use units::{Clock, Nanos, RealClock, wall};

use super::admission::Census;
use super::http2::Http2Settings;
use super::memo::MemoTable;
use super::service::Service;
use super::settings::{FrontSettings, Limits};
use super::watch::{Clockwork, Watch};
use crate::exchange::{Exchange, error_page};
use crate::message::{Handling, Inbound, Reply, RequestBody};
use crate::operation::{Counters, LogEntry, LogWriter};

/// How much is read at once: also the longest head that there can be.
const INPUT_BYTES: usize = ::http1::HEAD_BYTES_MAX;

/// What a worker works with: made by its own thread, at the start and at every reload.
pub struct Kit {
    /// What decides and answers.
    pub exchange: Rc<Exchange>,
    /// What it counts with.
    pub counters: Arc<Counters>,
    /// Where it logs.
    pub log: LogWriter,
    /// What else there is to do on this thread about four times a second.
    pub housekeeping: Option<Box<dyn Fn()>>,
}

impl fmt::Debug for Kit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Kit").finish_non_exhaustive()
    }
}

/// What the connections of one thread share.
#[derive(Debug)]
pub(super) struct Worker {
    pub(super) kit: RefCell<Kit>,
    limits: Cell<Limits>,
    http2: Cell<Http2Settings>,
    pub(super) memo: RefCell<MemoTable>,
    pub(super) buffers: RefCell<Buffers>,
    pub(super) clockwork: Rc<Clockwork>,
    pub(super) census: Arc<Census>,
    clock: RealClock,
    /// Whether a graceful stop has begun.
    is_draining: Cell<bool>,
    drain: Notify,
    /// Connections that have a task of their own.
    connections: Cell<usize>,
    /// Requests that are being answered: until the last byte of their reply is handed over.
    busy: Cell<usize>,
    alone: Notify,
}

/// Room that every connection uses for a moment: what is left there belongs to nobody.
#[derive(Debug)]
pub(super) struct Buffers {
    /// What was read; of fixed length.
    pub(super) input: Box<[u8]>,
    /// What is to be sent.
    pub(super) output: Vec<u8>,
}

impl Worker {
    /// Makes what the connections of the calling thread share.
    pub(super) fn new(settings: &FrontSettings, kit: Kit, census: Arc<Census>) -> Worker {
        Worker {
            kit: RefCell::new(kit),
            limits: Cell::new(settings.limits),
            http2: Cell::new(settings.http2),
            memo: RefCell::new(MemoTable::new(settings.memo_bytes_max)),
            buffers: RefCell::new(Buffers { input: vec![0; INPUT_BYTES].into(), output: Vec::new() }),
            clockwork: Rc::default(),
            census,
            clock: RealClock::start(),
            is_draining: Cell::new(false),
            drain: Notify::new(),
            connections: Cell::new(0),
            busy: Cell::new(0),
            alone: Notify::new(),
        }
    }

    /// Goes on with other settings. Requests in progress keep what they began with; what is remembered is forgotten,
    /// because it was decided by the old ones.
    pub(super) fn change(&self, settings: &FrontSettings, kit: Kit) {
        self.limits.set(settings.limits);
        self.http2.set(settings.http2);
        self.memo.replace(MemoTable::new(settings.memo_bytes_max));
        drop(self.kit.replace(kit));
    }

    /// Returns what decides and answers.
    pub(super) fn exchange(&self) -> Rc<Exchange> {
        Rc::clone(&self.kit.borrow().exchange)
    }

    /// Returns the limits that hold now.
    #[inline]
    pub(super) fn limits(&self) -> Limits {
        self.limits.get()
    }

    /// Returns the settings of HTTP/2 that hold now.
    pub(super) fn http2(&self) -> Http2Settings {
        self.http2.get()
    }

    /// Returns the time, to measure with.
    pub(super) fn now(&self) -> Nanos {
        self.clock.now()
    }

    /// Does what the kit wants done from time to time.
    pub(super) fn keep_house(&self) {
        if let Some(housekeeping) = &self.kit.borrow().housekeeping {
            housekeeping();
        }
    }

    /// Makes the watch of a connection.
    pub(super) fn watch(&self) -> Watch {
        self.clockwork.watch()
    }

    /// Counts a connection that ends without a reply.
    pub(super) fn refused(&self, reason: &'static str) {
        self.kit.borrow().counters.connection_refused(reason);
    }

    /// Counts a connection that was accepted.
    pub(super) fn opened(&self) {
        self.kit.borrow().counters.connection_opened();
    }

    /// Counts the end of a connection that was accepted.
    pub(super) fn closed(&self) {
        self.kit.borrow().counters.connection_closed();
    }
}

/// The end.
impl Worker {
    /// Tells whether a graceful stop has begun: each connection's next reply is its last.
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
    pub(super) fn begin_to_drain(&self) {
        self.is_draining.set(true);
        self.clockwork.last_call();
        self.drain.notify_waiters();
    }

    /// Waits until no connection is left.
    pub(super) async fn drained(&self) {
        while self.connections.get() != 0 {
            self.alone.notified().await;
        }
    }

    /// Counts a connection that has a task, until the guard is dropped.
    pub(super) fn attend(self: &Rc<Self>) -> Attendance {
        self.connections.set(self.connections.get() + 1);
        Attendance(Rc::clone(self))
    }

    /// Returns how many requests are being answered.
    pub(super) fn busy(&self) -> usize {
        self.busy.get()
    }
}

/// A connection that has a task.
#[derive(Debug)]
pub(super) struct Attendance(Rc<Worker>);

impl Attendance {
    /// Returns whose connection it is.
    pub(super) fn worker(&self) -> Rc<Worker> {
        Rc::clone(&self.0)
    }
}

impl Drop for Attendance {
    fn drop(&mut self) {
        let worker = &self.0;
        worker.connections.set(worker.connections.get() - 1);
        if worker.connections.get() == 0 {
            worker.alone.notify_one();
        }
        worker.closed();
    }
}

/// A request that is being answered.
#[derive(Debug)]
struct Engagement<'a>(&'a Cell<usize>);

impl Drop for Engagement<'_> {
    fn drop(&mut self) {
        self.0.set(self.0.get() - 1);
    }
}

impl Service for Worker {
    fn engage(&self) -> impl Sized {
        self.busy.set(self.busy.get() + 1);
        Engagement(&self.busy)
    }

    async fn handle<B: RequestBody>(self: &Rc<Self>, inbound: Inbound, body: B) -> Reply {
        self.exchange().handle(inbound, body).await
    }

    fn refuse(&self, status: u16, reason: &'static str, is_head: bool) -> Reply {
        error_page(status, reason, is_head, self.exchange().settings(), wall())
    }

    fn note(&self, handling: &Handling, status: u16, bytes_out: u64) {
        self.kit.borrow().counters.note(handling, status, bytes_out);
    }

    fn is_logged(&self) -> bool {
        self.kit.borrow().log.is_on()
    }

    fn log(&self, entry: &LogEntry<'_>) {
        self.kit.borrow().log.line(entry);
    }
}
