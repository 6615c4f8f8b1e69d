//! `run`: runs a benchmark and writes its report.

use std::io::stdout;
use std::path::{Path, PathBuf};

use analysis::compare::{MismatchPolicy, RunInput, compare};
use disclosure::CampaignRun;
use drivers::Trust;
use fleet::{Monitoring, RunRequest, UrlEncryption};
use model::{Notes, Plan, ReplyBody, Request, Secrets};
use observe::{CheckState, examine};
use runfile::Writer;
use serde_json::json;
use testbed::probe_quota;
use units::{Nanos, wall};

use super::candidate_plan::{candidate_plan, cpu_quota, share_least_quota};
use super::{doctor, export, in_flight, inventory, load_threads, print, print_json, think_time};
use crate::access;
use crate::announcement::{announce, announcement};
use crate::arguments::{MonitorArgument, RunArguments};
use crate::benchmark::Chosen;
use crate::candidates::{Candidate, ChosenServer, candidates, differ_in_settings, file_name};
use crate::exit::{Exit, Failure};
use crate::files;
use crate::interrupt;
use crate::observers::{Observers, check_observers, watched_here, watched_on};
use crate::outcome;
use crate::paths;
use crate::preflight;
use crate::prices;
use crate::progress::length;
use crate::results::Results;
use crate::secrets;
use crate::settings::{SettingCombination, combinations, filelist};
use crate::side_by_side::{full_comparison, print_comparison};
use crate::stderr::{eprint, warn};
use crate::subject;
use crate::trust;
use crate::wrap::terminal_width;

/// Time under load from which a run is announced as long.
const LONG: Nanos = Nanos::from_secs(600);

/// Runs a benchmark and writes its report.
pub(super) fn perform(mut arguments: Box<RunArguments>, as_json: bool) -> Result<Exit, Failure> {
    let chosen = subject::choose(&mut arguments)?;
    perform_chosen(&mut arguments, &chosen, as_json)
}

fn perform_chosen(arguments: &mut RunArguments, chosen: &Chosen, as_json: bool) -> Result<Exit, Failure> {
    // Mistakes in them are reported before hours are spent.
    let notes = inventory::notes(arguments.disclosure.notes.as_deref())?;
    let notes = prices::read_into(arguments.price.as_deref(), notes)?;
    let family = chosen.benchmark.definition.family();
    let settings = combinations(&arguments.plan.settings(), family)?;
    let mut candidates =
        candidates(&arguments.sut, &settings, family, has_dynamic_pages(chosen, &settings)?)?;
    if !arguments.dry_run
        && let Some(password) = secrets::database_password(chosen)?
    {
        candidates.iter_mut().for_each(|candidate| candidate.take_password(&password));
    }
    let is_any_accepted = |one: &Candidate| one.url_encryption() == UrlEncryption::Unverified;
    arguments.sut.insecure |= arguments.sut.ca.is_none() && candidates.iter().any(is_any_accepted);
    // All servers are checked before anything is measured, even for a calibration.
    let mut checked = Vec::new();
    for candidate in &candidates {
        let plan = candidate_plan(arguments, chosen, candidate, 1)?;
        preflight::check(arguments, candidate, &plan)?;
        checked.push(plan);
    }
    check_files_dir(arguments, &candidates)?;
    preflight::check_output_path(arguments.out.as_deref())?;
    if !arguments.dry_run {
        announce_long(preflight::load_time(&checked));
    }
    let mut quotas = Vec::new();
    for (plan, candidate) in checked.iter().zip(&candidates) {
        quotas.push(cpu_quota(arguments, candidate, plan)?);
    }
    if differ_in_settings(&candidates) {
        share_least_quota(&mut quotas);
    }
    let mut plans = Vec::new();
    for (plan, quota) in checked.into_iter().zip(quotas) {
        plans.push(plan.with_quota(quota).map_err(|problem| vec![problem])?);
    }
    let secrets = secrets::read(chosen, filelist(&candidates[0].settings).is_some())?;
    check_observers(&arguments.metrics, &arguments.monitor, &arguments.watch)?;
    let is_encrypted = plans.iter().any(|plan| plan.workload.is_encrypted());
    let trust = trust_in(arguments, &candidates, is_encrypted)?;
    if arguments.dry_run {
        return dry_run(&plans, &candidates, as_json);
    }
    let context = RunContext { chosen, notes: &notes, secrets: &secrets, trust: &trust };
    let plans = in_flight::fitted(arguments, &candidates, plans, &context)?;
    let plans = think_time::with_think_time(arguments, &mut candidates, plans, &context)?;
    let plans = load_threads::with_load_threads(arguments, &candidates, plans, &context)?;
    let files = run_files(arguments, &plans[0], &candidates)?;
    announce(&plans, &candidates);
    plans.iter().for_each(warn_about_machine);
    if let Some(junit) = &arguments.junit {
        // Replaces an older file, which must not be mistaken for this run's, and reports mistakes before hours are spent.
        export::write_junit(junit, std::iter::empty())?;
    }
    let failures = run(arguments, &candidates, plans, &files, &context)?;
    let output = OutputOptions { junit: arguments.junit.as_deref(), as_json };
    match (candidates.as_slice(), files.as_slice()) {
        ([_], [file]) => finish_one(file, failures.into_iter().next().flatten(), &output),
        _ => finish_several(&candidates, &files, failures, &output),
    }
}

