//! What stands above all sections: verdict, deviations, headline.

use analysis::State;
use model::{Ending, Modification};

use super::{reason_text, state_text};
use crate::{Banner, Hero, Report, Text, numbers};

/// Returns what was tested and when, in a line.
pub fn subtitle(report: &Report) -> String {
    let sut = &report.plan.sut.name;
    let server = match sut.as_str() {
        "built-in" => "built-in server".to_owned(),
        "external" => "external server".to_owned(),
        name => name.to_owned(),
    };
    let version = format!("benchmark version {}", report.analysis.benchmark.version);
    let parts = [Some(server), report.provenance.started.clone(), Some(version)];
    parts.into_iter().flatten().collect::<Vec<_>>().join(" · ")
}

/// Returns the verdict with all reasons and deviations.
pub fn banner(report: &Report) -> Banner {
    let verdict = &report.analysis.verdict;
    Banner {
        state: verdict.state,
        text: sentence(report),
        reasons: verdict.reasons.iter().map(|reason| reason_text(report, reason)).collect(),
        modified: report.analysis.modifications.iter().map(modification_text).collect(),
    }
}

fn sentence(report: &Report) -> Text {
    let points = &report.analysis.load_points;
    let n_valid = points.iter().filter(|point| point.verdict.state == State::Valid).count();
    let counted = format!("{n_valid} of {} load points valid", report.plan.load_points.len());
    match (report.analysis.verdict.state, &report.analysis.ending) {
        (State::Valid, _) => {
            let checked = "Conservation, Little’s law, errors and the health of the generator were checked on each of them.";
            format!("{counted}. {checked}{}", beyond(report, n_valid)).into()
        }
        (State::Invalid | State::Overloaded, _) => {
            format!("{counted}. The run as a whole is not, because:").into()
        }
        (State::Incomplete, Ending::Stopped(why)) => format!("{counted}. The run was stopped: {why}.").into(),
        (State::Incomplete, Ending::Missing) => format!(
            "{counted}. The run file has no end: program or machine died; every finished second is here."
        )
        .into(),
        (State::Incomplete, Ending::Complete) => format!("{counted}. A part of the run is missing.").into(),
    }
}

/// Says why a run is valid although load points of it are not.
fn beyond(report: &Report, n_valid: usize) -> &'static str {
    if n_valid == report.analysis.load_points.len() {
        ""
    } else if report.plan.search.is_some() {
        " Those that are not show the search where the limit lies."
    } else {
        " At the others the server was overloaded: they show where its capacity ends, and count for nothing else."
    }
}

/// Writes a deviation: what, the standard, ours.
pub fn modification_text(change: &Modification) -> Text {
    Text::default().strong(change.what.clone()).plain(format!(": {} → {}", change.standard, change.ours))
}

/// Returns the headline with load, response time and verdict beside it.
pub fn hero(report: &Report) -> Option<Hero> {
    let headline = report.analysis.headline.as_ref()?;
    let point = report.analysis.load_points.get(headline.load_point)?;
    let mut companion = Text::from("at ")
        .strong(report.words().load_text(point.load))
        .plain(", mean response time ")
        .strong(numbers::seconds(headline.response_mean));
    if let Some(p99) = point.response.percentile(0.99) {
        companion = companion.plain(", p99 ").strong(numbers::time(p99.value));
    }
    companion = companion.plain(" — ").strong(format!("run {}", state_text(report.analysis.verdict.state)));
    if !report.analysis.modifications.is_empty() {
        companion = companion.plain(", ").strong("modified");
    }
    Some(Hero { value: numbers::fixed(headline.value, 2), unit: headline.name.clone(), companion })
}
