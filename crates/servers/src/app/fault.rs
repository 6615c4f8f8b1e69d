//! Faults of the application server, each a row of a table.

use frame::app::AppStatus;
use model::Outcome;

use crate::framed::{FrameFault, FrameFaultAction};

/// All faults. Those that concern a payload need an operation that returns one.
pub static FAULTS: [FrameFault; 14] = [
    FrameFault::WRONG_CHECKSUM,
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
    FrameFault::TRAILING_BYTE,
    FrameFault::new(
        "wrong-block",
        "states the number of another block, or whatever the result is, another one",
        (Outcome::WrongBytes, 4),
        FrameFaultAction::WrongResult,
    ),
    FrameFault::WRONG_TIMES,
    FrameFault::WRONG_NUMBER,
    FrameFault::GARBAGE,
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
    FrameFault::SHORT_REPLY,
    FrameFault::CLOSED_SESSION,
    FrameFault::STALL,
    FrameFault::SLOW,
];
