//! The benchmark of URLs: read, surveyed, defined, and saved if asked for.

use std::cell::RefCell;
use std::path::Path;

use drivers::web::{Target, TargetAccess};
use drivers::{TargetPolicy, Trust};
use fleet::{FleetError, SurveyRequest};
use languages::foreign_text;
use model::{Overrides, WebWorkload};

use super::draft::DefinitionDraft;
use super::page::{PageUrl, read_pages};
use super::request::{DATA_VARIABLE, RequestParts, UrlBody};
use super::survey::{ReplyCheck, SurveyedPage};
use crate::access::{apply, flags_text, take_host};
use crate::arguments::{PlanArguments, SutArguments};
use crate::benchmark::{ChosenBenchmark, DefinitionSource, Subject};
use crate::connect_to::ConnectToArgument;
use crate::exit::Failure;
use crate::stderr::eprint;
use crate::url_arguments::UrlArguments;
use crate::url_words::is_url;
use crate::{files, interrupt, secrets, trust};

/// Returns whether a run is of URLs.
pub(crate) fn is_asked(subjects: &[String], url: &UrlArguments) -> bool {
    url.urls.is_some() || subjects.iter().any(|word| is_url(word))
}

/// Makes the benchmark of URLs, after the server has answered each of them. What became part of its definition is no
/// deviation from it; the server is its target.
///
/// # Errors
/// A URL or flag is not valid, or the server does not answer as pages are to be measured.
pub(crate) fn make(plan: &PlanArguments, url: UrlArguments, sut: SutArguments) -> Result<Subject, Failure> {
    check_flags(plan, &sut)?;
    let overrides = plan.overrides()?;
    let pages = read_pages(&plan.subjects, url.urls.as_deref())?;
    let pages = counted(pages);
    let NamedServer { target, url, sut } = named_server(&pages[0].0.target, url, sut)?;
    let parts = RequestParts::of(&url)?;
    let mut reached = target.clone();
    apply(&mut reached, &sut)?;
    check_address(&reached)?;
    let trust = trust::of_target(&sut, &reached)?;
    let saved = url.save_definition.as_deref();
    check_unused(saved)?;
    let folder = saved.and_then(Path::parent).unwrap_or(Path::new(""));
    let draft = DefinitionDraft {
        target: &target,
        pages: &pages,
        parts: &parts,
        course: &overrides,
        protocol: &plan.protocol,
        folder,
    };
    let data = match &parts.body {
        Some(UrlBody::Data(text)) => Some((DATA_VARIABLE.to_owned(), text.clone())),
        _ => None,
    };
    let name = saved.map_or_else(|| draft.title(), |path| path.display().to_string());
    let chosen = |checks: &[ReplyCheck]| -> Result<ChosenBenchmark, Failure> {
        Ok(ChosenBenchmark {
            benchmark: draft.benchmark(checks)?,
            name: name.clone(),
            source: DefinitionSource::Urls(folder.to_owned()),
            given: data.clone(),
            is_refined: overrides.load.is_none() && overrides.rates.is_none(),
            captures: RefCell::default(),
        })
    };
    let provisional = chosen(&[])?;
    let survey = Survey { url: &url, sut: &sut, target: &reached, trust: &trust };
    let checks = survey.perform(&draft, &provisional)?;
    let made = chosen(&checks)?;
    if let Some(path) = saved {
        save(path, &draft.text(&checks), &made, &flags_text(&sut))?;
    }
    Ok(Subject {
        chosen: made,
        overrides: beyond_definition(overrides),
        settings: plan.settings_beside_protocol(),
        sut: SutArguments { target: Some(target.to_string()), ..sut },
    })
}

/// The server of URLs, with the flags that are left beside it.
struct NamedServer {
    target: Target,
    url: UrlArguments,
    sut: SutArguments,
}

/// Returns the server of URLs, by the name of a `Host` field if there is one. The field then becomes an argument of the run,
/// which says that connections for that name go to the URL's place.
fn named_server(at: &Target, mut url: UrlArguments, mut sut: SutArguments) -> Result<NamedServer, Failure> {
    let Some(named) = take_host(&mut url.headers, at)? else {
        return Ok(NamedServer { target: at.clone(), url, sut });
    };
    let place = |target: &Target| (Some(target.host.clone()), Some(target.port));
    match at.socket() {
        Some(socket) => {
            apply(&mut at.clone(), &sut)?;
            sut.unix_socket = Some(socket.to_owned());
        }
        None if place(&named) != place(at) => {
            sut.connect_to.insert(0, ConnectToArgument { from: place(&named), to: place(at) });
        }
        None => {}
    }
    Ok(NamedServer { target: Target { access: TargetAccess::default(), ..named }, url, sut })
}

