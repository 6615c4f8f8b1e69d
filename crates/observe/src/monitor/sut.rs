//! The data that a monitor needs about a system under test.

use super::fetch::PageUrl;
use super::service::StatusKind;
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
    /// Its status page, if it has a readable one.
    pub status: Option<StatusPage>,
}

/// The status page of a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StatusPage {
    /// Its format.
    pub kind: StatusKind,
    /// Its URL.
    pub url: PageUrl,
    /// The maximum number of connections of the server, if the page does not state it.
    pub connections_max: Option<u64>,
}

impl MonitoredSut {
    /// Returns the directory whose process list is that of the group.
    pub fn group_directory(&self) -> Option<&std::path::Path> {
        let files = self.group.iter().find(|files| files.controllers.contains(&Controller::Cpuacct))?;
        Some(&files.directory)
    }
}
