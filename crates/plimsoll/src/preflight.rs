//! What is looked at before anything is measured: a mistake that shows after hours has cost them.

use std::fs::{self, OpenOptions};
use std::path::Path;

use model::{Plan, SutPlan};
use testbed::{State, SutLookUp, examine};
use units::Nanos;

use crate::arguments::RunArguments;
use crate::candidates::{Candidate, ChosenServer};
use crate::commands::doctor::{self, SEARCH_POINTS};
use crate::exit::{Exit, Failure};
use crate::places;

/// Without these, a listed number of users cannot be connected at all.
const NEEDED: [&str; 2] = ["open files", "local ports"];

/// Looks at one of the servers and what its plan asks of the machine.
///
/// # Errors
/// What is missing, with the remedy.
pub fn check(arguments: &RunArguments, candidate: &Candidate, plan: &Plan) -> Result<(), Failure> {
    if !matches!(candidate.server, ChosenServer::External(_)) {
        check_programs(arguments, candidate, plan)?;
        check_folders(arguments, candidate)?;
    }
    check_machine(plan)
}

fn check_programs(arguments: &RunArguments, candidate: &Candidate, plan: &Plan) -> Result<(), Failure> {
    let (program, search_path) = (std::env::current_exe()?, places::search_path());
    let server = match &candidate.server {
        ChosenServer::Recipe(recipe) => Some(&**recipe),
        ChosenServer::BuiltIn | ChosenServer::External(_) => None,
    };
    let asked = SutLookUp {
        server,
        accelerator: candidate.accelerator.as_ref().map(|one| &*one.recipe),
        profile: arguments.sut.profile.as_deref(),
        transport: fleet::transport(&plan.protocol),
        gateway: candidate.gateway,
        program: &program,
        search_path: &search_path,
    };
    asked.check().map_err(|error| fleet::FleetError::from(error).into())
}

fn check_folders(arguments: &RunArguments, candidate: &Candidate) -> Result<(), Failure> {
    let is_recipe = matches!(candidate.server, ChosenServer::Recipe(_));
    let kept = (is_recipe && arguments.sut.files.is_none()).then(places::kept);
    let failed = |error| Failure::new(Exit::Testbed, error);
    kept.into_iter()
        .chain([places::work_dir()])
        .try_for_each(|folder| testbed::check_private_folder(&folder).map_err(failed))
}

/// Refuses users that the machine cannot connect. What may be needed, as by a search or by arrivals that pile up, is a
/// warning later.
fn check_machine(plan: &Plan) -> Result<(), Failure> {
    testbed::raise_open_files();
    if plan.search.is_some() || !plan.loads().all(|load| load.is_closed()) {
        return Ok(());
    }
    let checks = examine(&doctor::input(plan, plan.sut.name != "external", None));
    match checks.into_iter().find(|check| check.state == State::Bad && NEEDED.contains(&check.name)) {
        Some(check) => {
            Err(Failure::new(Exit::Testbed, format!("{}: {}", check.name, check.found)).hint(check.advice))
        }
        None => Ok(()),
    }
}

/// Looks whether a file can be made where the results go, by making one for a moment. Folders that are missing are made
/// later.
pub fn check_out(out: Option<&Path>) -> Result<(), Failure> {
    let out = out.unwrap_or(Path::new("runs/new.plim"));
    let failed = |folder: &Path, why| {
        let error = format!("cannot write `{}`: `{}`: {why}", out.display(), folder.display());
        Failure::usage(error).hint("`--out` names another place")
    };
    let path = std::path::absolute(out)?;
    let folder = path.ancestors().skip(1).find(|folder| folder.exists()).unwrap_or(Path::new("/"));
    if !folder.is_dir() {
        return Err(failed(folder, "it is not a folder".to_owned()));
    }
    let trial = folder.join(format!(".plimsoll-{}.new", std::process::id()));
    let made = OpenOptions::new().write(true).create_new(true).open(&trial);
    made.map_err(|error| failed(folder, error.to_string()))?;
    // One that cannot be removed is empty.
    let _ = fs::remove_file(&trial);
    Ok(())
}

/// Returns whether the quota of a plan that was made without a calibration would follow from one.
pub fn wants_calibration(candidate: &Candidate, plan: &SutPlan) -> bool {
    matches!(candidate.server, ChosenServer::Recipe(_)) && plan.quota_reason == crate::placement::UNCALIBRATED
}

/// Returns how long load lasts in all plans together; of a search, about.
pub fn load_time(plans: &[Plan]) -> Nanos {
    let of_plan = |plan: &Plan| {
        let n = if plan.search.is_some() { SEARCH_POINTS } else { plan.load_points.len() };
        (plan.phases.quiet + plan.phases.issuing()).0.saturating_mul(n as u64)
    };
    Nanos(plans.iter().map(of_plan).fold(0, u64::saturating_add))
}
