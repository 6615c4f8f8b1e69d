//! One load point on this machine: one thread per load CPU, their records merged as they come.

use std::collections::BTreeMap;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};

use engine::{HealthProbe, PointSetup, Sink};
use model::{Assignment, Example, IntervalRecord, LoadPoint, Plan, SutUse, partition};
use observe::SchedStat;
use testbed::{RunningSut, SutError, lower_priority, pin_current_thread};
use thiserror::Error;
use units::{Clock, Nanos, RealClock, thread_cpu};

use crate::family::{Counts, ResolvedTarget, SetupError, ThreadFailure, ThreadWork};
use crate::laboratory::Collector;
use crate::stop::StopSwitch;
use crate::watch::{Told, Watcher};

/// Time between the decision to start and the start: for threads, sockets and users to be made ready.
const LEAD: Nanos = Nanos::from_millis(50);

/// The same, per user.
const LEAD_PER_USER: Nanos = Nanos::from_micros(20);

/// Index of the load agent in this process, the only one so far.
const AGENT: u32 = 0;

/// Priority of the thread that stores and analyzes what load threads record: it needs some milliseconds a second,
/// which would be lateness for a load thread on the same CPU. Not lower, or it would starve beside a busy one.
const COLLECTOR_NICE: i32 = 10;

/// Why a load point could not be run.
#[derive(Debug, Error)]
pub enum LoadError {
    /// The system refused something that a load thread needs.
    #[error("load thread {thread}: {source}")]
    Thread {
        /// Index of the thread.
        thread: u32,
        /// What the system said.
        source: io::Error,
    },
    /// The load side cannot be set up for the workload.
    #[error(transparent)]
    Setup(#[from] SetupError),
}

/// What load threads send to the controller.
enum Message {
    /// A record, and where it goes back to when it has been read.
    Interval(Box<IntervalRecord>, Sender<IntervalRecord>),
    Example(Example),
    /// What a machine told, by its number, and when.
    Told(u32, Nanos, Told),
}

/// One load point that is to be run.
#[derive(Clone, Copy)]
pub(crate) struct PointWork<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) point: LoadPoint,
    /// What load is sent to.
    pub(crate) target: &'a ResolvedTarget,
    /// The clock of the run.
    pub(crate) clock: RealClock,
}

/// A load point that is ready to begin.
pub(crate) struct Prepared {
    pub(crate) point: LoadPoint,
    /// One for each load thread.
    assignments: Vec<Assignment>,
    /// When it begins, on the clock of the run; `None` before that was decided.
    origin: Option<Nanos>,
}

impl Prepared {
    /// Divides a load point among the load threads of a plan. Connections are not opened: that belongs to their first
    /// operation.
    pub(crate) fn new(point: LoadPoint, plan: &Plan) -> Prepared {
        Prepared { point, assignments: partition(point.index, point.load, plan.load_threads), origin: None }
    }

    /// Has it begin as soon as its threads can be ready.
    pub(crate) fn go(&mut self, clock: RealClock) {
        let users = u64::from(self.point.load.in_flight_max());
        self.origin = Some(clock.now() + LEAD + Nanos(LEAD_PER_USER.0 * users));
    }
}

/// Runs one load point; returns when its last phase is over or `stop` was set and obeyed, with what the family counts
/// beside the records.
///
/// # Errors
/// If a thread cannot be started or set up; what was collected until then stays collected.
pub(crate) fn collect_load_point(
    work: &PointWork,
    prepared: Prepared,
    watchers: &mut [Watcher],
    sut: Option<&mut RunningSut>,
    collector: &mut (dyn Collector + Send),
    stop: &StopSwitch<'_>,
) -> Result<Counts, LoadError> {
    let PointWork { plan, clock, .. } = *work;
    let Prepared { assignments, origin, .. } = prepared;
    let origin = origin.expect("a load point has begun before its records are collected");
    let mut collector = WithServer::new(sut, collector);
    let (sender, receiver) = channel();
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let threads: Vec<_> = assignments
            .into_iter()
            .map(|assignment| {
                let thread = LoadThread { work: *work, origin, stop, assignment };
                let sender = sender.clone();
                scope.spawn(move || thread.run(sender))
            })
            .collect();
        for (number, watcher) in (0..).zip(watchers) {
            let (sender, over) = (sender.clone(), &over);
            scope.spawn(move || {
                stand_back(plan);
                // The collector listens until everybody has hung up.
                watcher.read_until(over, clock, origin, |at, told| {
                    let _ = sender.send(Message::Told(number, at, told));
                });
            });
        }
        drop(sender);
        scope.spawn(move || {
            stand_back(plan);
            collect(&receiver, plan.load_threads, &mut collector);
        });
        let joined = threads.into_iter().map(|thread| thread.join().expect("a load thread does not panic"));
        let results: Vec<_> = joined.collect();
        over.store(true, Ordering::Relaxed);
        let mut counts = Counts::default();
        for result in results {
            counts.add(&result?);
        }
        Ok(counts)
    })
}

/// Adds what the server used to the records of a load point, and says when it has died.
struct WithServer<'a> {
    sut: Option<&'a mut RunningSut>,
    used: Option<SutUse>,
    collector: &'a mut (dyn Collector + Send),
}

