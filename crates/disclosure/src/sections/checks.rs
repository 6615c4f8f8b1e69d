//! Checks of the system under test before and after load points, and counts beside the records.

use std::collections::BTreeSet;

use analysis::LoadPointResult;
use model::{AgentFigure, capitalized};

use crate::report::load_number;
use crate::{Block, Column, Report, Row, RowStyle, Section, Table, numbers};

pub(super) fn section(report: &Report) -> Option<Section> {
    let points = &report.analysis.load_points;
    let blocks: Vec<Block> =
        [checks(report, points), counts(report, points)].into_iter().flatten().map(Block::Table).collect();
    let title = "Checks and counts beside the records".into();
    (!blocks.is_empty()).then_some(Section { id: "checks", title, blocks })
}

fn checks(report: &Report, points: &[LoadPointResult]) -> Option<Table> {
    let columns = vec![
        Column::numbers(report.terms().load(), ""),
        Column::words("When"),
        Column::words("Check"),
        Column::words("Holds"),
        Column::words("Found"),
    ];
    let rows: Vec<Row> = points
        .iter()
        .flat_map(|point| point.checks.iter().map(move |check| (point, check)))
        .map(|(point, check)| {
            let holds = if check.holds { "yes" } else { "no" };
            let style = if check.holds { RowStyle::Plain } else { RowStyle::Invalid };
            Row::plain([&load_number(point.load), check.moment.name(), &check.name, holds, &check.found])
                .style(style)
        })
        .collect();
    (!rows.is_empty()).then(|| Table::new("Checks of the system under test", columns, rows))
}

fn counts(report: &Report, points: &[LoadPointResult]) -> Option<Table> {
    let names = points.iter().flat_map(|point| &point.counts).map(|count| count.name.as_str());
    // Those of load agents have a section of their own.
    let names: BTreeSet<&str> = names.filter(|name| AgentFigure::of_count(name).is_none()).collect();
    let mut columns = vec![Column::numbers(report.terms().load(), "")];
    columns.extend(names.iter().map(|name| Column::numbers(capitalized(name), "")));
    let row = |point: &LoadPointResult| {
        let n = |name: &&str| point.counts.iter().find(|count| count.name == **name).map(|count| count.n);
        Row::plain(
            [load_number(point.load)].into_iter().chain(names.iter().map(|name| numbers::count(n(name)))),
        )
    };
    let rows = points.iter().map(row).collect();
    (!names.is_empty())
        .then(|| Table::new("Counts of load points", columns, rows).note("Of all phases, ramps and all."))
}
