//! The end of a run: its results are read from its file, printed, and written as reports.

use std::io::stdout;
use std::path::{Path, PathBuf};

use analysis::compare::{CompareError, Comparison, MismatchPolicy, RunInput, compare};
use disclosure::CampaignRun;
use serde_json::json;

use super::{export, print, print_json};
use crate::exit::{Exit, Failure};
use crate::files;
use crate::outcome;
use crate::planned_run::{PlannedRun, differ_in_settings};
use crate::results::Results;
use crate::side_by_side::{full_comparison, print_comparison};
use crate::stderr::{eprint, warn};
use crate::wrap::terminal_width;

/// The requested output of the results.
pub(super) struct OutputOptions<'a> {
    /// Path of the JUnit XML file with verdict and limits.
    pub junit: Option<&'a Path>,
    /// Whether results are printed as JSON.
    pub as_json: bool,
}

/// Prints the results of a single run.
pub(super) fn finish_one(
    run_file: &Path,
    failure: Option<Failure>,
    output: &OutputOptions,
) -> Result<Exit, Failure> {
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

/// One of several runs that has left a file.
struct FinishedRun<'a> {
    /// The name of its run among the others.
    label: &'a str,
    /// The name of its server.
    title: &'a str,
    /// Its file.
    file: &'a Path,
    /// The results in the file.
    results: Results,
}

/// The outcome of several interleaved runs.
struct CampaignOutcome {
    /// The comparison of the servers, or why there is none; `None` of fewer than two runs.
    comparison: Option<Result<Comparison, CompareError>>,
    /// The exit code: that of the first run that failed or is not valid.
    exit: Exit,
}

