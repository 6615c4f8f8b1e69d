//! The records of a run: one per agent and second, mergeable.

use std::collections::BTreeMap;

use stats::{Histogram, Moments};
use units::Nanos;

use crate::{Outcome, Phase};

/// The record of one interval (a second, or less where a phase ends) of one load point on one agent.
///
/// All times count from the start of the load point.
#[derive(Debug, Clone, PartialEq)]
pub struct IntervalRecord {
    /// Index of the load point.
    pub load_point: u32,
    /// Index of the load agent.
    pub agent: u32,
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
    /// Response time (done − due) of successful operations of all kinds: the sum of the kinds' histograms.
    pub response: Histogram,
    /// Service time (done − sent) of successful operations. Empty where every operation was sent when due
    /// (closed loop without lateness): then it equals `response`.
    pub service: Histogram,
    /// Lateness (sent − due) of all started operations of an open loop, and of those that followed a think time.
    pub lateness: Histogram,
    /// Time to connect (connected − sent) of successful operations that made a connection.
    pub connect: Histogram,
    /// The generator's own state.
    pub health: Health,
    /// The SUT's use of its machine, where that can be seen.
    pub sut: Option<SutUse>,
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
    /// Integral of the number of operations in flight over the interval, in ns.
    pub in_flight_ns: u128,
    /// Integral of the number of users that think (until they are back, however late) over the interval, in ns.
    pub thinking_ns: u128,
    /// Time that the operations in flight at the interval's end had been in flight by then, in ns.
    pub in_flight_age_ns: u128,
}

/// The totals of one kind of operation.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct KindTotals {
    /// The totals of successful operations.
    pub ok: OkTotals,
    /// The totals of failed operations by outcome.
    pub failed: BTreeMap<Outcome, FailedTotals>,
    /// Started and not yet completed when the interval ended.
    pub in_flight_at_end: u64,
}

/// Counts and sums of successful operations of one kind. Times in ns, sizes in bytes; `n` is in each [`Moments`].
#[derive(Debug, Clone, Default, PartialEq)]
pub struct OkTotals {
    /// Response time, done − due.
    pub response: Moments,
    /// Time to connect, connected − sent; of operations that made a connection.
    pub connect: Moments,
    /// Time to the first byte, first_byte − sent.
    pub first_byte: Moments,
    /// Size of head and body.
    pub reply_bytes: Moments,
    /// Size of the body.
    pub body_bytes: Moments,
    /// Response times again, as a histogram.
    pub response_histogram: Histogram,
}

/// Counts and sums of operations of one kind that ended with one failure.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct FailedTotals {
    /// Number of operations.
    pub n: u64,
    /// Bytes that had arrived; discarded.
    pub bytes: u64,
    /// Time from due to the failure.
    pub response: Histogram,
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

/// The bulky part of a record, too large to keep per second: histograms per kind, over one or several intervals of
/// one phase.
///
/// Written per second; closing a run file merges them into batches of ten seconds.
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
    /// Response times of successful operations, per kind.
    pub response: Vec<Histogram>,
    /// Times from due to failure, per kind and outcome.
    pub failed: BTreeMap<(u16, Outcome), Histogram>,
    /// Time to connect, all kinds.
    pub connect: Histogram,
}

impl IntervalRecord {
    /// Makes the record of an interval without length in which nothing happened, of no kinds; allocates nothing.
    pub fn empty(load_point: u32, agent: u32) -> IntervalRecord {
        IntervalRecord {
            load_point,
            agent,
            index: 0,
            phase: Phase::RampUp,
            start: Nanos::ZERO,
            end: Nanos::ZERO,
            flow: Flow::default(),
            kinds: Vec::new(),
            units: Vec::new(),
            response: Histogram::new(),
            service: Histogram::new(),
            lateness: Histogram::new(),
            connect: Histogram::new(),
            health: Health::default(),
            sut: None,
        }
    }

    /// Empties the record for another interval; histograms keep the memory that they have.
    ///
    /// Failures stay, without operations, until [`IntervalRecord::take_failure_histograms`].
    pub fn clear(&mut self) {
        self.flow = Flow::default();
        for kind in &mut self.kinds {
            let mut histogram = std::mem::take(&mut kind.ok.response_histogram);
            histogram.clear();
            let mut failed = std::mem::take(&mut kind.failed);
            failed.values_mut().for_each(FailedTotals::clear);
            *kind = KindTotals { failed, ..KindTotals::default() };
            kind.ok.response_histogram = histogram;
        }
        self.units.fill(UnitTotals::default());
        for histogram in [&mut self.response, &mut self.service, &mut self.lateness, &mut self.connect] {
            histogram.clear();
        }
        self.health = Health::default();
        self.sut = None;
    }

    /// Removes the failures of a cleared record, and returns their empty histograms, to be filled again.
    pub fn take_failure_histograms(&mut self) -> impl Iterator<Item = Histogram> {
        let failed = self.kinds.iter_mut().flat_map(|kind| std::mem::take(&mut kind.failed));
        failed.map(|(_, failed)| failed.response)
    }

    /// Moves the bulky histograms out into a detail record; what stays behind has them empty.
    pub fn split_detail(&mut self) -> DetailRecord {
        let mut failed = BTreeMap::new();
        for (kind, totals) in self.kinds.iter_mut().enumerate() {
            for (outcome, failure) in &mut totals.failed {
                failed.insert((kind as u16, *outcome), std::mem::take(&mut failure.response));
            }
        }
        let response = self.kinds.iter_mut().map(|kind| std::mem::take(&mut kind.ok.response_histogram));
        DetailRecord {
            load_point: self.load_point,
            agent: self.agent,
            phase: self.phase,
            start: self.start,
            end: self.end,
            response: response.collect(),
            failed,
            connect: std::mem::take(&mut self.connect),
        }
    }
}

impl FailedTotals {
    fn clear(&mut self) {
        (self.n, self.bytes) = (0, 0);
        self.response.clear();
    }
}

/// The ending of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ending {
    /// All load points were run.
    Complete,
    /// It was stopped before, for a reason.
    Stopped(String),
    /// The run file has no end: the program or the machine died, or the disk was full.
    Missing,
}
