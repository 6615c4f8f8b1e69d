//! Faults of the order-entry server, each a row of a table.

use model::Outcome;
use orders::wire::OrderEntryStatus;

use crate::framed::{FrameFault, FrameFaultAction};

/// All faults. They concern transactions; those that are no status come after one has been performed, so that it is in
/// doubt.
pub static FAULTS: [FrameFault; 13] = [
    FrameFault::WRONG_CHECKSUM,
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
    FrameFault::TRAILING_BYTE,
    FrameFault::WRONG_TIMES,
    FrameFault::WRONG_NUMBER,
    FrameFault::GARBAGE,
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
    FrameFault::SHORT_REPLY,
    FrameFault::CLOSED_SESSION,
    FrameFault::STALL,
    FrameFault::SLOW,
];
