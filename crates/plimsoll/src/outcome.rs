//! What a run comes to beside its verdict: the limits that its user set, and what a search found.

use analysis::find_max::{Compliance, SearchEnd, SearchResult, comply, counts};
use analysis::{Analysis, LoadPointResult};
use model::{Load, Plan};

use crate::exit::Exit;

/// A limit that a load point missed.
#[derive(Debug)]
pub struct Missed<'a> {
    /// The load point.
    pub point: &'a LoadPointResult,
    /// What was found.
    pub found: Compliance,
}

/// Lists the limits that were missed: of every load point, or of the one that a search found.
pub fn missed<'a>(plan: &Plan, analysis: &'a Analysis) -> Vec<Missed<'a>> {
    let points = analysis.load_points.iter().filter(|point| counts(plan, analysis.found.as_ref(), point));
    let held = points.flat_map(|point| {
        plan.limits.iter().map(move |limit| Missed { point, found: comply(*limit, point) })
    });
    held.filter(|one| !one.found.is_met()).collect()
}

/// Returns the exit code of a run.
pub fn exit(plan: &Plan, analysis: &Analysis) -> Exit {
    let of_run = Exit::of_run(analysis.verdict.state, &analysis.ending);
    let found_none = analysis.found.is_some_and(|found| found.max.is_none());
    match of_run {
        Exit::Valid if !missed(plan, analysis).is_empty() => Exit::Limit,
        Exit::Invalid if found_none && !plan.limits.is_empty() => Exit::Limit,
        other => other,
    }
}

/// Says for people what was looked for and found, and which limits were missed; empty if nothing was asked for.
pub fn text(plan: &Plan, analysis: &Analysis) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    if let (Some(search), Some(found)) = (plan.search, &analysis.found) {
        lines.push(found_text(search.most, found));
    }
    let missed = missed(plan, analysis);
    if !plan.limits.is_empty() && missed.is_empty() && analysis.found.is_none_or(|found| found.max.is_some())
    {
        lines.push(format!("Limits kept: {}.", model::limits_text(&plan.limits)));
    }
    lines.extend(missed.iter().map(|one| format!("Limit missed at {}: {}.", one.point.load, one.found)));
    lines
}

fn found_text(most: Load, found: &SearchResult) -> String {
    let points = format!("found with {} load points", found.n_runs);
    let Some(max) = found.max else {
        return format!("Highest load: none; even the least is too much ({points}).");
    };
    let at = most.at_level(max.level);
    let end = match (found.end, found.fails_at) {
        (SearchEnd::Range, _) => "at least: the search ended there, `--max-load` lets it go on".to_owned(),
        (SearchEnd::Generator, _) => {
            "at least: beyond it the load generator was the limit, not the server".to_owned()
        }
        (SearchEnd::TooFew, _) => "too few operations to decide about more".to_owned(),
        (SearchEnd::Server, Some(level)) => format!("{} is too much", most.at_level(level)),
        (SearchEnd::Server, None) => "more brings no more throughput".to_owned(),
    };
    let noisy = if found.is_noisy { "; load points contradicted one another, so repeat it" } else { "" };
    format!("Highest load: {at}, {:.1} operations per second ({end}; {points}{noisy}).", max.throughput)
}
