//! The findings of the rules as values: a variant for each thing that can be wrong, with its numbers. The crate
//! `disclosure` words them.
//!
//! - `record`: faults and contradictions of a record
//! - `first_occurrence`: faults that are counted, of which the first is kept

mod first_occurrence;
mod record;

use model::{CheckMoment, Limit, Outcome};
use stats::Estimate;
use units::{Nanos, Ratio};

use crate::SharedCpus;

pub(crate) use first_occurrence::FaultCounter;
pub use first_occurrence::FirstOccurrence;
pub use record::{
    DetailDifference, EqualTotals, FlowFault, FlowLaw, IntervalFault, KindMeasure, LocatedFault,
    MeasureMismatch, MissingLoad, OverflowingPart, TimesExtent, UnequalTotals, ValueMoment,
};

/// A finding of a rule about a load point or a run, with its numbers. Those without a type of their own are in the
/// unit that their comment names; names that belong to a run are text from its plan or record.
#[derive(Debug, Clone, PartialEq)]
pub enum Finding {
    // The run as a whole.
    /// The run was stopped.
    Stopped {
        /// The reason that the run file gives.
        reason: String,
    },
    /// The run file has no ending.
    EndingMissing,
    /// Planned load points have no records.
    LoadPointsMissing {
        /// Their indexes.
        missing: Vec<u32>,
        /// The number of planned ones.
        n_planned: usize,
    },
    /// Records belong to load points that are not in the plan, the first of them to this one, by index.
    UnplannedLoadPoint(FirstOccurrence<u32>),
    /// A search did not finish.
    SearchUnfinished,
    /// A search found no load point that is valid and within the limits.
    SearchWithoutResult,
    /// The plan deviates from the benchmark's definition.
    Modified {
        /// The settings that differ.
        settings: Vec<String>,
    },
    /// The server's certificate was not verified.
    CertificateUnverified,

    // The record: complete and free of contradictions.
    /// The steady phase is not as long as planned.
    SteadyLength {
        /// Its recorded length.
        recorded: Nanos,
        /// Its length by the plan.
        planned: Nanos,
    },
    /// Intervals do not follow each other as planned.
    TimeAxis(FirstOccurrence<LocatedFault<IntervalFault>>),
    /// The record of a load point ends before the plan.
    EarlyEnd {
        /// Its end, from the start of the load point.
        end: Nanos,
        /// Its end by the plan.
        planned: Nanos,
    },
    /// Another number of operations was started than the plan gives.
    OperationsStarted {
        /// Those that were started, in all phases.
        started: u64,
        /// The number in the plan.
        planned: u64,
    },
    /// A load agent or a load thread is missing in the steady phase.
    MissingLoad(FirstOccurrence<MissingLoad>),
    /// Operations were lost or made up in an interval.
    Flow(FirstOccurrence<LocatedFault<FlowFault>>),
    /// Totals of an interval contradict each other.
    Totals(FirstOccurrence<LocatedFault<UnequalTotals>>),
    /// A measure of a kind in an interval contradicts another one, or the catalog.
    Measure(FirstOccurrence<LocatedFault<KindMeasure>>),
    /// Histograms could not be merged.
    Overflow(FirstOccurrence<OverflowingPart>),
    /// The details of a phase contradict its intervals.
    Details {
        /// The phase.
        phase: model::Phase,
        /// The first sum that differs.
        difference: DetailDifference,
    },
    /// A histogram of response times cannot hold the values of which the exact sums were made.
    Histogram {
        /// The kind of operation, by name; `None` for all of them.
        kind: Option<String>,
        /// The moment that it cannot have.
        moment: ValueMoment,
        /// The exact moment, in ns or ns².
        exact: u128,
        /// The least that the histogram allows.
        least: u128,
        /// The most that it allows.
        most: u128,
    },
    /// The sum of response times differs from the integral of operations in flight. In seconds.
    ResponseIntegral {
        /// The sum of response times.
        summed: f64,
        /// The integral of operations in flight, with their lateness.
        integrated: f64,
        /// The greatest difference that is allowed.
        allowed: f64,
    },

