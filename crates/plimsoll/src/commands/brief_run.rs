//! Short runs whose file is thrown away: they tell what a longer run needs.

use std::sync::atomic::AtomicBool;

use fleet::{FleetError, LoadMachines, Monitoring, RunRequest, ServerChoice, TurnOrder};
use model::{Notes, Overrides, Plan, RunEnding, Secrets};
use testbed::WorkDir;
use units::Nanos;

use crate::exit::{Exit, Failure};
use crate::paths;
use crate::progress::Progress;
use crate::results::Results;

/// Returns the overrides of a brief run, whose load points have these phases alone, at levels that nothing limits.
pub(super) fn brief_overrides(settle: Nanos, steady: Nanos, overrides: Overrides) -> Overrides {
    Overrides {
        max_load: None,
        stages: None,
        until: Vec::new(),
        operations: None,
        total: None,
        limits: Vec::new(),
        ramp_up: Some(Nanos::ZERO),
        settle: Some(settle),
        steady: Some(steady),
        ramp_down: Some(Nanos::ZERO),
        ..overrides
    }
}

/// A run of a plan whose results are read and not kept.
pub(super) struct BriefRun<'a> {
    /// The purpose, as the subject of `was interrupted`.
    pub purpose: &'a str,
    /// The plan.
    pub plan: Plan,
    /// The server.
    pub server: ServerChoice,
    /// Values that the plan names and does not hold.
    pub secrets: Secrets,
    /// The processes that perform the load of the plan.
    pub load: LoadMachines,
    /// Whether this machine is monitored.
    pub monitoring: Monitoring,
}

impl BriefRun<'_> {
    /// Runs the plan and returns its results.
    ///
    /// # Errors
    /// The run failed, or was interrupted.
    pub(super) fn perform(self, stop: &AtomicBool) -> Result<Results, Failure> {
        let work_dir = paths::make_private(&paths::work_dir())?;
        // A work directory like a server's, so that it is removed however the run ends.
        let folder = WorkDir::create(&work_dir).map_err(FleetError::from)?;
        let file = folder.path().join("brief.plim");
        let request = RunRequest {
            server: self.server,
            secrets: self.secrets,
            run_file: &file,
            program: paths::program(),
            command_line: String::new(),
            work_dir,
            data_dir: paths::persistent_dir(),
            files_dir: paths::files_dir(&self.plan.benchmark.id),
            search_path: paths::search_path(),
            executable: std::env::current_exe()?,
            load: self.load,
            monitoring: self.monitoring,
            notes: Notes::default(),
            disclose_identity: false,
            plan: self.plan.clone(),
        };
        let ending =
            fleet::run(&[request], TurnOrder::of(1), &mut Progress::quiet(&self.plan), stop).remove(0);
        match ending.map_err(Failure::from)? {
            RunEnding::Complete => Ok(Results::read(&file)?),
            _ => Err(Failure::new(
                Exit::Interrupted,
                format!("{} was interrupted; nothing of it is stored", self.purpose),
            )),
        }
    }
}
