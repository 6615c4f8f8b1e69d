//! The benchmark of URLs or commands: read, surveyed, defined, and saved if asked for.

use std::cell::RefCell;
use std::path::Path;
use std::rc::Rc;

use drivers::web::{Target, TargetAccess};
use drivers::{TargetPolicy, Trust};
use fleet::{FleetError, SurveyRequest};
use languages::foreign_text;
use model::{Overrides, WebWorkload};

use super::curl::{self, CurlSubject};
use super::draft::{DefinitionDraft, DraftRequest};
use super::held::HeldValues;
use super::page::{PageUrl, read_pages};
use super::request::{RequestParts, UrlBody};
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

/// Returns whether a run is of URLs, or of command lines of cURL.
pub(crate) fn is_asked(subjects: &[String], url: &UrlArguments) -> bool {
    url.curl.is_some() || url.urls.is_some() || subjects.iter().any(|word| is_url(word))
}

/// Makes the benchmark of URLs, after the server has answered each of them. What became part of its definition is no
/// deviation from it; the server is its target.
///
/// # Errors
/// A URL, a command or a flag is not valid, or the server does not answer as pages are to be measured.
pub(crate) fn make(plan: PlanArguments, url: UrlArguments, sut: SutArguments) -> Result<Subject, Failure> {
    make_checked(plan, url, sut).map(|made| made.subject)
}

/// The benchmark of URLs, with the checks of its pages.
pub(super) struct MadeSubject {
    pub subject: Subject,
    pub checks: Vec<ReplyCheck>,
}

/// Makes the benchmark of URLs as [`make`] does.
pub(super) fn make_checked(
    mut plan: PlanArguments,
    url: UrlArguments,
    sut: SutArguments,
) -> Result<MadeSubject, Failure> {
    check_flags(&plan, &url, &sut)?;
    let overrides = plan.overrides()?;
    let mut held = HeldValues::default();
    let AskedRequests { requests, order, server } = match &url.curl {
        Some(path) => {
            let subject = curl::read(path, &mut held)?;
            plan.protocol.http = plan.protocol.http.or(subject.connection.http.map(str::to_owned));
            of_commands(subject, url, sut)?
        }
        None => of_urls(&plan.subjects, url, sut)?,
    };
    let NamedServer { target, url, sut } = server;
    let mut reached = target.clone();
    apply(&mut reached, &sut)?;
    check_address(&reached)?;
    let trust = trust::of_target(&sut, &reached)?;
    let saved = url.save_definition.as_deref();
    check_unused(saved)?;
    let folder = saved.and_then(Path::parent).unwrap_or(Path::new(""));
    let draft = DefinitionDraft {
        target: &target,
        requests: &requests,
        order: &order,
        course: &overrides,
        protocol: &plan.protocol,
        folder,
    };
    for request in &requests {
        if let Some(UrlBody::Given { variable, text }) = &request.parts.body {
            held.insert(variable, text);
        }
    }
    let given = held.into_values();
    let name = saved.map_or_else(|| draft.title(), |path| path.display().to_string());
    let chosen = |checks: &[ReplyCheck]| -> Result<ChosenBenchmark, Failure> {
        Ok(ChosenBenchmark {
            benchmark: draft.benchmark(checks)?,
            name: name.clone(),
            source: DefinitionSource::Urls(folder.to_owned()),
            given: given.clone(),
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
    let subject = Subject {
        chosen: made,
        others: Vec::new(),
        overrides: beyond_definition(overrides),
        settings: plan.settings_beside_protocol(),
        sut: SutArguments { target: vec![target.to_string()], ..sut },
    };
    Ok(MadeSubject { subject, checks })
}

/// What is requested, and of which server.
struct AskedRequests {
    /// The kinds of requests, all different.
    requests: Vec<DraftRequest>,
    /// The order in which each user makes them; empty for any.
    order: Vec<usize>,
    /// The server.
    server: NamedServer,
}

/// Returns the requests of URLs, which have all but the page in common.
fn of_urls(subjects: &[String], url: UrlArguments, sut: SutArguments) -> Result<AskedRequests, Failure> {
    let pages = counted(read_pages(subjects, url.urls.as_deref())?);
    let server = named_server(&pages[0].0.target, url, sut)?;
    let parts = Rc::new(RequestParts::of(&server.url)?);
    let request = |(page, weight)| DraftRequest { page, parts: Rc::clone(&parts), weight };
    Ok(AskedRequests { requests: pages.into_iter().map(request).collect(), order: Vec::new(), server })
}

/// Returns the requests of command lines, and says what is not taken of them. One request has no order.
fn of_commands(
    subject: CurlSubject,
    url: UrlArguments,
    mut sut: SutArguments,
) -> Result<AskedRequests, Failure> {
    let CurlSubject { requests, order, hosts, connection, notes } = subject;
    notes.iter().for_each(eprint);
    CurlSubject::connect(connection, &mut sut)?;
    let order = if requests.len() == 1 { Vec::new() } else { order };
    let at = requests[0].page.target.clone();
    let server = named_server(&at, UrlArguments { headers: hosts, ..url }, sut)?;
    Ok(AskedRequests { requests, order, server })
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

/// Returns what of the overrides is no part of the definition that is made: load and phases are. Limits that end the load are
/// part of its shape, and refused where there is none.
fn beyond_definition(overrides: Overrides) -> Overrides {
    let Overrides { quick, max_load, find_max, operations, total, limits, until, seed, sut, .. } = overrides;
    let beyond = Overrides {
        quick,
        max_load,
        find_max,
        operations,
        total,
        limits,
        until,
        seed,
        ..Overrides::new(sut)
    };
    let Overrides { ramp_up, settle, steady, drain, .. } = overrides;
    match operations {
        None => beyond,
        // Planning knows from them which phases were asked for.
        Some(_) => Overrides { ramp_up, settle, steady, drain, ..beyond },
    }
}

/// Refuses flags that contradict URLs, or commands.
fn check_flags(plan: &PlanArguments, url: &UrlArguments, sut: &SutArguments) -> Result<(), Failure> {
    if let Some(found) = url.beside_curl().or((!plan.subjects.is_empty()).then_some("URL"))
        && url.curl.is_some()
    {
        let error = format!("`{found}` cannot be used with `--curl`");
        return Err(Failure::usage(error)
            .hint("a command has its own URL, method, header fields and body: change it there"));
    }
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
    if url.save_definition.is_some() && plan.overrides.operations.is_some() {
        let error = "a definition has no number of operations: `-n` belongs to a run";
        return Err(
            Failure::usage(error).hint("save the definition without it: `plimsoll run FILE -n N` adds it")
        );
    }
    let contradicting = [
        (!sut.target.is_empty(), "--target"),
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
        for (index, (request, replies)) in draft.requests.iter().zip(&replies).enumerate() {
            let surveyed = SurveyedPage {
                target: draft.target,
                page: &request.page,
                parts: &request.parts,
                secrets: &secrets,
                comparison: self.url.check,
                replies,
            };
            let check = surveyed.check()?;
            let ReplyCheck { status, reply, reason, .. } = &check;
            // The pages of servers that are compared can have the same name.
            let name = if self.url.compare { draft.title() } else { draft.name(index) };
            let text = format!("{name}: status {status}; {reason}: {}", reply.described());
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
    let names: Vec<String> = made.given.keys().map(|name| format!("`{name}`")).collect();
    if !names.is_empty() {
        let names = names.join(", ");
        eprint(format!("It reads what is not stored from environment variables: {names}"));
    }
    Ok(())
}