    // The users of a closed loop.
    /// Users were neither in flight nor thinking for a part of their time. In seconds.
    UserTime {
        /// The time that they spent in flight or thinking.
        found: f64,
        /// Their number times the length.
        expected: f64,
    },
    /// Little's law has a gap that nothing explains. In users, or in operations.
    LittleGap {
        /// The number that it finds, X·(R + Z) or X·R.
        found: f64,
        /// The number that there is.
        population: LittlePopulation,
        /// The part of the gap that failures and operations at the ends of the phase explain.
        explained: f64,
    },
    /// Little's law has a gap that is explained.
    LittleGapExplained {
        /// The number that it finds, X·(R + Z) or X·R.
        found: f64,
        /// The number that there is.
        population: LittlePopulation,
        /// The explanation.
        by: LittleExplanation,
    },
    /// Users did not think as long as the workload defines.
    ThinkTime {
        /// The kind of pause, by name; `None` where there is only one, or for all of them.
        pause: Option<String>,
        /// The mean think time.
        found: Nanos,
        /// The mean by the workload.
        expected: Nanos,
    },
    /// Users completed more cycles than their think times allow.
    InteractiveLaw {
        /// Cycles per second.
        rate: f64,
        /// The users.
        users: u32,
        /// Their mean think time.
        think: Nanos,
        /// The most cycles per second that they can complete.
        bound: f64,
    },
    /// The users of a part of the data made more than they could if responses took no time.
    SizingCeiling(ScoreOfPart),
    /// The users of a part of the data made less than those that a server carries.
    SizingFloor(ScoreOfPart),

    // The generator: fast enough, and undisturbed.
    /// The operations that fell due are not those of the schedule.
    Schedule {
        /// Operations that fell due.
        due: u64,
        /// Operations of the schedule.
        scheduled: u64,
    },
    /// No metrics of the load threads of an agent were recorded.
    GeneratorUnmeasured {
        /// The load agent.
        agent: u32,
    },
    /// The CPUs of a load agent were at their limit, or close to it.
    GeneratorBusy {
        /// The load agent.
        agent: u32,
        /// The busy part of its CPUs.
        busy: Ratio,
        /// The limit.
        limit: Ratio,
        /// The server's use of its allowance; `None` if the limit is not reached.
        server: Option<ServerUse>,
    },
    /// The threads of a load agent waited for a CPU for as long as the limit allows, or nearly.
    GeneratorRunQueue {
        /// The load agent.
        agent: u32,
        /// The part of the time for which they waited.
        waited: Ratio,
        /// The limit.
        limit: Ratio,
        /// Other programs on the machine; `None` if they used next to nothing.
        others: Option<OtherCpuUse>,
        /// The server's use of its allowance; `None` if the limit is not exceeded.
        server: Option<ServerUse>,
    },
    /// A load agent was late through its own fault, by more than the limit or nearly.
    GeneratorLateness {
        /// The load agent.
        agent: u32,
        /// The 99th percentile of its lateness.
        p99: Nanos,
        /// The limit.
        limit: Nanos,
        /// The server's use of its allowance; `None` if the limit is not exceeded.
        server: Option<ServerUse>,
    },
    /// Operations failed because of the generator's machine.
    GeneratorFault {
        /// The failure.
        outcome: Outcome,
        /// The number of operations.
        n: u64,
    },
    /// Programs that are neither the server nor the load generator used CPU time.
    OtherPrograms {
        /// The programs.
        used: OtherCpuUse,
        /// The share that they had, at least, of the CPU time that server and generator could have used; `None` where the
        /// CPUs were not monitored.
        share: Option<Ratio>,
        /// The share from which on the load point is invalid.
        limit: Ratio,
        /// The part of the system under test that may be among them.
        unseen: Option<UnseenPart>,
    },

    /// The server had other clients.
    OtherClients {
        /// The mean number of their connections; `None` if there was none, or they were not counted.
        connections: Option<f64>,
        /// The share of the requests that the server itself counted and the run did not make; `None` of next to none, and
        /// where it counts none.
        requests: Option<Ratio>,
    },

