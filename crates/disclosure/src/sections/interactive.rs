//! Users who think: the interactive law, and what a transaction costs the server.

use analysis::LoadPointResult;

use crate::report::load_number;
use crate::{Block, Column, Report, Row, Section, Table, Text, numbers};

pub fn section(report: &Report) -> Option<Section> {
    let think = report.plan.workload.think.mean().as_secs_f64();
    if report.is_open() || think == 0.0 || report.analysis.load_points.is_empty() {
        return None;
    }
    let text = format!(
        "Each user pauses for {} on the mean after a reply, so N users cannot make more than N ÷ Z requests per second \
         however fast the server is: close to that bound the users are the limit, far below it the server. N ÷ X − Z is \
         the response time that the rate implies; it should be the measured one.",
        numbers::seconds(think)
    );
    let blocks = vec![Block::Paragraph(Text::from(text)), Block::Table(table(report))];
    Some(Section { id: "interactive-law", title: "Users who think".into(), blocks })
}

fn table(report: &Report) -> Table {
    let words = report.words();
    let columns = vec![
        Column::numbers(words.load, ""),
        Column::numbers(words.rate_heading, ""),
        Column::numbers("N ÷ Z", "/s"),
        Column::numbers("Of the bound", "%"),
        Column::numbers(words.response_heading, "s"),
        Column::numbers("N ÷ X − Z", "s"),
        Column::numbers("Think time, mean", "s"),
        Column::numbers("Gap in N = X·(R + Z)", "%"),
        Column::numbers("Server busy", "%"),
        Column::numbers("Server CPU/transaction", "µs"),
    ];
    let think = report.plan.workload.think.mean().as_secs_f64();
    // Users think once per page.
    let per_page = report.plan.workload.requests_per_page();
    let percent = |ratio: Option<f64>| numbers::fixed(ratio.map(|ratio| ratio * 100.0), 1);
    let row = |point: &LoadPointResult| {
        let users = point.load.level();
        let bound = stats::interactive_bound(users, 0.0, think).map(|pages| pages * per_page);
        let implied = stats::interactive_response(users, point.rate / per_page, think);
        Row::plain([
            load_number(point.load),
            numbers::fixed(point.rate, 2),
            numbers::fixed(bound, 2),
            percent(bound.map(|bound| point.rate / bound)),
            numbers::fixed(point.response.mean, 5),
            numbers::fixed(implied.map(|page| page / per_page), 5),
            numbers::fixed((0.0 < point.rate).then(|| point.thinking_mean * per_page / point.rate), 5),
            percent(point.little_gap),
            percent(point.sut_busy),
            numbers::fixed(point.sut_cpu_per_operation.map(|seconds| seconds * 1e6), 1),
        ])
    };
    let rows = report.analysis.load_points.iter().map(row).collect();
    Table::new("Interactive law and cost of a transaction", columns, rows).note(
        "Think time: as measured; in a short phase users may draw more or less than Z, which N ÷ X − Z then shows. The \
         gap is that with the measured one. Server CPU: of all processes of the server, programs behind it included, \
         per completed operation.",
    )
}
