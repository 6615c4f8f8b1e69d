//! The subject of a run: a benchmark, or URLs of a running server.

use languages::{foreign_text, without_credentials};

use crate::arguments::{PlanArguments, SutArguments};
use crate::benchmark::{self, ChosenBenchmark, Subject};
use crate::exit::Failure;
use crate::url;
use crate::url_arguments::UrlArguments;
use crate::url_words::{command_for, is_url};

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
    if plan.subjects.is_empty() && url.urls.is_none() && url.curl.is_none() {
        plan.subjects.extend(sut.target.take().map(target_as_url).transpose()?);
    }
    let subject = if url::is_asked(&plan.subjects, &url) {
        url::make(plan, url, sut)?
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
            let scheme = if is_url(&target) { "" } else { "http://" };
            Ok(format!("{scheme}{target}"))
        }
    }
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

fn benchmark(subjects: &[String], url: &UrlArguments) -> Result<ChosenBenchmark, Failure> {
    if let Some(flag) = url.first_given() {
        let error = format!("`{flag}` describes requests to URLs, but a benchmark defines its own");
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
                format!("`{flag}` applies to a server that Plimsoll starts, but this one is already running");
            Err(Failure::usage(error)
                .hint(format!("omit `{flag}`, or start a server: `plimsoll run BENCHMARK --sut nginx`")))
        }
        None => Ok(()),
    }
}
