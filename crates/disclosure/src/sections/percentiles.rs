//! Percentiles of response time, service time, lateness and the measures of time that have a distribution.

use analysis::{LoadPointResult, Percentile, TimeSummary};
use model::{MeasureUnit, capitalized};

use super::{hollow_note, is_doubtful, load_axis, percentile_curve};
use crate::charts::{Axis, Chart, DataSeries, Draw, Format, Panel, Point, Spacing};
use crate::report::load_number;
use crate::{Block, Cell, Column, Figure, NoteKind, Report, Row, Section, Table, numbers};

/// The percentiles shown, from 0 to 1, with their names.
const SHOWN: [(f64, &str); 5] = [(0.5, "p50"), (0.9, "p90"), (0.95, "p95"), (0.99, "p99"), (0.999, "p99.9")];

pub(super) fn section(report: &Report) -> Option<Section> {
    let points = &report.analysis.load_points;
    if points.is_empty() {
        return None;
    }
    let figure = Figure {
        chart: chart(report),
        caption: format!("Logarithmic scale. Bars: 95 % intervals if longer than the marker and the run is long enough. Percentiles with too few values are not shown.{}", hollow_note(report)).into(),
        table: table(report, "Response time", |point| Some(&point.response)).note(
            "With each value its 95 % interval, from batches of seconds, which allow for values that resemble those \
             before them. None where the run is too short for one.",
        ),
        bulky: false,
    };
    let mut blocks = vec![Block::Figure(Box::new(figure))];
    blocks.extend(percentile_curve::figure(report).map(|figure| Block::Figure(Box::new(figure))));
    if points.iter().all(|point| point.service.histogram == point.response.histogram) {
        let text = "Service time equals response time in this run: every operation was sent when it was due.";
        blocks.push(Block::Note(NoteKind::Info, text.into()));
    } else {
        blocks.push(Block::Table(side_by_side(report)));
    }
    blocks.extend(other_table(report, "Lateness", |point| point.lateness.as_ref()));
    let catalog = &report.plan.catalog;
    blocks.extend(catalog.spread_measures().enumerate().filter_map(|(spread, index)| {
        let measure = &catalog.measures[index];
        // The service time of reports is seen from outside, and that of such a part is the server's word.
        let place = match report.plan.sut.name.as_str() {
            _ if !catalog.response_parts.contains(&index) => "",
            "embedded" => " in the database",
            _ => " in the server",
        };
        let name = format!("{} time{place}", capitalized(&measure.name));
        (measure.unit == MeasureUnit::Nanoseconds)
            .then(|| other_table(report, &name, |point| point.spreads.get(spread)?.as_ref()))?
    }));
    Some(Section { id: "percentiles", title: "Percentiles of response time".into(), blocks })
}

fn chart(report: &Report) -> Chart {
    let y = Axis::new("Response time", Spacing::Log, Format::Seconds);
    let percentiles = SHOWN.iter().enumerate().map(|(style, (q, name))| DataSeries {
        name: (*name).to_owned(),
        style,
        draw: Draw::Points,
        points: report.by_load().into_iter().filter_map(|point| drawn(point, *q)).collect(),
    });
    let max =
        DataSeries { name: "max".into(), style: SHOWN.len(), draw: Draw::Points, points: maxima(report) };
    Chart {
        id: "percentile-chart",
        title: format!("Response time percentiles against {}", report.terms().load_noun),
        description:
            "Median, 90th, 95th, 99th and 99.9th percentile and maximum of the response time at each load point."
                .into(),
        x: load_axis(report),
        panels: vec![Panel {
            y,
            series: percentiles.chain([max]).filter(|one| !one.points.is_empty()).collect(),
            limit: None,
        }],
        zones: Vec::new(),
        marks: Vec::new(),
    }
}

fn drawn(point: &LoadPointResult, q: f64) -> Option<Point> {
    let percentile = point.response.percentile(q)?;
    let range = percentile.interval.map(|(low, high)| (low.as_secs_f64(), high.as_secs_f64()));
    let drawn = Point::new(point.load.level(), percentile.value.as_secs_f64());
    Some(Point { range, hollow: is_doubtful(point), ..drawn })
}

fn maxima(report: &Report) -> Vec<Point> {
    let point = |point: &LoadPointResult| {
        let max = point.response.max?.as_secs_f64();
        Some(Point { hollow: is_doubtful(point), ..Point::new(point.load.level(), max) })
    };
    report.by_load().into_iter().filter_map(point).collect()
}

fn table(report: &Report, name: &str, of: impl Fn(&LoadPointResult) -> Option<&TimeSummary>) -> Table {
    let mut columns = vec![
        Column::numbers(report.terms().load(), ""),
        Column::numbers("n", ""),
        Column::numbers("mean", ""),
    ];
    columns.extend(SHOWN.iter().map(|(_, name)| Column::numbers(*name, "")));
    columns.push(Column::numbers("max", ""));
    let row = |point: &LoadPointResult| {
        let summary = of(point)?;
        let mut cells: Vec<Cell> =
            vec![load_number(point.load).into(), numbers::count(summary.histogram.n()).into()];
        cells.push(Cell::with(
            numbers::seconds(summary.mean),
            numbers::seconds_interval(summary.mean_interval),
        ));
        cells.extend(SHOWN.iter().map(|(q, _)| percentile_cell(summary.percentile(*q))));
        cells.push(numbers::time(summary.max).into());
        Some(Row::plain(cells))
    };
    let rows = report.analysis.load_points.iter().filter_map(row).collect();
    Table::new(format!("{name}: mean, percentiles and maximum"), columns, rows)
}

/// Returns the table of a time that not every run has.
fn other_table(
    report: &Report,
    name: &str,
    of: impl Fn(&LoadPointResult) -> Option<&TimeSummary>,
) -> Option<Block> {
    let any = report.analysis.load_points.iter().any(|point| of(point).is_some());
    let note = "Each percentile has its 95 % interval from order statistics. These assume independent values and are too \
                narrow where operations queue behind one another.";
    any.then(|| Block::Table(table(report, name, of).note(note)))
}

fn percentile_cell(percentile: Option<&Percentile>) -> Cell {
    let Some(percentile) = percentile else { return numbers::ABSENT.into() };
    Cell::with(numbers::time(percentile.value), numbers::time_interval(percentile.interval))
}

/// Response time against service time: what a stalled server hides from those who ask only when it answers.
fn side_by_side(report: &Report) -> Table {
    let mut columns = vec![Column::numbers(report.terms().load(), "")];
    for name in ["mean", "p50", "p99", "p99.9", "max"] {
        columns.push(Column::numbers(format!("{name} response"), ""));
        columns.push(Column::numbers(format!("{name} service"), ""));
    }
    let row = |point: &LoadPointResult| {
        let both = [&point.response, &point.service];
        let mut cells = vec![load_number(point.load)];
        cells.extend(both.map(|summary| numbers::seconds(summary.mean)));
        for q in [0.5, 0.99, 0.999] {
            cells.extend(both.map(|summary| numbers::time(summary.percentile(q).map(|one| one.value))));
        }
        cells.extend(both.map(|summary| numbers::time(summary.max)));
        Row::plain(cells)
    };
    let rows = report.analysis.load_points.iter().map(row).collect();
    Table::new("Response time and service time", columns, rows)
        .note("Response time starts when an operation is due, service time when it is sent.")
}
