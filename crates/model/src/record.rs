//! The records of a run: one per load thread and second, merged into one per load agent.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::fmt;

use stats::{Histogram, Moments};
use units::Nanos;

use crate::{CODES_MAX, NoticeTotals, Outcome, Phase};

/// The record of one interval (a second, or less where a phase ends) of one load point on one load thread, or on all
/// of a load agent.
///
/// All times count from the start of the load point.
#[derive(Debug, Clone, PartialEq)]
pub struct IntervalRecord {
    /// Index of the load point.
    pub load_point: u32,
    /// Index of the load agent.
    pub agent: u32,
    /// Index of the agent's load thread; `None`: all of them, as in run files.
    pub thread: Option<u32>,
    /// Index of the interval within the load point, from 0.
    pub index: u32,
    /// The phase that contains the whole interval.
    pub phase: Phase,
    /// The start of the interval.
    pub start: Nanos,
    /// The end of the interval, exclusive.
    pub end: Nanos,
    /// The flow of operations.
    pub flow: Flow,
    /// Per operation kind.
    pub kinds: Vec<KindTotals>,
    /// Per unit kind.
    pub units: Vec<UnitTotals>,
    /// Per kind of pause, the times of those that began, as drawn, in ns.
    pub pauses: Vec<Moments>,
    /// Per measure of user scope.
    pub notices: Vec<NoticeTotals>,
    /// The amount of successful operations in the steady phase, a value per client (a user of a closed loop, or one with state):
    /// their number, or their bytes where the score is a throughput. In the last interval of the phase, if that was not cut
    /// short; else of no values.
    pub clients: Moments,
    /// Response time (done − due) of successful operations of all kinds: the sum of the kinds' histograms.
    pub response: Histogram,
    /// Service time (done − sent) of successful operations. Empty where every operation was sent when due
    /// (closed loop without lateness): then it equals `response`.
    pub service: Histogram,
    /// Lateness (sent − due) of all started operations of an open loop, and of those that followed a think time.
    pub lateness: Histogram,
    /// The generator's own state.
    pub health: Health,
    /// The SUT's use of its machine, where that can be seen.
    pub sut: Option<SutUse>,
    /// The bulky part of the record; `None` where it is elsewhere, as in run files.
    pub detail: Option<KindHistograms>,
}

/// The load thread, or the load agent as a whole, that a record comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct RecordSource {
    /// Index of the load agent.
    pub agent: u32,
    /// Index of the agent's load thread; `None`: all of them.
    pub thread: Option<u32>,
}

/// The flow of operations in an interval: counts of those started, ended and waiting.
///
/// Invariants (conservation):
/// waiting_at_start + due = started + skipped + waiting_at_end, and
/// in_flight_at_start + started = ok + failed + timed_out + abandoned + in_flight_at_end; and left_open ≤ ok.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Flow {
    /// Due and not yet started when the interval began.
    pub waiting_at_start: u64,
    /// Fell due.
    pub due: u64,
    /// Started.
    pub started: u64,
    /// Given up without being started (the load point ended first).
    pub skipped: u64,
    /// Due and not yet started when the interval ended.
    pub waiting_at_end: u64,
    /// Started and not yet completed when the interval began.
    pub in_flight_at_start: u64,
    /// Completed with success.
    pub ok: u64,
    /// Completed with a failure other than the time limit.
    pub failed: u64,
    /// Given up at the time limit.
    pub timed_out: u64,
    /// Given up because the load point ended.
    pub abandoned: u64,
    /// Started and not yet completed when the interval ended.
    pub in_flight_at_end: u64,
    /// Successful operations whose reply was complete but whose connection, which was to end with it, the peer left
    /// open: the driver closed it, at most [`crate::CLOSE_WAIT_MAX`] later.
    pub left_open: u64,
    /// Times for which operations that were started had waited until their user was done with the one before, in ns; only
    /// of those that had to.
    pub user_wait: Moments,
    /// The sum of times from the due time of a user's operation before to that of one that was started, where pauses count
    /// from due times, in ns.
    pub due_span_ns: u128,
    /// Integral of the number of operations in flight over the interval, in ns.
    pub in_flight_ns: u128,
    /// Integral of the number of users that think (until they are back, however late) over the interval, in ns.
    pub thinking_ns: u128,
    /// Time that the operations in flight at the interval's end had been in flight by then, in ns.
    pub in_flight_age_ns: u128,
}

