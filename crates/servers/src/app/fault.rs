//! Faults of the application server, each a row of a table.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use frame::app::AppStatus;
use frame::{REPLY_BYTES, ReplyHeader};
use languages::nearest;
use model::Outcome;
use thiserror::Error;

/// The time by which the service of a slow operation is longer.
pub(super) const SLOW: Duration = Duration::from_millis(20);

/// A fault, with what clients must make of it.
#[derive(Debug, PartialEq, Eq)]
pub struct AppFault {
    /// The name.
    pub name: &'static str,
    /// The server's behavior: a clause that begins with a verb.
    pub does: &'static str,
    /// The outcome of the operation.
    pub outcome: Outcome,
    /// The code of the outcome, as the page of the benchmark lists them; 0 without one.
    pub code: u32,
    pub(super) action: AppFaultAction,
}

/// The deviation from a correct reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AppFaultAction {
    WrongChecksum,
    WrongPayload,
    LongPayload,
    TrailingByte,
    WrongResult,
    WrongTimes,
    WrongNumber,
    Garbage,
    Status(AppStatus),
    ShortReply,
    ClosedSession,
    Stall,
    Slow,
}

const fn fault(
    name: &'static str,
    does: &'static str,
    (outcome, code): (Outcome, u32),
    action: AppFaultAction,
) -> AppFault {
    AppFault { name, does, outcome, code, action }
}

/// All faults. Those that concern a payload need an operation that returns one.
static FAULTS: [AppFault; 14] = [
    fault(
        "wrong-checksum",
        "states another checksum than that of the payload",
        (Outcome::WrongChecksum, 0),
        AppFaultAction::WrongChecksum,
    ),
    fault(
        "wrong-payload",
        "sends one wrong byte, with the checksum of what it sends",
        (Outcome::WrongBytes, 2),
        AppFaultAction::WrongPayload,
    ),
    fault(
        "long-payload",
        "sends one byte more than was asked for",
        (Outcome::WrongLength, 0),
        AppFaultAction::LongPayload,
    ),
    fault(
        "trailing-byte",
        "sends a byte behind the reply",
        (Outcome::WrongLength, 0),
        AppFaultAction::TrailingByte,
    ),
    fault(
        "wrong-block",
        "states the number of another block, or whatever the result is, another one",
        (Outcome::WrongBytes, 4),
        AppFaultAction::WrongResult,
    ),
    fault(
        "wrong-times",
        "states times that add up to more than the response took",
        (Outcome::Inconsistent, 2),
        AppFaultAction::WrongTimes,
    ),
    fault(
        "wrong-number",
        "answers another request",
        (Outcome::MalformedHead, 3),
        AppFaultAction::WrongNumber,
    ),
    fault("garbage", "sends bytes that are no frame", (Outcome::MalformedHead, 1), AppFaultAction::Garbage),
    fault("busy", "says that its queue is full", (Outcome::Busy, 1), AppFaultAction::Status(AppStatus::Busy)),
    fault(
        "storage-failed",
        "says that a file could not be used",
        (Outcome::WrongStatus, 8),
        AppFaultAction::Status(AppStatus::StorageFailed),
    ),
    fault(
        "short-reply",
        "closes in the middle of the reply",
        (Outcome::Truncated, 0),
        AppFaultAction::ShortReply,
    ),
    fault(
        "closed-session",
        "closes instead of answering",
        (Outcome::SessionLost, 0),
        AppFaultAction::ClosedSession,
    ),
    fault("stall", "never answers", (Outcome::TimedOut, 0), AppFaultAction::Stall),
    fault("slow", "serves correctly, and takes 20 ms more", (Outcome::Ok, 0), AppFaultAction::Slow),
];

/// All faults of a server; none by default. Clones count together.
#[derive(Debug, Clone, Default)]
pub struct AppFaultPlan {
    rules: Arc<[FaultRule]>,
}

/// A fault that affects one in so many operations.
#[derive(Debug)]
struct FaultRule {
    action: AppFaultAction,
    every: u64,
    operations: AtomicU64,
}

/// A fault plan that could not be parsed.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum AppFaultPlanError {
    /// The fault does not exist.
    #[error("unknown fault `{name}`\nhint: {}", closest_name(name))]
    Unknown {
        /// The name as given.
        name: String,
    },
    /// The number of operations is none.
    #[error("expected `{name}` or `{name}:N` for one in N operations, found `{name}:{every}`")]
    Every {
        /// The fault's name.
        name: String,
        /// The number as given.
        every: String,
    },
}

/// The part of a reply that is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Delivery {
    /// All of it.
    Whole,
    /// As many other bytes.
    Garbage,
    /// So many bytes, and then the end of the connection.
    Start(usize),
    /// Nothing.
    Nothing,
}