    // The replies.
    /// Operations failed.
    Errors {
        /// Failed operations.
        n: u64,
        /// Completed operations, failed ones included.
        completed: u64,
        /// Their quotient.
        ratio: Ratio,
        /// The most that is allowed.
        limit: Ratio,
        /// The most frequent failure; `None` if there is none.
        most_frequent: Option<Outcome>,
    },
    /// Failed operations whose protocol codes are not counted, because there were too many different ones.
    UncountedCodes {
        /// Such operations.
        n: u64,
    },
    /// The storage of the system under test was full.
    StorageFull {
        /// Operations that found no room.
        n: u64,
    },
    /// The storage of the system under test was read-only.
    StorageReadOnly {
        /// Operations that were to change something.
        n: u64,
    },
    /// A check of the system under test does not hold.
    Consistency {
        /// The moment of the check.
        moment: CheckMoment,
        /// The condition.
        name: String,
        /// The finding of the check: a clause without a full stop.
        found: String,
    },
    /// The server left connections open that were to end with their reply.
    LeftOpen {
        /// Such connections.
        n: u64,
        /// Successful operations.
        ok: u64,
    },
    /// Kept connections had ended when a request was sent on them.
    ConnectionsLost {
        /// Such connections, of all phases.
        n: u64,
        /// Completed operations of the steady phase, failed ones included.
        completed: u64,
    },
    /// Replies that nobody has described changed in the course of the load point.
    RepliesChanged {
        /// The name of the check: `replies of GET /`.
        name: String,
        /// When and how they changed: a clause without a full stop.
        found: String,
    },

    // The operations of an open loop.
    /// Fewer operations were delivered than the rules require. In operations per second.
    Delivered {
        /// Successful operations.
        rate: f64,
        /// Operations that fell due.
        offered: f64,
        /// The least part that is required.
        limit: Ratio,
    },
    /// All slots for operations in flight were taken at the end of seconds.
    FullSlots {
        /// The slots.
        slots: u32,
        /// The number of such seconds.
        seconds: u64,
    },
    /// Operations waited for the user to whom they belong.
    BusyUsers {
        /// Such operations.
        n: u64,
        /// All that were started.
        started: u64,
        /// The users.
        users: u32,
    },

    // The sample: enough operations, in the right proportions.
    /// A kind of operation has another share than the workload gives it.
    Mix {
        /// The kind, by name.
        kind: String,
        /// Its share of all completed operations.
        share: Ratio,
        /// Its share by the workload.
        expected: Ratio,
        /// The greatest deviation, as a part of that.
        limit: Ratio,
    },
    /// A figure of the inputs is outside of its band.
    InputBand {
        /// The figure, by name.
        name: String,
        /// Its value.
        found: f64,
        /// The least that is right.
        least: f64,
        /// The greatest.
        most: f64,
    },
    /// Samples are too small for bands of inputs to be judged.
    InputBandsNotJudged {
        /// The bands; not empty.
        bands: Vec<UnjudgedBand>,
    },
    /// A kind of operation misses a limit of the benchmark.
    KindLimit {
        /// The kind, by name.
        kind: String,
        /// The limit.
        limit: Limit,
        /// The value, in the unit of [`Limit::value`].
        value: f64,
    },
    /// A kind of operation has too few values for a limit of the benchmark.
    KindLimitNotJudged {
        /// The kind, by name.
        kind: String,
        /// The limit.
        limit: Limit,
        /// Its successful operations.
        n: u64,
        /// The least that is needed.
        needed: u64,
    },
    /// A stage misses a limit of the user.
    StageLimit {
        /// The limit.
        limit: Limit,
        /// The value, in the unit of [`Limit::value`].
        value: f64,
    },
    /// A stage has too little for a limit of the user to be judged.
    StageLimitNotJudged {
        /// The limit.
        limit: Limit,
        /// Its successful operations.
        n: u64,
    },
    /// Too few operations succeeded.
    TooFewOperations {
        /// Their number.
        n: u64,
        /// The least that is needed.
        needed: u64,
    },
    /// Percentiles are missing because there are too few response times for them.
    MissingPercentiles {
        /// The number of response times.
        n: u64,
        /// The percentiles.
        missing: Vec<MissingPercentile>,
    },
    /// Operations in flight at the end of the steady phase are in no rate and no mean, and are many or old.
    InFlightAtEnd {
        /// Their number.
        n: u64,
        /// The mean time that they had been in flight by then.
        age_mean: Nanos,
        /// Their part of all operations.
        of_operations: Ratio,
        /// Their part of all response time.
        of_time: Ratio,
    },