/// The totals of one kind of operation. Times in ns, sizes in bytes; the number of values is in each [`Moments`].
#[derive(Debug, Clone, Default, PartialEq)]
pub struct KindTotals {
    /// Response time (done − due) of successful operations.
    pub response: Moments,
    /// The values of each measure of successful operations, in the order of the catalog.
    pub measures: Vec<Moments>,
    /// The number of failed operations by outcome.
    pub failed: BTreeMap<Outcome, u64>,
    /// The protocol codes of failed operations.
    pub codes: FailureCodes,
    /// Started and not yet completed when the interval ended.
    pub in_flight_at_end: u64,
}

/// The numbers of failed operations by outcome and protocol code, of those that have one.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FailureCodes {
    /// At most [`CODES_MAX`] of them.
    counted: BTreeMap<(Outcome, u32), u64>,
    /// Operations whose codes found no room.
    pub others: u64,
}

/// Units of one kind, such as pages.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct UnitTotals {
    /// Complete: every operation succeeded.
    pub ok: u64,
    /// Broken off after a failure.
    pub failed: u64,
}

/// The generator's own state in an interval.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Health {
    /// Load threads.
    pub threads: u32,
    /// CPU time that they used.
    pub cpu: Nanos,
    /// Time that they were ready to run and had no CPU.
    pub run_queue: Nanos,
}

/// The SUT's use of its machine in an interval.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SutUse {
    /// CPU time of all its processes.
    pub cpu: Nanos,
    /// Time for which its quota held it back.
    pub throttled: Nanos,
}

/// The first operation that ended in a certain way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Example {
    /// Index of the load point.
    pub load_point: u32,
    /// The time of the operation, from the start of the load point.
    pub at: Nanos,
    /// Index of the operation's kind.
    pub kind: u16,
    /// The outcome of the operation.
    pub outcome: Outcome,
    /// A description for people.
    pub text: String,
}

/// The bulky part of a record, too large to keep per second: histograms of each kind.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct KindHistograms {
    /// Response times of successful operations, per kind.
    pub response: Vec<Histogram>,
    /// Times from due to failure, per kind and outcome.
    pub failed: BTreeMap<(u16, Outcome), Histogram>,
    /// The values of each measure that has a spread ([`crate::Measure::has_spread`]), of successful operations of all
    /// kinds, in the order of the catalog.
    pub spreads: Vec<Histogram>,
    /// The times of pauses as drawn, per kind of pause.
    pub pauses: Vec<Histogram>,
    /// The times that notices took whose wait began in the steady phase, per measure of user scope, whenever they came.
    pub notices: Vec<Histogram>,
}

/// The detail of one or several intervals of one phase.
///
/// Written per second; closing a run file merges it into batches of ten seconds.
#[derive(Debug, Clone, PartialEq)]
pub struct DetailRecord {
    /// Index of the load point.
    pub load_point: u32,
    /// Index of the load agent.
    pub agent: u32,
    /// The phase that contains the whole batch.
    pub phase: Phase,
    /// The start of the batch, from the start of the load point.
    pub start: Nanos,
    /// The end of the batch.
    pub end: Nanos,
    /// The histograms.
    pub detail: KindHistograms,
}

impl fmt::Display for RecordSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "load agent {}", self.agent)?;
        self.thread.map_or(Ok(()), |thread| write!(f, ", load thread {thread}"))
    }
}

impl IntervalRecord {
    /// Makes the record of an interval without length in which nothing happened on any thread, of no kinds and without
    /// detail; allocates nothing.
    pub fn empty(load_point: u32, agent: u32) -> IntervalRecord {
        IntervalRecord {
            load_point,
            agent,
            thread: None,
            index: 0,
            phase: Phase::RampUp,
            start: Nanos::ZERO,
            end: Nanos::ZERO,
            flow: Flow::default(),
            kinds: Vec::new(),
            units: Vec::new(),
            pauses: Vec::new(),
            notices: Vec::new(),
            clients: Moments::default(),
            response: Histogram::new(),
            service: Histogram::new(),
            lateness: Histogram::new(),
            health: Health::default(),
            sut: None,
            detail: None,
        }
    }

