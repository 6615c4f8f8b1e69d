//! Running the accelerator: starting, reloading and stopping it, counting what it does, and telling about it.
//!
//! - `lifecycle`: [`Accelerator`], all parts put together, and its life
//! - `parts`: what is shared by all that looks at it from outside
//! - `background`: the thread beside the workers
//! - `counters`: what each worker counts
//! - `access_log`: a line per request, which never makes a request wait
//! - `notice`: what is told to whoever runs it; this crate never prints
//! - `status`: how it does at a moment
//! - `metrics`: the same for Prometheus
//! - `admin`: the page, figures and orders of its own listener

mod access_log;
mod admin;
mod background;
mod counters;
mod lifecycle;
mod metrics;
mod notice;
mod parts;
mod status;

pub use access_log::{AccessLog, LogEntry, LogFile, LogForm, LogSettings, LogWriter};
pub use admin::AdminSettings;
pub use counters::{Counters, Totals};
pub use lifecycle::{Accelerator, StartError};
pub use notice::{Notice, Notices, Severity};
