//! `compare`: compares runs: how much they differ, and how certain that is.

use std::path::{Path, PathBuf};

use analysis::compare::{
    ChangeBound, CompareError, Comparison, JudgedBound, MismatchPolicy, RunInput, compare_with_baseline,
    judge_bounds,
};
use disclosure::{CampaignRun, Provenance, compare_error_text};
use runfile::summary;
use serde_json::json;
use units::WallTime;

use super::runs::run_files;
use super::trend;
use super::{print, print_json};
use crate::arguments::CompareArguments;
use crate::exit::{Exit, Failure};
use crate::files::{keep_run_file, write};
use crate::judged_bounds;
use crate::pdf;
use crate::results::Results;
use crate::side_by_side::{RedactedTargets, full_comparison, print_comparison, run_names, server_names};
use crate::stderr::{eprint, warn};

/// Compares runs.
pub(super) fn perform(arguments: &CompareArguments, as_json: bool) -> Result<Exit, Failure> {
    if let Some(folder) = &arguments.trend {
        return trend::perform(folder, arguments, as_json);
    }
    let baseline = find_runs(&arguments.baseline)?;
    let is_baseline = |path: &PathBuf| baseline.iter().any(|one| one.path == *path);
    let (paths, read) = read_found(find_runs(arguments.baseline.iter().chain(&arguments.runs))?)?;
    let n_baseline = paths.iter().filter(|path| is_baseline(path)).count();
    refuse_copies(&paths, &read)?;
    let names = names(&paths);
    let redacted = match n_baseline {
        0 => RedactedTargets::MayDiffer,
        _ => RedactedTargets::AreTheSame,
    };
    let servers = server_names(&read, &names, redacted);
    let names = run_names(&read, &servers, &names);
    let named = names.iter().zip(&servers).zip(&read);
    let runs: Vec<CampaignRun> = named.map(|((name, server), run)| run.campaign_run(name, server)).collect();
    let compared: Vec<RunInput> = runs.iter().map(CampaignRun::compared).collect();
    let unlike = if arguments.anyway { MismatchPolicy::Allow } else { MismatchPolicy::Refuse };
    let comparison = compare_with_baseline(&compared, n_baseline, unlike)?;
    comparison
        .plan_differences
        .iter()
        .for_each(|one| warn(format!("different settings: {}", disclosure::plan_difference_text(one))));
    let judged = judged(arguments, &comparison, &compared)?;
    let written = write_documents(arguments, &paths, &comparison, &judged, &runs)?;
    if as_json {
        let mut value = disclosure::render::comparison_json(&comparison, &judged);
        value["files"] = json!({ "runs": paths, "report": arguments.html, "pdf": arguments.pdf });
        print_json(&value)?;
    } else if arguments.markdown.as_deref() != Some(Path::new("-")) {
        print_comparison(&comparison)?;
        if comparison.sides.len() == 1 {
            eprint(format!("hint: {TWO_SIDES}"));
        }
        judged_bounds::print_bounds(&comparison, &judged)?;
        for path in written {
            print(&format!("\nreport  {}", path.display()))?;
        }
    }
    Ok(judged_bounds::exit(&judged, arguments.strict))
}

/// The ways to have two sides of one server.
const TWO_SIDES: &str =
    "label runs with `plimsoll run … --label NAME`, or name the earlier ones with `--baseline RUN`";

/// Judges the user's bounds.
fn judged(
    arguments: &CompareArguments,
    comparison: &Comparison,
    runs: &[RunInput],
) -> Result<Vec<JudgedBound>, Failure> {
    let bounds: Vec<ChangeBound> = arguments.fail_if.iter().flat_map(|list| list.0.clone()).collect();
    if !bounds.is_empty() && comparison.sides.len() == 1 {
        let error = format!(
            "`--fail-if` needs two sides, and all {} runs are repetitions of {}",
            comparison.runs.len(),
            comparison.sides[0].name
        );
        return Err(Failure::usage(error).hint(TWO_SIDES));
    }
    Ok(judge_bounds(comparison, runs, &bounds))
}

/// Writes the comparison in the requested formats, never over a run file; returns the paths of the reports. The creation
/// date of a PDF is that of the first run.
fn write_documents<'a>(
    arguments: &'a CompareArguments,
    paths: &[PathBuf],
    comparison: &Comparison,
    judged: &[JudgedBound],
    runs: &[CampaignRun],
) -> Result<Vec<&'a PathBuf>, Failure> {
    let reports: Vec<&PathBuf> = arguments.html.iter().chain(&arguments.pdf).collect();
    for path in reports.iter().copied().chain(&arguments.junit).chain(&arguments.markdown) {
        paths.iter().try_for_each(|run| keep_run_file(run, path))?;
    }
    if let Some(junit) = &arguments.junit {
        write(junit, disclosure::render::comparison_junit(comparison, judged, arguments.strict))?;
    }
    if let Some(markdown) = &arguments.markdown {
        write_markdown(markdown, comparison, judged, runs)?;
    }
    if reports.is_empty() {
        return Ok(reports);
    }
    let document = full_comparison(comparison, judged, runs);
    if let Some(html) = &arguments.html {
        write(html, disclosure::render::html(&document))?;
    }
    if let (Some(pdf), Some(first)) = (&arguments.pdf, paths.first()) {
        write(pdf, pdf::render(&document, summary(first)?.created)?)?;
    }
    Ok(reports)
}

