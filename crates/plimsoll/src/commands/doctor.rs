//! `doctor`: checks that this machine is ready for a run.

use clap::Parser;
use drivers::web::Target;
use model::{Family, Overrides, SutPlan, make_plan};
use observe::{Check, CheckState, DoctorInput, examine};
use serde_json::json;
use testbed::probe_quota;

use super::{print, print_json};
use crate::arguments::{Arguments, Command, DoctorArguments};
use crate::benchmark::{self, Subject};
use crate::exit::{Exit, Failure};
use crate::family::command_line;
use crate::local_server::is_here;
use crate::requirements::requirements;
use crate::url_words::is_url;
use crate::{paths, subject};

/// Checks this machine.
pub(crate) fn perform(arguments: &DoctorArguments, as_json: bool) -> Result<Exit, Failure> {
    if is_url(&arguments.benchmark) {
        return of_url(arguments, as_json);
    }
    let benchmark = benchmark::by_name(&arguments.benchmark)?;
    let overrides = Overrides { max_load: arguments.max_load, ..Overrides::new(SutPlan::of("built-in")) };
    let plan = make_plan(&benchmark.definition, benchmark.workload, &overrides)?;
    units::raise_open_files();
    let mut checks = examine(&requirements(&plan, !arguments.remote, arguments.expect_rate), probe_quota());
    if !arguments.remote {
        checks.push(servers(plan.workload.family())?);
    }
    report(&checks, as_json)
}

/// Checks this machine for a run of a URL: its server is asked for the page, as a run asks before its load.
fn of_url(arguments: &DoctorArguments, as_json: bool) -> Result<Exit, Failure> {
    let words = ["plimsoll", "run", &arguments.benchmark];
    let Command::Run(run) = Arguments::parse_from(words).command else {
        return Err(Failure::new(Exit::Internal, "expected the arguments of a run"));
    };
    let Subject { chosen, sut, .. } = subject::choose(run.plan, run.url, run.sut)?;
    let chosen = chosen.benchmark;
    let overrides = Overrides { max_load: arguments.max_load, ..Overrides::new(SutPlan::of("external")) };
    let plan = make_plan(&chosen.definition, chosen.workload, &overrides)?;
    let target: Target = sut.target.first().map_or("", String::as_str).parse().map_err(Failure::usage)?;
    let (host, port) = target.connect_host_and_port();
    units::raise_open_files();
    let shared = !arguments.remote && is_here(host, port);
    let needs = DoctorInput { starts_server: false, ..requirements(&plan, shared, arguments.expect_rate) };
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
    let own = command_line(family);
    let embedded = own.embedded.filter(|embedded| embedded.is_default);
    let found = if family.is_started() {
        let all = testbed::suts_of(family, &paths::search_path(), &std::env::current_exe()?);
        let names = |is_wanted: bool| {
            let of_state = all.iter().filter(|(_, is_installed)| *is_installed == is_wanted);
            let names: Vec<&str> = of_state.map(|(name, _)| name.as_str()).collect();
            if names.is_empty() { "none".to_owned() } else { names.join(", ") }
        };
        let without = embedded.map_or(String::new(), |own| format!("a {} of this machine; ", own.name));
        format!("{family}: {without}{} installed; {} not installed", names(true), names(false))
    } else {
        let form = own.target_form;
        format!("Plimsoll starts no {family} servers; name a running one: `--target {form}`")
    };
    Ok(Check { name: "servers", state: CheckState::Good, found, advice: String::new() })
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
