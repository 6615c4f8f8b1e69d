//! Resource monitors of machines and services, read once a second while a load point runs.
//!
//! Values are raw counters; differences, resets, wraps and gaps are left to the analysis.
//!
//! - `kernel`: kernel files and their parsers
//! - `netlink`: counters that the kernel reports only over netlink
//! - `processes`: the processes of the system under test
//! - `owned_sockets`: the listening sockets that they hold; `namespace`: their network, where it is another one
//! - `others`: other programs on this machine
//! - `local`: this machine
//! - `fetch`: metrics pages over HTTP
//! - `service`: status pages of servers; `app_stats`: the load of application servers
//! - `sut`: the data that a monitor needs about a system under test
//! - `prometheus`: machines with an exporter
//! - `ssh`: machines with a shell account
//! - `source`: what users name to be monitored

mod app_stats;
mod fetch;
mod kernel;
mod local;
mod namespace;
mod netlink;
mod others;
mod owned_sockets;
mod processes;
pub mod prometheus;
mod service;
mod source;
mod ssh;
mod sut;

pub use app_stats::{AppServerAddress, AppServerAddressError, AppServerMonitor};
pub use fetch::{PageUrl, PageUrlError};
pub use kernel::PROC_FILES;
pub(crate) use kernel::Parse;
pub use local::{LocalMachine, THIS_MACHINE};
pub use namespace::NetworkMachine;
pub use processes::{ProcessMeter, WatchedGroups};
pub use prometheus::PrometheusMachine;
pub use service::{ServiceStatus, StatusKind};
pub use source::{MonitorSource, MonitorSourceError};
pub use ssh::{SshAccount, SshAccountError, SshMachine, SshOptions};
pub use sut::{MonitoredSut, StatusSource};

use model::Reading;

/// A monitor of one machine, or of one service on it, that is read once a second.
pub trait ResourceMonitor: Send {
    /// Appends the current values of all counters; unreadable ones are left out.
    ///
    /// # Errors
    /// Nothing could be read; the next reading may succeed.
    fn read(&mut self, into: &mut Vec<Reading>) -> Result<(), MonitorError>;

    /// Returns the groups of processes that were found on another machine.
    fn groups_there(&self) -> Vec<RemoteGroupSize> {
        Vec::new()
    }
}

/// A group of processes on another machine, with its size.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RemoteGroupSize {
    /// The selector: `port=8080`.
    pub label: String,
    /// The processes of the group.
    pub processes: usize,
    /// Those of them that are read.
    pub read: usize,
}

/// The reason why nothing could be read: `http://sut:9100/metrics: the server closed the connection`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}: {reason}", languages::without_credentials(watched))]
pub struct MonitorError {
    /// The machine or service, as named in series.
    pub watched: String,
    /// The expectation and the finding.
    pub reason: String,
}
