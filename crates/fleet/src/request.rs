//! A run as it is asked for.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use model::{Notes, Plan, Secrets};
use observe::{MonitorSource, ProcessSelector};
use testbed::{Acceleration, SutServer};
use units::RealClock;

use crate::agent_link::AgentFleet;
use crate::family::ExternalServer;

/// A request for a run: its plan, and everything else that it needs.
pub struct RunRequest<'a> {
    /// The plan.
    pub plan: Plan,
    /// The system under test.
    pub server: ServerChoice,
    /// The values of the plan's secrets.
    pub secrets: Secrets,
    /// The run file; must not exist.
    pub run_file: &'a Path,
    /// Program name, version and build.
    pub program: String,
    /// The command line as given.
    pub command_line: String,
    /// The folder in which a server that is started gets its directory.
    pub work_dir: PathBuf,
    /// The private folder, on disk, below which servers have their data and golden copies are kept.
    pub data_dir: PathBuf,
    /// The directories in which its program is looked for before the usual ones.
    pub search_path: Vec<PathBuf>,
    /// The folder in which the server's files are laid out, kept for later runs.
    pub files_dir: PathBuf,
    /// Our own program, which makes pages behind some servers.
    pub executable: PathBuf,
    /// The processes that perform the load; as many as the plan has load agents.
    pub load: LoadMachines,
    /// The machines that are monitored.
    pub monitoring: Monitoring,
    /// The operator's notes about the testbed.
    pub notes: Notes,
    /// Whether serial numbers, names of hosts and users, and addresses are written down.
    pub disclose_identity: bool,
}

/// The processes that perform the load of a run.
#[derive(Debug, Clone)]
pub enum LoadMachines {
    /// This process, which is the only load agent of the plan.
    Here,
    /// Load agents that are processes of their own.
    Agents(Arc<AgentFleet>),
}

impl LoadMachines {
    /// Makes the clock of a run: that on which agents are read, where there are any.
    pub(crate) fn clock(&self) -> RealClock {
        match self {
            LoadMachines::Here => RealClock::start(),
            LoadMachines::Agents(fleet) => fleet.clock(),
        }
    }
}

/// The machines that are monitored while load points run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Monitoring {
    /// None.
    Off,
    /// This one with what runs on it, and others, on which the server is.
    On {
        /// The others, with the processes that are watched there.
        others: Vec<(MonitorSource, Vec<ProcessSelector>)>,
        /// The processes on this machine that are watched beside the server, or that are the server.
        watched: Vec<ProcessSelector>,
    },
}

/// The system under test.
pub enum ServerChoice {
    /// One that this run starts and stops, and what stands in front of it.
    Start(SutServer, Option<Acceleration>),
    /// One that is there already.
    External(ExternalServer),
    /// None, but data within this process or that it calls itself, with their directory.
    Embedded(PathBuf),
}

impl ServerChoice {
    /// Returns whether the server holds itself to its CPU quota. The built-in one does; of what stands in front of it, it
    /// knows nothing.
    pub(crate) fn limits_itself(&self) -> bool {
        matches!(self, ServerChoice::Start(SutServer::BuiltIn { .. }, None))
    }
}
