//! Statistics per kind of operation, from the catalog: for families without a section of their own for them.

use analysis::{KindResult, LoadPointResult, SummaryStatistics};
use model::{Catalog, Measure, MeasureUnit, OperationKind};

use crate::{Block, Column, Report, Row, RowStyle, Section, Table, numbers};

/// Nanoseconds of a second.
const NANOS: f64 = 1e9;

pub(super) fn section(report: &Report) -> Option<Section> {
    if report.web().is_some() || report.analysis.load_points.is_empty() {
        return None;
    }
    let blocks = report.analysis.load_points.iter().map(|point| Block::Table(table(report, point))).collect();
    Some(Section { id: "kinds", title: "Statistics per kind of operation".into(), blocks })
}

fn table(report: &Report, point: &LoadPointResult) -> Table {
    let catalog = &report.plan.catalog;
    let mut columns = vec![
        Column::words("Operation"),
        Column::numbers("Completed", ""),
        Column::numbers("Errors", ""),
        Column::numbers("Share", "%"),
        Column::numbers("Expected", "%"),
        Column::numbers("Response time, mean", ""),
        Column::numbers("p50", ""),
        Column::numbers("p95", ""),
        Column::numbers("p99", ""),
    ];
    let measures = shown_measures(catalog, &point.total);
    columns.extend(measure_columns(catalog, &measures));
    let completed = point.completed();
    let row = |kind: &KindResult, expected: Option<f64>| {
        let share = (0 < completed).then(|| (kind.n + kind.errors) as f64 / completed as f64);
        let percent = |share: Option<f64>| numbers::fixed(share.map(|share| share * 100.0), 2);
        let percentile = |q| kind.percentiles.percentile(q).map(|one| one.value.as_secs_f64());
        let cells = [
            kind.name.clone(),
            numbers::count(kind.n),
            numbers::count(kind.errors),
            percent(share),
            percent(expected),
            numbers::seconds(kind.response.mean),
            numbers::seconds(percentile(0.5)),
            numbers::seconds(percentile(0.95)),
            numbers::seconds(percentile(0.99)),
        ];
        Row::plain(cells.into_iter().chain(measure_cells(catalog, &measures, kind)))
    };
    // A family may have kinds that not all of its benchmarks have.
    let is_known = |(result, kind): &(&KindResult, &OperationKind)| {
        0 < result.n + result.errors || kind.share.is_some_and(|share| 0.0 < share)
    };
    let kinds = point.kinds.iter().zip(&catalog.kinds).filter(is_known);
    let mut rows: Vec<Row> = kinds.map(|(result, kind)| row(result, kind.share)).collect();
    rows.push(row(&point.total, Some(1.0)).style(RowStyle::Total));
    let caption = format!("Operations at {}", report.terms().load_text(point.load));
    Table::new(caption, columns, rows).note(format!(
        "Shares count successful and failed operations; the expected share is that of the mix.{}",
        rest_note(catalog)
    ))
}

/// Returns the indexes of the measures that a load point has: one that only some operations have may be that of none.
fn shown_measures(catalog: &Catalog, total: &KindResult) -> Vec<usize> {
    let is_shown = |index: &usize| {
        catalog.measures[*index].is_always
            || total.measures.get(*index).is_some_and(|statistics| statistics.mean.is_some())
    };
    (0..catalog.measures.len()).filter(is_shown).collect()
}

/// Returns the place behind the last part of the response time, for what these leave of it.
fn rest_place(catalog: &Catalog, measures: &[usize]) -> Option<usize> {
    let last = catalog.response_parts.iter().max()?;
    Some(measures.iter().position(|measure| measure == last)? + 1)
}

/// Returns the columns of measures. What parts of the response time leave of it follows the last of them.
fn measure_columns(catalog: &Catalog, measures: &[usize]) -> Vec<Column> {
    let heading =
        |measure: &Measure| Column::numbers(format!("Mean {}", measure.name), column_unit(measure.unit));
    let mut columns: Vec<Column> = measures.iter().map(|index| heading(&catalog.measures[*index])).collect();
    if let Some(place) = rest_place(catalog, measures) {
        columns.insert(place, Column::numbers("Mean network and client", ""));
    }
    columns
}

/// Returns the cells of these columns.
fn measure_cells(catalog: &Catalog, measures: &[usize], kind: &KindResult) -> Vec<String> {
    let cell = |measure: &Measure, statistics: &SummaryStatistics| match measure.unit {
        MeasureUnit::Nanoseconds => numbers::seconds(statistics.mean),
        MeasureUnit::Bytes | MeasureUnit::Count => numbers::figure(statistics.mean),
    };
    let mut cells: Vec<String> =
        measures.iter().map(|index| cell(&catalog.measures[*index], &kind.measures[*index])).collect();
    if let Some(place) = rest_place(catalog, measures) {
        cells.insert(place, numbers::seconds(kind.rest_mean));
    }
    cells
}

/// Explains the rest of the response time, in a sentence that follows another one; empty where no parts of it are stated.
fn rest_note(catalog: &Catalog) -> String {
    let names: Vec<&str> =
        catalog.response_parts.iter().map(|part| catalog.measures[*part].name.as_str()).collect();
    match &names[..] {
        [] => String::new(),
        names => format!(
            " The server states its own times ({}); network and client have the rest of the response time, which is \
             unknown where replies leave one of them out.",
            names.join(", ")
        ),
    }
}

/// Returns the unit of a measure in the heading of a column; times have theirs in each cell.
fn column_unit(unit: MeasureUnit) -> &'static str {
    match unit {
        MeasureUnit::Bytes => "B",
        MeasureUnit::Nanoseconds | MeasureUnit::Count => "",
    }
}

/// Returns the unit in which a value of a measure is written without one of its own.
pub(super) fn measure_unit(unit: MeasureUnit) -> &'static str {
    match unit {
        MeasureUnit::Nanoseconds => "s",
        MeasureUnit::Bytes => "B",
        MeasureUnit::Count => "",
    }
}

/// Converts a recorded value to that unit.
pub(super) fn in_unit(value: f64, unit: MeasureUnit) -> f64 {
    match unit {
        MeasureUnit::Nanoseconds => value / NANOS,
        MeasureUnit::Bytes | MeasureUnit::Count => value,
    }
}
