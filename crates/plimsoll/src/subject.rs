//! The subject of a run: a benchmark, or URLs of a running server.

use languages::{foreign_text, without_credentials};

use crate::arguments::{PlanArguments, SutArguments};
use crate::benchmark::{self, Chosen, Subject};
use crate::exit::Failure;
use crate::url::{self, UrlArguments};

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

/// Finds the benchmark of a run, or makes one of URLs. A definition that names its target gives it to the run, unless the
/// arguments name a server.
///
/// # Errors
/// There is no such benchmark, it is not valid, or arguments contradict each other.
pub(crate) fn choose(
    mut plan: PlanArguments,
    url: UrlArguments,
    mut sut: SutArguments,
) -> Result<Subject, Failure> {
    if plan.subjects.is_empty() && url.urls.is_none() {
        plan.subjects.extend(sut.target.take().map(target_as_url).transpose()?);
    }
    let subject = if url::is_asked(&plan.subjects, &url) {
        url::make(&plan, url, sut)?
    } else {
        of_benchmark(&plan, &url, sut)?
    };
    check_server_flags(&subject.sut)?;
    Ok(subject)
}

/// Returns the target as the URL to load, where nothing else says what to run.
///
/// # Errors
/// It is not the URL of a page.
fn target_as_url(target: String) -> Result<String, Failure> {
    match command_for(&target) {
        Some(command) => {
            let error = format!("expected a benchmark for `{}`", foreign_text(&without_credentials(&target)));
            Err(Failure::usage(error).hint(command))
        }
        None => {
            let scheme = if url::is_url(&target) { "" } else { "http://" };
            Ok(format!("{scheme}{target}"))
        }
    }
}

/// Returns the command that loads the server of a URL which is no web server.
pub(crate) fn command_for(url: &str) -> Option<&'static str> {
    let scheme = url.split(':').next().filter(|_| url.contains("://"))?;
    let found = OTHER_FAMILIES.iter().find(|(other, _)| other.eq_ignore_ascii_case(scheme));
    found.map(|(_, command)| *command)
}

fn of_benchmark(plan: &PlanArguments, url: &UrlArguments, sut: SutArguments) -> Result<Subject, Failure> {
    let chosen = benchmark(&plan.subjects, url)?;
    let named = chosen.benchmark.definition.target.as_ref().filter(|_| sut.sut.is_empty());
    let target = sut.target.or_else(|| named.cloned());
    Ok(Subject {
        overrides: plan.overrides()?,
        settings: plan.settings(),
        sut: SutArguments { target, ..sut },
        chosen,
    })
}

fn benchmark(subjects: &[String], url: &UrlArguments) -> Result<Chosen, Failure> {
    if let Some(flag) = url.first_given() {
        let error = format!("`{flag}` describes requests to URLs, and a benchmark defines its own");
        return Err(Failure::usage(error).hint("`plimsoll run URL` loads a page of a running server"));
    }
    let [name] = subjects else {
        let all: Vec<String> = subjects.iter().map(|word| foreign_text(word)).collect();
        let error = format!("expected one benchmark, found {}: {}", all.len(), all.join(", "));
        return Err(Failure::usage(error).hint("run them one after another; several URLs are one run"));
    };
    benchmark::choose(name)
}

/// Refuses flags about a server that Plimsoll would start, if it is already running. The command line itself refuses
/// them beside `--target`.
fn check_server_flags(sut: &SutArguments) -> Result<(), Failure> {
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
                format!("`{flag}` concerns a server that Plimsoll starts, and this one is already running");
            Err(Failure::usage(error)
                .hint(format!("omit `{flag}`, or start a server: `plimsoll run BENCHMARK --sut nginx`")))
        }
        None => Ok(()),
    }
}
