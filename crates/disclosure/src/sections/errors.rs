//! Failed operations: their number by kind, and examples.

use std::collections::BTreeMap;

use analysis::{LoadPointResult, TimelinePoint};
use model::{Example, FailureCodes, Outcome, Phase};

use crate::report::load_number;
use crate::{Block, Column, Report, Row, Section, Table, numbers};

pub(super) fn section(report: &Report) -> Option<Section> {
    let points = &report.analysis.load_points;
    let outcomes = outcomes(points);
    let blocks = if outcomes.is_empty() {
        vec![Block::Paragraph("No operation failed in a steady phase.".into())]
    } else {
        let codes = codes(points).map(|codes| Block::Table(codes_table(report, &codes)));
        [Block::Table(table(report, &outcomes))].into_iter().chain(codes).collect()
    };
    let examples = examples(report);
    let blocks = blocks.into_iter().chain(examples).collect();
    let n: u64 = points.iter().map(|point| point.total.errors).sum();
    Some(Section { id: "errors", title: format!("Errors ({})", numbers::count(n)), blocks })
}

/// Returns the outcomes that occurred, the most frequent of the run first.
pub(super) fn outcomes(points: &[LoadPointResult]) -> Vec<Outcome> {
    let mut sums: BTreeMap<Outcome, u64> = BTreeMap::new();
    for (outcome, n) in points.iter().flat_map(|point| &point.failures) {
        *sums.entry(*outcome).or_default() += n;
    }
    let mut sums: Vec<(Outcome, u64)> = sums.into_iter().collect();
    sums.sort_by_key(|(outcome, n)| (std::cmp::Reverse(*n), *outcome));
    sums.into_iter().map(|(outcome, _)| outcome).collect()
}

/// Returns how many operations failed, by kind, and when, by seconds of the steady phases.
fn table(report: &Report, outcomes: &[Outcome]) -> Table {
    let mut columns = vec![Column::numbers(report.terms().load(), "")];
    columns.extend(outcomes.iter().map(|outcome| Column::numbers(outcome.name(), "")));
    columns.extend([
        Column::numbers("all", ""),
        Column::numbers("Seconds with errors", ""),
        Column::numbers("First at", "s"),
        Column::numbers("Last at", "s"),
        Column::numbers("Highest rate", "errors/s"),
        Column::numbers("Highest at", "s"),
    ]);
    let row = |point: &LoadPointResult| {
        let n =
            |outcome: &Outcome| point.failures.iter().find(|(one, _)| one == outcome).map_or(0, |(_, n)| *n);
        let counted = outcomes.iter().map(n).chain([point.total.errors]).map(numbers::count);
        Row::plain([load_number(point.load)].into_iter().chain(counted).chain(times(point)))
    };
    let rows = report.analysis.load_points.iter().map(row).collect();
    Table::new("Failed operations by kind and time", columns, rows).note(
        "Failed operations count in no rate, throughput or percentile. Seconds of the steady phase, times from the start of \
         the load point; the timeline draws them.",
    )
}

/// Returns the cells about when operations of a load point failed.
fn times(point: &LoadPointResult) -> [String; 5] {
    let steady = || point.timeline.iter().filter(|second| second.phase == Phase::Steady);
    let failed = || steady().filter(|second| 0.0 < second.error_rate);
    let at = |second: Option<&TimelinePoint>| numbers::fixed(second.map(|second| second.at.floor()), 0);
    let worst = failed().max_by(|one, other| one.error_rate.total_cmp(&other.error_rate));
    [
        format!("{} of {}", failed().count(), steady().count()),
        at(failed().next()),
        at(failed().next_back()),
        numbers::figure(worst.map(|second| second.error_rate)),
        at(worst),
    ]
}

/// The most codes that the report lists.
const CODES_LISTED: usize = 16;

/// Returns the codes that occurred, the most frequent of the run first; `None` if no failure had one.
fn codes(points: &[LoadPointResult]) -> Option<Vec<(Outcome, u32)>> {
    let mut sums = FailureCodes::default();
    points.iter().for_each(|point| sums.merge(&point.codes));
    let mut codes: Vec<(Outcome, u32, u64)> = sums.iter().collect();
    codes.sort_by_key(|(outcome, code, n)| (std::cmp::Reverse(*n), *outcome, *code));
    let codes: Vec<_> = codes.into_iter().map(|(outcome, code, _)| (outcome, code)).collect();
    (!codes.is_empty()).then_some(codes)
}

fn codes_table(report: &Report, codes: &[(Outcome, u32)]) -> Table {
    let listed = &codes[..codes.len().min(CODES_LISTED)];
    let mut columns = vec![Column::numbers(report.terms().load(), "")];
    // The web has codes for one outcome only.
    let heading = |(outcome, code): &(Outcome, u32)| match report.web() {
        Some(_) => code.to_string(),
        None => match report.plan.catalog.code_name(*code) {
            Some(name) => format!("{} {name}", outcome.name()),
            None => format!("{} {code}", outcome.name()),
        },
    };
    columns.extend(listed.iter().map(|one| Column::numbers(heading(one), "")));
    columns.push(Column::numbers("others", ""));
    let row = |point: &LoadPointResult| {
        let n = |one: &(Outcome, u32)| {
            let found = point.codes.iter().find(|(outcome, code, _)| (*outcome, *code) == *one);
            found.map_or(0, |(.., n)| n)
        };
        let counts: Vec<u64> = listed.iter().map(n).collect();
        let others = point.codes.n().saturating_sub(counts.iter().fold(0, |sum, n| sum.saturating_add(*n)));
        let cells = counts.into_iter().chain([others]).map(numbers::count);
        Row::plain([load_number(point.load)].into_iter().chain(cells))
    };
    let rows = report.analysis.load_points.iter().map(row).collect();
    let note = match report.web() {
        Some(_) => {
            "Only operations to which the server replied have a code: the HTTP status of the response."
        }
        None => {
            "Only operations to which the server replied have a code: the status of the reply, or the check that found it \
             wrong. The page of the benchmark lists them."
        }
    };
    Table::new("Failed operations by protocol code", columns, rows).note(note)
}

fn examples(report: &Report) -> Option<Block> {
    let examples: Vec<&Example> =
        report.analysis.load_points.iter().flat_map(|point| &point.examples).collect();
    let columns = vec![
        Column::numbers(report.terms().load(), ""),
        Column::numbers("At", "s"),
        Column::words("Failure"),
        Column::words("File"),
        Column::words("Details"),
    ];
    let row = |example: &&Example| {
        let load = report.plan.load_points.get(example.load_point as usize);
        let kind = report.plan.catalog.kinds.get(usize::from(example.kind));
        Row::plain([
            load.map_or(numbers::ABSENT.to_owned(), |point| load_number(point.load)),
            numbers::figure(example.at.as_secs_f64()),
            example.outcome.name().to_owned(),
            kind.map_or(numbers::ABSENT.to_owned(), |kind| kind.name.clone()),
            example.text.clone(),
        ])
    };
    let table = Table::new("First example of each kind", columns, examples.iter().map(row).collect());
    (!examples.is_empty()).then_some(Block::Table(table))
}
