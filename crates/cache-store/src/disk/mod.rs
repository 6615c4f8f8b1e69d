//! The disk tier: its content outlives the process, and torn records are never served.
//!
//! ```text
//! put ──► queue ──► writer ──► segments     records, appended; the oldest segment is deleted when room runs out
//!  │                              ▲
//!  └► index ◄── scan at start ────┤          the location of each object's record, in memory
//!       ▲  └───► readers ─────────┘          every record is checked against its checksums before it is used
//!       │
//!  remove ─────► log of removals             written before a removal returns
//! ```
//!
//! Everything has a sequence number, and numbers only rise: a record counts unless a removal with a higher number
//! applies to it. So the order in which files were written, or the moment at which a process was killed, makes no
//! difference.
//!
//! A record refers to its body, which may be in an earlier record: freshening an object costs a head only. Data
//! handed to the kernel survive the end of the process; nothing waits for the disk itself, so after a power failure
//! the last records may be missing, and removals of the last seconds with them.

mod codec;
mod counters;
mod error;
mod index;
mod reader;
mod record;
mod removals;
mod scan;
mod segment;
mod settings;
mod tier;
mod writer;

pub use crate::usage::DiskUsage;
pub use error::DiskError;
pub use settings::DiskSettings;

pub(super) use tier::Disk;
