//! The end of a run: its results are read from its file, printed, and written as reports.

use std::io::stdout;
use std::path::{Path, PathBuf};

use analysis::VerdictState;
use analysis::compare::{
    ChangeBound, CompareError, Comparison, JudgedBound, MismatchPolicy, RunInput, ServerAnswer, compare,
    judge_bounds,
};
use disclosure::CampaignRun;
use serde_json::json;

use super::{export, print, print_json};
use crate::exit::{Exit, Failure};
use crate::files;
use crate::judged_bounds;
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
    /// The bounds of changes.
    pub bounds: &'a [ChangeBound],
    /// Whether an undecided bound counts as exceeded.
    pub is_strict: bool,
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

impl FinishedRun<'_> {
    /// Reads the results of a run; `why` it ended early, if it failed.
    fn read<'a>(run: &'a PlannedRun, why: Option<&str>) -> Result<FinishedRun<'a>, Failure> {
        let PlannedRun { candidate, file, .. } = run;
        let results = Results::read_ended(file, why)?;
        Ok(FinishedRun { label: &candidate.label, title: &candidate.title, file, results })
    }
}

/// The outcome of several interleaved runs.
struct CampaignOutcome {
    /// The comparison of the servers, or why there is none; `None` of fewer than two runs.
    comparison: Option<Result<Comparison, CompareError>>,
    /// The outcomes of the user's bounds.
    judged: Vec<JudgedBound>,
    /// The exit code.
    exit: Exit,
}

