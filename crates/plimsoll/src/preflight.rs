//! Checks before anything is measured, because a mistake found after hours has wasted them.

use std::fs::{self, OpenOptions};
use std::path::Path;

use model::Plan;
use observe::{CheckState, examine};
use testbed::{SutLookUp, WebLookUp, probe_quota};
use units::Nanos;

use crate::arguments::SutArguments;
use crate::candidate::{Candidate, ChosenServer};
use crate::exit::{Exit, Failure};
use crate::paths;
use crate::planned_run::PlannedRun;
use crate::requirements::{SEARCH_POINTS, requirements};

/// Checks of `doctor` without which the requested number of users cannot connect at all.
const NEEDED: [&str; 2] = ["open files", "local ports"];

/// Checks that a server can be started and that the machine meets the needs of its plan.
///
/// # Errors
/// If something is missing; the hint is the remedy.
pub(crate) fn check(sut: &SutArguments, candidate: &Candidate, plan: &Plan) -> Result<(), Failure> {
    if candidate.is_started() {
        check_programs(sut, candidate, plan)?;
        check_folders(sut, candidate)?;
    }
    check_machine(plan)
}

fn check_programs(sut: &SutArguments, candidate: &Candidate, plan: &Plan) -> Result<(), Failure> {
    let program = std::env::current_exe()?;
    let search_path = paths::search_path();
    let server = match &candidate.server {
        ChosenServer::Recipe(recipe) => Some(&**recipe),
        ChosenServer::BuiltIn | ChosenServer::Embedded(_) | ChosenServer::External(_) => None,
    };
    let asked = SutLookUp {
        server,
        profile: sut.profile.as_deref(),
        variant: fleet::variant(&plan.workload),
        web: WebLookUp {
            accelerator: candidate.accelerator.as_ref().map(|one| &*one.recipe),
            gateway: candidate.gateway,
        },
        program: &program,
        search_path: &search_path,
    };
    asked.check().map_err(|error| fleet::FleetError::from(error).into())
}

fn check_folders(sut: &SutArguments, candidate: &Candidate) -> Result<(), Failure> {
    let is_recipe = matches!(candidate.server, ChosenServer::Recipe(_));
    let persistent = (is_recipe && sut.files.is_none()).then(paths::persistent_dir);
    let failed = |error| Failure::new(Exit::Testbed, error);
    persistent
        .into_iter()
        .chain([paths::work_dir()])
        .try_for_each(|folder| observe::private_folder::check_private_folder(&folder).map_err(failed))
}

/// Refuses more users than the machine can connect. For a search or an open loop, the number of connections is not known
/// beforehand, so a shortage is only a warning later.
fn check_machine(plan: &Plan) -> Result<(), Failure> {
    units::raise_open_files();
    if plan.search.is_some() || !plan.loads().all(|load| load.is_closed()) {
        return Ok(());
    }
    let checks = examine(&requirements(plan, plan.sut.name != "external", None), probe_quota());
    match checks.into_iter().find(|check| check.state == CheckState::Bad && NEEDED.contains(&check.name)) {
        Some(check) => {
            Err(Failure::new(Exit::Testbed, format!("{}: {}", check.name, check.found)).hint(check.advice))
        }
        None => Ok(()),
    }
}

/// Checks that the run file can be created, by creating a temporary file in its directory. Missing directories are
/// created later.
///
/// # Errors
/// If the path is not writable.
pub(crate) fn check_output_path(out: Option<&Path>) -> Result<(), Failure> {
    let out = out.unwrap_or(Path::new("runs/new.plim"));
    let failed = |folder: &Path, why| {
        let error = format!("cannot write `{}`: `{}`: {why}", out.display(), folder.display());
        Failure::usage(error).hint("choose another path with `--out`")
    };
    let path = std::path::absolute(out)?;
    let folder = path.ancestors().skip(1).find(|folder| folder.exists()).unwrap_or(Path::new("/"));
    if !folder.is_dir() {
        return Err(failed(folder, "not a directory".to_owned()));
    }
    let trial = folder.join(format!(".plimsoll-{}.new", std::process::id()));
    let made = OpenOptions::new().write(true).create_new(true).open(&trial);
    made.map_err(|error| failed(folder, error.to_string()))?;
    // If it cannot be removed, an empty file is left.
    let _ = fs::remove_file(&trial);
    Ok(())
}

/// Returns the total time under load of all plans, with all load points that they may add; for a search, an estimate.
pub(crate) fn load_time(runs: &[PlannedRun]) -> Nanos {
    time_of_points(runs, Plan::n_points_max)
}

/// Returns the same without the load points that plans may add.
pub(crate) fn load_time_least(runs: &[PlannedRun]) -> Nanos {
    time_of_points(runs, |plan| plan.search.is_none().then_some(plan.load_points.len()))
}

/// Returns the time under load of as many load points of each plan; of a search, whose number is not known, an estimate.
fn time_of_points(runs: &[PlannedRun], n_points: impl Fn(&Plan) -> Option<usize>) -> Nanos {
    let of_run = |PlannedRun { plan, .. }: &PlannedRun| {
        let n = n_points(plan).unwrap_or(SEARCH_POINTS);
        (plan.phases.quiet + plan.phases.issuing()).0.saturating_mul(n as u64)
    };
    Nanos(runs.iter().map(of_run).fold(0, u64::saturating_add))
}
