//! The subject of a run: a benchmark, or URLs of a running server.

use languages::{foreign_text, without_credentials};

use crate::arguments::{PlanArguments, SutArguments};
use crate::benchmark::{self, ChosenBenchmark, Subject};
use crate::compared_servers::{check_number, refuse_own_loads};
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
    mut url: UrlArguments,
    mut sut: SutArguments,
) -> Result<Subject, Failure> {
    check_targets(&sut)?;
    if plan.subjects.is_empty() && url.urls.is_none() && url.curl.is_none() {
        url.compare |= 1 < sut.target.len();
        let targets = std::mem::take(&mut sut.target).into_iter();
        plan.subjects = targets.map(target_as_url).collect::<Result<_, Failure>>()?;
    }
    let subject = if url.compare && (url::is_asked(&plan.subjects, &url) || sut.target.len() < 2) {
        url::make_compared(plan, url, sut)?
    } else if url::is_asked(&plan.subjects, &url) {
        url::make(plan, url, sut)?
    } else {
        // Several targets of a benchmark are compared without being asked to.
        url.compare = false;
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
    let mut sut = sut;
    if sut.target.is_empty() && sut.sut.is_empty() {
        sut.target.extend(chosen.benchmark.definition.target.clone());
    }
    if 1 < sut.target.len() {
        refuse_own_loads(plan)?;
        let has_loads = plan.overrides.load.is_some() || plan.overrides.rate.is_some();
        if chosen.benchmark.definition.shape.is_some() && !has_loads {
            return Err(Failure::usage(
                "the load of this benchmark changes over time, so that servers cannot be compared by it",
            )
            .hint("give loads that stay the same: `--load 10,20,50`; or run it on each server by itself"));
        }
        sut.repeat = sut.repeat.or(Some(TURNS));
    }
    Ok(Subject { overrides: plan.overrides()?, settings: plan.settings(), sut, chosen, others: Vec::new() })
}

/// Number of turns of each of several targets at each load point of a benchmark, unless the user says how many.
const TURNS: u32 = 4;

/// Checks the targets: how many, and whether one is named twice.
fn check_targets(sut: &SutArguments) -> Result<(), Failure> {
    let targets = &sut.target;
    if let Some(twice) = targets.iter().enumerate().find(|(index, one)| targets[..*index].contains(one)) {
        let shown = foreign_text(&without_credentials(twice.1));
        return Err(Failure::usage(format!("`--target {shown}` is given twice"))
            .hint("to load one server several times, use `--repeat 2`"));
    }
    if targets.is_empty() { Ok(()) } else { check_number(targets.len(), &sut.label) }
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
    if sut.target.is_empty() {
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
