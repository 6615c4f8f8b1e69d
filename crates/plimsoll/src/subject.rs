//! The subject of a run: a benchmark, or URLs of a running server.

use languages::{foreign_text, without_credentials};

use crate::arguments::RunArguments;
use crate::benchmark::{self, Chosen};
use crate::exit::Failure;
use crate::url;

/// Schemes of servers that are no web servers, with the command that loads them.
const OTHER_FAMILIES: [(&str, &str); 7] = [
    ("postgres", DATABASE),
    ("postgresql", DATABASE),
    ("mysql", DATABASE),
    ("mariadb", DATABASE),
    ("jdbc", DATABASE),
    ("app", "`plimsoll run serverbench --target app://HOST:PORT` loads an application server"),
    ("orders", "`plimsoll run orderentry --target orders://HOST:PORT` loads a server of order-entry data"),
];

/// The commands that load a database.
const DATABASE: &str = "`plimsoll run orderentry --target postgres://USER@HOST:PORT/DATABASE` (or `mysql://USER@HOST:PORT`) \
    loads a database with order entry; a definition of the family `sql` has statements of your own (docs/definitions.md)";

/// Finds the benchmark of a run, or makes one of URLs. A definition that names its target gives it to the arguments,
/// unless they name a server.
///
/// # Errors
/// There is no such benchmark, it is not valid, or arguments contradict each other.
pub(crate) fn choose(arguments: &mut RunArguments) -> Result<Chosen, Failure> {
    take_target(arguments)?;
    let chosen = match url::is_asked(arguments) {
        true => url::make(arguments)?,
        false => benchmark(arguments)?,
    };
    let sut = &mut arguments.sut;
    if sut.target.is_none() && sut.sut.is_empty() {
        sut.target.clone_from(&chosen.benchmark.definition.target);
    }
    check_server_flags(arguments)?;
    Ok(chosen)
}

/// Takes the target as the URL to load, where nothing else says what to run.
///
/// # Errors
/// It is not the URL of a page.
fn take_target(arguments: &mut RunArguments) -> Result<(), Failure> {
    if !arguments.plan.subjects.is_empty() || arguments.url.urls.is_some() {
        return Ok(());
    }
    let Some(target) = arguments.sut.target.take() else { return Ok(()) };
    match command_for(&target) {
        Some(command) => {
            let error = format!("expected a benchmark for `{}`", foreign_text(&without_credentials(&target)));
            Err(Failure::usage(error).hint(command))
        }
        None => {
            let scheme = if url::is_url(&target) { "" } else { "http://" };
            arguments.plan.subjects.push(format!("{scheme}{target}"));
            Ok(())
        }
    }
}

/// Returns the command that loads the server of a URL which is no web server.
pub(crate) fn command_for(url: &str) -> Option<&'static str> {
    let scheme = url.split(':').next().filter(|_| url.contains("://"))?;
    let found = OTHER_FAMILIES.iter().find(|(other, _)| other.eq_ignore_ascii_case(scheme));
    found.map(|(_, command)| *command)
}

fn benchmark(arguments: &RunArguments) -> Result<Chosen, Failure> {
    if let Some(flag) = arguments.url.first_given() {
        let error = format!("`{flag}` describes requests to URLs, but a benchmark defines its own");
        return Err(Failure::usage(error).hint("`plimsoll run URL` loads a page of a running server"));
    }
    let [name] = arguments.plan.subjects.as_slice() else {
        let all: Vec<String> = arguments.plan.subjects.iter().map(|word| foreign_text(word)).collect();
        let error = format!("expected one benchmark, found {}: {}", all.len(), all.join(", "));
        return Err(Failure::usage(error).hint("run them one after another; several URLs are one run"));
    };
    benchmark::choose(name)
}

/// Refuses flags about a server that Plimsoll would start, if it is already running. The command line itself refuses
/// them beside `--target`.
fn check_server_flags(arguments: &RunArguments) -> Result<(), Failure> {
    let sut = &arguments.sut;
    if sut.target.is_none() {
        return Ok(());
    }
    let about_started = [
        (sut.sut_cpus.is_some(), "--sut-cpus"),
        (sut.sut_quota.is_some(), "--sut-quota"),
        (!sut.sut_groups.is_empty(), "--sut-groups"),
        (!sut.accelerator.is_empty(), "--accelerator"),
        (sut.sut_memory.is_some(), "--sut-memory"),
        (sut.sut_disk.is_some(), "--sut-disk"),
    ];
    match about_started.into_iter().find(|(is_given, _)| *is_given) {
        Some((_, flag)) => {
            let error =
                format!("`{flag}` applies to a server that Plimsoll starts, but this one is already running");
            Err(Failure::usage(error)
                .hint(format!("omit `{flag}`, or start a server: `plimsoll run BENCHMARK --sut nginx`")))
        }
        None => Ok(()),
    }
}
