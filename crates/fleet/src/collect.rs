//! Collecting what load threads and monitors send while a load point runs.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender};

use model::{IntervalRecord, Plan, SutUse};
use observe::ProcessMeter;
use testbed::{RunningSut, SutDied, SutError, lower_priority, pin_current_thread};
use units::{Nanos, RealClock};

use crate::counts::Counts;
use crate::error::LoadError;
use crate::laboratory::Collector;
use crate::load::LoadSide;
use crate::stop::StopSwitch;
use crate::thread::Message;
use crate::watch::Watcher;

/// Priority of the thread that stores and analyzes what load threads record: it needs some milliseconds a second,
/// which would be lateness for a load thread on the same CPU. Not lower, or it would starve beside a busy one.
const COLLECTOR_NICE: i32 = 10;

/// A load point that has begun.
pub(crate) struct BegunPoint<'a> {
    pub(crate) plan: &'a Plan,
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
    begun: BegunPoint<'_>,
    load: &mut impl LoadSide,
    watchers: &mut [Watcher],
    server: WatchedServer<'_>,
    collector: &mut (dyn Collector + Send),
    stop: &StopSwitch<'_>,
) -> Result<Counts, LoadError> {
    let BegunPoint { plan, clock, origin, messages, sender } = begun;
    let mut collector = WithServer::new(server, collector);
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for (number, watcher) in (0..).zip(watchers) {
            let (sender, over) = (sender.clone(), &over);
            scope.spawn(move || {
                stand_back(plan);
                // The collector listens until everybody has hung up.
                watcher.read_until(over, clock, origin, |at, reading| {
                    let _ = sender.send(Message::Readings(number, at, reading));
                });
            });
        }
        drop(sender);
        scope.spawn(move || {
            stand_back(plan);
            collect(&messages, plan.load_threads, &mut collector);
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

    fn interval(&mut self, mut record: IntervalRecord) {
        record.sut = self.used_since().or(record.sut);
        self.collector.interval(record);
        if let Err(died) = self.server.check_alive() {
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
            Message::Readings(machine, at, reading) => with_server.collector.readings(machine, at, reading),
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
