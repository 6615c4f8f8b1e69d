//! Faults of the application server, each a row of a table.

use frame::app::AppStatus;
use model::Outcome;

use crate::framed::{FrameFault, FrameFaultAction};

/// All faults. Those that concern a payload need an operation that returns one.
pub static FAULTS: [FrameFault; 14] = [
    FrameFault::new(
        "wrong-checksum",
        "states another checksum than that of the payload",
        (Outcome::WrongChecksum, 0),
        FrameFaultAction::WrongChecksum,
    ),
    FrameFault::new(
        "wrong-payload",
        "sends one wrong byte, with the checksum of what it sends",
        (Outcome::WrongBytes, 2),
        FrameFaultAction::WrongPayload,
    ),
    FrameFault::new(
        "long-payload",
        "sends one byte more than was asked for",
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
        "wrong-block",
        "states the number of another block, or whatever the result is, another one",
        (Outcome::WrongBytes, 4),
        FrameFaultAction::WrongResult,
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
        FrameFaultAction::Status(AppStatus::Busy as u16),
    ),
    FrameFault::new(
        "storage-failed",
        "says that a file could not be used",
        (Outcome::WrongStatus, 8),
        FrameFaultAction::Status(AppStatus::StorageFailed as u16),
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
