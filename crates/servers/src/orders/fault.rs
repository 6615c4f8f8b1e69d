//! Faults of the order-entry server, each a row of a table.

use model::Outcome;
use orders::wire::OrderEntryStatus;

use crate::framed::{FrameFault, FrameFaultAction};

/// All faults. They concern transactions; those that are no status come after one has been performed, so that it is in
/// doubt.
pub static FAULTS: [FrameFault; 13] = [
    FrameFault::new(
        "wrong-checksum",
        "states another checksum than that of the payload",
        (Outcome::WrongChecksum, 0),
        FrameFaultAction::WrongChecksum,
    ),
    FrameFault::new(
        "short-payload",
        "leaves out the last byte of the output",
        (Outcome::WrongLength, 0),
        FrameFaultAction::ShortPayload,
    ),
    FrameFault::new(
        "long-payload",
        "sends one byte more than the output has",
        (Outcome::WrongLength, 0),
        FrameFaultAction::LongPayload,
    ),
    FrameFault::new(
        "trailing-byte",
        "sends a byte behind the reply",
        (Outcome::WrongLength, 0),
        FrameFaultAction::TrailingByte,
    ),
    FrameFault::new(
        "wrong-times",
        "states times that add up to more than the response took",
        (Outcome::Inconsistent, 2),
        FrameFaultAction::WrongTimes,
    ),
    FrameFault::new(
        "wrong-number",
        "answers another request",
        (Outcome::MalformedHead, 3),
        FrameFaultAction::WrongNumber,
    ),
    FrameFault::new(
        "garbage",
        "sends bytes that are no frame",
        (Outcome::MalformedHead, 1),
        FrameFaultAction::Garbage,
    ),
    FrameFault::new(
        "busy",
        "says that its queue is full",
        (Outcome::Busy, 1),
        FrameFaultAction::Status(OrderEntryStatus::Busy as u16),
    ),
    FrameFault::new(
        "storage-failed",
        "says that its database refused",
        (Outcome::WrongStatus, 8),
        FrameFaultAction::Status(OrderEntryStatus::StorageFailed as u16),
    ),
    FrameFault::new(
        "short-reply",
        "closes in the middle of the reply",
        (Outcome::Truncated, 0),
        FrameFaultAction::ShortReply,
    ),
    FrameFault::new(
        "closed-session",
        "closes instead of answering",
        (Outcome::SessionLost, 0),
        FrameFaultAction::ClosedSession,
    ),
    FrameFault::new("stall", "never answers", (Outcome::TimedOut, 0), FrameFaultAction::Stall),
    FrameFault::new(
        "slow",
        "serves correctly, and takes 20 ms more",
        (Outcome::Ok, 0),
        FrameFaultAction::Slow,
    ),
];
