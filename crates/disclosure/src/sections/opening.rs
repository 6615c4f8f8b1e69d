//! The top of the report, above all sections: verdict, deviations, headline.

use analysis::{Analysis, LoadPointResult, VerdictState};
use model::{Load, Modification, RunEnding};

use super::stages::{self, ShapedRun};
use super::{limits_listed, reason_entry, state_text};
use crate::bottleneck::{bottleneck_adjective, sharing_text};
use crate::findings::{ReasonGroup, reason_groups};
use crate::report::Growth;
use crate::{Banner, Hero, Hints, Report, Text, numbers};

/// Returns what was tested and when, in a line.
pub(super) fn subtitle(report: &Report) -> String {
    let sut = &report.plan.sut.name;
    let server = match sut.as_str() {
        "built-in" => "built-in server".to_owned(),
        "external" => "external server".to_owned(),
        "embedded" => "embedded database".to_owned(),
        name => name.to_owned(),
    };
    let benchmark = &report.analysis.benchmark;
    let version = (!benchmark.is_urls()).then(|| format!("benchmark version {}", benchmark.version));
    let label = report.plan.sut.label.clone();
    let parts = [Some(server), label, report.provenance.started.clone(), version];
    parts.into_iter().flatten().collect::<Vec<_>>().join(" · ")
}

/// Returns the answer of the run in numbers: the rate that the server handles, and whether it still grew with the load.
pub(super) fn answer(report: &Report) -> Text {
    if let Some(shaped) = ShapedRun::of(report) {
        return stages::answer(report, shaped);
    }
    let Some(point) = report.main_point() else { return Text::default() };
    let terms = report.terms();
    let rate = terms.score_text(point.score);
    let mut text = match report.analysis.headline {
        Some(_) => Text::default().strong(server_text(report)).plain(" handled ").strong(rate),
        None => {
            Text::from("No load point is valid, so the run has no result. The highest rate measured was ")
                .strong(rate)
        }
    };
    text = text.plain(" at ").strong(terms.load_text(point.load)).plain(", with a mean response time of ");
    text = text.strong(numbers::seconds(point.response.mean));
    if let Some(p99) = point.response.percentile(0.99) {
        text = text.plain(" and a p99 of ").strong(numbers::time(p99.value));
    }
    text = text.plain(shared_of(point)).plain(".");
    match report.growth().filter(|_| report.analysis.headline.is_some()) {
        None => text,
        Some(_) if report.plan.search.is_some() => text.plain(limits_text(report)),
        Some(Growth::Ended(saturation)) => {
            let (preposition, load) = report.saturation_words(saturation);
            text.plain(format!(" It saturates {preposition} ")).strong(load).plain(".")
        }
        Some(Growth::Going { limit: Some(limit), .. }) => text.plain(format!(
            " The rate still grew up to the highest load, at which the server was {}.",
            bottleneck_adjective(limit)
        )),
        Some(Growth::Going { limit: None, .. }) => {
            text.plain(" It was not saturated: the rate still grew up to the highest load.")
        }
        Some(Growth::Unknown(last)) => text.plain(format!(
            " How much it handles above {} is not known: no load point there is valid.",
            terms.load_text(last.load)
        )),
    }
}

/// Returns a clause about a processor that the server shares with others, where that is the bottleneck.
fn shared_of(point: &LoadPointResult) -> String {
    let shared = point.attribution.as_ref().and_then(sharing_text);
    shared.map_or_else(String::new, |shared| format!(", on a processor {shared}"))
}

/// Returns the sentence about the limits of a search.
fn limits_text(report: &Report) -> String {
    if report.plan.limits.is_empty() {
        " This is the highest load that the search found valid.".to_owned()
    } else {
        format!(
            " This is the highest load that the search found within {}.",
            limits_listed(&report.plan.limits)
        )
    }
}

fn server_text(report: &Report) -> String {
    let server = match report.plan.sut.name.as_str() {
        "built-in" => "The built-in server".to_owned(),
        "external" => "The server".to_owned(),
        "embedded" => "The embedded database".to_owned(),
        "directory" => "The directory".to_owned(),
        name => name.to_owned(),
    };
    match report.plan.sut.accelerator() {
        Some(accelerator) => format!("{server} behind {}", accelerator.name),
        None => server,
    }
}

/// Returns the verdict with all reasons and deviations.
pub(super) fn banner(report: &Report) -> Banner {
    let verdict = &report.analysis.verdict;
    let mut hints = Hints::new(report.analysis);
    Banner {
        state: verdict.state,
        text: sentence(report),
        reasons: reason_groups(&verdict.reasons)
            .iter()
            .map(|group| group_entry(report, &mut hints, group))
            .collect(),
        modified: report.analysis.modifications.iter().map(modification_text).collect(),
    }
}

