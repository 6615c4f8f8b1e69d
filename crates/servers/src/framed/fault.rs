//! Faults of servers whose replies are frames, each a row of a table, and the plan of a server.

use std::time::Duration;

use frame::{REPLY_BYTES, ReplyHeader};
use model::Outcome;

use crate::fault_rules::{FaultRuleError, FaultRules};

/// The time by which the service of a slow operation is longer.
pub(super) const SLOW: Duration = Duration::from_millis(20);

/// A fault, with what clients must make of it.
#[derive(Debug, PartialEq, Eq)]
pub struct FrameFault {
    /// The name.
    pub name: &'static str,
    /// The server's behavior: a clause that begins with a verb.
    pub does: &'static str,
    /// The outcome of the operation.
    pub outcome: Outcome,
    /// The code of the outcome, as the page of the benchmark lists them; 0 without one.
    pub code: u32,
    pub(crate) action: FrameFaultAction,
}

/// The deviation from a correct reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FrameFaultAction {
    WrongChecksum,
    WrongPayload,
    ShortPayload,
    LongPayload,
    TrailingByte,
    WrongResult,
    WrongTimes,
    WrongNumber,
    Garbage,
    /// A reply with this status, which the protocol of the server has.
    Status(u16),
    ShortReply,
    ClosedSession,
    Stall,
    Slow,
}

/// All faults of a server; none by default. Clones count together.
#[derive(Debug, Clone, Default)]
pub struct FrameFaultPlan {
    rules: FaultRules<FrameFaultAction>,
}

/// The part of a reply that is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SentPart {
    /// All of it.
    Whole,
    /// As many other bytes.
    Garbage,
    /// So many bytes, and then the end of the connection.
    Start(usize),
    /// Nothing.
    Nothing,
}

impl FrameFaultAction {
    /// Changes a reply: its header, and its payload, which follows the room for the header.
    pub(super) fn change(self, header: &mut ReplyHeader, reply: &mut Vec<u8>) -> SentPart {
        match self {
            FrameFaultAction::WrongChecksum => header.checksum ^= 1,
            FrameFaultAction::WrongPayload => {
                reply[REPLY_BYTES..].iter_mut().take(1).for_each(|byte| *byte ^= 1);
                *header = header.with_payload(&reply[REPLY_BYTES..]);
            }
            FrameFaultAction::ShortPayload => {
                reply.truncate(REPLY_BYTES.max(reply.len() - 1));
                *header = header.with_payload(&reply[REPLY_BYTES..]);
            }
            FrameFaultAction::LongPayload => {
                reply.push(0);
                *header = header.with_payload(&reply[REPLY_BYTES..]);
            }
            FrameFaultAction::TrailingByte => reply.push(0),
            FrameFaultAction::WrongResult => header.result ^= 1,
            FrameFaultAction::WrongTimes => header.stamps.ended = header.stamps.ended.saturating_add(1 << 40),
            FrameFaultAction::WrongNumber => header.number ^= 1,
            FrameFaultAction::Status(status) => {
                reply.truncate(REPLY_BYTES);
                *header = ReplyHeader { status, result: 0, ..header.with_payload(&[]) };
            }
            FrameFaultAction::Garbage => return SentPart::Garbage,
            FrameFaultAction::ShortReply => return SentPart::Start(REPLY_BYTES / 2),
            FrameFaultAction::ClosedSession => return SentPart::Start(0),
            FrameFaultAction::Stall => return SentPart::Nothing,
            FrameFaultAction::Slow => {}
        }
        SentPart::Whole
    }
}

/// Faults that servers of any protocol have, and a constructor of further ones.
impl FrameFault {
    pub(crate) const WRONG_CHECKSUM: FrameFault = FrameFault::new(
        "wrong-checksum",
        "states another checksum than that of the payload",
        (Outcome::Inconsistent, 3),
        FrameFaultAction::WrongChecksum,
    );

    pub(crate) const TRAILING_BYTE: FrameFault = FrameFault::new(
        "trailing-byte",
        "sends a byte behind the reply",
        (Outcome::WrongLength, 0),
        FrameFaultAction::TrailingByte,
    );

    pub(crate) const WRONG_TIMES: FrameFault = FrameFault::new(
        "wrong-times",
        "states times that add up to more than the response took",
        (Outcome::Inconsistent, 2),
        FrameFaultAction::WrongTimes,
    );

