//! Errors that end a run, or keep it from beginning.

use std::io;
use std::path::PathBuf;

use analysis::find_max::FindMaxError;
use drivers::TargetPolicyError;
use drivers::file::directory::FileRootError;
use observe::{MonitorError, WatchError};
use runfile::RunFileError;
use servers::orders::OrderServerError;
use testbed::SutError;
use thiserror::Error;
use units::Bytes;

use crate::agent_error::AgentError;
use crate::memory_limit::NoMemoryLimit;
use crate::seconds::CollectError;
use crate::setup_error::SetupError;
use crate::verify::VerifyError;

/// The reason of a run that its user interrupted.
pub const INTERRUPTED: &str = "interrupted by the user";

/// A reason why a load point could not be run.
#[derive(Debug, Error)]
pub enum LoadError {
    /// The system refused something that a load thread needs.
    #[error("load thread {thread}: {source}")]
    Thread {
        /// Index of the thread.
        thread: u32,
        /// The system's error.
        source: io::Error,
    },
    /// A load thread has panicked: a mistake of this program.
    #[error("a load thread panicked, which is a bug in this program; its message is above")]
    Panicked,
    /// The load side cannot be set up for the workload.
    #[error(transparent)]
    Setup(#[from] SetupError),
    /// A load agent that is a process of its own has failed.
    #[error(transparent)]
    Agent(#[from] AgentError),
    /// A part of the load side has sent a record that does not belong to those of others.
    #[error(transparent)]
    Collect(#[from] CollectError),
}

/// An error that ends a run, or keeps it from beginning.
#[derive(Debug, Error)]
pub enum FleetError {
    /// The target policy, or a name that leads nowhere.
    #[error(transparent)]
    Policy(#[from] TargetPolicyError),
    /// The server cannot be brought up, or did not stay up.
    #[error(transparent)]
    Sut(#[from] SutError),
    /// The server does not serve the workload.
    #[error(transparent)]
    Verify(#[from] VerifyError),
    /// The run file cannot be written.
    #[error(transparent)]
    RunFile(#[from] RunFileError),
    /// A machine cannot be watched.
    #[error("{0}\nhint: run without monitoring: `--monitor off`")]
    Watch(#[from] MonitorError),
    /// Processes that were selected cannot be watched.
    #[error(transparent)]
    Processes(#[from] WatchError),
    /// A load thread cannot work.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// A size follows from the server's memory limit, which is not known.
    #[error("cannot resolve `auto`, a fraction of the server's memory limit: {0}")]
    NoMemoryLimit(#[from] NoMemoryLimit),
    /// The files of clients would be in memory.
    #[error("`{}` is on tmpfs; client files must be on a disk", .directory.display())]
    FilesInMemory {
        /// The directory of the files.
        directory: PathBuf,
    },
    /// The files of clients leave less than a tenth of the free disk.
    #[error(
        "the files of {clients} clients take {} ({} each), {}more than nine tenths of the {} that are free in `{}`",
        Bytes(clients.saturating_mul(*each)), Bytes(*each), and_others(*others), Bytes(*free), .directory.display()
    )]
    NoRoom {
        /// The number of clients at the highest load.
        clients: u64,
        /// The bytes of the files of each.
        each: u64,
        /// The bytes of the files of other runs that exist at the same time.
        others: u64,
        /// The bytes that are free.
        free: u64,
        /// The directory of the files.
        directory: PathBuf,
    },
    /// The data do not fit the disk.
    #[error(
        "the data needs {} of disk space; {} are free in `{}`",
        Bytes(*needed), Bytes(*free), .directory.display()
    )]
    NoRoomForData {
        /// The bytes that they need.
        needed: u64,
        /// The bytes that are free.
        free: u64,
        /// The directory of the data.
        directory: PathBuf,
    },
    /// A directory cannot have the files of clients.
    #[error(transparent)]
    Files(#[from] FileRootError),
    /// The data of an embedded database cannot be made.
    #[error(transparent)]
    EmbeddedData(OrderServerError),
    /// A search cannot begin.
    #[error(transparent)]
    Search(#[from] FindMaxError),
}

fn and_others(bytes: u64) -> String {
    match bytes {
        0 => String::new(),
        _ => format!("and those of other runs at the same time {}, together ", Bytes(bytes)),
    }
}
