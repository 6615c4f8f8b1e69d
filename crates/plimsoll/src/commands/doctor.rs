//! `doctor`: checks that this machine is ready for a run.

use clap::Parser;
use drivers::web::Target;
use model::{Connection, Family, HttpVersion, Overrides, Plan, SutPlan, WebProtocol, WebWorkload, make_plan};
use observe::{Check, CheckState, DoctorInput, examine};
use serde_json::json;
use testbed::probe_quota;

use super::{print, print_json};
use crate::arguments::{Arguments, Command, DoctorArguments};
use crate::benchmark;
use crate::candidates::{has_built_in, recipe_family};
use crate::exit::{Exit, Failure};
use crate::local_server::is_here;
use crate::url::is_url;
use crate::{paths, subject};

/// Maximum growth of a run file per recorded second, in bytes; see `docs/design/run-file.md`.
const RUN_FILE_BYTES_PER_SECOND: u64 = 2500;

/// Estimated number of load points of a search.
pub(crate) const SEARCH_POINTS: usize = 12;

/// Checks this machine.
pub(crate) fn perform(arguments: &DoctorArguments, as_json: bool) -> Result<Exit, Failure> {
    if is_url(&arguments.benchmark) {
        return of_url(arguments, as_json);
    }
    let benchmark = benchmark::by_name(&arguments.benchmark)?;
    let overrides = Overrides { max_load: arguments.max_load, ..Overrides::new(SutPlan::of("built-in")) };
    let plan = make_plan(&benchmark.definition, benchmark.workload, &overrides)?;
    units::raise_open_files();
    let mut checks = examine(&input(&plan, !arguments.remote, arguments.expect_rate), probe_quota());
    if !arguments.remote {
        checks.push(servers(plan.workload.family())?);
    }
    report(&checks, as_json)
}

/// Checks this machine for a run of a URL: its server is asked for the page, as a run asks before its load.
fn of_url(arguments: &DoctorArguments, as_json: bool) -> Result<Exit, Failure> {
    let words = ["plimsoll", "run", &arguments.benchmark];
    let Command::Run(mut run) = Arguments::parse_from(words).command else {
        return Err(Failure::new(Exit::Internal, "expected the arguments of a run"));
    };
    let chosen = subject::choose(&mut run)?.benchmark;
    let overrides = Overrides { max_load: arguments.max_load, ..Overrides::new(SutPlan::of("external")) };
    let plan = make_plan(&chosen.definition, chosen.workload, &overrides)?;
    let target: Target = run.sut.target.as_deref().unwrap_or_default().parse().map_err(Failure::usage)?;
    let (host, port) = target.connect_host_and_port();
    units::raise_open_files();
    let shared = !arguments.remote && is_here(host, port);
    let needs = DoctorInput { starts_server: false, ..input(&plan, shared, arguments.expect_rate) };
    let answers = Check {
        name: "target",
        state: CheckState::Good,
        found: format!("{target} answers, and its page can be loaded"),
        advice: String::new(),
    };
    let mut checks = vec![answers];
    checks.extend(examine(&needs, probe_quota()));
    report(&checks, as_json)
}

fn report(checks: &[Check], as_json: bool) -> Result<Exit, Failure> {
    if as_json {
        let list: Vec<_> = checks
            .iter()
            .map(|check| {
                json!({ "name": check.name, "state": word(check.state), "found": check.found, "advice": check.advice })
            })
            .collect();
        print_json(&json!({ "format": 1, "checks": list }))?;
    } else {
        checks.iter().try_for_each(|check| print(&line(check)))?;
    }
    let is_bad = checks.iter().any(|check| check.state == CheckState::Bad);
    Ok(if is_bad { Exit::Testbed } else { Exit::Valid })
}

/// Names the servers of a benchmark's family that can be started here.
fn servers(family: Family) -> Result<Check, Failure> {
    let found = match recipe_family(family) {
        None if has_built_in(family) => format!("{family}: the built-in server"),
        None => format!("Plimsoll starts no {family} servers; name a running one: `--target HOST:PORT`"),
        Some(of_recipes) => {
            let all = testbed::suts_of(of_recipes, &paths::search_path(), &std::env::current_exe()?);
            let names = |is_wanted: bool| {
                let of_state = all.iter().filter(|(_, is_installed)| *is_installed == is_wanted);
                let names: Vec<&str> = of_state.map(|(name, _)| name.as_str()).collect();
                if names.is_empty() { "none".to_owned() } else { names.join(", ") }
            };
            format!("{family}: {} installed; {} not installed", names(true), names(false))
        }
    };
    Ok(Check { name: "servers", state: CheckState::Good, found, advice: String::new() })
}

/// Returns the requirements of a plan on the machine.
pub(crate) fn input(plan: &Plan, shared: bool, rate: Option<f64>) -> DoctorInput {
    let n_points = if plan.search.is_some() { SEARCH_POINTS } else { plan.load_points.len() };
    let seconds = plan.phases.issuing().as_secs_f64() * n_points as f64;
    let offered = plan.loads().filter(|load| !load.is_closed()).map(|load| load.level());
    DoctorInput {
        users_max: connections_max(plan),
        connection_per_request: plan.workload.web().is_some_and(is_per_request),
        rate: rate.or_else(|| offered.reduce(f64::max)),
        source_addresses: u32::try_from(plan.source_addresses.len().max(1)).unwrap_or(u32::MAX),
        shared,
        starts_server: shared && has_built_in(plan.workload.family()),
        separated: 1 < observe::available_cpus().len(),
        run_dir: "runs".into(),
        run_file_bytes: seconds as u64 * RUN_FILE_BYTES_PER_SECOND,
        work_dir: paths::work_dir(),
        dataset_dir: paths::files_dir(&plan.benchmark.id),
        dataset_bytes: plan.workload.file_bytes(plan.level_max()),
    }
}

/// Returns the maximum number of concurrent connections: one per user, or fewer if users share connections.
fn connections_max(plan: &Plan) -> u32 {
    let users = plan.loads().map(|load| load.in_flight_max()).max().unwrap_or(0);
    let shares = |protocol: &WebProtocol| {
        protocol.http == HttpVersion::Http2 && matches!(protocol.connection, Connection::KeepAlive { .. })
    };
    let protocol = plan.workload.web().map(|web| web.protocol).filter(shares);
    users.div_ceil(protocol.map_or(1, |protocol| protocol.streams.max(1)))
}

fn is_per_request(web: &WebWorkload) -> bool {
    web.protocol.connection == Connection::PerRequest
}

fn word(state: CheckState) -> &'static str {
    match state {
        CheckState::Good => "good",
        CheckState::Warning => "warning",
        CheckState::Bad => "bad",
    }
}

/// Formats a check as a line, with its hint on a second line.
pub(crate) fn line(check: &Check) -> String {
    let line = format!("{:<8} {:<22} {}", word(check.state), check.name, check.found);
    match check.advice.as_str() {
        "" => line,
        advice => format!("{line}\n{:9}hint: {advice}", ""),
    }
}
