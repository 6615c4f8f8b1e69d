//! `run`: runs a benchmark and writes its report.

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

use analysis::compare::{Comparison, ServerAnswer};
use drivers::Trust;
use fleet::{RunRequest, TurnOrder};
use model::Secrets;
use observe::{CheckState, examine};
use runfile::Writer;
use serde_json::json;
use testbed::probe_quota;
use units::{Nanos, Ratio, RealClock, wall};

use super::finish::{OutputOptions, compare_so_far, finish_one, finish_several};
use super::planner::Planner;
use super::run_spec::RunSpec;
use super::{export, in_flight, load_threads, print, print_json, think_time};
use crate::access;
use crate::announcement::{announce, announcement, servers};
use crate::arguments::RunArguments;
use crate::candidate::{Candidate, ChosenServer};
use crate::exit::{Exit, Failure};
use crate::family::command_line;
use crate::interrupt;
use crate::observers::Observers;
use crate::paths;
use crate::planned_run::{PlannedRun, TrialFindings};
use crate::preflight;
use crate::progress::length;
use crate::requirements::requirements;
use crate::running_servers;
use crate::secrets;
use crate::settings::filelist;
use crate::stderr::{eprint, warn};
use crate::trust;

/// Time under load from which a run is announced as long.
const LONG: Nanos = Nanos::from_secs(600);

/// Runs a benchmark and writes its report.
pub(super) fn perform(arguments: RunArguments, as_json: bool) -> Result<Exit, Failure> {
    let clock = RealClock::start();
    let spec = RunSpec::resolve(arguments)?;
    let mut candidates = spec.candidates()?;
    check_bounds(&spec, &candidates)?;
    running_servers::check_operations(spec.overrides.operations, &candidates)?;
    let shared = running_servers::check_different(&candidates)?;
    if !spec.dry_run {
        give_secrets(&mut candidates, &spec)?;
        running_servers::check_answering(&candidates)?;
    }
    shared.into_iter().for_each(warn);
    let spec = spec.with_certificates_of(&candidates).with_agents_for(&candidates)?;
    let planner = Planner::new(&spec, candidates.len());
    let mut runs = planned(&planner, candidates)?;
    check_files_dir(&spec, &runs)?;
    preflight::check_output_path(spec.out.as_deref())?;
    let n_certain = n_certain(&spec, &runs);
    if !spec.dry_run {
        announce_long(&runs, n_certain);
    }
    planner.set_quotas(&mut runs)?;
    let has_filelist = filelist(&runs[0].candidate.settings).is_some();
    let read = spec.all_chosen().map(|chosen| secrets::read(chosen, has_filelist));
    let secrets = read.collect::<Result<Vec<Secrets>, Failure>>()?;
    let trust = trust_in(&spec, &runs)?;
    if spec.dry_run {
        return dry_run(&runs, n_certain, as_json);
    }
    let context = RunContext { planner: &planner, secrets: &secrets, trust: &trust, clock };
    in_flight::fit(&mut runs, &context)?;
    think_time::choose(&mut runs, &context)?;
    load_threads::choose(&mut runs, &context)?;
    make_folders(&runs)?;
    announce(&runs, n_certain);
    warn_about_machine(&runs);
    if let Some(junit) = &spec.junit {
        // Replaces an older file, which must not be mistaken for this run's, and reports mistakes before hours are spent.
        export::write_junit(junit, std::iter::empty())?;
    }
    let failures = run_until_settled(&runs, n_certain, &context)?;
    let output = OutputOptions {
        junit: spec.junit.as_deref(),
        as_json,
        bounds: &spec.bounds,
        is_strict: spec.is_strict,
    };
    match runs.as_slice() {
        [only] => finish_one(&only.file, failures.into_iter().next().flatten(), &output),
        _ => finish_several(&runs, failures, &output),
    }
}

/// Gives targets the secrets that the definition has a source for.
fn give_secrets(candidates: &mut [Candidate], spec: &RunSpec) -> Result<(), Failure> {
    for candidate in candidates {
        let definition = &spec.chosen_for(candidate).benchmark.definition;
        let take = command_line(definition.family()).take_secrets;
        if let ChosenServer::External(server) = &mut candidate.server {
            take(server, &definition.workload)?;
        }
    }
    Ok(())
}

