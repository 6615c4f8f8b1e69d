//! Clients beside each other: throughput and times per client in the form of WebBench's results, and how evenly a throughput
//! is spread over clients.

use analysis::{ClientSpread, LoadPointResult};
use model::{Score, web_measure};

use super::{is_doubtful, state_text};
use crate::report::load_number;
use crate::{Block, Column, Report, Row, RowStyle, Section, Table, numbers};

pub(super) fn section(report: &Report) -> Option<Section> {
    if report.web().is_none() {
        return spread_section(report);
    }
    let counts_requests = report.analysis.words.operation.one == "request";
    if !counts_requests || report.is_open() || report.analysis.load_points.is_empty() {
        return None;
    }
    let blocks = vec![Block::Table(table(report))];
    Some(Section { id: "clients", title: "Requests and throughput of clients".into(), blocks })
}

/// Returns the spread of a throughput over clients; `None` of another score, and where no client was counted.
fn spread_section(report: &Report) -> Option<Section> {
    let is_throughput = matches!(report.plan.catalog.score, Score::Throughput { .. });
    let points = report.analysis.load_points.iter().filter(|_| is_throughput);
    let rows: Vec<Row> =
        points.filter_map(|point| Some(spread_row(point, point.clients.as_ref()?))).collect();
    if rows.is_empty() {
        return None;
    }
    let columns = vec![
        Column::numbers(report.terms().load(), ""),
        Column::numbers("Least", "Mbit/s"),
        Column::numbers("Mean", "Mbit/s"),
        Column::numbers("Greatest", "Mbit/s"),
        Column::numbers("Least", "KB/s"),
        Column::numbers("Mean", "KB/s"),
        Column::numbers("Greatest", "KB/s"),
        Column::numbers("Fairness", ""),
        Column::words("Verdict"),
    ];
    let table = Table::new("Throughput per client", columns, rows).note(
        "Bytes of the successful operations of each client in the steady phase, by its length. Fairness is Jain’s index of these \
         bytes, (Σx)² ÷ (n·Σx²): 1 if all clients have the same, 1 ÷ n if one of n has all.",
    );
    Some(Section { id: "clients", title: "Throughput of clients".into(), blocks: vec![Block::Table(table)] })
}

fn spread_row(point: &LoadPointResult, clients: &ClientSpread) -> Row {
    let seconds = point.length.as_secs_f64();
    let amounts = [clients.least as f64, clients.mean, clients.greatest as f64];
    let megabits = amounts.map(|bytes| 8.0 * bytes / 1e6 / seconds);
    let cells = [
        vec![load_number(point.load)],
        megabits.map(numbers::figure).into(),
        megabits.map(numbers::kilobytes).into(),
        vec![numbers::fixed(clients.fairness, 4), state_text(point.verdict.state).to_owned()],
    ];
    Row::plain(cells.concat()).style(if is_doubtful(point) { RowStyle::Invalid } else { RowStyle::Plain })
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