    // The steady phase: steady, and nothing else in it.
    /// The first or last second of the steady phase has operations that belong to another phase.
    PhaseBoundary {
        /// The second.
        second: BoundarySecond,
        /// Operations that completed in it.
        completed: u64,
        /// Operations that complete in the median second.
        median: f64,
    },
    /// A figure rose or fell over the steady phase.
    Drift {
        /// The figure.
        figure: SteadyFigure,
        /// The change over the phase ÷ mean, as a ratio; negative where the figure fell.
        by: Estimate,
    },
    /// A figure varied over the steady phase without a trend.
    Variation {
        /// The figure.
        figure: SteadyFigure,
        /// The variation between tenths of the phase, deviation ÷ mean.
        variation: Ratio,
        /// The part that chance explains.
        by_chance: Ratio,
    },
    /// The warm-up reached into the steady phase.
    WarmUp {
        /// The time from the start of the steady phase to its end.
        reach: Nanos,
        /// Length of the steady phase.
        length: Nanos,
    },
}

/// The server's use of its CPU allowance while the generator was at a limit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ServerUse {
    /// It is not known.
    Unknown,
    /// It used a part.
    Part(Ratio),
    /// It was saturated as well.
    Saturated(Ratio),
    /// It used more than it has, so that the allowance was evidently not enforced; above 1.
    Unenforced(Ratio),
    /// It has no allowance, shares its CPUs with the generator, and took all that was left.
    TookTheRest(SharedCpus),
    /// The same, but it did not take all: CPUs were idle, or other programs used them.
    LeftRest(SharedCpus),
}

/// The CPU time that other programs used. In CPUs.
#[derive(Debug, Clone, PartialEq)]
pub struct OtherCpuUse {
    /// All programs together.
    pub total: f64,
    /// Each of them, the busiest first.
    pub programs: Vec<ProgramCpuUse>,
}

/// The CPU time that a program used. In CPUs.
#[derive(Debug, Clone, PartialEq)]
pub struct ProgramCpuUse {
    /// Name of the program.
    pub name: String,
    /// Its use.
    pub cpus: f64,
}

/// A part of the system under test that the run did not start, and whose processes are not watched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UnseenPart {
    /// The server.
    Server,
    /// A service to which the server is connected.
    Service,
}

/// The population in Little's law.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum LittlePopulation {
    /// Users: X·(R + Z) is their number.
    Users(u32),
    /// The mean number of operations that wait or are in flight: X·R. Where users can owe operations, or have several in flight.
    Operations(f64),
}

impl LittlePopulation {
    /// Returns the number.
    pub fn n(self) -> f64 {
        match self {
            LittlePopulation::Users(users) => f64::from(users),
            LittlePopulation::Operations(operations) => operations,
        }
    }
}

/// An explanation of a gap in Little's law, each part in users. One of them explains it alone, or both together.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum LittleExplanation {
    /// Failed operations.
    Failures(FailedPart),
    /// Operations that the ends of the phase cut off.
    Ends(CutOffPart),
    /// Both.
    Both(FailedPart, CutOffPart),
}

/// The part of users' time that failed operations took.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FailedPart {
    /// The operations.
    pub n: u64,
    /// The users that they kept busy.
    pub users: f64,
}

/// The part of users' time that operations took which the ends of the phase cut off.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CutOffPart {
    /// The operations in flight at the end of the phase.
    pub in_flight: u64,
    /// The users that were busy with them; negative if more was cut off at its start.
    pub users: f64,
}

/// A percentile that is missing.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MissingPercentile {
    /// The quantile.
    pub q: Ratio,
    /// The number of values that it needs.
    pub needed: u64,
}

/// A second at an end of the steady phase.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BoundarySecond {
    /// The first.
    First,
    /// The last.
    Last,
}

/// The score of the users of a part of the data.
#[derive(Debug, Clone, PartialEq)]
pub struct ScoreOfPart {
    /// The part: `warehouse`.
    pub part: String,
    /// Its users.
    pub users: u32,
    /// Their score.
    pub score: f64,
    /// The unit of the score: `new orders per minute`.
    pub unit: String,
    /// The end of the sizing rule's range beyond which it is.
    pub bound: f64,
}

/// A band of inputs that is not judged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnjudgedBand {
    /// The figure, by name.
    pub name: String,
    /// The size of its sample.
    pub n: u64,
    /// The least that is needed.
    pub needed: u64,
}

/// A figure that must be steady.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SteadyFigure {
    /// Successful operations per second.
    Rate,
    /// The mean response time.
    ResponseMean,
}

