//! The data that a monitor needs about a system under test.

use super::app_stats::AppServerAddress;
use super::fetch::PageUrl;
use crate::cgroup::{Controller, ControllerFiles};

/// A system under test as seen by monitors: names and ids only, so that any thread can use it.
///
/// Without a control group it is valid for the processes that run now: it must be created again after a
/// reset.
#[derive(Debug, Clone, Default)]
pub struct MonitoredSut {
    /// Its control group; empty without one.
    pub group: Vec<ControllerFiles>,
    /// The started processes.
    pub leaders: Vec<u32>,
    /// The TCP ports that it listens on.
    pub ports: Vec<u16>,
    /// The place where it says how busy it is, if that can be read.
    pub status: Option<StatusSource>,
}

/// The place where a server says how busy it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StatusSource {
    /// A page of nginx' `stub_status`.
    NginxStub {
        /// Its URL.
        url: PageUrl,
        /// The maximum number of connections of the server, which the page does not state.
        connections_max: Option<u64>,
    },
    /// A page of Apache's mod_status.
    ApacheAuto {
        /// Its URL.
        url: PageUrl,
    },
    /// The operation `STATS` of an application server.
    AppStats(AppServerAddress),
    /// The operation `STATS` of a server of order-entry data.
    OrderStats(AppServerAddress),
}

impl MonitoredSut {
    /// Returns the directory whose process list is that of the group.
    pub fn group_directory(&self) -> Option<&std::path::Path> {
        let files = self.group.iter().find(|files| files.controllers.contains(&Controller::Cpuacct))?;
        Some(&files.directory)
    }
}