/// Writes the conclusions without the reports of the runs: short enough for a comment.
fn write_markdown(
    path: &Path,
    comparison: &Comparison,
    judged: &[JudgedBound],
    runs: &[CampaignRun],
) -> Result<(), Failure> {
    let provenance: Vec<Provenance> = runs.iter().map(|run| run.report.provenance.clone()).collect();
    let document = disclosure::comparison_document(comparison, judged, &provenance);
    let text = disclosure::render::markdown(&document);
    if path == Path::new("-") { print(&text) } else { write(path, text) }
}

/// The path of a run file, from the command line or found in a directory.
#[derive(Debug)]
pub(super) struct FoundRun {
    path: PathBuf,
    /// Whether the file itself was named, and not its directory.
    is_named: bool,
}

/// Returns the run files of the given paths and directories; each once, in the given order.
///
/// # Errors
/// If a directory cannot be listed or has no run files.
pub(super) fn find_runs<'a>(given: impl IntoIterator<Item = &'a PathBuf>) -> Result<Vec<FoundRun>, Failure> {
    let mut all: Vec<FoundRun> = Vec::new();
    for path in given {
        let is_named = !path.is_dir();
        let found = if is_named { vec![path.clone()] } else { in_order(run_files(path)?) };
        if found.is_empty() {
            return Err(Failure::usage(format!("`{}` contains no run files", path.display())));
        }
        for path in found {
            if !all.iter().any(|known| is_same_file(&known.path, &path)) {
                all.push(FoundRun { path, is_named });
            }
        }
    }
    Ok(all)
}

/// Reads runs. An unreadable run that was found in a directory is skipped with a warning.
///
/// # Errors
/// If a run that was named cannot be read, or if none can.
pub(super) fn read_found(found: Vec<FoundRun>) -> Result<(Vec<PathBuf>, Vec<Results>), Failure> {
    let mut paths = Vec::new();
    let mut read = Vec::new();
    let mut last = None;
    for FoundRun { path, is_named } in found {
        match Results::read(&path) {
            Ok(results) => {
                paths.push(path);
                read.push(results);
            }
            Err(error) if is_named => return Err(error.into()),
            Err(error) => {
                warn(format!("skipped: {error}"));
                last = Some(error);
            }
        }
    }
    match last {
        Some(error) if read.is_empty() => Err(error.into()),
        _ => Ok((paths, read)),
    }
}

/// Sorts the runs of a directory by start time, so that the first server of a campaign comes first.
fn in_order(mut paths: Vec<PathBuf>) -> Vec<PathBuf> {
    paths.sort_by_cached_key(|path| summary(path).map_or(WallTime(i64::MAX), |summary| summary.created));
    paths
}

fn is_same_file(one: &Path, other: &Path) -> bool {
    matches!((one.canonicalize(), other.canonicalize()), (Ok(one), Ok(other)) if one == other)
}

/// Refuses copies of a run: they are not repetitions, and would make confidence intervals too narrow.
pub(super) fn refuse_copies(paths: &[PathBuf], read: &[Results]) -> Result<(), Failure> {
    for (index, run) in read.iter().enumerate() {
        let is_copy = |other: &Results| !run.began.is_empty() && other.began == run.began;
        if let Some(other) = read[..index].iter().position(is_copy) {
            let one = paths[other].display();
            let other = paths[index].display();
            return Err(Failure::usage(format!("`{one}` and `{other}` are records of the same run")));
        }
    }
    Ok(())
}

/// Names the runs by their files; with their directories if two files have the same name.
pub(super) fn names(paths: &[PathBuf]) -> Vec<String> {
    let stem = |path: &Path| path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let name = |path: &PathBuf| {
        let n_same = paths.iter().filter(|other| stem(other) == stem(path)).count();
        if n_same == 1 { stem(path) } else { path.with_extension("").display().to_string() }
    };
    paths.iter().map(name).collect()
}

impl From<CompareError> for Failure {
    fn from(error: CompareError) -> Failure {
        let hint = match &error {
            CompareError::TooFew { .. } => "name several run files, or a directory that contains them",
            CompareError::Shaped { .. } => {
                "measure both servers at the loads of interest with `--load` or `--rate`, and compare these runs"
            }
            CompareError::Differ { .. } => {
                "`--anyway` compares them at the loads they have in common, and lists the differences"
            }
        };
        Failure::usage(compare_error_text(&error)).hint(hint)
    }
}