/// Returns the certificates that are accepted from a target. Servers that Plimsoll starts use its own certificates.
fn trust_in(
    arguments: &RunArguments,
    candidates: &[Candidate],
    is_encrypted: bool,
) -> Result<Trust, Failure> {
    match candidates {
        [Candidate { server: ChosenServer::External(server), .. }, ..] => {
            trust::of_server(&arguments.sut, server, is_encrypted)
        }
        _ if let Some(flag) = access::first_given(&arguments.sut) => {
            Err(Failure::usage(format!("`{flag}` applies to a server that is already running"))
                .hint("name it by a URL or by `--target http://HOST/`"))
        }
        _ if arguments.sut.insecure || arguments.sut.ca.is_some() => {
            Err(Failure::usage("`--ca` and `--insecure` apply to a server that is already running")
                .hint("name it by a URL or by `--target https://HOST/`"))
        }
        _ => Ok(Trust::Any),
    }
}

/// Returns whether programs generate pages of the workload, with any of the settings.
fn has_dynamic_pages(chosen: &Chosen, settings: &[SettingCombination]) -> Result<bool, Failure> {
    let is_generated = |request: &Request| matches!(request.reply, ReplyBody::Letters { .. });
    for one in settings {
        let workload = chosen.workload(&one.settings)?;
        if workload.web().is_some_and(|web| web.requests.iter().any(is_generated)) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Prints the plan without running it.
fn dry_run(plans: &[Plan], candidates: &[Candidate], as_json: bool) -> Result<Exit, Failure> {
    let seconds = preflight::load_time(plans).as_secs_f64();
    let named =
        || plans.iter().zip(candidates).map(|(plan, one)| json!({ "server": one.label, "plan": plan }));
    match (as_json, plans) {
        (true, [plan]) => print_json(
            &json!({ "format": 1, "server": candidates[0].label, "load_s": seconds, "plan": plan }),
        )?,
        (true, _) => {
            print_json(&json!({ "format": 1, "load_s": seconds, "plans": named().collect::<Vec<_>>() }))?;
        }
        (false, _) => print(&announcement(plans, candidates))?,
    }
    Ok(Exit::Valid)
}

/// Returns the paths of the run files: one file, or a directory with one file per server.
fn run_files(
    arguments: &RunArguments,
    plan: &Plan,
    candidates: &[Candidate],
) -> Result<Vec<PathBuf>, Failure> {
    if let [_] = candidates {
        return Ok(vec![run_file(arguments, plan)?]);
    }
    let folder = arguments.out.clone().unwrap_or_else(|| paths::campaign(&plan.benchmark.id, wall()));
    make_folder(&folder)?;
    let files: Vec<PathBuf> = candidates.iter().map(|candidate| folder.join(file_name(candidate))).collect();
    files.iter().try_for_each(|path| Writer::check_unused(path))?;
    Ok(files)
}

fn run_file(arguments: &RunArguments, plan: &Plan) -> Result<PathBuf, Failure> {
    let path = arguments.out.clone().unwrap_or_else(|| paths::run_file(&plan.benchmark.id, wall()));
    if path.extension().is_none_or(|extension| extension != "plim") {
        // The report has the same name with another extension.
        let named = if path.is_dir() { path.join("run.plim") } else { path.with_added_extension("plim") };
        let error = format!("expected a run file name that ends in `.plim`, found `{}`", path.display());
        return Err(Failure::usage(error).hint(format!("write `--out {}`", named.display())));
    }
    Writer::check_unused(&path)?;
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        make_folder(folder)?;
    }
    Ok(path)
}

fn make_folder(folder: &Path) -> Result<(), Failure> {
    std::fs::create_dir_all(folder).map_err(|error| {
        let error = format!("cannot create the directory `{}`: {error}", folder.display());
        Failure::usage(error).hint("choose another path with `--out`")
    })
}

/// Announces the duration of a long run.
fn announce_long(time: Nanos) {
    if LONG < time {
        eprint(format!(
            "This takes about {}. Press Ctrl-C to stop and keep the records so far.\n",
            length(time)
        ));
    }
}

/// Prints the failed checks of `doctor` for this plan as warnings.
fn warn_about_machine(plan: &Plan) {
    units::raise_open_files();
    let input = doctor::input(plan, plan.sut.name != "external", None);
    for check in examine(&input, probe_quota()).iter().filter(|check| check.state == CheckState::Bad) {
        warn(format!("{}: {}", check.name, check.found));
        eprint(format!("hint: {}", check.advice));
    }
}

/// The data that all runs share besides their plans.
pub(super) struct RunContext<'a> {
    /// The benchmark.
    pub chosen: &'a Chosen,
    /// The operator's notes.
    pub notes: &'a Notes,
    /// Values that the definition names and does not hold.
    pub secrets: &'a Secrets,
    /// The certificates that are accepted.
    pub trust: &'a Trust,
}

