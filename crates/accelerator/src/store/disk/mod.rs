//! The tier on disk: what it holds outlives the process, and what is torn is never served.
//!
//! ```text
//!  put ──► queue ──► writer ──► segments     records, appended; the oldest segment goes when room runs out
//!   │                             ▲
//!   └► index ◄── scan at start ───┤          where the record of each object is, in memory
//!       ▲  └────► readers ────────┘          every record is checked against its checksums before it is used
//!       │
//!  remove ──────► log of removals            written before a removal returns
//! ```
//!
//! Everything has a number, and numbers only rise: a record counts unless something with a higher number has removed it.
//! So it makes no difference in which order the files were written, or where a killed process left off.
//!
//! A record says which body belongs to it, which may stand in an earlier record: an object that is merely brought up to
//! date costs a head. What the kernel has been handed survives the end of the process; nothing waits for the disk
//! itself, so after a power failure the last records may be missing, and removals of the last seconds with them.

mod codec;
mod error;
mod index;
mod reader;
mod record;
mod removals;
mod scan;
mod segment;
mod settings;
mod tier;
mod usage;
mod writer;

pub use error::DiskError;
pub use settings::DiskSettings;
pub use usage::DiskUsage;

pub(super) use tier::Disk;
