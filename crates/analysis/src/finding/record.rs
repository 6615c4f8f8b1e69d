//! Faults and contradictions of a record.

use model::{Outcome, Phase};
use units::Nanos;

/// A fault in an interval of a load agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LocatedFault<T> {
    /// The interval, as its record numbers it.
    pub interval: u32,
    /// The load agent.
    pub agent: u32,
    /// The fault.
    pub fault: T,
}

/// A part of a record whose histograms could not be merged with those before it: together they claim more values than
/// can be counted, as only a damaged record does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OverflowingPart {
    /// An interval.
    Interval {
        /// The interval, as its record numbers it.
        interval: u32,
        /// The load agent.
        agent: u32,
    },
    /// A batch of detail.
    Detail {
        /// The load agent.
        agent: u32,
        /// The start of the batch, from the start of the load point.
        start: Nanos,
    },
}

/// A fault in the index, time or phase of an interval.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IntervalFault {
    /// Another interval was to follow.
    Index {
        /// The index that was to follow.
        expected: u32,
    },
    /// It does not begin where the one before it ends: a gap or an overlap.
    Start {
        /// Its start.
        start: Nanos,
        /// The end of the one before it.
        end_before: Nanos,
    },
    /// It is empty or too long.
    Length {
        /// Its length.
        length: Nanos,
        /// The longest that is allowed.
        limit: Nanos,
    },
    /// It belongs to another phase by the plan, or crosses the end of its own.
    Phase {
        /// Its start.
        start: Nanos,
        /// Its end.
        end: Nanos,
        /// The phase that it states.
        phase: Phase,
        /// The phase in which it begins by the plan.
        planned: Phase,
    },
}

/// A second of the steady phase to which not every load agent or load thread contributed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MissingLoad {
    /// Other load agents than in the first second.
    Agents {
        /// The interval.
        interval: u32,
        /// The number of agents with records in it.
        found: usize,
        /// The number of agents with records in the first one.
        expected: usize,
    },
    /// Another number of load threads than planned.
    Threads {
        /// The interval.
        interval: u32,
        /// Their number.
        found: u32,
        /// Their number by the plan.
        planned: u32,
    },
}

/// A law of the flow of operations through an interval. The two sides of each must be equal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FlowLaw {
    /// Waiting + due = started + skipped + still waiting.
    Due,
    /// In flight + started = ended + still in flight.
    Started,
    /// Waiting at the start = waiting at the end before.
    Waiting,
    /// In flight at the start = in flight at the end before.
    InFlight,
}

/// A fault in the flow of operations through an interval.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FlowFault {
    /// A law that does not hold.
    Unequal {
        /// The law.
        law: FlowLaw,
        /// Its left side.
        left: u128,
        /// Its right side.
        right: u128,
    },
    /// More connections were left open than operations succeeded.
    LeftOpen {
        /// The connections.
        left_open: u64,
        /// The operations.
        ok: u64,
    },
}

/// Two figures of an interval that must be equal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EqualTotals {
    /// Operation kinds, recorded and defined.
    Kinds,
    /// Successes: of all kinds, and in total.
    Successes,
    /// Failures other than timeouts: of all kinds, and in total.
    Failures,
    /// Timeouts: of all kinds, and in total.
    TimedOut,
    /// Protocol codes of failures of all kinds, and the failures, where there are fewer of them.
    Codes,
    /// Operations in flight at the end: of all kinds, and in total.
    InFlight,
    /// Response times and successes.
    ResponseTimes,
    /// Service times and successes.
    ServiceTimes,
    /// Latenesses and started operations.
    Latenesses,
    /// Sums of response times in ns: of the histogram, and of all kinds.
    ResponseSum,
    /// Smallest response times in ns, likewise.
    ResponseMin,
    /// Largest response times in ns, likewise.
    ResponseMax,
    /// Kinds of notices, recorded and defined.
    NoticeKinds,
    /// Notices that were awaited, and those that came, were lost or still are awaited.
    Notices,
    /// Notices awaited at the start, and at the end before.
    AwaitedNotices,
}

/// Two totals of an interval that differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UnequalTotals {
    /// The figures that must be equal.
    pub totals: EqualTotals,
    /// The first of them.
    pub found: u128,
    /// The second.
    pub expected: u128,
}

/// A fault in a measure of a kind's successful operations.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KindMeasure {
    /// Index of the kind.
    pub kind: usize,
    /// The name of the measure.
    pub measure: String,
    /// The fault.
    pub fault: MeasureMismatch,
}

/// A fault in a measure of successful operations.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MeasureMismatch {
    /// Not every operation has a value where each must have one, or there are more values than operations.
    Count {
        /// Values.
        values: u64,
        /// Successful operations.
        ok: u64,
    },
    /// It is part of another measure, and greater than that.
    Part {
        /// Its sum.
        sum: u128,
        /// The name of the other measure.
        whole: String,
        /// The sum of that.
        whole_sum: u128,
    },
    /// Its sum is not that of values which are known beforehand.
    Expected {
        /// Its sum.
        sum: u128,
        /// Successful operations.
        ok: u64,
        /// The least that they allow.
        least: u128,
        /// The most that they allow.
        most: u128,
    },
}

/// A sum in which the details of a phase differ from its intervals.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DetailDifference {
    /// The response times of a kind.
    Response {
        /// Index of the kind.
        kind: u16,
        /// In the details.
        details: TimesExtent,
        /// In the intervals.
        intervals: TimesExtent,
    },
    /// The values of a measure, all kinds.
    Measure {
        /// Its name.
        name: String,
        /// In the details.
        details: TimesExtent,
        /// In the intervals.
        intervals: TimesExtent,
    },
    /// The times of a kind of pause.
    Pause {
        /// Its name.
        name: String,
        /// In the details.
        details: TimesExtent,
        /// In the intervals.
        intervals: TimesExtent,
    },
    /// The times of a kind of notice whose wait began in the steady phase.
    Notice {
        /// Its name.
        name: String,
        /// In the details.
        details: TimesExtent,
        /// In the intervals.
        intervals: TimesExtent,
    },
    /// The failures of a kind.
    Failures {
        /// Index of the kind.
        kind: u16,
        /// The failure.
        outcome: Outcome,
        /// Their number in the details.
        details: u64,
        /// Their number in the intervals.
        intervals: u64,
    },
}

/// The number, sum, smallest and largest of a set of times, in nanoseconds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TimesExtent {
    /// The number of times.
    pub n: u64,
    /// Their sum.
    pub sum: u128,
    /// The smallest; zero if there are none.
    pub min: u64,
    /// The largest; zero if there are none.
    pub max: u64,
}

/// A moment of a set of values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ValueMoment {
    /// Σx.
    Sum,
    /// Σx².
    SumOfSquares,
}
