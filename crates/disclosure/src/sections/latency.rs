//! Mean response time against load, and Little's law.

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
        caption: format!(
            "Bars: 95 % intervals from batch means over the seconds of the steady phase, where longer than the marker.{}",
            hollow_note(report)
        )
        .into(),
        table: table(report),
        bulky: false,
    };
    Some(Section {
        id: "latency",
        title: "Response time against load".into(),
        blocks: vec![Block::Figure(Box::new(figure))],
    })
}

fn chart(report: &Report) -> Chart {
    let y = Axis::new("Mean response time", Spacing::FromZero, Format::Seconds);
    Chart {
        id: "latency-chart",
        title: format!("Mean response time against {}", report.words().load_noun),
        description: description(report),
        x: load_axis(report),
        panels: vec![Panel { y, series: vec![series(report)], limit: None }],
        zones: Vec::new(),
        marks: curve_marks(report),
    }
}

fn series(report: &Report) -> Series {
    let point = |point: &LoadPointResult| {
        let mean = point.response.mean?;
        let drawn = Point::new(point.load.level(), mean);
        Some(Point { range: point.response.mean_interval, hollow: is_doubtful(point), ..drawn })
    };
    let points = report.analysis.load_points.iter().filter_map(point).collect();
    Series { name: "mean response time".into(), style: 0, draw: Draw::Points, points }
}

fn description(report: &Report) -> String {
    let words = report.words();
    let ends =
        [report.analysis.load_points.first(), report.analysis.load_points.last()].into_iter().flatten();
    let texts = ends.map(|point| {
        format!("{} with {}", numbers::seconds(point.response.mean), words.load_text(point.load))
    });
    format!("The mean response time is {}.", texts.collect::<Vec<_>>().join(", and "))
}

fn table(report: &Report) -> Table {
    let words = report.words();
    let points = &report.analysis.load_points;
    let decimals = numbers::decimals_for(points.iter().filter_map(|point| point.response.mean));
    let columns = vec![
        Column::numbers(words.load, ""),
        Column::numbers(words.response_heading, "s"),
        Column::numbers("95 % interval", "s"),
        Column::numbers("Little’s Law", ""),
        Column::numbers("In flight, mean", ""),
        Column::numbers("Thinking, mean", ""),
        Column::numbers("Gap in N = X·(R + Z)", ""),
    ];
    let row = |point: &LoadPointResult| {
        Row::plain([
            load_number(point.load),
            numbers::fixed(point.response.mean, decimals),
            numbers::range(point.response.mean_interval, decimals),
            numbers::fixed(point.load_factor, 2),
            numbers::fixed(point.in_flight_mean, 2),
            numbers::fixed(point.thinking_mean, 2),
            numbers::percent(point.little_gap, 2),
        ])
    };
    Table::new("Mean response time and Little’s law", columns, points.iter().map(row).collect()).note(
        "Little’s Law counts successful operations only; in flight is recorded directly and counts the failed ones too.",
    )
}