    /// Returns the load thread, or the load agent as a whole, that the record comes from.
    pub fn source(&self) -> RecordSource {
        RecordSource { agent: self.agent, thread: self.thread }
    }

    /// Empties the record for another interval; what it has allocated stays.
    pub fn clear(&mut self) {
        self.flow = Flow::default();
        self.kinds.iter_mut().for_each(KindTotals::clear);
        self.units.fill(UnitTotals::default());
        self.pauses.fill(Moments::default());
        self.notices.fill(NoticeTotals::default());
        self.clients = Moments::default();
        for histogram in [&mut self.response, &mut self.service, &mut self.lateness] {
            histogram.clear();
        }
        self.health = Health::default();
        self.sut = None;
        self.detail.iter_mut().for_each(KindHistograms::clear);
    }
}

impl Flow {
    /// Returns both sides of the first invariant: what was due, and what became of it.
    pub fn due_sides(&self) -> [u128; 2] {
        let taken = [self.started, self.skipped, self.waiting_at_end];
        [sum(&[self.waiting_at_start, self.due]), sum(&taken)]
    }

    /// Returns both sides of the second invariant: what was in flight, and what became of it.
    pub fn started_sides(&self) -> [u128; 2] {
        let ended = [self.ok, self.failed, self.timed_out, self.abandoned, self.in_flight_at_end];
        [sum(&[self.in_flight_at_start, self.started]), sum(&ended)]
    }
}

/// Adds counts, of which any are safe to add.
fn sum(counts: &[u64]) -> u128 {
    counts.iter().map(|count| u128::from(*count)).sum()
}

impl KindTotals {
    /// Makes the totals of a kind whose operations have this number of measures.
    pub fn new(n_measures: usize) -> KindTotals {
        KindTotals { measures: vec![Moments::default(); n_measures], ..KindTotals::default() }
    }

    /// Returns the values of a measure, by its index in the catalog; none where the record has no such measure.
    pub fn measure(&self, measure: usize) -> Moments {
        self.measures.get(measure).copied().unwrap_or_default()
    }

    fn clear(&mut self) {
        self.response = Moments::default();
        self.measures.fill(Moments::default());
        self.failed.clear();
        self.codes = FailureCodes::default();
        self.in_flight_at_end = 0;
    }
}

impl FailureCodes {
    /// Counts operations that ended with a code. Saturates, as a damaged file may have made the numbers too large.
    pub fn add(&mut self, outcome: Outcome, code: u32, n: u64) {
        let has_room = self.counted.len() < CODES_MAX;
        let count = match self.counted.entry((outcome, code)) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(new) if has_room => new.insert(0),
            Entry::Vacant(_) => &mut self.others,
        };
        *count = count.saturating_add(n);
    }

    /// Adds the codes of another part.
    pub fn merge(&mut self, other: &FailureCodes) {
        other.iter().for_each(|(outcome, code, n)| self.add(outcome, code, n));
        self.others = self.others.saturating_add(other.others);
    }

    /// Returns the codes that are counted, in order of outcome and code, with the numbers of operations.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (Outcome, u32, u64)> {
        self.counted.iter().map(|((outcome, code), n)| (*outcome, *code, *n))
    }

    /// Returns the operations that have a code.
    pub fn n(&self) -> u64 {
        self.counted.values().fold(self.others, |sum, n| sum.saturating_add(*n))
    }
}

impl KindHistograms {
    /// Makes the detail of operations of some kinds with some spreads, and of some kinds of pauses; allocates nothing for
    /// their histograms.
    pub fn new(n_kinds: usize, n_spreads: usize, n_pauses: usize) -> KindHistograms {
        KindHistograms {
            response: vec![Histogram::new(); n_kinds],
            failed: BTreeMap::new(),
            spreads: vec![Histogram::new(); n_spreads],
            pauses: vec![Histogram::new(); n_pauses],
            notices: Vec::new(),
        }
    }

    fn clear(&mut self) {
        let histograms = self.response.iter_mut().chain(self.failed.values_mut());
        let of_users = self.pauses.iter_mut().chain(&mut self.notices);
        histograms.chain(&mut self.spreads).chain(of_users).for_each(Histogram::clear);
    }
}

/// The ending of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RunEnding {
    /// All load points were run.
    Complete,
    /// It was stopped before, for a reason.
    Stopped(String),
    /// The run file has no end: the program or the machine died, or the disk was full.
    Missing,
}
