//! Throughput and times per client, in the form of WebBench's results.

use analysis::LoadPointResult;
use model::web_measure;

use super::{is_doubtful, state_text};
use crate::report::load_number;
use crate::{Block, Column, Report, Row, RowStyle, Section, Table, numbers};

pub(super) fn section(report: &Report) -> Option<Section> {
    let counts_requests = report.analysis.words.operation.one == "request";
    report.web()?;
    if !counts_requests || report.is_open() || report.analysis.load_points.is_empty() {
        return None;
    }
    let blocks = vec![Block::Table(table(report))];
    Some(Section { id: "clients", title: "Requests and throughput of clients".into(), blocks })
}

fn table(report: &Report) -> Table {
    let columns = vec![
        Column::numbers(report.terms().load(), ""),
        Column::numbers("Bodies", "KiB/s"),
        Column::numbers("Heads", "KiB/s"),
        Column::numbers("Connect time", ""),
        Column::numbers("First byte", ""),
        Column::numbers("Receive time", ""),
        Column::numbers("Requests/second per client", ""),
        Column::words("Verdict"),
    ];
    let row = |point: &LoadPointResult| {
        let web = point.web.as_ref();
        let heads = point.total.web.map(|web| web.head as f64 / 1024.0 / point.length.as_secs_f64());
        Row::plain([
            load_number(point.load),
            numbers::figure(web.map(|web| web.body_throughput_kb)),
            numbers::figure(heads),
            numbers::seconds(point.total.measure(web_measure::CONNECT).mean),
            numbers::seconds(point.total.measure(web_measure::FIRST_BYTE).mean),
            numbers::seconds(web.and_then(|web| web.receive_mean)),
            numbers::figure(point.rate_per_user),
            state_text(point.verdict.state).to_owned(),
        ])
        .style(if is_doubtful(point) { RowStyle::Invalid } else { RowStyle::Plain })
    };
    let rows = report.analysis.load_points.iter().map(row).collect();
    let webbench =
        if report.is_imitation() { "WebBench's throughput is that of bodies; its KB are KiB. " } else { "" };
    Table::new("Requests and throughput", columns, rows).note(format!(
        "{webbench}Means per request: connecting; from sending to the first byte, connecting included; receiving from the first \
         byte to the end of the connection."
    ))
}