impl Finding {
    /// Returns the name of the rule that finds it, as files and reports have it: `conservation`, `little`, `errors`…
    pub fn rule(&self) -> &'static str {
        match self {
            Finding::Stopped { .. } | Finding::EndingMissing => "ending",
            Finding::LoadPointsMissing { .. } | Finding::UnplannedLoadPoint(_) => "load-points",
            Finding::SearchUnfinished | Finding::SearchWithoutResult => "search",
            Finding::Modified { .. } => "modified",
            Finding::CertificateUnverified => "certificate",
            Finding::SteadyLength { .. } => "steady-length",
            Finding::TimeAxis(_) | Finding::EarlyEnd { .. } => "time-axis",
            Finding::OperationsStarted { .. } => "operations-started",
            Finding::MissingLoad(_) => "load-agents",
            Finding::Flow(_)
            | Finding::Totals(_)
            | Finding::Measure(_)
            | Finding::Overflow(_)
            | Finding::Details { .. } => "conservation",
            Finding::Histogram { .. } => "histogram",
            Finding::ResponseIntegral { .. } => "response-integral",
            Finding::UserTime { .. } => "user-time",
            Finding::LittleGap { .. } | Finding::LittleGapExplained { .. } => "little",
            Finding::ThinkTime { .. } => "think",
            Finding::InteractiveLaw { .. } => "interactive-law",
            Finding::SizingCeiling(_) | Finding::SizingFloor(_) => "sizing",
            Finding::Schedule { .. } => "schedule",
            Finding::GeneratorUnmeasured { .. } | Finding::GeneratorBusy { .. } => "generator-busy",
            Finding::GeneratorRunQueue { .. } => "generator-run-queue",
            Finding::GeneratorLateness { .. } => "generator-lateness",
            Finding::GeneratorFault { .. } => "generator-fault",
            Finding::OtherPrograms { .. } => "other-programs",
            Finding::OtherClients { .. } => "other-clients",
            Finding::Errors { .. } => "errors",
            Finding::UncountedCodes { .. } => "failure-codes",
            Finding::StorageFull { .. } | Finding::StorageReadOnly { .. } => "storage",
            Finding::Consistency { .. } => "consistency",
            Finding::LeftOpen { .. } => "left-open",
            Finding::ConnectionsLost { .. } => "connections-lost",
            Finding::RepliesChanged { .. } => "replies-changed",
            Finding::Delivered { .. } => "delivered",
            Finding::FullSlots { .. } => "places",
            Finding::BusyUsers { .. } => "busy-users",
            Finding::Mix { .. } => "mix",
            Finding::InputBand { .. } | Finding::InputBandsNotJudged { .. } => "input-bands",
            Finding::KindLimit { .. } | Finding::KindLimitNotJudged { .. } => "kind-limits",
            Finding::StageLimit { .. } | Finding::StageLimitNotJudged { .. } => "limits",
            Finding::TooFewOperations { .. } => "operations",
            Finding::MissingPercentiles { .. } => "percentiles",
            Finding::InFlightAtEnd { .. } => "in-flight",
            Finding::PhaseBoundary { .. } => "phase-boundary",
            Finding::Drift { .. } | Finding::Variation { .. } => "steady-state",
            Finding::WarmUp { .. } => "warm-up",
        }
    }

    /// Returns whether the record contradicts itself or its plan, so that no figure can be trusted.
    pub fn is_contradiction(&self) -> bool {
        matches!(
            self,
            Finding::TimeAxis(_)
                | Finding::EarlyEnd { .. }
                | Finding::Flow(_)
                | Finding::Totals(_)
                | Finding::Measure(_)
                | Finding::Overflow(_)
                | Finding::Details { .. }
                | Finding::Schedule { .. }
        )
    }

    /// Returns whether the generator limited the load point, so that it tells nothing about the server.
    pub fn is_generator_limit(&self) -> bool {
        matches!(
            self,
            Finding::GeneratorUnmeasured { .. }
                | Finding::GeneratorBusy { .. }
                | Finding::GeneratorRunQueue { .. }
                | Finding::GeneratorLateness { .. }
                | Finding::GeneratorFault { .. }
        )
    }

    /// Returns whether an overloaded server breaks this rule of an open loop: operations were not delivered, or some
    /// were given up or refused. A generator that was not healthy breaks other rules.
    pub(crate) fn is_of_overload(&self) -> bool {
        matches!(self, Finding::Delivered { .. } | Finding::Errors { .. })
    }
}
