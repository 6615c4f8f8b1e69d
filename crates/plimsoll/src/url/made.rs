//! The benchmark of URLs: read, surveyed, defined, and saved if asked for.

use std::path::Path;

use benchmarks::Benchmark;
use drivers::web::{Access, Target};
use drivers::{TargetPolicy, Trust};
use fleet::{FleetError, SurveyRequest};
use languages::foreign_text;
use model::WebWorkload;

use super::draft::{Draft, take_defined};
use super::page::{PageUrl, is_url, read_pages};
use super::request::{DATA_VARIABLE, RequestParts, UrlBody};
use super::survey::{ReplyCheck, SurveyedPage};
use crate::access::{ConnectToArgument, apply, flags_text, take_host};
use crate::arguments::RunArguments;
use crate::benchmark::{Chosen, DefinitionFile, from_file};
use crate::exit::Failure;
use crate::stderr::eprint;
use crate::{files, interrupt, secrets, trust};

/// The name of the definition in messages if it is not saved.
const UNSAVED: &str = "url.toml";

/// Returns whether a run is of URLs.
pub(crate) fn is_asked(arguments: &RunArguments) -> bool {
    arguments.url.urls.is_some() || arguments.plan.subjects.iter().any(|word| is_url(word))
}

/// Makes the benchmark of URLs, after the server has answered each of them; arguments that became part of its
/// definition are taken out of `arguments`, and the server is its target.
///
/// # Errors
/// A URL or flag is not valid, or the server does not answer as pages are to be measured.
pub(crate) fn make(arguments: &mut RunArguments) -> Result<Chosen, Failure> {
    check_flags(arguments)?;
    let pages = read_pages(&arguments.plan.subjects, arguments.url.urls.as_deref())?;
    let pages = counted(pages);
    let target = target_of(arguments, &pages[0].0.target)?;
    let parts = RequestParts::of(&arguments.url)?;
    let mut reached = target.clone();
    apply(&mut reached, &arguments.sut)?;
    check_address(&reached)?;
    let trust = trust::of_target(&arguments.sut, &reached)?;
    let path = arguments.url.save_definition.clone().unwrap_or_else(|| UNSAVED.into());
    check_unused(arguments.url.save_definition.as_deref())?;
    let folder = path.parent().unwrap_or(Path::new("")).to_owned();
    let draft =
        Draft { target: &target, pages: &pages, parts: &parts, plan: &arguments.plan, folder: &folder };
    let data = match &parts.body {
        Some(UrlBody::Data(text)) => Some((DATA_VARIABLE.to_owned(), text.clone())),
        _ => None,
    };
    let provisional = chosen(&path, draft.text(&[]), data.clone())?;
    let checks = surveyed(arguments, &draft, &provisional, &reached, &trust)?;
    let made = chosen(&path, draft.text(&checks), data)?;
    if let Some(path) = &arguments.url.save_definition {
        save(path, &made, &flags_text(&arguments.sut))?;
    }
    take_defined(&mut arguments.plan);
    arguments.sut.target = Some(target.to_string());
    Ok(made)
}

/// Returns the server of URLs, by the name of a `Host` field if there is one. The field then becomes an argument of the run,
/// which says that connections for that name go to the URL's place.
fn target_of(arguments: &mut RunArguments, url: &Target) -> Result<Target, Failure> {
    let Some(named) = take_host(&mut arguments.url.headers, url)? else { return Ok(url.clone()) };
    let place = |target: &Target| (Some(target.host.clone()), Some(target.port));
    match url.socket() {
        Some(socket) => {
            apply(&mut url.clone(), &arguments.sut)?;
            arguments.sut.unix_socket = Some(socket.to_owned());
        }
        None if place(&named) != place(url) => {
            let place = ConnectToArgument { from: place(&named), to: place(url) };
            arguments.sut.connect_to.insert(0, place);
        }
        None => {}
    }
    Ok(Target { access: Access::default(), ..named })
}

/// Refuses flags that contradict URLs.
fn check_flags(arguments: &RunArguments) -> Result<(), Failure> {
    let (plan, sut) = (&arguments.plan, &arguments.sut);
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

/// Makes a benchmark from the text of its definition.
fn chosen(path: &Path, text: String, data: Option<(String, String)>) -> Result<Chosen, Failure> {
    let source = DefinitionFile { path: path.to_owned(), text };
    let benchmark: Benchmark = from_file(&source)?;
    let name = path.display().to_string();
    Ok(Chosen { benchmark, name, source: Some(source), given: data })
}

/// Fetches every page and returns the checks that follow.
fn surveyed(
    arguments: &RunArguments,
    draft: &Draft<'_>,
    provisional: &Chosen,
    target: &Target,
    trust: &Trust,
) -> Result<Vec<ReplyCheck>, Failure> {
    let workload: &WebWorkload =
        provisional.benchmark.workload.web().ok_or_else(|| Failure::usage("expected a web workload"))?;
    let secrets = secrets::read(provisional, false)?;
    let request = SurveyRequest {
        target,
        trust,
        workload,
        secrets: &secrets,
        source_addresses: &arguments.sut.source_addresses,
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
            comparison: arguments.url.check,
            replies,
        };
        let check = surveyed.check()?;
        eprint(foreign_text(&format!("{}: {}", draft.name(index), described(&check))));
        checks.push(check);
    }
    Ok(checks)
}

/// Returns a sentence about what is checked of a page.
fn described(check: &ReplyCheck) -> String {
    let ReplyCheck { status, reply, reason } = check;
    let rest = match reply.as_str() {
        "\"seen\"" => "every body is compared with the first, until the page changes.",
        "\"same\"" => "every body is compared with the first.",
        "\"empty\"" => "the status is checked.",
        "\"any\"" => "only the status is checked.",
        _ if reply.starts_with("{ length") => "status and length are checked.",
        _ => "status and content type are checked, bodies are not compared.",
    };
    format!("status {status}; {reason}: {rest}")
}

fn check_unused(path: Option<&Path>) -> Result<(), Failure> {
    match path.filter(|path| path.exists()) {
        Some(path) => Err(Failure::usage(format!("`{}` exists already", path.display()))
            .hint("choose another path with `--save-definition`, or run the definition in it")),
        None => Ok(()),
    }
}

fn save(path: &Path, made: &Chosen, flags: &str) -> Result<(), Failure> {
    let text = made.source.as_ref().map_or("", |source| &source.text);
    files::write(path, text)?;
    eprint(format!("Saved the definition: `plimsoll run {}{flags}` runs it again.", path.display()));
    if let Some((name, _)) = &made.given {
        eprint(format!(
            "It reads the data of `-d`, which is not stored, from the environment variable `{name}`."
        ));
    }
    Ok(())
}