impl<'a> WithServer<'a> {
    fn new(sut: Option<&'a mut RunningSut>, collector: &'a mut (dyn Collector + Send)) -> WithServer<'a> {
        let used = sut.as_deref().and_then(RunningSut::usage);
        WithServer { sut, used, collector }
    }

    /// Returns what the server used since the last call.
    fn used_since(&mut self) -> Option<SutUse> {
        let now = self.sut.as_deref()?.usage()?;
        let before = self.used.replace(now)?;
        Some(SutUse {
            cpu: now.cpu.saturating_sub(before.cpu),
            throttled: now.throttled.saturating_sub(before.throttled),
        })
    }

    fn interval(&mut self, mut record: IntervalRecord) {
        record.sut = self.used_since();
        self.collector.interval(record);
        if let Some(Err(died)) = self.sut.as_deref().map(RunningSut::check_alive) {
            self.collector.died(SutError::from(died).into());
        }
    }
}

/// Keeps the calling thread out of the way of load and server: off the server's CPUs, and behind the load
/// threads on theirs. Where the system does not allow it, the load is late now and then, and the result says so.
fn stand_back(plan: &Plan) {
    let _ = lower_priority(COLLECTOR_NICE);
    if !plan.sut.cpus.is_empty() && !plan.load_cpus.is_empty() {
        let _ = pin_current_thread(&plan.load_cpus);
    }
}

/// Merges the threads' records of each interval and passes them on in order.
fn collect(receiver: &Receiver<Message>, n_threads: u32, with_server: &mut WithServer<'_>) {
    let mut open: BTreeMap<u32, (u32, IntervalRecord)> = BTreeMap::new();
    let mut examples: Vec<model::Outcome> = Vec::new();
    for message in receiver {
        match message {
            Message::Interval(original, back) => {
                let index = original.index;
                let record = IntervalRecord { thread: None, ..IntervalRecord::clone(&original) };
                give_back(*original, &back);
                let n = match open.get_mut(&index) {
                    Some((n, merged)) => {
                        merged.merge(&record);
                        *n += 1;
                        *n
                    }
                    None => {
                        open.insert(index, (1, record));
                        1
                    }
                };
                if n == n_threads
                    && let Some((_, merged)) = open.remove(&index)
                {
                    with_server.interval(merged);
                }
            }
            Message::Example(example) => {
                if !examples.contains(&example.outcome) {
                    examples.push(example.outcome);
                    with_server.collector.example(example);
                }
            }
            Message::Told(machine, at, told) => with_server.collector.told(machine, at, told),
        }
    }
    // Threads leave a drain at different times: its last intervals are not recorded by all.
    for (_, merged) in open.into_values() {
        with_server.interval(merged);
    }
}

/// Returns a record emptied, for the load thread to fill again.
fn give_back(mut record: IntervalRecord, back: &Sender<IntervalRecord>) {
    record.clear();
    // A thread that has ended needs none.
    let _ = back.send(record);
}

/// One load thread of one load point.
struct LoadThread<'a> {
    work: PointWork<'a>,
    origin: Nanos,
    stop: &'a StopSwitch<'a>,
    assignment: Assignment,
}

impl LoadThread<'_> {
    fn run(self, sender: Sender<Message>) -> Result<Counts, LoadError> {
        let thread = self.assignment.share;
        let result = self.run_here(sender);
        if result.is_err() {
            // The others must not wait for the end of a load point that is lost.
            self.stop.fail();
        }
        result.map_err(|error| match error {
            ThreadFailure::System(source) => LoadError::Thread { thread, source },
            ThreadFailure::Setup(error) => LoadError::Setup(error),
        })
    }

    fn run_here(&self, sender: Sender<Message>) -> Result<Counts, ThreadFailure> {
        let PointWork { plan, point, target, clock } = self.work;
        if let Some(cpu) = plan.load_cpus.get(self.assignment.share as usize) {
            pin_current_thread(&[*cpu])?;
        }
        let setup = PointSetup {
            point,
            agent: AGENT,
            assignment: self.assignment.clone(),
            schedule: plan.schedule(point),
            phases: plan.phases,
            catalog: plan.catalog.clone(),
            seed: plan.seed,
            time_limit: plan.time_limit,
            origin: self.origin,
        };
        let work = ThreadWork { plan, setup, clock, stop: self.stop };
        target.run(&work, &mut Outbox::new(sender))
    }
}

/// Reads the calling thread's CPU time and its wait for a CPU; without `schedstat` the wait is not known and zero.
pub(crate) fn probe() -> HealthProbe {
    let stat = SchedStat::open_current();
    Box::new(move || {
        let run_queue = stat.as_ref().and_then(SchedStat::read).map_or(Nanos::ZERO, |used| used.run_queue);
        (thread_cpu(), run_queue)
    })
}

/// What a load thread hands over, and the emptied records that come back.
pub(crate) struct Outbox {
    messages: Sender<Message>,
    back: Sender<IntervalRecord>,
    returned: Receiver<IntervalRecord>,
}

impl Outbox {
    fn new(messages: Sender<Message>) -> Outbox {
        let (back, returned) = channel();
        Outbox { messages, back, returned }
    }
}

impl Sink for Outbox {
    fn interval(&mut self, record: IntervalRecord) {
        // The controller listens until every thread has hung up.
        let _ = self.messages.send(Message::Interval(Box::new(record), self.back.clone()));
    }

    fn spare(&mut self) -> Option<IntervalRecord> {
        self.returned.try_recv().ok()
    }

    fn example(&mut self, example: Example) {
        let _ = self.messages.send(Message::Example(example));
    }
}
