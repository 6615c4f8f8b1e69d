//! The measurement explained: what happens as the load grows, range by range.

use analysis::attribute::Attribution;
use analysis::{LoadPointResult, VerdictState};

use super::bottleneck::value_text;
use crate::bottleneck::bottleneck_adjective;
use crate::report::Terms;
use crate::{Block, NoteKind, Report, Section, Text, numbers};

/// A range of the curve.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Range {
    /// Up to the saturation point.
    Rising,
    /// From there to the highest rate.
    Flat,
    /// Above the load with the highest rate.
    Beyond,
}

pub(crate) fn section(report: &Report) -> Option<Section> {
    let points = by_load(report);
    if points.len() < 2 {
        return None;
    }
    let ranges = [Range::Rising, Range::Flat, Range::Beyond];
    let mut blocks: Vec<Block> = ranges
        .into_iter()
        .filter_map(|range| paragraph(report, &points, range))
        .map(Block::Paragraph)
        .collect();
    blocks.extend(left_out(report, points.len()));
    Some(Section { id: "analysis", title: "Measurement analysis".into(), blocks })
}

/// Returns the load points of the curve by rising load: the valid ones, or all if none is valid.
fn by_load<'a>(report: &Report<'a>) -> Vec<&'a LoadPointResult> {
    let all = || report.analysis.load_points.iter();
    let mut points: Vec<&LoadPointResult> =
        all().filter(|point| point.verdict.state == VerdictState::Valid).collect();
    if points.is_empty() {
        points = all().collect();
    }
    points.sort_by(|one, other| one.load.level().total_cmp(&other.load.level()));
    points
}

/// Describes a range and its bottleneck; `None` if it has no load point.
fn paragraph(report: &Report, points: &[&LoadPointResult], range: Range) -> Option<Text> {
    let here: Vec<&LoadPointResult> =
        points.iter().copied().filter(|point| range_of(report, point) == Some(range)).collect();
    let first = here.first()?;
    let last = here.last()?;
    let terms = report.terms();
    let before = points.iter().rev().find(|point| point.load.level() < first.load.level());
    let text = match range {
        Range::Rising if here.len() < 2 => from_the_start(terms, first, points),
        Range::Rising => rising(terms, first, last),
        Range::Flat => flat(terms, before.unwrap_or(first), last),
        Range::Beyond => beyond(terms, before.unwrap_or(first), last, here.len()),
    };
    Some([Some(text), cpu(&here), evidence(&here), errors(&here)].into_iter().flatten().fold(
        Text::default(),
        |text, sentence| {
            if text.is_empty() { text.plain(sentence) } else { text.plain(format!(" {sentence}")) }
        },
    ))
}

fn range_of(report: &Report, point: &LoadPointResult) -> Option<Range> {
    let curve = &report.analysis.curve;
    let level = |index: Option<usize>| Some(report.analysis.load_points.get(index?)?.load.level());
    let saturation = level(curve.saturation)?;
    let peak = level(curve.peak)?;
    Some(match point.load.level() {
        load if load <= saturation => Range::Rising,
        load if load <= peak => Range::Flat,
        _ => Range::Beyond,
    })
}

fn from_the_start(terms: Terms, first: &LoadPointResult, points: &[&LoadPointResult]) -> String {
    let highest = points.iter().filter_map(|point| point.score).fold(0.0, f64::max);
    format!(
        "At {}, the lowest load, the server already reaches {}, {} of the highest rate: it is saturated at every load tested.",
        terms.load_text(first.load),
        rate(terms, first),
        numbers::percent(score(first) / highest, 0)
    )
}

fn rising(terms: Terms, first: &LoadPointResult, last: &LoadPointResult) -> String {
    let more = score(last) / score(first);
    let load = last.load.level() / first.load.level();
    format!(
        "From {} to {}, the rate rises from {} to {}: {} the rate for {} the load. The mean response time goes from {} to {}.",
        crate::report::load_number(first.load),
        terms.load_text(last.load),
        numbers::figure(first.score),
        rate(terms, last),
        times(more),
        times(load),
        numbers::seconds(first.response.mean),
        numbers::seconds(last.response.mean),
    )
}

