//! Rate and throughput against load.

use analysis::LoadPointResult;

use super::{curve_marks, hollow_note, is_doubtful, load_axis};
use crate::charts::{Axis, Chart, Draw, Format, Panel, Point, Series, Spacing};
use crate::report::load_number;
use crate::{Block, Column, Figure, Report, Row, Section, Table, numbers};

pub fn section(report: &Report) -> Option<Section> {
    if report.analysis.load_points.is_empty() {
        return None;
    }
    let figure = Figure {
        chart: chart(report),
        caption: format!("Bars: 95 % intervals from batch means over the seconds of the steady phase, where longer than the marker.{}", hollow_note(report)).into(),
        table: table(report),
        bulky: false,
    };
    Some(Section {
        id: "rate",
        title: "Rate and throughput against load".into(),
        blocks: vec![Block::Figure(Box::new(figure))],
    })
}

fn chart(report: &Report) -> Chart {
    let words = report.words();
    let name = if report.is_open() { "Operations per second".to_owned() } else { capital(words.rate) };
    let rate = Panel {
        y: Axis::new(name.clone(), Spacing::FromZero, Format::Plain),
        series: series(report),
        limit: None,
    };
    Chart {
        id: "rate-chart",
        title: format!("{name} and throughput against {}", words.load_noun),
        description: description(report),
        x: load_axis(report),
        panels: vec![rate, throughput(report)],
        zones: Vec::new(),
        marks: curve_marks(report),
    }
}

/// Returns the rate in full with a capital letter.
fn capital(rate: &str) -> String {
    let (first, rest) = rate.split_at(1);
    first.to_uppercase() + rest
}

fn series(report: &Report) -> Vec<Series> {
    let points = || report.analysis.load_points.iter();
    let rate = |point: &LoadPointResult| Point {
        range: point.rate_interval,
        hollow: is_doubtful(point),
        ..Point::new(point.load.level(), point.rate)
    };
    let achieved = Series {
        name: "achieved".into(),
        style: 0,
        draw: Draw::Points,
        points: points().map(rate).collect(),
    };
    let offered: Vec<Point> =
        points().filter_map(|point| Some(Point::new(point.load.level(), point.offered_rate?))).collect();
    let offered = Series { name: "offered".into(), style: 4, draw: Draw::Points, points: offered };
    [achieved, offered].into_iter().filter(|series| !series.points.is_empty()).collect()
}

/// Heads and bodies that arrived, in 2²⁰ bits per second as WebStone counts.
fn throughput(report: &Report) -> Panel {
    let point = |point: &LoadPointResult| Point {
        hollow: is_doubtful(point),
        ..Point::new(point.load.level(), point.throughput_mbit)
    };
    let points = report.analysis.load_points.iter().map(point).collect();
    let series = Series { name: "throughput".into(), style: 1, draw: Draw::Points, points };
    Panel {
        y: Axis::new("Throughput (Mbit/s)", Spacing::FromZero, Format::Plain),
        series: vec![series],
        limit: None,
    }
}

fn description(report: &Report) -> String {
    let words = report.words();
    let Some(peak) = report.analysis.curve.peak.and_then(|peak| report.analysis.load_points.get(peak)) else {
        return format!("The rate in {} at each load point.", words.rate);
    };
    let at = words.load_text(peak.load);
    format!(
        "The rate peaks at {} {} with {at}; {} Mbit/s arrive there.",
        numbers::fixed(peak.rate, 2),
        words.rate,
        numbers::fixed(peak.throughput_mbit, 2)
    )
}

fn table(report: &Report) -> Table {
    let words = report.words();
    let open = report.is_open();
    let mut columns = vec![Column::numbers(words.load, "")];
    columns.extend(open.then(|| Column::numbers("Due/second", "")));
    columns.push(Column::numbers(words.rate_heading, ""));
    columns.push(Column::numbers("95 % interval", ""));
    columns.push(Column::numbers("Throughput", "Mbits/sec"));
    columns.push(Column::numbers("Average client throughput", "Mbits/sec"));
    let row = |point: &LoadPointResult| {
        let mut cells = vec![load_number(point.load)];
        cells.extend(open.then(|| numbers::fixed(point.offered_rate, 2)));
        cells.push(numbers::fixed(point.rate, 2));
        cells.push(numbers::range(point.rate_interval, 2));
        cells.push(numbers::fixed(point.throughput_mbit, 2));
        cells.push(numbers::fixed(point.client_throughput_mbit, 2));
        Row::plain(cells)
    };
    let rows = report.analysis.load_points.iter().map(row).collect();
    Table::new("Rate and throughput", columns, rows)
}