impl AppFaultAction {
    /// Changes a reply: its header, and its payload, which follows the room for the header.
    pub(super) fn change(self, header: &mut ReplyHeader, reply: &mut Vec<u8>) -> Delivery {
        match self {
            AppFaultAction::WrongChecksum => header.checksum ^= 1,
            AppFaultAction::WrongPayload => {
                reply[REPLY_BYTES..].iter_mut().take(1).for_each(|byte| *byte ^= 1);
                *header = header.with_payload(&reply[REPLY_BYTES..]);
            }
            AppFaultAction::LongPayload => {
                reply.push(0);
                *header = header.with_payload(&reply[REPLY_BYTES..]);
            }
            AppFaultAction::TrailingByte => reply.push(0),
            AppFaultAction::WrongResult => header.result ^= 1,
            AppFaultAction::WrongTimes => header.stamps.ended = header.stamps.ended.saturating_add(1 << 40),
            AppFaultAction::WrongNumber => header.number ^= 1,
            AppFaultAction::Status(status) => {
                reply.truncate(REPLY_BYTES);
                *header = ReplyHeader { status: status as u16, result: 0, ..header.with_payload(&[]) };
            }
            AppFaultAction::Garbage => return Delivery::Garbage,
            AppFaultAction::ShortReply => return Delivery::Start(REPLY_BYTES / 2),
            AppFaultAction::ClosedSession => return Delivery::Start(0),
            AppFaultAction::Stall => return Delivery::Nothing,
            AppFaultAction::Slow => {}
        }
        Delivery::Whole
    }
}

impl AppFault {
    /// Returns all faults.
    pub fn all() -> impl Iterator<Item = &'static AppFault> {
        FAULTS.iter()
    }
}

impl AppFaultPlan {
    /// Parses a plan from items `NAME` and `NAME:N`, for one in N operations.
    ///
    /// # Errors
    /// An item is neither.
    pub fn parse<'a>(items: impl IntoIterator<Item = &'a str>) -> Result<AppFaultPlan, AppFaultPlanError> {
        let rules: Result<Vec<FaultRule>, AppFaultPlanError> = items.into_iter().map(parse_rule).collect();
        Ok(AppFaultPlan { rules: rules?.into() })
    }

    /// Counts an operation; returns the fault that it meets, if any.
    pub(super) fn next(&self) -> Option<AppFaultAction> {
        let meets = |rule: &FaultRule| {
            let before = rule.operations.fetch_add(1, Ordering::Relaxed);
            (before + 1).is_multiple_of(rule.every).then_some(rule.action)
        };
        // Every rule counts every operation.
        self.rules.iter().filter_map(meets).reduce(|first, _| first)
    }
}

fn parse_rule(item: &str) -> Result<FaultRule, AppFaultPlanError> {
    let (name, every) = item.split_once(':').unwrap_or((item, "1"));
    let found = AppFault::all().find(|fault| fault.name == name);
    let action = found
        .map(|fault| fault.action)
        .ok_or_else(|| AppFaultPlanError::Unknown { name: name.to_owned() })?;
    let number = every.parse().ok().filter(|number| 0 < *number);
    let unread = || AppFaultPlanError::Every { name: name.to_owned(), every: every.to_owned() };
    Ok(FaultRule { action, every: number.ok_or_else(unread)?, operations: AtomicU64::new(0) })
}

fn closest_name(name: &str) -> String {
    let names: Vec<&str> = AppFault::all().map(|fault| fault.name).collect();
    match nearest(name, names.iter().copied()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("the faults are {}", names.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_in_so_many_operations_meets_a_fault() {
        let plan = AppFaultPlan::parse(["stall:3", "busy:2"]).unwrap();
        let met: Vec<_> = (0..6).map(|_| plan.next()).collect();
        let (stall, busy) = (Some(AppFaultAction::Stall), Some(AppFaultAction::Status(AppStatus::Busy)));
        assert_eq!(met, [None, busy, stall, busy, None, stall]);
        assert_eq!(AppFaultPlan::default().next(), None);
    }

    #[test]
    fn mistakes_have_a_remedy() {
        let refused = |item| AppFaultPlan::parse([item]).unwrap_err().to_string();
        assert_eq!(refused("stal"), "unknown fault `stal`\nhint: did you mean `stall`?");
        assert!(refused("x").contains("the faults are wrong-checksum, wrong-payload, "));
        for item in ["stall:0", "stall:", "stall:-1"] {
            assert!(refused(item).starts_with("expected `stall` or `stall:N` for one in N operations"));
        }
    }
}