/// Runs all plans, interleaved. Returns the failure of each, if any.
fn run(
    arguments: &RunArguments,
    candidates: &[Candidate],
    plans: Vec<Plan>,
    files: &[PathBuf],
    context: &RunContext<'_>,
) -> Result<Vec<Option<Failure>>, Failure> {
    let labels: Vec<String> = candidates.iter().map(|candidate| candidate.label.clone()).collect();
    let mut observers = Observers::new(&plans, &labels, &arguments.metrics, arguments.display.kind())?;
    let mut requests = Vec::new();
    for ((plan, candidate), run_file) in plans.into_iter().zip(candidates).zip(files) {
        requests.push(RunRequest {
            server: candidate.server(&context.chosen.name, &plan, context.trust)?,
            secrets: context.secrets.clone(),
            run_file,
            program: paths::program(),
            command_line: paths::command_line(arguments.url.data.as_deref()),
            work_dir: work_dir(candidate)?,
            data_dir: data_dir(candidate)?,
            files_dir: files_dir(arguments, candidates, candidate, &plan)?,
            search_path: paths::search_path(),
            executable: std::env::current_exe()?,
            monitoring: monitoring(arguments),
            notes: context.notes.clone(),
            disclose_identity: arguments.disclosure.disclose_identity,
            plan,
        });
    }
    let results = fleet::run(&requests, &mut observers, &interrupt::flag());
    observers.end();
    let is_own = context.chosen.source.is_some();
    Ok(results.into_iter().map(|result| result.err().map(|error| Failure::of_run(error, is_own))).collect())
}

