//! The pauses of users as they were drawn.

use analysis::{LoadPointResult, PauseResult};

use crate::report::load_number;
use crate::{Column, Report, Row, Table, numbers};

/// Returns a table per kind of pause, with a row per load point; none in an open loop.
pub(super) fn tables(report: &Report) -> Vec<Table> {
    let points = &report.analysis.load_points;
    if report.is_open() || points.is_empty() {
        return Vec::new();
    }
    let kinds = report.plan.catalog.pauses.iter().enumerate();
    kinds.map(|(index, kind)| table(report, index, &kind.name)).collect()
}

fn table(report: &Report, index: usize, name: &str) -> Table {
    let columns = vec![
        Column::numbers(report.terms().load(), ""),
        Column::numbers("Number", ""),
        Column::numbers("Mean", ""),
        Column::numbers("p50", ""),
        Column::numbers("p90", ""),
        Column::numbers("p95", ""),
        Column::numbers("p99", ""),
        Column::numbers("Maximum", ""),
    ];
    let points = || report.analysis.load_points.iter();
    let rows = points().filter_map(|point| Some(row(point, point.pauses.get(index)?))).collect();
    Table::new(format!("Drawn {name}: mean, percentiles and maximum"), columns, rows)
}

fn row(point: &LoadPointResult, pause: &PauseResult) -> Row {
    let percentile = |q| numbers::time(pause.drawn.percentile(q).map(|one| one.value));
    Row::plain([
        load_number(point.load),
        numbers::count(pause.drawn.histogram.n()),
        numbers::seconds(pause.drawn.mean),
        percentile(0.5),
        percentile(0.9),
        percentile(0.95),
        percentile(0.99),
        numbers::time(pause.drawn.max),
    ])
}
