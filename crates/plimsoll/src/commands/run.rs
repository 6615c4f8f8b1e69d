//! `run`: the main job.

use std::path::{Path, PathBuf};

use drivers::Policy;
use drivers::web::Target;
use fleet::{FleetError, RunRequest, ServerChoice};
use model::{Connection, Overrides, Plan, make_plan};
use runfile::RunFileError;
use serde_json::json;
use testbed::{Recipe, Server, State, examine};
use units::wall;

use super::calibrate::{self, built_in, case_of, stored_or_brief};
use super::{doctor, print, print_json, report, show};
use crate::arguments::{PlanArguments, RunArguments, SutArguments};
use crate::benchmark::{self, Chosen};
use crate::exit::{Exit, Failure};
use crate::interrupt;
use crate::placement::{Places, all_for_load, divide, sut_plan};
use crate::places;
use crate::progress::Progress;
use crate::results::Results;
use crate::tell::{tell, warn};

/// Runs a benchmark and reports on it.
pub fn perform(arguments: &RunArguments, as_json: bool) -> Result<Exit, Failure> {
    let chosen = benchmark::choose(&arguments.plan.benchmark)?;
    let server = chosen_server(&arguments.sut)?;
    let plan = make(arguments, chosen)?;
    if arguments.dry_run {
        match as_json {
            true => print_json(&json!({ "format": 1, "plan": plan }))?,
            false => print(&show::plan_text(&plan))?,
        }
        return Ok(Exit::Valid);
    }
    let server = match server {
        ChosenServer::External(target) => ServerChoice::External(target),
        ChosenServer::Recipe(recipe) => ServerChoice::Start(Server::Recipe(recipe)),
        ChosenServer::BuiltIn => {
            let benchmark = &arguments.plan.benchmark;
            let filelist = benchmark.filelist.as_deref();
            ServerChoice::Start(built_in(&benchmark.benchmark, filelist, plan.sut.quota)?)
        }
    };
    let run_file = run_file(arguments, &plan)?;
    announce(&plan);
    warn_of_machine(&plan);
    let failure = run(plan, server, &run_file).err();
    if !run_file.exists() {
        // Whatever it was, it was before there was anything to record.
        return failure.map_or(Ok(Exit::Internal), Err);
    }
    let exit = finish(&run_file, as_json)?;
    failure.map_or(Ok(exit), Err)
}

enum ChosenServer {
    External(Target),
    Recipe(Box<Recipe>),
    BuiltIn,
}

fn chosen_server(arguments: &SutArguments) -> Result<ChosenServer, Failure> {
    if let Some(url) = &arguments.target {
        let target: Target = url.parse().map_err(Failure::usage)?;
        // Refused before anything else is done or said.
        Policy.resolve(&target.host, target.port).map_err(FleetError::from)?;
        return Ok(ChosenServer::External(target));
    }
    match arguments.sut.as_deref() {
        None | Some("built-in") => Ok(ChosenServer::BuiltIn),
        Some(name) => Ok(ChosenServer::Recipe(Box::new(Recipe::load(name)?))),
    }
}

fn make(arguments: &RunArguments, chosen: Chosen) -> Result<Plan, Failure> {
    let sut = &arguments.sut;
    let load_cpus = sut.load_cpus.as_ref().map(|list| list.0.as_slice());
    let places = match sut.target {
        Some(_) => all_for_load(load_cpus)?,
        None => divide(sut.sut_cpus.as_ref().map(|list| list.0.as_slice()), load_cpus)?,
    };
    let definition = &chosen.benchmark.definition;
    let connection = connection(&arguments.plan);
    let case = case_of(&definition.id, connection.unwrap_or(definition.protocol.connection));
    // The built-in server has a safe default; a real one's quota is worth a measurement.
    let calibration = || match sut.sut {
        Some(_) => stored_or_brief(&places),
        None => calibrate::stored(),
    };
    let sut = sut_plan(sut, &places, &case, calibration)?;
    let overrides = overrides(&arguments.plan, connection, chosen.filelist, sut, places);
    Ok(make_plan(definition, chosen.benchmark.workload, &overrides)?)
}

fn connection(arguments: &PlanArguments) -> Option<Connection> {
    arguments.keep_alive.map(|requests_max| Connection::KeepAlive { requests_max })
}