fn monitoring(arguments: &RunArguments) -> Monitoring {
    let asked = &arguments.monitor;
    if asked.contains(&MonitorArgument::Off) {
        return Monitoring::Off;
    }
    let source = |argument: &MonitorArgument| match argument {
        MonitorArgument::Off => None,
        MonitorArgument::Source(source) => Some((source.clone(), watched_on(source, &arguments.watch))),
    };
    Monitoring::On {
        others: asked.iter().filter_map(source).collect(),
        watched: watched_here(&arguments.watch),
    }
}

/// Returns the directory for work directories; creates it if a server is to be started.
fn work_dir(candidate: &Candidate) -> Result<PathBuf, Failure> {
    match candidate.is_started() {
        true => paths::make_private(&paths::work_dir()),
        false => Ok(paths::work_dir()),
    }
}

/// Returns the directory for the data of servers; creates it if a server of a recipe is to be started.
fn data_dir(candidate: &Candidate) -> Result<PathBuf, Failure> {
    match candidate.server {
        ChosenServer::Recipe(_) => paths::make_private(&paths::persistent_dir()),
        ChosenServer::BuiltIn | ChosenServer::Embedded | ChosenServer::External(_) => {
            Ok(paths::persistent_dir())
        }
    }
}

/// Returns the filelists that the servers are loaded with, each once: `None` is the benchmark's own.
fn filelists(candidates: &[Candidate]) -> Vec<Option<&str>> {
    let mut all: Vec<Option<&str>> = candidates.iter().map(|one| filelist(&one.settings)).collect();
    all.sort_unstable();
    all.dedup();
    all
}

/// Refuses one directory for several file sets.
fn check_files_dir(arguments: &RunArguments, candidates: &[Candidate]) -> Result<(), Failure> {
    match arguments.sut.files.is_some() && 1 < filelists(candidates).len() {
        true => Err(Failure::usage("`--files` names one directory, but each filelist needs its own")
            .hint("omit `--files`, or run one filelist")),
        false => Ok(()),
    }
}

/// Returns the directory of the file set, as an absolute path, because servers run in another working directory.
/// Filelists that are compared have a directory each.
fn files_dir(
    arguments: &RunArguments,
    candidates: &[Candidate],
    candidate: &Candidate,
    plan: &Plan,
) -> Result<PathBuf, Failure> {
    if let Some(path) = &arguments.sut.files {
        return Ok(std::path::absolute(path)?);
    }
    if matches!(candidate.server, ChosenServer::Recipe(_)) {
        paths::make_private(&paths::persistent_dir())?;
    }
    let id = &plan.benchmark.id;
    let own = filelist(&candidate.settings);
    Ok(match filelists(candidates).iter().position(|one| *one == own) {
        None | Some(0) => paths::files_dir(id),
        Some(index) => paths::files_dir(&format!("{id}@{}", index + 1)),
    })
}

/// The requested output of the results.
struct OutputOptions<'a> {
    /// Path of the JUnit XML file with verdict and limits.
    junit: Option<&'a Path>,
    as_json: bool,
}

/// Prints the results of a single run.
fn finish_one(run_file: &Path, failure: Option<Failure>, output: &OutputOptions) -> Result<Exit, Failure> {
    if !run_file.exists() {
        // It failed before there was anything to record.
        return failure.map_or(Ok(Exit::Internal), Err);
    }
    let results = Results::read_ended(run_file, failure.as_ref().map(Failure::message))?;
    let written = write_report(run_file, &results);
    if output.as_json {
        print_json(&value(run_file, &results, written))?;
    } else {
        print(&format!("\n{}\n", results.text()))?;
        if let Some(html) = written {
            print(&format!("report  {}", html.display()))?;
        }
        print(&run_file.display().to_string())?;
    }
    if let Some(junit) = output.junit {
        export::write_junit(junit, std::iter::once(&results))?;
    }
    failure.map_or_else(|| Ok(outcome::exit(&results.plan, &results.analysis)), Err)
}