/// Refuses bounds where nothing is compared.
fn check_bounds(spec: &RunSpec, candidates: &[Candidate]) -> Result<(), Failure> {
    let is_one = candidates.iter().all(|one| one.title == candidates[0].title);
    if spec.bounds.is_empty() || !is_one {
        return Ok(());
    }
    Err(Failure::usage(
        "`--fail-if` sets bounds for the changes of a comparison, but this run has one server",
    )
    .hint(
        "`--limit 'p99<50ms'` sets limits for a run; `plimsoll compare RUN RUN --fail-if` compares two runs",
    ))
}

/// Plans the run of each server, as yet without a quota and without trials. All servers are checked before anything is
/// measured, even for a calibration.
fn planned(planner: &Planner<'_>, candidates: Vec<Candidate>) -> Result<Vec<PlannedRun>, Failure> {
    let spec = planner.spec;
    let found = TrialFindings::default();
    let mut plans = Vec::new();
    for candidate in &candidates {
        let plan = planner.plan(candidate, &found)?;
        spec.agents.check_users(&plan)?;
        preflight::check(&spec.sut, candidate, &plan)?;
        plans.push(plan);
    }
    let files = run_files(spec, &candidates)?;
    let runs = candidates.into_iter().zip(plans).zip(files);
    Ok(runs
        .map(|((candidate, plan), file)| PlannedRun { candidate, found: found.clone(), plan, file })
        .collect())
}

/// Returns the certificates that are accepted from a target. Servers that Plimsoll starts use its own certificates.
fn trust_in(spec: &RunSpec, runs: &[PlannedRun]) -> Result<Trust, Failure> {
    let sut = &spec.sut;
    match &runs[0].candidate.server {
        ChosenServer::External(server) => {
            let is_encrypted = |run: &PlannedRun| {
                let own = command_line(run.plan.workload.family());
                (own.is_encrypted)(server, &run.plan)
            };
            trust::of_server(sut, runs.iter().any(is_encrypted))
        }
        _ if let Some(flag) = access::first_given(sut) => {
            Err(Failure::usage(format!("`{flag}` applies to a server that is already running"))
                .hint("name it by a URL or by `--target http://HOST/`"))
        }
        _ if sut.insecure || sut.ca.is_some() => {
            Err(Failure::usage("`--ca` and `--insecure` apply to a server that is already running")
                .hint("name it by a URL or by `--target https://HOST/`"))
        }
        _ => Ok(Trust::Any),
    }
}

/// Prints the plan without running it.
fn dry_run(runs: &[PlannedRun], n_certain: usize, as_json: bool) -> Result<Exit, Failure> {
    let most = preflight::load_time(runs).as_secs_f64();
    let least = preflight::load_time_least(&runs[..n_certain]).as_secs_f64();
    let named = || runs.iter().map(|run| json!({ "server": run.candidate.label, "plan": run.plan }));
    match (as_json, runs) {
        (true, [PlannedRun { candidate, plan, .. }]) => {
            let server = &candidate.label;
            print_json(&json!({
                "format": 1,
                "server": server,
                "load_s": most,
                "load_least_s": least,
                "plan": plan,
            }))?;
        }
        (true, _) => print_json(&json!({
            "format": 1,
            "load_s": most,
            "load_least_s": least,
            "plans": named().collect::<Vec<_>>(),
        }))?,
        (false, _) => print(&announcement(runs, n_certain))?,
    }
    Ok(Exit::Valid)
}

/// Returns the paths of the run files: one file, or a directory with one file per server. They are unused.
fn run_files(spec: &RunSpec, candidates: &[Candidate]) -> Result<Vec<PathBuf>, Failure> {
    let id = &spec.chosen.benchmark.definition.id;
    let files: Vec<PathBuf> = match candidates {
        [_] => vec![run_file(spec.out.as_deref(), id)?],
        _ => {
            let folder = spec.out.clone().unwrap_or_else(|| paths::campaign(id, wall()));
            candidates.iter().map(|candidate| folder.join(candidate.file_name())).collect()
        }
    };
    if !spec.dry_run {
        files.iter().try_for_each(|path| Writer::check_unused(path))?;
    }
    Ok(files)
}

