//! Collecting what load threads and monitors send while a load point runs.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender};

use engine::StopRequest;
use model::{Example, IntervalRecord, Outcome, SutUse};
use observe::ProcessMeter;
use testbed::{RunningSut, SutDied, SutError, lower_priority, pin_current_thread};
use units::{Nanos, RealClock};

use crate::error::LoadError;
use crate::family_counts::FamilyCounts;
use crate::laboratory::Collector;
use crate::load::LoadSide;
use crate::seconds::{ClosedSecond, OpenSeconds};
use crate::stop::StopSwitch;
use crate::thread::{Message, SpareRecords};
use crate::watch::Watcher;

/// Priority of the thread that stores and analyzes what load threads record: it needs some milliseconds a second,
/// which would be lateness for a load thread on the same CPU. Not lower, or it would starve beside a busy one.
const COLLECTOR_NICE: i32 = 10;

/// A load point that has begun.
pub(crate) struct StartedLoadPoint {
    /// The CPUs on which it is collected; empty: any.
    pub(crate) cpus: Vec<u32>,
    /// Index of the load point.
    pub(crate) index: u32,
    /// Whether the load ends when no operation is left.
    pub(crate) may_end_early: bool,
    /// The clock of the run.
    pub(crate) clock: RealClock,
    /// The start on it.
    pub(crate) origin: Nanos,
    /// The messages of the load side and of monitors.
    pub(crate) messages: Receiver<Message>,
    /// The end by which monitors send to the same receiver.
    pub(crate) sender: Sender<Message>,
}

/// The server as the collector asks it for what it used: started by this run, or watched by its processes.
pub(crate) struct WatchedServer<'a> {
    pub(crate) sut: Option<&'a mut RunningSut>,
    pub(crate) meter: Option<&'a mut ProcessMeter>,
}

impl WatchedServer<'_> {
    /// Returns what it used so far; `None` where that is not seen.
    fn usage(&mut self) -> Option<SutUse> {
        match &self.sut {
            Some(sut) => sut.usage(),
            None => self.meter.as_mut()?.read(),
        }
    }

    fn check_alive(&self) -> Result<(), SutDied> {
        self.sut.as_deref().map_or(Ok(()), RunningSut::check_alive)
    }
}

/// Passes on everything that is recorded of a load point; returns when its last phase is over or `stop` was set and
/// obeyed, with what the family counts beside the records.
///
/// # Errors
/// As of [`LoadSide::collect`]; what was collected until then stays collected.
pub(crate) fn collect_load_point(
    begun: StartedLoadPoint,
    load: &mut impl LoadSide,
    watchers: &mut [Watcher],
    server: WatchedServer<'_>,
    collector: &mut (dyn Collector + Send),
    stop: &StopSwitch<'_>,
) -> Result<FamilyCounts, LoadError> {
    let StartedLoadPoint { cpus, index, may_end_early, clock, origin, messages, sender } = begun;
    let seconds = OpenSeconds::new(index, load.sources());
    let collection = Collection {
        seconds: if may_end_early { seconds.may_end_early() } else { seconds },
        spares: load.take_spares(),
        examples: Vec::new(),
        has_failed: false,
        with_server: WithServer::new(server, collector),
    };
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for (number, watcher) in (0..).zip(watchers) {
            let sender = sender.clone();
            let (over, cpus) = (&over, &cpus);
            scope.spawn(move || {
                deprioritize_thread(cpus);
                // The collector listens until everybody has hung up.
                watcher.read_until(over, clock, origin, |at, reading| {
                    let _ = sender.send(Message::Readings(number, at, reading));
                });
            });
        }
        drop(sender);
        let cpus = &cpus;
        scope.spawn(move || {
            deprioritize_thread(cpus);
            collection.take_all(&messages, stop);
        });
        let result = load.collect(stop);
        over.store(true, Ordering::Relaxed);
        result
    })
}

/// Adds what the server used to the records of a load point, and says when it has died.
struct WithServer<'a> {
    server: WatchedServer<'a>,
    used: Option<SutUse>,
    collector: &'a mut (dyn Collector + Send),
}

impl<'a> WithServer<'a> {
    fn new(mut server: WatchedServer<'a>, collector: &'a mut (dyn Collector + Send)) -> WithServer<'a> {
        let used = server.usage();
        WithServer { server, used, collector }
    }

    /// Returns what the server used since the last call.
    fn used_since(&mut self) -> Option<SutUse> {
        let now = self.server.usage()?;
        let before = self.used.replace(now)?;
        Some(SutUse {
            cpu: now.cpu.saturating_sub(before.cpu),
            throttled: now.throttled.saturating_sub(before.throttled),
        })
    }

    fn interval(&mut self, record: &mut IntervalRecord) {
        record.sut = self.used_since().or(record.sut);
        self.collector.interval(record);
        if let Err(died) = self.server.check_alive() {
            self.collector.failed(SutError::from(died).into());
        }
    }
}

/// Keeps the calling thread out of the way of load and server: off the server's CPUs, and behind the load
/// threads on theirs. Where the system does not allow it, the load is late now and then, and the result says so.
fn deprioritize_thread(cpus: &[u32]) {
    let _ = lower_priority(COLLECTOR_NICE);
    if !cpus.is_empty() {
        let _ = pin_current_thread(cpus);
    }
}

/// Records, examples and readings of a load point, on their way from load threads and monitors to the collector.
struct Collection<'a> {
    seconds: OpenSeconds,
    /// The ways by which emptied records go back to their load threads.
    spares: SpareRecords,
    /// The outcomes of which there is an example.
    examples: Vec<Outcome>,
    /// Whether a record was refused: later ones are dropped.
    has_failed: bool,
    with_server: WithServer<'a>,
}

impl Collection<'_> {
    /// Takes all messages until everybody has hung up; `stop` tells whether the load was asked to end early.
    fn take_all(mut self, messages: &Receiver<Message>, stop: &impl StopRequest) {
        for message in messages {
            match message {
                Message::Interval(record) => self.interval(*record),
                Message::Example(example) => self.example(example),
                Message::Readings(machine, at, reading) => {
                    self.with_server.collector.readings(machine, at, reading);
                }
            }
        }
        if self.has_failed {
            return;
        }
        while let Some(second) = self.seconds.close_rest(stop.is_requested()) {
            self.hand_on(second);
        }
        if !self.seconds.missing().is_empty() {
            self.with_server.collector.missing(self.seconds.missing());
        }
    }

    fn interval(&mut self, record: IntervalRecord) {
        let thread = record.thread;
        if self.has_failed {
            return self.spares.give_back(thread, record);
        }
        match self.seconds.add(record) {
            Ok(Some(read)) => self.spares.give_back(thread, read),
            Ok(None) => {}
            Err(error) => {
                // Its second is not whole.
                self.has_failed = true;
                return self.with_server.collector.failed(LoadError::from(error).into());
            }
        }
        while let Some(second) = self.seconds.close_next() {
            self.hand_on(second);
        }
    }

    fn hand_on(&mut self, second: ClosedSecond) {
        let ClosedSecond { thread, mut record } = second;
        self.with_server.interval(&mut record);
        self.spares.give_back(thread, record);
    }

    fn example(&mut self, example: Example) {
        if !self.examples.contains(&example.outcome) {
            self.examples.push(example.outcome);
            self.with_server.collector.example(example);
        }
    }
}
