//! The order-entry workload on the wire: operations of an order-entry server, and their payloads as bytes.
//!
//! - `operation`: the operations and statuses
//! - `input`, `output`: the five transactions
//! - `data`: the data of a server, as it answers `HELLO` and `LOAD`
//! - `check`: answers to `CHECK`
//! - `stats`: the load of a server
//! - `bytes`: values, one after the other
//!
//! Frames have the header, the checksum and the stamps of the crate `frame`, with [`MAGIC`], [`VERSION`] and
//! [`PAYLOAD_MAX`]. All numbers are little-endian; texts have their length (2 bytes) before their UTF-8; a flag is 0 or 1.
//! A value that is read is written with the same bytes. `docs/protocols/order-entry.md` describes the protocol for authors
//! of servers.

mod bytes;
mod check;
mod data;
mod input;
mod operation;
mod output;
mod stats;

pub use bytes::WireError;
pub use check::{
    CHECK_ROWS_MAX, CHECK_TOTALS, ConditionResult, check_argument, checked_condition, read_totals,
    write_totals,
};
pub use data::{DataDescription, ExpectedData, LOAD_ANEW, LOAD_RESTORE};
pub use input::{read_input, write_input};
pub use operation::{OrderEntryOperation, OrderEntryStatus};
pub use output::{read_output, write_output};
pub use stats::{OrderServerStats, STATS_BYTES, sqlite_counts};

/// The first four bytes of every frame, little-endian: `PLOE`.
pub const MAGIC: u32 = 0x504c_4f45;

/// The version of the protocol.
pub const VERSION: u8 = 1;

/// The longest payload, in bytes: several times the longest of a correct server.
pub const PAYLOAD_MAX: u32 = 16 << 10;