fn run_file(out: Option<&Path>, id: &str) -> Result<PathBuf, Failure> {
    let path = out.map_or_else(|| paths::run_file(id, wall()), Path::to_owned);
    if path.extension().is_some_and(|extension| extension == "plim") {
        return Ok(path);
    }
    // The report has the same name with another extension.
    let named = if path.is_dir() { path.join("run.plim") } else { path.with_added_extension("plim") };
    let error = format!("expected a run file name that ends in `.plim`, found `{}`", path.display());
    Err(Failure::usage(error).hint(format!("write `--out {}`", named.display())))
}

/// Creates the directories of the run files.
fn make_folders(runs: &[PlannedRun]) -> Result<(), Failure> {
    let folders = runs.iter().filter_map(|run| run.file.parent());
    folders.filter(|folder| !folder.as_os_str().is_empty()).try_for_each(make_folder)
}

fn make_folder(folder: &Path) -> Result<(), Failure> {
    std::fs::create_dir_all(folder).map_err(|error| {
        let error = format!("cannot create the directory `{}`: {error}", folder.display());
        Failure::usage(error).hint("choose another path with `--out`")
    })
}

/// Announces the duration of a long run, of which the first `n_certain` runs are performed in any case.
fn announce_long(runs: &[PlannedRun], n_certain: usize) {
    let time = preflight::load_time(runs);
    // A number of operations takes what the server needs for it.
    let is_limited = runs.iter().any(|run| run.plan.operations.is_some());
    if LONG < time && !is_limited {
        let may_be_less = n_certain < runs.len() || runs.iter().any(|run| run.plan.refinement.is_some());
        let about = if may_be_less { "at most" } else { "about" };
        eprint(format!(
            "This takes {about} {}. Press Ctrl-C to stop and keep the records so far.\n",
            length(time)
        ));
    }
}

/// Prints the failed checks of `doctor` for these plans as warnings, each once.
fn warn_about_machine(runs: &[PlannedRun]) {
    units::raise_open_files();
    let mut said = Vec::new();
    for run in servers(runs) {
        let input = requirements(&run.plan, run.plan.sut.name != "external", None);
        for check in examine(&input, probe_quota()).into_iter().filter(|check| check.state == CheckState::Bad)
        {
            let text = format!("{}: {}", check.name, check.found);
            if !said.contains(&text) {
                warn(&text);
                eprint(format!("hint: {}", check.advice));
                said.push(text);
            }
        }
    }
}

/// Values that all runs share besides their plans.
pub(super) struct RunContext<'a> {
    /// The maker of their plans.
    pub planner: &'a Planner<'a>,
    /// Values that definitions name and do not hold, of each of them.
    pub secrets: &'a [Secrets],
    /// The certificates that are accepted.
    pub trust: &'a Trust,
    /// The clock that began with the program.
    pub clock: RealClock,
}

impl RunContext<'_> {
    /// Returns the values of the definition that a server is loaded with.
    pub(super) fn secrets_of(&self, candidate: &Candidate) -> &Secrets {
        &self.secrets[candidate.page]
    }
}

/// Returns the order of turns: all servers of a repetition, then those of the next one.
fn order(runs: &[PlannedRun]) -> TurnOrder {
    let first = |index: &usize| {
        runs[..*index].iter().all(|other| other.candidate.title != runs[*index].candidate.title)
    };
    TurnOrder::of((0..runs.len()).take_while(first).count())
}

/// Returns the number of runs that are performed in any case. Those behind them are, as many at a time, as long as the
/// answer of a comparison is not settled.
fn n_certain(spec: &RunSpec, runs: &[PlannedRun]) -> usize {
    match (spec.sut.repeat, spec.sut.repeat_max) {
        (Some(first), Some(most)) => runs.len() / most as usize * first as usize,
        _ => runs.len(),
    }
}