fn overrides(
    arguments: &PlanArguments,
    connection: Option<Connection>,
    filelist: Option<String>,
    sut: model::SutPlan,
    places: Places,
) -> Overrides {
    Overrides {
        quick: arguments.quick,
        load: arguments.load.as_ref().map(|list| list.0.clone()),
        rates: arguments.rate.as_ref().map(|list| list.0.clone()),
        arrivals: arguments.arrivals.map(Into::into),
        in_flight_max: arguments.in_flight_max,
        ramp_up: arguments.ramp_up,
        settle: arguments.settle,
        steady: arguments.duration,
        drain: arguments.drain,
        connection,
        time_limit: arguments.time_limit,
        filelist,
        seed: arguments.seed,
        sut,
        load_cpus: places.load_cpus,
        load_threads: places.load_threads,
    }
}

fn run_file(arguments: &RunArguments, plan: &Plan) -> Result<PathBuf, Failure> {
    let path = arguments.out.clone().unwrap_or_else(|| places::run_file(&plan.benchmark.id, wall()));
    if path.extension().is_none_or(|extension| extension != "plim") {
        // The report goes beside it under the same name.
        return Err(Failure::usage(format!(
            "the name of a run file ends in `.plim`, found `{}`",
            path.display()
        )));
    }
    if path.exists() {
        return Err(RunFileError::Exists { path }.into());
    }
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        std::fs::create_dir_all(folder).map_err(|error| {
            Failure::usage(format!("cannot make the folder `{}`: {error}", folder.display()))
        })?;
    }
    Ok(path)
}

/// Says what is going to happen.
fn announce(plan: &Plan) {
    let benchmark = &plan.benchmark;
    tell(format!("{} (`{}`, version {})", benchmark.title, benchmark.id, benchmark.version));
    tell(show::plan_text(plan));
    let cpus = |list: &[u32]| match list {
        [] => "any".to_owned(),
        list => testbed::format_cpu_list(list),
    };
    let quota = match plan.sut.quota {
        Some(quota) => format!("limited to {quota} CPUs ({})", plan.sut.quota_reason),
        None => format!("not limited ({})", plan.sut.quota_reason),
    };
    tell(format!("server        {}, CPUs {}, {quota}", plan.sut.name, cpus(&plan.sut.cpus)));
    let threads = if plan.load_threads == 1 { "thread" } else { "threads" };
    tell(format!("load          {} {threads}, CPUs {}\n", plan.load_threads, cpus(&plan.load_cpus)));
}

/// Warns of what `doctor` finds in the way of this plan.
fn warn_of_machine(plan: &Plan) {
    testbed::raise_open_files();
    let input = doctor::input(plan, plan.sut.name != "external", None);
    for check in examine(&input).iter().filter(|check| check.state == State::Bad) {
        warn(format!("{}: {}", check.name, check.found));
        tell(format!("hint: {}", check.advice));
    }
}

fn run(plan: Plan, server: ServerChoice, run_file: &Path) -> Result<(), Failure> {
    let mut progress = Progress::new(&plan);
    let request = RunRequest {
        plan,
        server,
        run_file,
        program: places::program(),
        command_line: places::command_line(),
        work_dir: places::work_dir(),
        search_path: places::search_path(),
    };
    let result = fleet::run(request, &mut progress, &interrupt::flag());
    progress.end();
    result.map(drop).map_err(Failure::from)
}

/// Analyzes the run file, prints the results and writes the report beside it.
fn finish(run_file: &Path, as_json: bool) -> Result<Exit, Failure> {
    let results = Results::read(run_file)?;
    let html = run_file.with_extension("html");
    // The run is recorded; its report can be written again.
    let written = report::write(&html, &results.html()).map_err(|failure| {
        warn(failure.message());
        tell(format!("hint: `plimsoll report {} --out FILE` writes it elsewhere", run_file.display()));
    });
    if as_json {
        let mut value = results.json();
        value["files"] = json!({ "run": run_file, "report": written.ok().map(|()| html) });
        print_json(&value)?;
    } else {
        print(&format!("\n{}\n", results.text()))?;
        if written.is_ok() {
            print(&format!("report  {}", html.display()))?;
        }
        print(&run_file.display().to_string())?;
    }
    Ok(Exit::of_run(results.analysis.verdict.state, &results.analysis.ending))
}