impl CampaignOutcome {
    /// Judges several runs; `exits` are the exit codes of all, those of failed ones included. With settings in turn, or
    /// pages of their own, the plans differ as they are meant to.
    fn of(
        finished: &[FinishedRun<'_>],
        exits: &[Exit],
        policy: MismatchPolicy,
        are_turns: bool,
        output: &OutputOptions<'_>,
    ) -> CampaignOutcome {
        let runs = campaign_runs(finished);
        let compared: Vec<RunInput> = runs.iter().map(CampaignRun::compared).collect();
        let comparison = (1 < compared.len()).then(|| compare(&compared, policy));
        let judged = match &comparison {
            Some(Ok(comparison)) => judge_bounds(comparison, &compared, output.bounds),
            _ => Vec::new(),
        };
        let of_bounds = judged_bounds::exit(&judged, output.is_strict);
        let exit = of_runs(exits, are_turns, comparison.as_ref().and_then(|one| one.as_ref().ok()), finished);
        // A bound that is exceeded is the answer to a question; a run that is not valid leaves it open.
        let exit = if exit == Exit::Valid || of_bounds == Exit::Limit { of_bounds } else { exit };
        let is_unjudged = !output.bounds.is_empty() && judged.is_empty() && exit == Exit::Valid;
        CampaignOutcome { comparison, judged, exit: if is_unjudged { Exit::Invalid } else { exit } }
    }
}

/// Returns the exit code of several runs: that of the first that is not valid. Of turns of servers that are compared, a few
/// that are not valid are left out of the answer; only one that failed, or was stopped, counts, and the lack of an answer.
fn of_runs(
    exits: &[Exit],
    are_turns: bool,
    comparison: Option<&Comparison>,
    finished: &[FinishedRun<'_>],
) -> Exit {
    let has_answer = comparison.is_some_and(|comparison| {
        let asked = asked_sides(comparison, finished);
        let has_interval = |answer: &ServerAnswer| answer.change.interval.is_some();
        let is_answered = |side| comparison.answers.iter().any(|one| one.side == side && has_interval(one));
        !asked.is_empty() && asked.into_iter().all(is_answered)
    });
    let counts = |exit: &Exit| *exit != Exit::Valid && !(has_answer && *exit == Exit::Invalid);
    let without_failure = if are_turns && !has_answer { Exit::Invalid } else { Exit::Valid };
    exits.iter().copied().find(counts).unwrap_or(without_failure)
}

/// Returns the sides of a comparison that its answers are about: those of other servers than the first. With settings in
/// turn a server has several sides.
fn asked_sides(comparison: &Comparison, finished: &[FinishedRun<'_>]) -> Vec<usize> {
    let state = |side: usize| {
        let run = comparison.sides[side].runs.first().and_then(|run| finished.get(*run));
        run.and_then(|run| run.results.plan.sut.label.as_ref())
    };
    (1..comparison.sides.len()).filter(|side| state(*side) != state(0)).collect()
}

/// Returns the comparison of runs that have ended, as it is so far; `None` if they cannot be compared.
///
/// # Errors
/// A run file cannot be read.
pub(super) fn compare_so_far(runs: &[PlannedRun]) -> Result<Option<Comparison>, Failure> {
    let finished =
        runs.iter().map(|run| FinishedRun::read(run, None)).collect::<Result<Vec<_>, Failure>>()?;
    let campaign = campaign_runs(&finished);
    let compared: Vec<RunInput> = campaign.iter().map(CampaignRun::compared).collect();
    Ok(compare(&compared, mismatch_policy(runs)).ok())
}

/// Returns whether plans may differ: with settings in turn, or pages of their own, they are meant to.
fn mismatch_policy(runs: &[PlannedRun]) -> MismatchPolicy {
    let is_meant_to_differ = differ_in_settings(runs) || runs.iter().any(|run| 0 < run.candidate.page);
    if is_meant_to_differ { MismatchPolicy::Allow } else { MismatchPolicy::Refuse }
}

fn campaign_runs<'a>(finished: &'a [FinishedRun<'_>]) -> Vec<CampaignRun<'a>> {
    finished.iter().map(|run| run.results.campaign_run(run.label, run.title)).collect()
}

/// Prints the results of interleaved runs, those of `runs` that were performed: the verdict of each, then the comparison; of
/// servers that were compared while they ran, the answer first.
pub(super) fn finish_several(
    runs: &[PlannedRun],
    failures: Vec<Option<Failure>>,
    output: &OutputOptions,
) -> Result<Exit, Failure> {
    let mut exits = Vec::new();
    let mut finished = Vec::new();
    for (run, failure) in runs.iter().zip(failures) {
        let why = failure.as_ref().map(|failure| failure.message().to_owned());
        if let Some(failure) = failure {
            eprint(format!("\n{}:", run.candidate.label));
            exits.push(failure.report());
        }
        if run.file.exists() {
            let finished_run = FinishedRun::read(run, why.as_deref())?;
            let FinishedRun { results, .. } = &finished_run;
            exits.push(outcome::exit(&results.plan, &results.analysis));
            finished.push(finished_run);
        }
    }
    let reports: Vec<Option<PathBuf>> =
        finished.iter().map(|run| write_report(run.file, &run.results)).collect();
    let policy = mismatch_policy(runs);
    let are_turns = runs.iter().all(|run| run.candidate.is_compared_running());
    let outcome = CampaignOutcome::of(&finished, &exits, policy, are_turns, output);
    let comparison = match &outcome.comparison {
        Some(Err(error)) => {
            warn(disclosure::compare_error_text(error));
            None
        }
        Some(Ok(comparison)) => Some(comparison),
        None => None,
    };
    let folder = runs[0].file.parent().unwrap_or(Path::new("."));
    let document =
        comparison.and_then(|comparison| write_comparison(folder, comparison, &outcome.judged, &finished));
    if output.as_json {
        print_campaign_json(&finished, &reports, comparison, &outcome.judged)?;
    } else {
        print_campaign(&finished, are_turns, comparison, &outcome.judged, document.as_deref())?;
    }
    match (output.junit, comparison) {
        (Some(junit), Some(comparison)) if !output.bounds.is_empty() => {
            let text = disclosure::render::comparison_junit(comparison, &outcome.judged, output.is_strict);
            files::write(junit, text)?;
        }
        (Some(junit), _) => export::write_junit(junit, finished.iter().map(|run| &run.results))?,
        (None, _) => {}
    }
    Ok(outcome.exit)
}

fn print_campaign_json(
    finished: &[FinishedRun<'_>],
    reports: &[Option<PathBuf>],
    comparison: Option<&Comparison>,
    judged: &[JudgedBound],
) -> Result<(), Failure> {
    let runs =
        finished.iter().zip(reports).map(|(run, report)| value(run.file, &run.results, report.clone()));
    let side_by_side = comparison.map(|comparison| disclosure::render::comparison_json(comparison, judged));
    print_json(&json!({ "format": 1, "runs": runs.collect::<Vec<_>>(), "comparison": side_by_side }))
}

/// Prints the verdict of each run, the comparison with the path of its document, and the paths of the run files.
fn print_campaign(
    finished: &[FinishedRun<'_>],
    are_turns: bool,
    comparison: Option<&Comparison>,
    judged: &[JudgedBound],
    document: Option<&Path>,
) -> Result<(), Failure> {
    if are_turns {
        if comparison.is_some_and(|comparison| comparison.answers.is_empty()) {
            print("\nNo answer: at no load are three turns of each server valid.")?;
        }
        comparison.map_or(Ok(()), print_comparison)?;
        comparison.map_or(Ok(()), |comparison| print_unanswered(comparison, finished))?;
        print_invalid_turns(finished)?;
    } else {
        finished.iter().try_for_each(print_verdict)?;
        comparison.map_or(Ok(()), print_comparison)?;
    }
    if let Some(comparison) = comparison {
        judged_bounds::print_bounds(comparison, judged)?;
    }
    if let Some(document) = document {
        print(&format!("\nreport  {}", document.display()))?;
    }
    match finished.first().and_then(|run| run.file.parent()) {
        Some(folder) if are_turns => print(&folder.display().to_string()),
        _ => finished.iter().try_for_each(|run| print(&run.file.display().to_string())),
    }
}

/// Names the sides that have no answer where others have one.
fn print_unanswered(comparison: &Comparison, finished: &[FinishedRun<'_>]) -> Result<(), Failure> {
    if comparison.answers.is_empty() {
        return Ok(());
    }
    let has_answer = |side: &usize| comparison.answers.iter().any(|answer| answer.side == *side);
    let first = &comparison.sides[0].name;
    asked_sides(comparison, finished).into_iter().filter(|side| !has_answer(side)).try_for_each(|side| {
        let name = &comparison.sides[side].name;
        print(&format!("\nNo answer about {name}: at no load are three turns of it and of {first} valid."))
    })
}

/// Prints a run's verdict.
fn print_verdict(run: &FinishedRun<'_>) -> Result<(), Failure> {
    print(&format!("\n{}\n{}", run.label, run.results.verdict_text(terminal_width(stdout()))))
}

/// The most turns whose verdicts are printed: the others mostly have the same reasons.
const INVALID_SHOWN_MAX: usize = 2;

/// Prints how many turns are valid, and the verdicts of the first that are not.
fn print_invalid_turns(finished: &[FinishedRun<'_>]) -> Result<(), Failure> {
    let is_invalid = |run: &&FinishedRun<'_>| run.results.analysis.verdict.state != VerdictState::Valid;
    let invalid: Vec<&FinishedRun<'_>> = finished.iter().filter(is_invalid).collect();
    let n = finished.len();
    print(&format!("\n{} of {n} turns are valid.", n - invalid.len()))?;
    invalid.iter().take(INVALID_SHOWN_MAX).try_for_each(|run| print_verdict(run))?;
    match invalid.len().saturating_sub(INVALID_SHOWN_MAX) {
        0 => Ok(()),
        more => print(&format!("\n{more} more are not valid; the report has their reasons.")),
    }
}

/// Writes the comparison beside the run files; returns its path, or `None` with a warning if it cannot be written.
fn write_comparison(
    folder: &Path,
    comparison: &Comparison,
    judged: &[JudgedBound],
    finished: &[FinishedRun<'_>],
) -> Option<PathBuf> {
    let html = folder.join("comparison.html");
    let document = full_comparison(comparison, judged, &campaign_runs(finished));
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
    use units::{Nanos, WallTime};

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

    const PLAIN: OutputOptions<'_> =
        OutputOptions { junit: None, as_json: false, bounds: &[], is_strict: false };

    /// Goal: the exit code is that of the first that is not valid, in the order of the runs; one run is compared with nothing.
    #[test]
    fn the_outcome_of_a_campaign_is_that_of_its_first_run_that_is_not_valid() {
        let plan = || closed_plan(3, &[2], phases(0, 2));
        let both = [finished("one", plan(), 5), finished("two", plan(), 10)];
        let outcome =
            CampaignOutcome::of(&both, &[Exit::Valid, Exit::Valid], MismatchPolicy::Refuse, false, &PLAIN);
        let comparison = outcome.comparison.unwrap().unwrap();
        assert_eq!((comparison.sides.len(), comparison.leader()), (2, Some(0)));
        assert_eq!(outcome.exit, Exit::Valid);
        let exits = [Exit::Valid, Exit::Limit, Exit::Invalid];
        let outcome = CampaignOutcome::of(&both[..1], &exits, MismatchPolicy::Refuse, false, &PLAIN);
        assert!(outcome.comparison.is_none() && outcome.exit == Exit::Limit);
    }

    /// Simulates three turns of each of two servers that were running before, A B, B A, A B: B takes so many milliseconds where A
    /// takes ten.
    fn turns(millis: u64) -> Vec<FinishedRun<'static>> {
        let of = |(place, label): (i64, &'static str)| {
            let plan = closed_plan(3, &[2], phases(0, 2));
            let mut run = finished(label, plan, if label == "A" { 10 } else { millis });
            run.results.plan.sut = SutPlan { label: Some(label.to_owned()), ..SutPlan::of("external") };
            run.results.began = vec![(0, WallTime(place))];
            run
        };
        (0..).zip(["A", "B", "B", "A", "A", "B"]).map(of).collect()
    }

    /// Goal: the answer decides the exit code, not the verdict of a turn that is left out of it; a bound that is exceeded does.
    #[test]
    fn servers_that_took_turns_have_an_answer() {
        let outcome = |millis, exits: &[Exit], output: &OutputOptions<'_>| {
            CampaignOutcome::of(&turns(millis), exits, MismatchPolicy::Refuse, true, output)
        };
        let slower = outcome(11, &[Exit::Valid, Exit::Invalid], &PLAIN);
        let comparison = slower.comparison.unwrap().unwrap();
        assert_eq!(slower.exit, Exit::Valid);
        let text = disclosure::comparison_text(&comparison);
        assert!(text[0].starts_with("B is 9.0 % slower than A (95 % CI 6.9 to 11 %)."), "{text:?}");
        assert!(text[1].starts_with("How sure: 3 turns of each server, in alternating order"), "{text:?}");
        let alike = outcome(10, &[Exit::Valid], &PLAIN).comparison.unwrap().unwrap();
        let text = disclosure::comparison_text(&alike);
        let expected = "No difference: B ÷ A is 1.000 (95 % CI 0.977 to 1.024); a difference of 4.4 % is found in 19 of 20";
        assert!(text[0].starts_with(expected), "{text:?}");
        let bounds = crate::fail_if::parse_bounds("rate<-3%").unwrap();
        let bounded = OutputOptions { bounds: &bounds, ..PLAIN };
        assert_eq!(outcome(11, &[Exit::Valid], &bounded).exit, Exit::Limit);
        assert_eq!(outcome(10, &[Exit::Valid], &bounded).exit, Exit::Valid);
        assert_eq!(outcome(11, &[Exit::Interrupted], &PLAIN).exit, Exit::Interrupted);
        // Two turns of each are valid, and too few for an answer.
        let few = CampaignOutcome::of(&turns(11)[..4], &[Exit::Valid], MismatchPolicy::Refuse, true, &PLAIN);
        assert_eq!(few.exit, Exit::Invalid);
    }

    /// Goal: a comparison of two servers with two settings each has an answer, although none is between settings of one server.
    #[test]
    fn servers_that_took_turns_with_several_settings_have_an_answer() {
        let sides = ["A, x", "A, y", "B, x", "B, y"];
        let backward = sides.into_iter().rev();
        let order = sides.into_iter().chain(backward).chain(sides);
        let of = |(place, label): (i64, &'static str)| {
            let mut run = finished(label, closed_plan(3, &[2], phases(0, 2)), 10);
            run.results.plan.sut = SutPlan { label: Some(label[..1].to_owned()), ..SutPlan::of("external") };
            run.results.began = vec![(0, WallTime(place))];
            run
        };
        let runs: Vec<FinishedRun<'_>> = (0..).zip(order).map(of).collect();
        let of_runs = |runs| CampaignOutcome::of(runs, &[Exit::Valid], MismatchPolicy::Allow, true, &PLAIN);
        let outcome = of_runs(&runs[..]);
        let comparison = outcome.comparison.unwrap().unwrap();
        let answered: Vec<usize> = comparison.answers.iter().map(|answer| answer.side).collect();
        assert_eq!((comparison.sides.len(), answered, outcome.exit), (4, vec![2, 3], Exit::Valid));
        assert_eq!(of_runs(&runs[..8]).exit, Exit::Invalid, "two turns of each are too few");
    }

    /// Plans that differ are compared only where they are meant to differ.
    #[test]
    fn plans_that_differ_are_compared_only_with_settings_in_turn() {
        let other = finished("two", closed_plan(4, &[2], phases(0, 2)), 10);
        let both = [finished("one", closed_plan(3, &[2], phases(0, 2)), 5), other];
        let is_compared = |policy| {
            let outcome = CampaignOutcome::of(&both, &[Exit::Valid, Exit::Valid], policy, false, &PLAIN);
            outcome.comparison.unwrap().is_ok()
        };
        assert_eq!((is_compared(MismatchPolicy::Refuse), is_compared(MismatchPolicy::Allow)), (false, true));
    }
}