/// Performs runs, `n_certain` at a time, until all are done or their comparison has an answer that is settled. Returns the
/// failure of each that was performed, if any.
fn run_until_settled(
    runs: &[PlannedRun],
    n_certain: usize,
    context: &RunContext<'_>,
) -> Result<Vec<Option<Failure>>, Failure> {
    let spec = context.planner.spec;
    let mut observers = Observers::new(runs, &spec.metrics, spec.display, context.clock)?;
    let is_unsettled = |n_done: usize| {
        // Without an answer the turns are not valid, and more of them would not be, either.
        let comparison = compare_so_far(&runs[..n_done])?;
        let Some(known_within) = comparison.and_then(|comparison| unsettled(&comparison)) else {
            return Ok(false);
        };
        let more = &runs[n_done..runs.len().min(n_done + n_certain)];
        eprint(format!(
            "The ratio is known within {:.1} %: {} more turns of each server, {}.\n",
            100.0 * known_within.0,
            spec.sut.repeat.unwrap_or(1),
            length(preflight::load_time(more))
        ));
        Ok(true)
    };
    let ended =
        in_batches(runs.len(), n_certain, |batch| run(runs, batch, &mut observers, context), is_unsettled);
    observers.end();
    ended
}

/// Performs runs by their indexes, `n_certain` at a time, as long as all succeed and, after so many, `is_unsettled`.
///
/// # Errors
/// Those of the first batch. What prevents a later one is told as a warning: the runs before it are there, and count.
fn in_batches(
    n_runs: usize,
    n_certain: usize,
    mut perform: impl FnMut(Range<usize>) -> Result<Vec<Option<Failure>>, Failure>,
    mut is_unsettled: impl FnMut(usize) -> Result<bool, Failure>,
) -> Result<Vec<Option<Failure>>, Failure> {
    let mut failures: Vec<Option<Failure>> = Vec::new();
    while failures.len() < n_runs {
        let first = failures.len();
        let ended = match first {
            0 => Some(perform(0..n_runs.min(n_certain))?),
            _ => is_unsettled(first)
                .and_then(|more| more.then(|| perform(first..n_runs.min(first + n_certain))).transpose())
                .unwrap_or_else(|failure| {
                    warn(format!("there are no more turns: {}", failure.message()));
                    None
                }),
        };
        let Some(ended) = ended.filter(|ended| !ended.is_empty()) else { break };
        failures.extend(ended);
        if failures.iter().any(Option::is_some) || interrupt::flag().load(Ordering::Relaxed) {
            break;
        }
    }
    Ok(failures)
}

/// Returns how far the ratio is known that is known least, if the answer is not settled.
fn unsettled(comparison: &Comparison) -> Option<Ratio> {
    let answers = comparison.answers.iter().filter(|answer| !answer.is_settled());
    answers.filter_map(ServerAnswer::known_within).max_by(|one, other| one.0.total_cmp(&other.0))
}

/// Performs a batch of the runs, interleaved. Returns the failure of each, if any.
fn run(
    runs: &[PlannedRun],
    batch: Range<usize>,
    observers: &mut Observers,
    context: &RunContext<'_>,
) -> Result<Vec<Option<Failure>>, Failure> {
    let first = batch.start;
    let runs = &runs[batch];
    let requests = runs.iter().map(|run| request(run, runs, context));
    let requests = requests.collect::<Result<Vec<RunRequest>, Failure>>()?;
    let mut observers = observers.of_batch(runs, first);
    let results = fleet::run(&requests, order(runs), &mut observers, &interrupt::flag());
    observers.end();
    let is_own = context.planner.spec.chosen.source.is_own();
    Ok(results.into_iter().map(|result| result.err().map(|error| Failure::of_run(error, is_own))).collect())
}

/// Returns what the laboratory needs for one of the runs.
fn request<'a>(
    run: &'a PlannedRun,
    runs: &[PlannedRun],
    context: &RunContext<'_>,
) -> Result<RunRequest<'a>, Failure> {
    let spec = context.planner.spec;
    let PlannedRun { candidate, plan, file, .. } = run;
    Ok(RunRequest {
        server: candidate.server(&spec.chosen_for(candidate).name, plan, context.trust)?,
        secrets: context.secrets_of(candidate).clone(),
        run_file: file,
        program: paths::program(),
        command_line: spec.command_line.clone(),
        work_dir: work_dir(candidate)?,
        data_dir: data_dir(candidate)?,
        files_dir: files_dir(spec, runs, run)?,
        search_path: paths::search_path(),
        executable: std::env::current_exe()?,
        load: spec.agents.machines(),
        monitoring: spec.monitoring.clone(),
        notes: spec.notes.clone(),
        disclose_identity: spec.disclose_identity,
        plan: plan.clone(),
    })
}