    pub(crate) const WRONG_NUMBER: FrameFault = FrameFault::new(
        "wrong-number",
        "answers another request",
        (Outcome::MalformedHead, 3),
        FrameFaultAction::WrongNumber,
    );

    pub(crate) const GARBAGE: FrameFault = FrameFault::new(
        "garbage",
        "sends bytes that are no frame",
        (Outcome::MalformedHead, 1),
        FrameFaultAction::Garbage,
    );

    pub(crate) const SHORT_REPLY: FrameFault = FrameFault::new(
        "short-reply",
        "closes in the middle of the reply",
        (Outcome::Truncated, 0),
        FrameFaultAction::ShortReply,
    );

    pub(crate) const CLOSED_SESSION: FrameFault = FrameFault::new(
        "closed-session",
        "closes instead of answering",
        (Outcome::SessionLost, 0),
        FrameFaultAction::ClosedSession,
    );

    pub(crate) const STALL: FrameFault =
        FrameFault::new("stall", "never answers", (Outcome::TimedOut, 0), FrameFaultAction::Stall);

    pub(crate) const SLOW: FrameFault = FrameFault::new(
        "slow",
        "serves correctly, and takes 20 ms more",
        (Outcome::Ok, 0),
        FrameFaultAction::Slow,
    );

    /// Makes a row of a table.
    pub(crate) const fn new(
        name: &'static str,
        does: &'static str,
        (outcome, code): (Outcome, u32),
        action: FrameFaultAction,
    ) -> FrameFault {
        FrameFault { name, does, outcome, code, action }
    }
}

impl FrameFaultPlan {
    /// Parses a plan from items `NAME` and `NAME:N`, for one in N operations, with the names of a table.
    ///
    /// # Errors
    /// An item is neither.
    pub fn parse<'a>(
        faults: &[FrameFault],
        items: impl IntoIterator<Item = &'a str>,
    ) -> Result<FrameFaultPlan, FaultRuleError> {
        let table: Vec<_> = faults.iter().map(|fault| (fault.name, fault.action)).collect();
        Ok(FrameFaultPlan { rules: FaultRules::parse(&table, items)? })
    }

    /// Counts an operation; returns the fault that it meets, if any.
    pub(super) fn next(&self) -> Option<FrameFaultAction> {
        self.rules.next(|_| true)
    }
}

#[cfg(test)]
mod tests {
    use frame::RequestHeader;

    use super::*;

    static FAULTS: [FrameFault; 2] = [
        FrameFault::STALL,
        FrameFault::new(
            "busy",
            "says that its queue is full",
            (Outcome::Busy, 1),
            FrameFaultAction::Status(1),
        ),
    ];

    #[test]
    fn a_plan_has_the_actions_of_its_table() {
        let plan = FrameFaultPlan::parse(&FAULTS, ["stall:3", "busy:2"]).unwrap();
        let met: Vec<_> = (0..4).map(|_| plan.next()).collect();
        let busy = Some(FrameFaultAction::Status(1));
        assert_eq!(met, [None, busy, Some(FrameFaultAction::Stall), busy]);
    }

    /// A payload can lose its last byte, and one without bytes none.
    #[test]
    fn replies_are_changed_as_the_action_says() {
        let header = RequestHeader { operation: 1, number: 1, ..RequestHeader::default() };
        let changed = |action: FrameFaultAction, payload: &[u8]| {
            let mut reply = [&[0; REPLY_BYTES], payload].concat();
            let mut header = header.reply(0, 9).with_payload(payload);
            assert_eq!(action.change(&mut header, &mut reply), SentPart::Whole);
            assert_eq!(header, header.with_payload(&reply[REPLY_BYTES..]), "{action:?}");
            (header.status, header.result, reply.split_off(REPLY_BYTES))
        };
        assert_eq!(changed(FrameFaultAction::ShortPayload, b"ab"), (0, 9, b"a".to_vec()));
        assert_eq!(changed(FrameFaultAction::ShortPayload, b""), (0, 9, Vec::new()));
        assert_eq!(changed(FrameFaultAction::LongPayload, b"ab"), (0, 9, b"ab\0".to_vec()));
        assert_eq!(changed(FrameFaultAction::Status(7), b"ab"), (7, 0, Vec::new()));
    }
}
