//! Users who think: the interactive law.

use analysis::LoadPointResult;
use model::WebWorkload;

use super::pauses;
use crate::report::load_number;
use crate::{Block, Column, Report, Row, Section, Table, Text, numbers};

pub(super) fn section(report: &Report) -> Option<Section> {
    let think = report.plan.workload.think().mean().as_secs_f64();
    let pauses: Vec<Block> = pauses::tables(report).into_iter().map(Block::Table).collect();
    if report.is_open() || think == 0.0 || report.analysis.load_points.is_empty() {
        let section = Section { id: "pauses", title: "Pauses of users".into(), blocks: pauses };
        return (!section.blocks.is_empty()).then_some(section);
    }
    let text = format!(
        "Each user pauses {} on average after a response, so N users cannot make more than N ÷ Z requests per second, \
         however fast the server is: near that bound the users are the limit, far below it the server. N ÷ X − Z is \
         the response time that the rate implies; it should be the measured one.",
        numbers::seconds(think)
    );
    let mut blocks = vec![Block::Paragraph(Text::from(text)), Block::Table(table(report))];
    blocks.extend(pauses);
    Some(Section { id: "interactive-law", title: "Think time and response time".into(), blocks })
}

fn table(report: &Report) -> Table {
    let terms = report.terms();
    let columns = vec![
        Column::numbers(terms.load(), ""),
        Column::numbers("N ÷ Z", "/s"),
        Column::numbers("Rate, of the bound", "%"),
        Column::numbers("N ÷ X − Z", ""),
        Column::numbers("Think time, mean", ""),
    ];
    let think = report.plan.workload.think().mean().as_secs_f64();
    // Users think once per page, or after each operation.
    let per_page = report.web().map_or(1.0, WebWorkload::requests_per_page);
    let percent = |ratio: Option<f64>| numbers::fixed(ratio.map(|ratio| ratio * 100.0), 1);
    let implied = |point: &LoadPointResult| {
        let page = stats::interactive_response(point.load.level(), point.rate / per_page, think)?;
        Some(page / per_page)
    };
    let drawn =
        |point: &LoadPointResult| (0.0 < point.rate).then(|| point.thinking_mean * per_page / point.rate);
    let points = || report.analysis.load_points.iter();
    let row = |point: &LoadPointResult| {
        let bound = stats::interactive_bound(point.load.level(), 0.0, think).map(|pages| pages * per_page);
        Row::plain([
            load_number(point.load),
            numbers::figure(bound),
            percent(bound.map(|bound| point.rate / bound)),
            numbers::seconds(implied(point)),
            numbers::seconds(drawn(point)),
        ])
    };
    let rows = points().map(row).collect();
    Table::new("Interactive law", columns, rows).note(
        "Think time: as measured. In a short phase its mean can differ from Z, which then shows in N ÷ X − Z.",
    )
}
