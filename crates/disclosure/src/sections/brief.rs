//! The short answers on the first page: bottleneck, throughput, errors, and what to do next.

use analysis::attribute::{Attribution, Bottleneck};
use analysis::{LoadPointResult, VerdictState};
use model::Score;

use super::advice::advice;
use super::stages::{self, ShapedRun};
use crate::bottleneck::{bottleneck_adjective_at, bottleneck_text};
use crate::{Report, Text, numbers, reason_hint};

/// Returns the answers by their names, in reading order.
pub(super) fn brief(report: &Report) -> Vec<(String, Text)> {
    let main = report.main_point();
    let answers = [
        ("Bottleneck", bottleneck(report)),
        ("Throughput", main.and_then(|point| throughput(report, point))),
        ("Errors", main.map(|_| errors(report))),
        ("What to do next", Some(next(report)).filter(|text| !text.is_empty())),
    ];
    answers.into_iter().filter_map(|(name, text)| Some((name.to_owned(), text?))).collect()
}

fn bottleneck(report: &Report) -> Option<Text> {
    let said = bottleneck_text(&report.analysis.load_points, &report.analysis.words.user)?;
    Some(Text::default().sentence(&format!("{said}.")))
}

fn throughput(report: &Report, point: &LoadPointResult) -> Option<Text> {
    let megabits = format!("{} Mbit/s", numbers::megabits(point.throughput_mbit?));
    let load = report.terms().load_text(point.load);
    let kilobytes = match report.analysis.score {
        Score::Throughput { .. } => format!(", {} KB/s (10³ B/s)", numbers::kilobytes(point.score)),
        Score::Rate { .. } | Score::Weighted { .. } | Score::Harmonic { .. } => String::new(),
    };
    Some(Text::default().strong(megabits).plain(format!(" (10⁶ bit/s){kilobytes} at {load}.")))
}

fn errors(report: &Report) -> Text {
    let points = &report.analysis.load_points;
    let n_errors: u64 = points.iter().map(|point| point.total.errors).sum();
    let n: u64 = n_errors + points.iter().map(|point| point.total.n).sum::<u64>();
    if n_errors == 0 {
        return format!("None of {} operations failed.", numbers::count(n)).into();
    }
    let ratio = n_errors as f64 / n as f64;
    let text = format!(
        "{} of {} operations failed ({})",
        numbers::count(n_errors),
        numbers::count(n),
        numbers::percent(ratio, 2)
    );
    let outcomes: Vec<&str> = super::errors::outcomes(points).iter().map(|outcome| outcome.name()).collect();
    let kinds = if outcomes.is_empty() { String::new() } else { format!(": {}", outcomes.join(", ")) };
    Text::default().strong(text).plain(format!("{kinds}."))
}

/// Returns the next steps: to make the run valid, to remove the bottleneck or to find one, and to compare a change.
fn next(report: &Report) -> Text {
    let verdict = &report.analysis.verdict;
    if verdict.state != VerdictState::Valid {
        return invalid(report);
    }
    if let Some(shaped) = ShapedRun::of(report) {
        return stages::next(report, shaped);
    }
    let Some(main) = report.main_point() else { return Text::default() };
    let advice: Vec<String> = match limited_point(report, main) {
        None => more_load(report).into_iter().collect(),
        Some((point, attribution)) => {
            let is_elsewhere = point.index != main.index;
            let load = is_elsewhere.then(|| where_limited(report, main, point, attribution));
            load.into_iter().chain(advice(report, point, attribution)).collect()
        }
    };
    let run = report.provenance.run_file.as_deref().unwrap_or("RUN");
    let compare = format!(
        "After a change, repeat the run with `--label after` and compare it: `plimsoll compare {run} AFTER`."
    );
    let sentences: Vec<String> = advice.into_iter().chain([compare]).collect();
    Text::default().sentence(&sentences.join(" "))
}

/// Returns the next step where the run is not valid: the hint of a reason, else what relieves a bottleneck that is known.
fn invalid(report: &Report) -> Text {
    let hint = report.analysis.verdict.reasons.iter().find_map(|reason| reason_hint(report.analysis, reason));
    if let Some(hint) = hint {
        return Text::default().sentence(&format!("Make the run valid first: {hint}."));
    }
    let is_named = |(_, found): &(&LoadPointResult, &Attribution)| {
        !matches!(found.bottleneck, Bottleneck::Undetermined | Bottleneck::Generator)
    };
    let limited = report.main_point().and_then(|main| limited_point(report, main)).filter(is_named);
    match limited {
        Some((point, found)) => Text::default().sentence(&advice(report, point, found).join(" ")),
        None => {
            Text::default().sentence("Make the run valid first: repeat it when nothing disturbs the machine.")
        }
    }
}

/// Returns the load point whose bottleneck the advice is about: the main one where it is limited, else the next one of
/// greater load that is, else the nearest one of lower load with a bottleneck that has a name. `None` if no load point is
/// limited.
fn limited_point<'a>(
    report: &Report<'a>,
    main: &LoadPointResult,
) -> Option<(&'a LoadPointResult, &'a Attribution)> {
    let attributed = |point: &'a LoadPointResult| Some((point, point.attribution.as_ref()?));
    let points = report.analysis.load_points.iter().filter_map(attributed);
    let mut limited: Vec<_> = points.filter(|(_, found)| found.bottleneck != Bottleneck::None).collect();
    limited.sort_by(|(one, _), (other, _)| one.load.level().total_cmp(&other.load.level()));
    let next = limited.iter().find(|(point, _)| main.load.level() <= point.load.level());
    let below = limited.iter().rfind(|(_, found)| found.bottleneck != Bottleneck::Undetermined);
    next.or(below).copied()
}

/// Returns the sentence that tells the load of a bottleneck from that of the main load point, which has none.
fn where_limited(
    report: &Report,
    main: &LoadPointResult,
    point: &LoadPointResult,
    found: &Attribution,
) -> String {
    let terms = report.terms();
    let free = terms.load_text(main.load);
    let limited = terms.load_text(point.load);
    format!(
        "Nothing limited the server at {free}; at {limited} it was {}.",
        bottleneck_adjective_at(point.load, found)
    )
}

/// Returns the advice to offer more load; `None` if the run has searched for the highest.
fn more_load(report: &Report) -> Option<String> {
    let highest = report.analysis.load_points.iter().map(|point| point.load);
    let highest = highest.max_by(|one, other| one.level().total_cmp(&other.level()))?;
    let flag = if highest.is_closed() { "--load" } else { "--rate" };
    report.plan.search.is_none().then(|| {
        let highest = report.terms().load_text(highest);
        format!("Nothing limited the server up to {highest}: offer more with `{flag}`, or search with `--find-max`.")
    })
}
