//! Rate and mean response time against load, the chart that a report opens with; and what moves how many bytes, and how
//! many operations are in progress.

use analysis::{LoadPointResult, METRICS, Metric, MetricColumn, MetricFormat};
use model::capitalized;

use super::{curve_marks, hollow_note, is_doubtful, load_axis};
use crate::charts::{Axis, Chart, DataSeries, Draw, Format, Panel, Point, Spacing};
use crate::report::load_number;
use crate::{Block, Column, LeadFigure, Report, Row, Section, Table, numbers};

pub(super) fn section(report: &Report) -> Option<Section> {
    if report.analysis.load_points.is_empty() {
        return None;
    }
    let blocks = vec![Block::Table(table(report))];
    Some(Section { id: "rate", title: "Throughput and operations in progress".into(), blocks })
}

/// Returns the chart; `None` with fewer than two load points, which show no curve.
pub(super) fn lead(report: &Report) -> Option<LeadFigure> {
    (1 < report.analysis.load_points.len()).then(|| LeadFigure {
        chart: chart(report),
        caption: format!(
            "Bars: 95 % intervals if longer than the marker. The numbers are in the table of results.{}",
            hollow_note(report)
        )
        .into(),
    })
}

fn chart(report: &Report) -> Chart {
    let terms = report.terms();
    let name = if report.is_open() && terms.is_operation_rate {
        "Operations per second".to_owned()
    } else {
        capitalized(terms.score)
    };
    let panel = |title: String, format, series| Panel {
        y: Axis::new(title, Spacing::FromZero, format),
        series,
        limit: None,
    };
    Chart {
        id: "lead-chart",
        title: format!("{name} and mean response time against {}", terms.load_noun),
        description: description(report),
        x: load_axis(report),
        panels: vec![
            panel(name, Format::Plain, rates(report)),
            panel("Mean response time".to_owned(), Format::Seconds, vec![responses(report)]),
        ],
        zones: Vec::new(),
        marks: curve_marks(report),
    }
}

fn rates(report: &Report) -> Vec<DataSeries> {
    let points = || report.by_load().into_iter();
    let score = |point: &LoadPointResult| {
        let drawn = Point::new(point.load.level(), point.score?);
        Some(Point { range: point.score_interval, hollow: is_doubtful(point), ..drawn })
    };
    let achieved = DataSeries {
        name: "achieved".into(),
        style: 0,
        draw: Draw::Points,
        points: points().filter_map(score).collect(),
    };
    // What was offered are operations per second, whatever the score is.
    let comparable = points().filter(|_| report.terms().is_operation_rate);
    let offered: Vec<Point> =
        comparable.filter_map(|point| Some(Point::new(point.load.level(), point.offered_rate?))).collect();
    let offered = DataSeries { name: "offered".into(), style: 4, draw: Draw::Points, points: offered };
    [achieved, offered].into_iter().filter(|series| !series.points.is_empty()).collect()
}

fn responses(report: &Report) -> DataSeries {
    let point = |point: &LoadPointResult| {
        let drawn = Point::new(point.load.level(), point.response.mean?);
        Some(Point { range: point.response.mean_interval, hollow: is_doubtful(point), ..drawn })
    };
    let points = report.by_load().into_iter().filter_map(point).collect();
    DataSeries { name: "mean response time".into(), style: 1, draw: Draw::Points, points }
}

fn description(report: &Report) -> String {
    let terms = report.terms();
    let Some(peak) = report.analysis.curve.peak.and_then(|peak| report.analysis.load_points.get(peak)) else {
        return format!("The rate in {} and the mean response time at each load point.", terms.score);
    };
    format!(
        "The rate peaks at {} at {}, with a mean response time of {}.",
        terms.score_text(peak.score),
        terms.load_text(peak.load),
        numbers::seconds(peak.response.mean)
    )
}

/// Makes the table of the metrics that have a column here; one without a value at any load point is left out.
fn table(report: &Report) -> Table {
    let points = &report.analysis.load_points;
    let cell = |metric: &Metric, column: MetricColumn, point: &LoadPointResult| {
        numbers::metric(metric.value(point).number(), column.format)
    };
    let shown: Vec<(&Metric, MetricColumn)> = METRICS
        .iter()
        .filter(|metric| points.iter().any(|point| metric.value(point).number().is_some()))
        .filter_map(|metric| Some((metric, metric.column?)))
        .collect();
    let mut columns = vec![Column::numbers(report.terms().load(), "")];
    columns
        .extend(shown.iter().map(|(_, column)| Column::numbers(column.heading, column_unit(column.format))));
    let row = |point: &LoadPointResult| {
        let cells = shown.iter().map(|(metric, column)| cell(metric, *column, point));
        Row::plain(std::iter::once(load_number(point.load)).chain(cells))
    };
    let rows = points.iter().map(row).collect();
    Table::new("Throughput per client and Little’s law", columns, rows).note(
        "In flight is recorded directly and includes failed operations; Little’s Law in the table of results counts \
         successful ones only.",
    )
}

/// Returns the unit in the heading of a column; percentages have theirs in each cell.
fn column_unit(format: MetricFormat) -> &'static str {
    match format {
        MetricFormat::Megabits => "Mbit/s",
        MetricFormat::Figure | MetricFormat::Percent => "",
    }
}
