//! Open loop: what was delivered of what was requested, and the curve of response time against it.

use analysis::LoadPointResult;

use super::{hollow_note, is_doubtful, state_text};
use crate::charts::{Axis, Chart, DataSeries, Draw, Format, Panel, Point, Spacing};
use crate::report::load_number;
use crate::{Block, Column, Figure, Report, Row, RowStyle, Section, Table, numbers};

pub(super) fn section(report: &Report) -> Option<Section> {
    if !report.is_open() || report.analysis.load_points.is_empty() {
        return None;
    }
    let figure = Figure {
        chart: chart(report),
        caption: format!(
            "Each marker is a load point. Response time starts when an operation is due.{}",
            hollow_note(report)
        )
        .into(),
        table: table(report),
        bulky: false,
    };
    let title = "Delivered load and response time".into();
    Some(Section { id: "delivery", title, blocks: vec![Block::Figure(Box::new(figure))] })
}

fn chart(report: &Report) -> Chart {
    let point = |point: &LoadPointResult| {
        let drawn = Point::new(point.rate, point.response.mean?);
        Some(Point { range: point.response.mean_interval, hollow: is_doubtful(point), ..drawn })
    };
    // In the order of load, so that the curve turns back where overload lowers the rate.
    let points = report.by_load().into_iter().filter_map(point).collect();
    let series = vec![DataSeries { name: "mean response time".into(), style: 0, draw: Draw::Points, points }];
    let y = Axis::new("Mean response time", Spacing::FromZero, Format::Seconds);
    Chart {
        id: "delivery-chart",
        title: "Mean response time against delivered load".into(),
        description: "Mean response time of each load point against its delivered rate.".into(),
        x: Axis::new("Delivered operations per second", Spacing::FromZero, Format::Plain),
        panels: vec![Panel { y, series, limit: None }],
        zones: Vec::new(),
        marks: Vec::new(),
    }
}

fn table(report: &Report) -> Table {
    let columns = vec![
        Column::numbers("Requested", "ops/s"),
        Column::numbers("Delivered ÷ requested", "%"),
        Column::numbers("Response time, mean", ""),
        Column::numbers("Std dev", ""),
        Column::numbers("In flight, max", ""),
        Column::words("Verdict"),
    ];
    let points = &report.analysis.load_points;
    let row = |point: &LoadPointResult| {
        Row::plain([
            load_number(point.load),
            numbers::fixed(point.delivered_ratio.map(|ratio| ratio * 100.0), 2),
            numbers::seconds(point.response.mean),
            numbers::seconds(point.total.response.deviation),
            numbers::count(u64::from(point.load.in_flight_max())),
            state_text(point.verdict.state).to_owned(),
        ])
        .style(if is_doubtful(point) { RowStyle::Invalid } else { RowStyle::Plain })
    };
    let limit = numbers::percent(report.plan.rules.delivered_ratio_min, 0);
    let overall = numbers::seconds(report.analysis.response_mean());
    Table::new("Requested and delivered load", columns, points.iter().map(row).collect()).note(format!(
        "Mean response time of all load points: {overall}. At least {limit} of the due operations must be delivered. A \
         load point above the server’s capacity misses this; it is then overloaded and shows where the capacity ends, but \
         does not make the run invalid."
    ))
}