/// Returns the directory for work directories; creates it if a server is to be started.
fn work_dir(candidate: &Candidate) -> Result<PathBuf, Failure> {
    if candidate.is_started() { paths::make_private(&paths::work_dir()) } else { Ok(paths::work_dir()) }
}

/// Returns the directory for the data of servers; creates it if a server of a recipe is to be started.
fn data_dir(candidate: &Candidate) -> Result<PathBuf, Failure> {
    match candidate.server {
        ChosenServer::Recipe(_) => paths::make_private(&paths::persistent_dir()),
        ChosenServer::BuiltIn | ChosenServer::Embedded(_) | ChosenServer::External(_) => {
            Ok(paths::persistent_dir())
        }
    }
}

/// Returns the filelists that the servers are loaded with, each once: `None` is the benchmark's own.
fn filelists(runs: &[PlannedRun]) -> Vec<Option<&str>> {
    let mut all: Vec<Option<&str>> = runs.iter().map(|run| filelist(&run.candidate.settings)).collect();
    all.sort_unstable();
    all.dedup();
    all
}

/// Refuses one directory for several file sets.
fn check_files_dir(spec: &RunSpec, runs: &[PlannedRun]) -> Result<(), Failure> {
    if spec.sut.files.is_some() && 1 < filelists(runs).len() {
        Err(Failure::usage("`--files` names one directory, but each filelist needs its own")
            .hint("omit `--files`, or run one filelist"))
    } else {
        Ok(())
    }
}

/// Returns the directory of the file set, as an absolute path, because servers run in another working directory.
/// Filelists that are compared have a directory each.
fn files_dir(spec: &RunSpec, runs: &[PlannedRun], run: &PlannedRun) -> Result<PathBuf, Failure> {
    if let Some(path) = &spec.sut.files {
        return Ok(std::path::absolute(path)?);
    }
    if matches!(run.candidate.server, ChosenServer::Recipe(_)) {
        paths::make_private(&paths::persistent_dir())?;
    }
    let id = &run.plan.benchmark.id;
    let own = filelist(&run.candidate.settings);
    Ok(match filelists(runs).iter().position(|one| *one == own) {
        None | Some(0) => paths::files_dir(id),
        Some(index) => paths::files_dir(&format!("{id}@{}", index + 1)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Performs 12 runs, four at a time, by a fake; returns the number of those that have ended, and of the batches that began.
    fn batches(
        of_batch: impl Fn(usize) -> Result<Option<Failure>, Failure>,
        is_unsettled: impl FnMut(usize) -> Result<bool, Failure>,
    ) -> (Option<usize>, usize) {
        let mut n_batches = 0;
        let perform = |batch: Range<usize>| {
            n_batches += 1;
            let mut ended: Vec<Option<Failure>> = batch.clone().skip(1).map(|_| None).collect();
            ended.push(of_batch(n_batches)?);
            Ok(ended)
        };
        (in_batches(12, 4, perform, is_unsettled).ok().map(|ended| ended.len()), n_batches)
    }

    /// Goal: turns that were measured are never thrown away by what comes after them.
    #[test]
    fn batches_follow_until_the_answer_is_settled_or_there_is_no_next_one() {
        let fails = || Failure::new(Exit::Testbed, "the port is in use");
        assert_eq!(batches(|_| Ok(None), |_| Ok(true)), (Some(12), 3));
        assert_eq!(batches(|_| Ok(None), |n_done| Ok(n_done < 8)), (Some(8), 2));
        assert_eq!(batches(|_| Ok(None), |_| Ok(false)), (Some(4), 1));
        assert_eq!(batches(|_| Ok(Some(fails())), |_| Ok(true)), (Some(4), 1));
        assert_eq!(batches(|n| if n == 2 { Err(fails()) } else { Ok(None) }, |_| Ok(true)), (Some(4), 2));
        assert_eq!(batches(|_| Ok(None), |_| Err(fails())), (Some(4), 1));
        assert_eq!(batches(|_| Err(fails()), |_| Ok(true)), (None, 1));
    }
}