impl CampaignOutcome {
    /// Judges several runs; `exits` are the exit codes of all, those of failed ones included. With settings in turn, the plans
    /// differ as they are meant to.
    fn of(finished: &[FinishedRun<'_>], exits: &[Exit], has_settings_in_turn: bool) -> CampaignOutcome {
        let runs = campaign_runs(finished);
        let compared: Vec<RunInput> = runs.iter().map(CampaignRun::compared).collect();
        let policy = if has_settings_in_turn { MismatchPolicy::Allow } else { MismatchPolicy::Refuse };
        CampaignOutcome {
            comparison: (1 < compared.len()).then(|| compare(&compared, policy)),
            exit: exits.iter().copied().find(|exit| *exit != Exit::Valid).unwrap_or(Exit::Valid),
        }
    }
}

fn campaign_runs<'a>(finished: &'a [FinishedRun<'_>]) -> Vec<CampaignRun<'a>> {
    finished.iter().map(|run| run.results.campaign_run(run.label, run.title)).collect()
}

/// Prints the results of interleaved runs: the verdict of each, then the comparison. The exit code is that of the first
/// run that is not valid.
pub(super) fn finish_several(
    runs: &[PlannedRun],
    failures: Vec<Option<Failure>>,
    output: &OutputOptions,
) -> Result<Exit, Failure> {
    let mut exits = Vec::new();
    let mut finished = Vec::new();
    for (PlannedRun { candidate, file, .. }, failure) in runs.iter().zip(failures) {
        let why = failure.as_ref().map(|failure| failure.message().to_owned());
        if let Some(failure) = failure {
            eprint(format!("\n{}:", candidate.label));
            exits.push(failure.report());
        }
        if file.exists() {
            let results = Results::read_ended(file, why.as_deref())?;
            exits.push(outcome::exit(&results.plan, &results.analysis));
            finished.push(FinishedRun { label: &candidate.label, title: &candidate.title, file, results });
        }
    }
    let reports: Vec<Option<PathBuf>> =
        finished.iter().map(|run| write_report(run.file, &run.results)).collect();
    let outcome = CampaignOutcome::of(&finished, &exits, differ_in_settings(runs));
    let comparison = match &outcome.comparison {
        Some(Err(error)) => {
            warn(disclosure::compare_error_text(error));
            None
        }
        Some(Ok(comparison)) => Some(comparison),
        None => None,
    };
    let folder = runs[0].file.parent().unwrap_or(Path::new("."));
    let document = comparison.and_then(|comparison| write_comparison(folder, comparison, &finished));
    if output.as_json {
        print_campaign_json(&finished, &reports, comparison)?;
    } else {
        print_campaign(&finished, comparison, document.as_deref())?;
    }
    if let Some(junit) = output.junit {
        export::write_junit(junit, finished.iter().map(|run| &run.results))?;
    }
    Ok(outcome.exit)
}

fn print_campaign_json(
    finished: &[FinishedRun<'_>],
    reports: &[Option<PathBuf>],
    comparison: Option<&Comparison>,
) -> Result<(), Failure> {
    let runs =
        finished.iter().zip(reports).map(|(run, report)| value(run.file, &run.results, report.clone()));
    let side_by_side = comparison.map(|comparison| disclosure::render::comparison_json(comparison, &[]));
    print_json(&json!({ "format": 1, "runs": runs.collect::<Vec<_>>(), "comparison": side_by_side }))
}

/// Prints the verdict of each run, the comparison with the path of its document, and the paths of the run files.
fn print_campaign(
    finished: &[FinishedRun<'_>],
    comparison: Option<&Comparison>,
    document: Option<&Path>,
) -> Result<(), Failure> {
    for run in finished {
        print(&format!("\n{}\n{}", run.label, run.results.verdict_text(terminal_width(stdout()))))?;
    }
    if let Some(comparison) = comparison {
        print_comparison(comparison)?;
    }
    if let Some(document) = document {
        print(&format!("\nreport  {}", document.display()))?;
    }
    finished.iter().try_for_each(|run| print(&run.file.display().to_string()))
}

/// Writes the comparison beside the run files; returns its path, or `None` with a warning if it cannot be written.
fn write_comparison(folder: &Path, comparison: &Comparison, finished: &[FinishedRun<'_>]) -> Option<PathBuf> {
    let html = folder.join("comparison.html");
    let document = full_comparison(comparison, &[], &campaign_runs(finished));
    let written = files::write(&html, disclosure::render::html(&document)).map_err(|failure| {
        warn(failure.message());
        let folder = folder.display();
        eprint(format!("hint: `plimsoll compare {folder} --html FILE` writes it to another path"));
    });
    written.ok().map(|()| html)
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

#[cfg(test)]
mod tests {
    use disclosure::Provenance;
    use model::{Plan, SutPlan, Testbed};
    use testkit::{ServiceTimeDistribution, SimServer, Simulation, closed_plan, phases};
    use units::Nanos;

    use super::*;

    /// Simulates the run of a server that takes so many milliseconds.
    fn finished<'a>(label: &'a str, plan: Plan, millis: u64) -> FinishedRun<'a> {
        let plan = Plan { sut: SutPlan::of(label), ..plan };
        let server = SimServer::new(ServiceTimeDistribution::Fixed(Nanos::from_millis(millis)), None);
        let results = Results {
            analysis: Simulation::new(plan.clone(), server).analyze(),
            plan,
            testbed: Testbed::default(),
            provenance: Provenance::default(),
            stated: Vec::new(),
            began: Vec::new(),
            price: None,
        };
        FinishedRun { label, title: label, file: Path::new("run.plim"), results }
    }

    /// Goal: the exit code is that of the first that is not valid, in the order of the runs; one run is compared with nothing.
    #[test]
    fn the_outcome_of_a_campaign_is_that_of_its_first_run_that_is_not_valid() {
        let plan = || closed_plan(3, &[2], phases(0, 2));
        let both = [finished("one", plan(), 5), finished("two", plan(), 10)];
        let outcome = CampaignOutcome::of(&both, &[Exit::Valid, Exit::Valid], false);
        let comparison = outcome.comparison.unwrap().unwrap();
        assert_eq!((comparison.sides.len(), comparison.leader()), (2, Some(0)));
        assert_eq!(outcome.exit, Exit::Valid);
        let exits = [Exit::Valid, Exit::Limit, Exit::Invalid];
        let outcome = CampaignOutcome::of(&both[..1], &exits, false);
        assert!(outcome.comparison.is_none() && outcome.exit == Exit::Limit);
    }

    /// Plans that differ are compared only where they are meant to differ.
    #[test]
    fn plans_that_differ_are_compared_only_with_settings_in_turn() {
        let other = finished("two", closed_plan(4, &[2], phases(0, 2)), 10);
        let both = [finished("one", closed_plan(3, &[2], phases(0, 2)), 5), other];
        let is_compared = |in_turn| {
            let outcome = CampaignOutcome::of(&both, &[Exit::Valid, Exit::Valid], in_turn);
            outcome.comparison.unwrap().is_ok()
        };
        assert_eq!((is_compared(false), is_compared(true)), (false, true));
    }
}