/// Returns what of the overrides is no part of the definition that is made: load and phases are.
fn beyond_definition(overrides: Overrides) -> Overrides {
    let Overrides { quick, max_load, find_max, limits, seed, sut, .. } = overrides;
    Overrides { quick, max_load, find_max, limits, seed, ..Overrides::new(sut) }
}

/// Refuses flags that contradict URLs.
fn check_flags(plan: &PlanArguments, sut: &SutArguments) -> Result<(), Failure> {
    if let Some(other) = plan.subjects.iter().find(|word| !is_url(word)) {
        let other = foreign_text(other);
        let error = format!("expected a benchmark or URLs, found both: `{other}` is not a URL");
        return Err(Failure::usage(error).hint(match benchmarks::find(&other) {
            Ok(_) => {
                format!("`plimsoll run {other} --target http://HOST:PORT/` runs a benchmark against a server")
            }
            Err(_) => "a URL begins with `http://` or `https://`".to_owned(),
        }));
    }
    let contradicting = [
        (sut.target.is_some(), "--target"),
        (!sut.sut.is_empty(), "--sut"),
        (plan.filelist.is_some(), "--filelist"),
    ];
    match contradicting.into_iter().find(|(is_given, _)| *is_given) {
        Some((_, flag)) => Err(Failure::usage(format!("`{flag}` cannot be used with URLs"))
            .hint("a URL names the server and the page; for a benchmark, give its name instead")),
        None => Ok(()),
    }
}

/// Refuses an address that load may not be sent to, before anything is sent.
fn check_address(target: &Target) -> Result<(), Failure> {
    let (host, port) = target.connect_host_and_port();
    let Err(error) = TargetPolicy.resolve(host, port) else { return Ok(()) };
    let failure = Failure::from(FleetError::from(error));
    Err(match benchmarks::find(&target.host) {
        Ok(_) => failure.hint(format!("`plimsoll run {}` runs the benchmark of this name", target.host)),
        Err(_) => failure,
    })
}

/// Counts equal pages, in the order of their first occurrence.
fn counted(pages: Vec<PageUrl>) -> Vec<(PageUrl, u32)> {
    let mut counted: Vec<(PageUrl, u32)> = Vec::new();
    for page in pages {
        match counted.iter_mut().find(|(other, _)| *other == page) {
            Some((_, n)) => *n += 1,
            None => counted.push((page, 1)),
        }
    }
    counted
}

/// The way to the pages that are looked at before they are loaded.
struct Survey<'a> {
    url: &'a UrlArguments,
    sut: &'a SutArguments,
    target: &'a Target,
    trust: &'a Trust,
}

impl Survey<'_> {
    /// Fetches every page and returns the checks that follow.
    fn perform(
        &self,
        draft: &DefinitionDraft<'_>,
        provisional: &ChosenBenchmark,
    ) -> Result<Vec<ReplyCheck>, Failure> {
        let workload: &WebWorkload =
            provisional.benchmark.workload.web().ok_or_else(|| Failure::usage("expected a web workload"))?;
        let secrets = secrets::read(provisional, false)?;
        let request = SurveyRequest {
            target: self.target,
            trust: self.trust,
            workload,
            secrets: &secrets,
            source_addresses: &self.sut.source_addresses,
            time_limit: provisional.benchmark.definition.time_limit,
        };
        let surveyed = fleet::survey(&request, &interrupt::flag());
        let replies = surveyed.map_err(|error| Failure::of_run(error, true))?;
        let mut checks = Vec::new();
        for (index, ((page, _), replies)) in draft.pages.iter().zip(&replies).enumerate() {
            let surveyed = SurveyedPage {
                target: draft.target,
                page,
                parts: draft.parts,
                secrets: &secrets,
                comparison: self.url.check,
                replies,
            };
            let check = surveyed.check()?;
            let ReplyCheck { status, reply, reason } = &check;
            let text = format!("{}: status {status}; {reason}: {}", draft.name(index), reply.described());
            eprint(foreign_text(&text));
            checks.push(check);
        }
        Ok(checks)
    }
}

fn check_unused(path: Option<&Path>) -> Result<(), Failure> {
    match path.filter(|path| path.exists()) {
        Some(path) => Err(Failure::usage(format!("`{}` exists already", path.display()))
            .hint("choose another path with `--save-definition`, or run the definition in it")),
        None => Ok(()),
    }
}

fn save(path: &Path, text: &str, made: &ChosenBenchmark, flags: &str) -> Result<(), Failure> {
    files::write(path, text)?;
    eprint(format!("Saved the definition: `plimsoll run {}{flags}` runs it again.", path.display()));
    if let Some((name, _)) = &made.given {
        eprint(format!(
            "It reads the data of `-d`, which is not stored, from the environment variable `{name}`."
        ));
    }
    Ok(())
}
