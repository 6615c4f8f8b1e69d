//! Errors that end a run, or keep it from beginning.

use analysis::find_max::FindMaxError;
use drivers::TargetPolicyError;
use observe::{MonitorError, WatchError};
use runfile::RunFileError;
use testbed::SutError;
use thiserror::Error;

use crate::load::LoadError;
use crate::verify::VerifyError;

/// The reason of a run that its user interrupted.
pub const INTERRUPTED: &str = "interrupted by the user";

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
    #[error("{0}\nhint: `--monitor off` does without")]
    Watch(#[from] MonitorError),
    /// Processes that were selected cannot be watched.
    #[error(transparent)]
    Processes(#[from] WatchError),
    /// A load thread cannot work.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// A search cannot begin.
    #[error(transparent)]
    Search(#[from] FindMaxError),
}
