//! Failed operations: their number by kind, and examples.

use std::collections::BTreeMap;

use analysis::LoadPointResult;
use model::{Example, Outcome};

use crate::report::load_number;
use crate::{Block, Column, Report, Row, Section, Table, numbers};

pub(super) fn section(report: &Report) -> Option<Section> {
    let points = &report.analysis.load_points;
    let outcomes = outcomes(points);
    let blocks = if outcomes.is_empty() {
        vec![Block::Paragraph("No operation failed in a steady phase.".into())]
    } else {
        vec![Block::Table(counts(report, &outcomes))]
    };
    let examples = examples(report);
    let blocks = blocks.into_iter().chain(examples).collect();
    Some(Section { id: "errors", title: "Errors".into(), blocks })
}

/// Returns the outcomes that occurred, the most frequent of the run first.
fn outcomes(points: &[LoadPointResult]) -> Vec<Outcome> {
    let mut sums: BTreeMap<Outcome, u64> = BTreeMap::new();
    for (outcome, n) in points.iter().flat_map(|point| &point.failures) {
        *sums.entry(*outcome).or_default() += n;
    }
    let mut sums: Vec<(Outcome, u64)> = sums.into_iter().collect();
    sums.sort_by_key(|(outcome, n)| (std::cmp::Reverse(*n), *outcome));
    sums.into_iter().map(|(outcome, _)| outcome).collect()
}

fn counts(report: &Report, outcomes: &[Outcome]) -> Table {
    let mut columns = vec![Column::numbers(report.terms().load, "")];
    columns.extend(outcomes.iter().map(|outcome| Column::numbers(outcome.name(), "")));
    columns.push(Column::numbers("all", ""));
    let row = |point: &LoadPointResult| {
        let n =
            |outcome: &Outcome| point.failures.iter().find(|(one, _)| one == outcome).map_or(0, |(_, n)| *n);
        let mut cells = vec![load_number(point.load)];
        cells.extend(outcomes.iter().map(|outcome| numbers::count(n(outcome))));
        cells.push(numbers::count(point.total.errors));
        Row::plain(cells)
    };
    let rows = report.analysis.load_points.iter().map(row).collect();
    Table::new("Failed operations by kind", columns, rows)
        .note("Failed operations count in no rate, throughput or percentile.")
}

fn examples(report: &Report) -> Option<Block> {
    let examples: Vec<&Example> =
        report.analysis.load_points.iter().flat_map(|point| &point.examples).collect();
    let columns = vec![
        Column::numbers(report.terms().load, ""),
        Column::numbers("At", ""),
        Column::words("Failure"),
        Column::words("File"),
        Column::words("Details"),
    ];
    let row = |example: &&Example| {
        let load = report.plan.load_points.get(example.load_point as usize);
        let kind = report.plan.catalog.kinds.get(usize::from(example.kind));
        Row::plain([
            load.map_or(numbers::ABSENT.to_owned(), |point| load_number(point.load)),
            numbers::time(example.at),
            example.outcome.name().to_owned(),
            kind.map_or(numbers::ABSENT.to_owned(), |kind| kind.name.clone()),
            example.text.clone(),
        ])
    };
    let table = Table::new("First example of each kind", columns, examples.iter().map(row).collect());
    (!examples.is_empty()).then_some(Block::Table(table))
}
