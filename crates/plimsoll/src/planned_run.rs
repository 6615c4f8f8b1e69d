//! A server to run with its plan, and what trials have found out about it.

use std::path::PathBuf;

use model::{CpuQuota, Plan};

use crate::candidate::Candidate;

/// A server to run, with its plan and the file of its run.
#[derive(Debug)]
pub(crate) struct PlannedRun {
    /// The server, with its settings.
    pub candidate: Candidate,
    /// The findings of trials about it; its plan follows from them.
    pub found: TrialFindings,
    /// Its plan.
    pub plan: Plan,
    /// Its run file.
    pub file: PathBuf,
}

/// Returns whether servers differ in the settings that they are loaded with.
pub(crate) fn differ_in_settings(runs: &[PlannedRun]) -> bool {
    runs.iter().any(|run| run.candidate.settings != runs[0].candidate.settings)
}

/// The findings of trials before the load about a server. Settings that they choose are those of its candidate.
#[derive(Debug, Clone)]
pub(crate) struct TrialFindings {
    /// Number of load threads beside a running server on this machine.
    pub load_threads: u32,
    /// The most operations in flight that a database has connections for; `None` where that decides nothing.
    pub in_flight_max: Option<u32>,
    /// The CPU quota; `None` as long as it is not known.
    pub quota: Option<CpuQuota>,
}

impl Default for TrialFindings {
    /// One load thread, and nothing else.
    fn default() -> TrialFindings {
        TrialFindings { load_threads: 1, in_flight_max: None, quota: None }
    }
}