/// Writes the reasons of a rule: that of its first load point, and which others have it, too.
fn group_entry(report: &Report, hints: &mut Hints, group: &ReasonGroup) -> Text {
    let text = reason_entry(report, hints, group.first);
    let (noun, indexes) = group.places();
    let others: Vec<String> =
        indexes.iter().skip(1).map(|index| (u64::from(*index) + 1).to_string()).collect();
    match others.as_slice() {
        [] => text,
        [only] => text.plain(format!(". Likewise {noun} {only}")),
        several => text.plain(format!(". Likewise {noun}s {}", several.join(", "))),
    }
}

fn sentence(report: &Report) -> Text {
    let points = &report.analysis.load_points;
    let n_valid = points.iter().filter(|point| point.verdict.state == VerdictState::Valid).count();
    let shaped = ShapedRun::of(report);
    let counted = match shaped {
        Some(shaped) => stages::verdict_text(shaped),
        None => format!("{n_valid} of {} load points valid", report.plan.load_points.len()),
    };
    match (report.analysis.verdict.state, &report.analysis.ending) {
        (VerdictState::Valid, _) if shaped.is_some() => {
            let checked = "Each stage was judged by itself: enough operations, errors, and load generator.";
            format!("{counted}. {checked}").into()
        }
        (VerdictState::Valid, _) => {
            let checked = "Each passed the checks of operation counts, Little’s law, errors and load generator.";
            format!("{counted}. {checked}{}", beyond(report, n_valid)).into()
        }
        (VerdictState::Invalid | VerdictState::Overloaded, _) => {
            format!("{counted}. The run as a whole is not valid, because:").into()
        }
        (VerdictState::Incomplete, RunEnding::Stopped(why)) => {
            format!("{counted}. The run was stopped: {why}.").into()
        }
        (VerdictState::Incomplete, RunEnding::Missing) => format!(
            "{counted}. The run file has no end: the program or the machine died. Every completed second is included."
        )
        .into(),
        (VerdictState::Incomplete, RunEnding::Complete) => {
            format!("{counted}. Part of the run is missing.").into()
        }
    }
}

/// Returns why a run is valid although some of its load points are not.
fn beyond(report: &Report, n_valid: usize) -> &'static str {
    if n_valid == report.analysis.load_points.len() {
        ""
    } else if report.plan.search.is_some() {
        " The others are steps of the search beyond the limit."
    } else {
        " At the others the server was overloaded: they show where its capacity ends and are used for nothing else."
    }
}

/// Writes a deviation: the setting, its standard value and that of this run.
pub(crate) fn modification_text(change: &Modification) -> Text {
    Text::default().strong(change.what.clone()).plain(format!(": {} → {}", change.standard, change.ours))
}

/// Returns the headline with load and response time for a terminal, in the digits of the report:
/// `28190 connections per second at 100 clients, mean response time 3.54 ms`. `None` if no load point is valid.
pub fn headline_text(analysis: &Analysis) -> Option<String> {
    let headline = analysis.headline.as_ref()?;
    let load = analysis.load_points.get(headline.load_point)?.load;
    let of_what = match load {
        Load::Users(users) => analysis.words.user.of(users.into()),
        Load::Rate { .. } => "offered per second",
    };
    let text = format!(
        "{} {} at {} {of_what}, mean response time {}{}",
        numbers::figure(headline.value),
        headline.name,
        load.level(),
        numbers::seconds(headline.response_mean),
        analysis.load_points.get(headline.load_point).map(shared_of).unwrap_or_default(),
    );
    // As in tables on a terminal: a pipe can read the digits.
    Some(text.replace('\u{202f}', ""))
}

/// Returns the headline with load, response time and verdict beside it.
pub(super) fn hero(report: &Report) -> Option<Hero> {
    if let Some(shaped) = ShapedRun::of(report) {
        return stages::hero(report, shaped);
    }
    let headline = report.analysis.headline.as_ref()?;
    let point = report.analysis.load_points.get(headline.load_point)?;
    let mut companion = Text::from("at ")
        .strong(report.terms().load_text(point.load))
        .plain(", mean response time ")
        .strong(numbers::seconds(headline.response_mean));
    if let Some(p99) = point.response.percentile(0.99) {
        companion = companion.plain(", p99 ").strong(numbers::time(p99.value));
    }
    companion = companion.plain(" — ").strong(format!("run {}", state_text(report.analysis.verdict.state)));
    if !report.analysis.modifications.is_empty() {
        companion = companion.plain(", ").strong("modified");
    }
    Some(Hero { value: numbers::figure(headline.value), unit: headline.name.clone(), companion })
}
