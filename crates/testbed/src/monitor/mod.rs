//! Reading the resource counters of machines and services, once a second while a load point runs.
//!
//! Values are raw, as they stand: what they grew by, resets, wraps and gaps are the analysis' business.
//!
//! - `kernel`: the table of kernel files and the functions that read their text
//! - `netlink`: what the kernel tells only if asked
//! - `programs`: the processes of the system under test
//! - `others`: what else runs on this machine
//! - `local`: this machine
//! - `fetch`: a page of numbers by HTTP
//! - `service`: what only a server knows
//! - `sut`: what has to be known of a system under test
//! - `prometheus`: machines of which an exporter tells
//! - `ssh`: machines on which there is a shell
//! - `source`: the last two as users name them

mod fetch;
mod kernel;
mod local;
pub(crate) mod netlink;
mod others;
mod programs;
pub mod prometheus;
mod service;
mod source;
mod ssh;
mod sut;

pub use fetch::PageUrl;
pub use kernel::{PROC_FILES, Parse};
pub use local::{LocalMachine, THIS_MACHINE};
pub use prometheus::PrometheusMachine;
pub use service::ServiceStatus;
pub use source::{MonitorSource, MonitorSourceError};
pub use ssh::{SshAccount, SshAccountError, SshMachine, SshOptions};
pub use sut::{StatusPage, WatchedSut};

use model::Reading;

/// One machine, or one service on it, that is read once a second.
pub trait Watch: Send {
    /// Reads all counters now and appends them; what cannot be read is left out.
    ///
    /// # Errors
    /// If nothing could be read; it may be asked again a second later.
    fn read(&mut self, into: &mut Vec<Reading>) -> Result<(), WatchError>;
}

/// Why nothing could be read: `http://sut:9100/metrics: it closed the connection`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}: {reason}", model::without_credentials(watched))]
pub struct WatchError {
    /// The machine or service, as series call it.
    pub watched: String,
    /// What was expected and what came instead.
    pub reason: String,
}
