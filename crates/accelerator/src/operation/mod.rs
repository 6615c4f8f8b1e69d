//! Operation of the accelerator: start, reload and stop, counters, logs and the admin page.
//!
//! - `lifecycle`: [`Accelerator`], which assembles all parts
//! - `settings`: the settings of all parts
//! - `components`: the state shared by admin page, metrics and lifecycle
//! - `background`: the thread for probes and the admin page
//! - `counters`: counters of each worker
//! - `access_log`: a line per request, which never makes a request wait
//! - `notice`: notices for the operator; this crate never prints
//! - `status`: a snapshot of the accelerator
//! - `metrics`: the same for Prometheus
//! - `admin`: the page, metrics and commands on a listener of its own

mod access_log;
mod admin;
mod background;
mod components;
mod counters;
mod lifecycle;
mod metrics;
mod notice;
mod settings;
mod status;

pub use access_log::{AccessLog, LogEntry, LogFile, LogFormat, LogSettings, LogWriter};
pub use admin::AdminSettings;
pub use counters::{CounterTotals, WorkerCounters};
pub use lifecycle::{Accelerator, StartError};
pub use notice::{Notice, NoticeLevel, Notices};
pub use settings::Settings;
