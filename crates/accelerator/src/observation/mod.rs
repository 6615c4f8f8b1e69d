//! Observation of the accelerator: what workers count and log, and notices for the operator.
//!
//! - `counters`: counters of each worker
//! - `access_log`: a line per request, which never makes a request wait
//! - `notice`: notices for the operator; this crate never prints

mod access_log;
mod counters;
mod notice;

pub(crate) use access_log::TimestampCache;
pub use access_log::{AccessLog, LogEntry, LogFile, LogFormat, LogSettings, LogWriter};
pub use counters::{CounterTotals, WorkerCounters};
pub use notice::{Notice, NoticeLevel, Notices};
