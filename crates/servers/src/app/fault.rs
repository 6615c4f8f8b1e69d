//! Faults of the application server, each a row of a table.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use languages::nearest;
use thiserror::Error;

/// A fault: what happens in place of a correct reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AppFault {
    /// The checksum of the reply is not that of its payload.
    WrongChecksum,
    /// The connection ends within the reply.
    ShortReply,
    /// No reply is sent.
    Stall,
    /// The connection ends in place of a reply.
    ClosedSession,
    /// The number of the block, or whatever the result is, is another one.
    WrongBlock,
    /// The times of the server add up to more than the response took.
    WrongTimes,
    /// The queue is said to be full.
    Busy,
}

/// All faults of a server; none by default. Clones count together.
#[derive(Debug, Clone, Default)]
pub struct AppFaultPlan {
    rules: Arc<[FaultRule]>,
}

/// A fault that affects one in so many operations.
#[derive(Debug)]
struct FaultRule {
    fault: AppFault,
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

impl AppFault {
    /// All faults and their names.
    pub const NAMES: [(&'static str, AppFault); 7] = [
        ("wrong-checksum", AppFault::WrongChecksum),
        ("short-reply", AppFault::ShortReply),
        ("stall", AppFault::Stall),
        ("closed-session", AppFault::ClosedSession),
        ("wrong-block", AppFault::WrongBlock),
        ("wrong-times", AppFault::WrongTimes),
        ("busy", AppFault::Busy),
    ];
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
    pub(super) fn next(&self) -> Option<AppFault> {
        let meets = |rule: &FaultRule| {
            let before = rule.operations.fetch_add(1, Ordering::Relaxed);
            (before + 1).is_multiple_of(rule.every).then_some(rule.fault)
        };
        // Every rule counts every operation.
        self.rules.iter().filter_map(meets).reduce(|first, _| first)
    }
}

fn parse_rule(item: &str) -> Result<FaultRule, AppFaultPlanError> {
    let (name, every) = item.split_once(':').unwrap_or((item, "1"));
    let found = AppFault::NAMES.iter().find(|(known, _)| *known == name);
    let (_, fault) = *found.ok_or_else(|| AppFaultPlanError::Unknown { name: name.to_owned() })?;
    let number = every.parse().ok().filter(|number| 0 < *number);
    let unread = || AppFaultPlanError::Every { name: name.to_owned(), every: every.to_owned() };
    Ok(FaultRule { fault, every: number.ok_or_else(unread)?, operations: AtomicU64::new(0) })
}

fn closest_name(name: &str) -> String {
    let names = AppFault::NAMES.map(|(name, _)| name);
    match nearest(name, names) {
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
        let (stall, busy) = (Some(AppFault::Stall), Some(AppFault::Busy));
        assert_eq!(met, [None, busy, stall, busy, None, stall]);
        assert_eq!(AppFaultPlan::default().next(), None);
    }

    #[test]
    fn mistakes_have_a_remedy() {
        let refused = |item| AppFaultPlan::parse([item]).unwrap_err().to_string();
        assert_eq!(refused("stal"), "unknown fault `stal`\nhint: did you mean `stall`?");
        assert!(refused("x").contains("the faults are wrong-checksum, short-reply, "));
        for item in ["stall:0", "stall:", "stall:-1"] {
            assert!(refused(item).starts_with("expected `stall` or `stall:N` for one in N operations"));
        }
    }
}