/// Prints the results of interleaved runs: the verdict of each, then the comparison. The exit code is that of the first
/// run that is not valid.
fn finish_several(
    candidates: &[Candidate],
    files: &[PathBuf],
    failures: Vec<Option<Failure>>,
    output: &OutputOptions,
) -> Result<Exit, Failure> {
    let mut exits = Vec::new();
    let mut read = Vec::new();
    for ((candidate, file), failure) in candidates.iter().zip(files).zip(failures) {
        let why = failure.as_ref().map(|failure| failure.message().to_owned());
        if let Some(failure) = failure {
            eprint(format!("\n{}:", candidate.label));
            exits.push(failure.report());
        }
        if file.exists() {
            let results = Results::read_ended(file, why.as_deref())?;
            let written = write_report(file, &results);
            exits.push(outcome::exit(&results.plan, &results.analysis));
            read.push((candidate, file, results, written));
        }
    }
    let runs: Vec<CampaignRun> = read
        .iter()
        .map(|(candidate, _, results, _)| results.campaign_run(&candidate.label, &candidate.title))
        .collect();
    let compared: Vec<RunInput> = runs.iter().map(CampaignRun::compared).collect();
    let refused = |error| warn(disclosure::compare_error_text(&error));
    let comparison = match compared.len() {
        0 | 1 => None,
        // With settings in turn, the plans differ as they are meant to.
        _ if differ_in_settings(candidates) => {
            compare(&compared, MismatchPolicy::Allow).map_err(refused).ok()
        }
        _ => compare(&compared, MismatchPolicy::Refuse).map_err(refused).ok(),
    };
    if output.as_json {
        let runs = read.iter().map(|(_, file, results, written)| value(file, results, written.clone()));
        let side_by_side =
            comparison.as_ref().map(|comparison| disclosure::render::comparison_json(comparison, &[]));
        print_json(&json!({ "format": 1, "runs": runs.collect::<Vec<_>>(), "comparison": side_by_side }))?;
    } else {
        for (candidate, _, results, _) in &read {
            print(&format!("\n{}\n{}", candidate.label, results.verdict_text(terminal_width(stdout()))))?;
        }
    }
    if let Some(comparison) = comparison {
        let html = files[0].with_file_name("comparison.html");
        let is_written =
            files::write(&html, disclosure::render::html(&full_comparison(&comparison, &[], &runs)))
                .map_err(|failure| {
                    warn(failure.message());
                    let folder = html.parent().unwrap_or(Path::new(".")).display();
                    eprint(format!(
                        "hint: `plimsoll compare {folder} --html FILE` writes it to another path"
                    ));
                })
                .is_ok();
        if !output.as_json {
            print_comparison(&comparison)?;
            if is_written {
                print(&format!("\nreport  {}", html.display()))?;
            }
        }
    }
    if !output.as_json {
        for file in files.iter().filter(|file| file.exists()) {
            print(&file.display().to_string())?;
        }
    }
    if let Some(junit) = output.junit {
        export::write_junit(junit, read.iter().map(|(_, _, results, _)| results))?;
    }
    Ok(exits.into_iter().find(|exit| *exit != Exit::Valid).unwrap_or(Exit::Valid))
}

fn value(run_file: &Path, results: &Results, report: Option<PathBuf>) -> serde_json::Value {
    let mut value = results.json();
    value["files"] = json!({ "run": run_file, "report": report });
    value
}

/// Writes the report of a run next to its file; returns its path, or `None` with a warning if it cannot be written.
fn write_report(run_file: &Path, results: &Results) -> Option<PathBuf> {
    let html = run_file.with_extension("html");
    // Not fatal: the run is recorded, and its report can be written later.
    let written = files::write(&html, results.html()).map_err(|failure| {
        warn(failure.message());
        eprint(format!(
            "hint: `plimsoll report {} --out FILE` writes it to another path",
            run_file.display()
        ));
    });
    written.ok().map(|()| html)
}
