//! One load thread at one load point.

use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, OnceLock};

use engine::{
    BlockingDriver, BlockingRuntime, Driver, HealthProbe, LoadThreadUse, OpenedSessions, PointSetup,
    PointStart, RecordSink, ThreadMeters, run_blocking_point, run_point_on_this_thread,
};
use model::{Example, IntervalRecord, Mix, Plan};
use observe::SchedStat;
use tokio::sync::oneshot;
use units::{Nanos, RealClock, thread_cpu};

use crate::reading::MonitorReading;
use crate::setup_error::SetupError;

/// A message of load threads or monitors to the controller: plain data, of which records have a form of their own on the
/// way between machines ([`runfile::wire`]).
pub(crate) enum Message {
    Interval(Box<IntervalRecord>),
    Example(Example),
    /// A reading of a machine, by its number, and its time.
    Readings(u32, Nanos, MonitorReading),
}

/// The work of one load thread at one load point.
pub(crate) struct ThreadWork<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) setup: PointSetup,
    /// The clock of the run.
    pub(crate) clock: RealClock,
    pub(crate) start: ThreadStart,
    /// Ends the load point early.
    pub(crate) stop: &'a AtomicBool,
    pub(crate) outbox: Outbox,
}

impl ThreadWork<'_> {
    /// Runs the users of the thread with the drivers of a family.
    pub(crate) fn run_with<D: Driver + 'static>(
        self,
        mix: impl Mix<Operation = D::Operation, User: 'static> + 'static,
        driver: impl FnMut(u32) -> D,
    ) -> io::Result<()> {
        let ThreadWork { setup, clock, start, stop, mut outbox, .. } = self;
        let meters = ThreadMeters { clock, probe: probe() };
        run_point_on_this_thread(&setup, meters, mix, driver, start, &mut outbox, stop)
    }

    /// Runs the users of the thread with drivers that block, each on a thread of its own. `beside` meters what the system
    /// under test, a part of this process, uses beside their operations.
    pub(crate) fn run_blocking_with<D, M>(
        self,
        mix: M,
        driver: impl FnMut(u32) -> D,
        beside: CpuMeter,
    ) -> io::Result<()>
    where
        D: BlockingDriver + Send + 'static,
        M: Mix<Operation = D::Operation> + Send + Sync + 'static,
    {
        let ThreadWork { setup, clock, start, stop, mut outbox, .. } = self;
        let mut own = probe();
        let probe = Box::new(move || LoadThreadUse { sut_cpu: Some(beside.used()), ..own() });
        let runtime = BlockingRuntime { clock, probe };
        run_blocking_point(&setup, runtime, &Arc::new(mix), driver, start, &mut outbox, stop)
    }
}

/// A meter of the CPU time of one thread, which others read.
#[derive(Debug, Clone, Default)]
pub(crate) struct CpuMeter(Arc<AtomicU64>);

impl CpuMeter {
    /// Reads the CPU time of the calling thread, which is always the same one.
    pub(crate) fn read_this_thread(&self) {
        self.0.store(thread_cpu().0, Ordering::Relaxed);
    }

    /// Returns the CPU time that was read last; 0 if none was.
    pub(crate) fn used(&self) -> Nanos {
        Nanos(self.0.load(Ordering::Relaxed))
    }
}

/// The start of a load point for one of its threads: the controller waits until all threads are ready, and then says
/// when it is.
pub(crate) struct ThreadStart {
    pub(crate) ready: Sender<OpenedSessions>,
    pub(crate) origin: oneshot::Receiver<Nanos>,
    /// Set to that time when it is known, for work beside the users.
    pub(crate) began: Arc<OnceLock<Nanos>>,
}

impl PointStart for ThreadStart {
    async fn wait(self, sessions: OpenedSessions) -> Option<Nanos> {
        self.ready.send(sessions).ok()?;
        // The controller drops its end where the load point does not begin.
        let origin = self.origin.await.ok()?;
        // Nobody else sets it.
        let _ = self.began.set(origin);
        Some(origin)
    }
}

/// A failure of a load thread.
pub(crate) enum ThreadFailure {
    System(io::Error),
    Setup(SetupError),
}

impl From<io::Error> for ThreadFailure {
    fn from(error: io::Error) -> ThreadFailure {
        ThreadFailure::System(error)
    }
}

impl From<SetupError> for ThreadFailure {
    fn from(error: SetupError) -> ThreadFailure {
        ThreadFailure::Setup(error)
    }
}

/// Reads the calling thread's CPU time and its wait for a CPU; without `schedstat` the wait is not known and zero.
fn probe() -> HealthProbe {
    let stat = SchedStat::open_current();
    Box::new(move || {
        let run_queue = stat.as_ref().and_then(SchedStat::read).map_or(Nanos::ZERO, |used| used.run_queue);
        LoadThreadUse { cpu: thread_cpu(), run_queue, sut_cpu: None }
    })
}

/// The way by which a load thread hands over records, and emptied ones come back.
pub(crate) struct Outbox {
    messages: Sender<Message>,
    returned: Receiver<IntervalRecord>,
}

impl Outbox {
    /// Makes the outbox of the next load thread, whose emptied records come back by `spares`.
    pub(crate) fn new(messages: Sender<Message>, spares: &mut SpareRecords) -> Outbox {
        let (back, returned) = channel();
        spares.ways.push(back);
        Outbox { messages, returned }
    }
}

impl RecordSink for Outbox {
    fn interval(&mut self, record: IntervalRecord) {
        // The controller listens until every thread has hung up.
        let _ = self.messages.send(Message::Interval(Box::new(record)));
    }

    fn spare(&mut self) -> Option<IntervalRecord> {
        self.returned.try_recv().ok()
    }

    fn example(&mut self, example: Example) {
        let _ = self.messages.send(Message::Example(example));
    }
}

/// The ways by which emptied records go back to the load threads of this process, by their indexes. Records from elsewhere
/// go nowhere.
#[derive(Debug, Default)]
pub(crate) struct SpareRecords {
    /// Index of the first thread.
    first: u32,
    ways: Vec<Sender<IntervalRecord>>,
}

impl SpareRecords {
    /// Makes the ways to threads whose indexes follow each other from this one; as yet to none.
    pub(crate) fn of_threads_from(first: u32) -> SpareRecords {
        SpareRecords { first, ways: Vec::new() }
    }

    /// Makes the ways to threads whose indexes follow each other from this one.
    #[cfg(test)]
    pub(crate) fn new(first: u32, ways: Vec<Sender<IntervalRecord>>) -> SpareRecords {
        SpareRecords { first, ways }
    }

    /// Empties a record that was read, for the load thread that it came from to fill again.
    pub(crate) fn give_back(&self, thread: Option<u32>, mut record: IntervalRecord) {
        let way = thread.and_then(|thread| self.ways.get(thread.checked_sub(self.first)? as usize));
        let Some(back) = way else { return };
        record.clear();
        // A thread that has ended needs none.
        let _ = back.send(record);
    }
}
