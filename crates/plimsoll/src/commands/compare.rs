//! `compare`: runs beside one another, how much they differ and how sure that is.

use std::path::{Path, PathBuf};

use analysis::compare::{CompareError, Comparison, MismatchPolicy, RunInput, compare};
use disclosure::CampaignRun;
use runfile::summary;
use serde_json::json;
use units::WallTime;

use super::runs::run_files;
use super::{print, print_json};
use crate::arguments::CompareArguments;
use crate::exit::{Exit, Failure};
use crate::files::{keep_run_file, write};
use crate::paper;
use crate::results::Results;
use crate::side_by_side::{comparison_page, run_names, server_names, tell_comparison};
use crate::tell::warn;

/// Compares runs.
pub fn perform(arguments: &CompareArguments, as_json: bool) -> Result<Exit, Failure> {
    let (paths, read) = read_found(paths(arguments.baseline.iter().chain(&arguments.runs))?)?;
    refuse_copies(&paths, &read)?;
    let names = names(&paths);
    let servers = server_names(&read, &names);
    let names = run_names(&read, &servers, &names);
    let named = names.iter().zip(&servers).zip(&read);
    let runs: Vec<CampaignRun> = named.map(|((name, server), run)| run.campaign_run(name, server)).collect();
    let compared: Vec<RunInput> = runs.iter().map(CampaignRun::compared).collect();
    let mismatch = if arguments.anyway { MismatchPolicy::Allow } else { MismatchPolicy::Refuse };
    let comparison = compare(&compared, mismatch)?;
    comparison.plan_differences.iter().for_each(|difference| warn(format!("not alike: {difference}")));
    let written = write_documents(arguments, &paths, &comparison, &runs)?;
    if as_json {
        let mut value = disclosure::render::comparison_json(&comparison);
        value["files"] = json!({ "runs": paths, "report": arguments.html, "pdf": arguments.pdf });
        print_json(&value)?;
        return Ok(Exit::Valid);
    }
    tell_comparison(&comparison)?;
    for path in written {
        print(&format!("\nreport  {}", path.display()))?;
    }
    Ok(Exit::Valid)
}

/// Writes the comparison in the forms that are wanted, never over a run; returns the files. A PDF bears the date of the
/// first run.
fn write_documents<'a>(
    arguments: &'a CompareArguments,
    paths: &[PathBuf],
    comparison: &Comparison,
    runs: &[CampaignRun],
) -> Result<Vec<&'a PathBuf>, Failure> {
    let wanted: Vec<&PathBuf> = arguments.html.iter().chain(&arguments.pdf).collect();
    for path in &wanted {
        paths.iter().try_for_each(|run| keep_run_file(run, path))?;
    }
    if wanted.is_empty() {
        return Ok(wanted);
    }
    let document = comparison_page(comparison, runs);
    if let Some(html) = &arguments.html {
        write(html, disclosure::render::html(&document))?;
    }
    if let (Some(pdf), Some(first)) = (&arguments.pdf, paths.first()) {
        write(pdf, paper::pdf(&document, summary(first)?.created)?)?;
    }
    Ok(wanted)
}

/// A run file.
#[derive(Debug)]
pub struct FoundRun {
    path: PathBuf,
    /// Whether it was named, and not only its folder.
    is_named: bool,
}

/// Returns the run files, those in folders as well; each once, in the order given.
pub fn paths<'a>(given: impl IntoIterator<Item = &'a PathBuf>) -> Result<Vec<FoundRun>, Failure> {
    let mut all: Vec<FoundRun> = Vec::new();
    for path in given {
        let is_named = !path.is_dir();
        let found = if is_named { vec![path.clone()] } else { in_order(run_files(path)?) };
        if found.is_empty() {
            return Err(Failure::usage(format!("there are no run files in `{}`", path.display())));
        }
        for path in found {
            if !all.iter().any(|known| is_same_file(&known.path, &path)) {
                all.push(FoundRun { path, is_named });
            }
        }
    }
    Ok(all)
}

/// Reads runs. One that was only found in a folder and cannot be read is left out with a warning.
///
/// # Errors
/// If one that was named cannot be read, or none can.
pub fn read_found(found: Vec<FoundRun>) -> Result<(Vec<PathBuf>, Vec<Results>), Failure> {
    let (mut paths, mut read) = (Vec::new(), Vec::new());
    let mut last = None;
    for FoundRun { path, is_named } in found {
        match Results::read(&path) {
            Ok(results) => {
                paths.push(path);
                read.push(results);
            }
            Err(error) if is_named => return Err(error.into()),
            Err(error) => {
                warn(format!("left out: {error}"));
                last = Some(error);
            }
        }
    }
    match last {
        Some(error) if read.is_empty() => Err(error.into()),
        _ => Ok((paths, read)),
    }
}

/// Puts the runs of a folder into the order in which they were begun: of a campaign the first server that was asked for
/// comes first.
fn in_order(mut paths: Vec<PathBuf>) -> Vec<PathBuf> {
    paths.sort_by_cached_key(|path| summary(path).map_or(WallTime(i64::MAX), |summary| summary.created));
    paths
}

fn is_same_file(one: &Path, other: &Path) -> bool {
    matches!((one.canonicalize(), other.canonicalize()), (Ok(one), Ok(other)) if one == other)
}

/// A copy of a run is no repetition: it would make every interval look narrower than it is.
fn refuse_copies(paths: &[PathBuf], read: &[Results]) -> Result<(), Failure> {
    for (place, run) in read.iter().enumerate() {
        let is_copy = |other: &Results| !run.began.is_empty() && other.began == run.began;
        if let Some(other) = read[..place].iter().position(is_copy) {
            let (one, other) = (paths[other].display(), paths[place].display());
            return Err(Failure::usage(format!("`{one}` and `{other}` are records of the same run")));
        }
    }
    Ok(())
}

/// Names the runs by their files; with their folders if two files have the same name.
pub fn names(paths: &[PathBuf]) -> Vec<String> {
    let stem = |path: &Path| path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let name = |path: &PathBuf| {
        let namesakes = paths.iter().filter(|other| stem(other) == stem(path)).count();
        if namesakes == 1 { stem(path) } else { path.with_extension("").display().to_string() }
    };
    paths.iter().map(name).collect()
}

impl From<CompareError> for Failure {
    fn from(error: CompareError) -> Failure {
        let hint = match &error {
            CompareError::TooFew { .. } => "name several run files, or a folder that holds them",
            CompareError::Differ { .. } => {
                "`--anyway` compares them all the same, at the loads that all have, and says what differs"
            }
        };
        Failure::usage(error).hint(hint)
    }
}
