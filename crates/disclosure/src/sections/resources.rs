//! CPU use of load generator and server: could the generator have been the bottleneck?

use analysis::LoadPointResult;

use super::{hollow_note, is_doubtful, load_axis};
use crate::charts::{Axis, Chart, DataSeries, Draw, Format, Panel, Point, Spacing};
use crate::report::load_number;
use crate::{Block, Column, Figure, NoteKind, Report, Row, Section, Table, numbers};

pub(super) fn section(report: &Report) -> Option<Section> {
    let points = &report.analysis.load_points;
    if points.is_empty() {
        return None;
    }
    let rules = &report.plan.rules;
    let caption = format!(
        "A load point is invalid if the load generator uses {} or more of its CPU time while the server uses less than {} of its own.{}",
        numbers::percent(rules.generator_busy_max, 0),
        numbers::percent(rules.sut_saturated_min, 0),
        hollow_note(report),
    );
    let figure = Figure { chart: chart(report), caption: caption.into(), table: table(report), bulky: false };
    let mut blocks = vec![Block::Figure(Box::new(figure))];
    if points.iter().all(|point| point.sut_cpus.is_none()) {
        let text = "The server’s CPU use could not be measured from here, so these figures do not show that the server was the bottleneck.";
        blocks.push(Block::Note(NoteKind::Warning, text.into()));
    }
    Some(Section { id: "resources", title: "Generator and server".into(), blocks })
}

fn chart(report: &Report) -> Chart {
    let series = |name: &str, style, value: fn(&LoadPointResult) -> Option<f64>| {
        let point = |point: &LoadPointResult| {
            let drawn = Point::new(point.load.level(), value(point)?);
            Some(Point { hollow: is_doubtful(point), ..drawn })
        };
        let points = report.by_load().into_iter().filter_map(point).collect();
        DataSeries { name: name.to_owned(), style, draw: Draw::Points, points }
    };
    let all = [
        series("server", 1, |point| point.sut_busy),
        series("generator", 0, |point| Some(point.generator_busy)),
        series("run queue", 4, |point| Some(point.generator_run_queue)),
    ];
    let limit = report.plan.rules.generator_busy_max;
    Chart {
        id: "cpu-chart",
        title: format!("CPU use against {}", report.terms().load_noun),
        description:
            "CPU use of load generator and server at each load point, of the time available to them.".into(),
        x: load_axis(report),
        panels: vec![Panel {
            y: Axis::new("CPU use, of the available time", Spacing::FromZero, Format::Percent),
            series: all.into_iter().filter(|one| !one.points.is_empty()).collect(),
            limit: Some((limit, format!("generator’s limit {}", numbers::percent(limit, 0)))),
        }],
        zones: Vec::new(),
        marks: Vec::new(),
    }
}

fn table(report: &Report) -> Table {
    let columns = vec![
        Column::numbers(report.terms().load(), ""),
        Column::numbers("Generator busy", "%"),
        Column::numbers("Run queue", "%"),
        Column::numbers("Generator CPU/operation", ""),
        Column::numbers("Server", "CPUs"),
        Column::numbers("Server busy", "%"),
        Column::numbers("Server CPU/operation", ""),
    ];
    let row = |point: &LoadPointResult| {
        Row::plain([
            load_number(point.load),
            numbers::fixed(point.generator_busy * 100.0, 1),
            numbers::fixed(point.generator_run_queue * 100.0, 2),
            numbers::seconds(point.generator_cpu_per_operation),
            numbers::figure(point.sut_cpus),
            numbers::fixed(point.sut_busy.map(|busy| busy * 100.0), 1),
            numbers::seconds(point.sut_cpu_per_operation),
        ])
    };
    let rows = report.analysis.load_points.iter().map(row).collect();
    Table::new("CPU use of generator and server", columns, rows).note(
        "Run queue: share of time in which load threads were runnable but waited for a CPU. Server busy: of its available CPU time.",
    )
}