/// `before` is the saturation point.
fn flat(terms: Terms, before: &LoadPointResult, last: &LoadPointResult) -> String {
    format!(
        "Between {} and {}, more load raises the rate by at most {}, but the mean response time grows from {} to {}.",
        crate::report::load_number(before.load),
        terms.load_text(last.load),
        numbers::percent((score(last) / score(before) - 1.0).max(0.0), 1),
        numbers::seconds(before.response.mean),
        numbers::seconds(last.response.mean),
    )
}

/// `before` is the load point with the highest score.
fn beyond(terms: Terms, before: &LoadPointResult, last: &LoadPointResult, n: usize) -> String {
    let lost = 1.0 - score(last) / score(before);
    let change = match lost {
        lost if lost < 0.01 => "the rate stays the same".to_owned(),
        lost => format!("the rate falls by {} to {}", numbers::percent(lost, 1), rate(terms, last)),
    };
    let up_to = if n == 1 { "at".to_owned() } else { "up to".to_owned() };
    format!(
        "Beyond the highest rate, {up_to} {}, {change}, with a mean response time of {}.",
        terms.load_text(last.load),
        numbers::seconds(last.response.mean)
    )
}

/// Returns how busy the server and the load generator were over a range.
fn cpu(here: &[&LoadPointResult]) -> Option<String> {
    let ends = |of: fn(&LoadPointResult) -> Option<f64>| {
        let values: Vec<f64> = here.iter().filter_map(|point| of(point)).collect();
        let least = values.iter().copied().reduce(f64::min)?;
        Some(percents(least, values.iter().copied().fold(least, f64::max)))
    };
    let server = ends(|point| point.sut_busy)?;
    let generator = ends(|point| Some(point.generator_busy))?;
    Some(format!("The server uses {server} of its available CPU time, the load generator {generator}."))
}

fn percents(low: f64, high: f64) -> String {
    let low = numbers::percent(low, 0);
    let high = numbers::percent(high, 0);
    if low == high { low } else { format!("{} to {high}", low.trim_end_matches(" %")) }
}

/// Names the bottlenecks of a range, each with the evidence of its highest load.
fn evidence(here: &[&LoadPointResult]) -> Option<String> {
    let mut found: Vec<&Attribution> = Vec::new();
    for attribution in here.iter().filter_map(|point| point.attribution.as_ref()) {
        match found.last_mut() {
            Some(known) if known.bottleneck == attribution.bottleneck => *known = attribution,
            _ => found.push(attribution),
        }
    }
    let clause = |one: &&Attribution| {
        // An indicator between two thresholds is two conditions.
        let mut said: Vec<String> =
            one.evidence.iter().map(|(condition, value)| value_text(condition.indicator, *value)).collect();
        said.dedup();
        said.truncate(2);
        let brackets = if said.is_empty() { String::new() } else { format!(" ({})", said.join(", ")) };
        format!("{}{brackets}", bottleneck_adjective(one))
    };
    let clauses: Vec<String> = found.iter().map(clause).collect();
    (!clauses.is_empty()).then(|| format!("It is {}.", clauses.join(", then ")))
}

fn errors(here: &[&LoadPointResult]) -> Option<String> {
    let failed: u64 = here.iter().map(|point| point.total.errors).sum();
    let all: u64 = here.iter().map(|point| point.completed()).sum();
    (0 < failed)
        .then(|| format!("{} of {} operations fail here.", numbers::count(failed), numbers::count(all)))
}

/// Returns how many load points the text leaves out.
fn left_out(report: &Report, n_shown: usize) -> Option<Block> {
    let n = report.analysis.load_points.len() - n_shown;
    let text = match n {
        0 => return None,
        1 => "One load point is not valid and is left out of this analysis.".to_owned(),
        n => format!("{n} load points are not valid and are left out of this analysis."),
    };
    Some(Block::Note(NoteKind::Info, text.into()))
}

fn rate(terms: Terms, point: &LoadPointResult) -> String {
    terms.score_text(point.score)
}

/// Returns the score of a point of the curve, which has one.
fn score(point: &LoadPointResult) -> f64 {
    point.score.unwrap_or(f64::NAN)
}

fn times(ratio: f64) -> String {
    format!("{}\u{a0}×", numbers::fixed(ratio, if ratio < 10.0 { 2 } else { 1 }))
}
