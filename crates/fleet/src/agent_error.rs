//! Failures of load agents, as the controller sees them.

use model::{MergeError, RecordSource};
use runfile::CodecError;
use thiserror::Error;
use units::Nanos;

/// A failure of a load agent; `agent` is its name.
#[derive(Debug, Error)]
pub enum AgentError {
    /// It has ended, or the way to it.
    #[error("load agent {agent} was lost: {why}")]
    Lost {
        /// The agent.
        agent: String,
        /// The reason, as far as it is known.
        why: String,
    },
    /// It answers, and does nothing.
    #[error("load agent {agent} was lost: it answers, but has recorded nothing for {silence}")]
    Idle {
        /// The agent.
        agent: String,
        /// The time since its last record.
        silence: Nanos,
    },
    /// It has not said anything for too long.
    #[error("load agent {agent} was lost: it has been silent for {} s", .silence.0 / 1_000_000_000)]
    Silent {
        /// The agent.
        agent: String,
        /// The time since its last message.
        silence: Nanos,
    },
    /// It cannot do what it was asked for.
    #[error("load agent {agent}: {text}")]
    Failed {
        /// The agent.
        agent: String,
        /// The kind of failure.
        kind: AgentFailureKind,
        /// The reason, as it says.
        text: String,
    },
    /// Its records contradict themselves, the plan or the clock.
    #[error("the records of load agent {agent} cannot be used: {why}")]
    Record {
        /// The agent.
        agent: String,
        /// The fault.
        why: Box<AgentRecordError>,
    },
    /// Its record is no record.
    #[error("the records of load agent {agent} cannot be read: {why}")]
    Codec {
        /// The agent.
        agent: String,
        /// The fault.
        why: CodecError,
    },
    /// It has said something at the wrong time.
    #[error("load agent {agent} has answered something that it was not asked")]
    Unexpected {
        /// The agent.
        agent: String,
    },
    /// Several failures, one a line.
    #[error("{}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))]
    Several(Vec<AgentError>),
    /// The target is one of the controller's process.
    #[error("{target} cannot be loaded by load agents: {why}")]
    OnlyHere {
        /// The target.
        target: String,
        /// The reason.
        why: &'static str,
    },
}

/// A kind of failure of an agent, by which the exit code is chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AgentFailureKind {
    /// Its target policy refuses the server.
    Refused,
    /// The server cannot be reached from there, or its machine lacks something.
    Testbed,
    /// The run cannot be: the plan, or the combination with agents.
    Usage,
    /// A mistake of the program.
    Internal,
    /// Its records do not reach the controller in time.
    Unacknowledged,
}

/// All kinds of failures, in the order of their numbers.
pub(crate) const FAILURE_KINDS: [AgentFailureKind; 5] = [
    AgentFailureKind::Refused,
    AgentFailureKind::Testbed,
    AgentFailureKind::Usage,
    AgentFailureKind::Internal,
    AgentFailureKind::Unacknowledged,
];

/// A reason why what an agent has sent of a load point is not recorded.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum AgentRecordError {
    /// It contradicts itself.
    #[error(transparent)]
    Contradiction(#[from] MergeError),
    /// It is of another load point, or said to be of another agent.
    #[error("it has sent a record of load point {found} from {of}")]
    OtherPart {
        /// The load point of the record.
        found: u32,
        /// The sender that it names.
        of: RecordSource,
    },
    /// It does not follow the one before it.
    #[error("it has sent record {found} in place of record {expected}")]
    OutOfOrder {
        /// The number that was to come.
        expected: u64,
        /// The number that came.
        found: u64,
    },
    /// It is of another interval than the plan has.
    #[error("interval {index} of its records is not that of the plan")]
    OtherInterval {
        /// Index of the interval.
        index: u32,
    },
    /// It has other kinds than the plan.
    #[error("interval {index} of its records has other {parts} than the plan")]
    OtherParts {
        /// Index of the interval.
        index: u32,
        /// The parts: `kinds of operations`.
        parts: &'static str,
    },
    /// It begins with other numbers than the one before ended with.
    #[error("interval {index} of its records begins with other {what} than the one before ended with")]
    Discontinuous {
        /// Index of the interval.
        index: u32,
        /// The operations: `operations in flight`.
        what: &'static str,
    },
    /// Its users and its load threads cannot have done that.
    #[error(
        "interval {index} of its records has {what} than its users ({users}) and load threads ({threads}) can have"
    )]
    TooMuch {
        /// Index of the interval.
        index: u32,
        /// The excess: `more operations in flight`.
        what: &'static str,
        /// The users of the agent.
        users: u64,
        /// Its load threads.
        threads: u32,
    },
    /// Its interval is not over.
    #[error("it has sent interval {index} before it was over")]
    TooEarly {
        /// Index of the interval.
        index: u32,
    },
    /// Its interval has been over for too long.
    #[error("interval {index} of them has come {} s after its end, over a way that is too slow", .late.0 / 1_000_000_000)]
    TooLate {
        /// Index of the interval.
        index: u32,
        /// The time since its end.
        late: Nanos,
    },
    /// Its last record is not there.
    #[error("it has sent {found} records and says that they are {stated}")]
    Count {
        /// The records that came.
        found: u64,
        /// Their number as it says.
        stated: u64,
    },
}
