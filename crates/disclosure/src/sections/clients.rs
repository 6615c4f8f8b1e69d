//! What each client gets, in the shape of WebBench's results.

use analysis::LoadPointResult;
use model::Headline;

use super::{is_doubtful, state_text};
use crate::report::load_number;
use crate::{Block, Column, Report, Row, Section, Table, Tone, numbers};

pub fn section(report: &Report) -> Option<Section> {
    let counts_requests = report.plan.benchmark.headline == Headline::RequestRate;
    if !counts_requests || report.is_open() || report.analysis.load_points.is_empty() {
        return None;
    }
    let blocks = vec![Block::Table(table(report))];
    Some(Section { id: "clients", title: "Requests and throughput of clients".into(), blocks })
}

fn table(report: &Report) -> Table {
    let columns = vec![
        Column::numbers(report.words().load, ""),
        Column::numbers("Requests/second", ""),
        Column::numbers("Throughput", "KB/s"),
        Column::numbers("Connect time", "ms"),
        Column::numbers("First byte", "ms"),
        Column::numbers("Receive time", "ms"),
        Column::numbers("Requests/second per client", ""),
        Column::numbers("Heads", "KB/s"),
        Column::words("Verdict"),
    ];
    let milliseconds = |seconds: Option<f64>| numbers::fixed(seconds.map(|seconds| seconds * 1e3), 3);
    let row = |point: &LoadPointResult| {
        let heads = point.total.bytes.head as f64 / 1024.0 / point.length.as_secs_f64();
        Row::plain([
            load_number(point.load),
            numbers::fixed(point.rate, 2),
            numbers::fixed(point.body_throughput_kb, 2),
            milliseconds(point.total.connect.mean),
            milliseconds(point.total.first_byte.mean),
            milliseconds(point.receive_mean),
            numbers::fixed(point.rate_per_user, 3),
            numbers::fixed(heads, 2),
            state_text(point.verdict.state).to_owned(),
        ])
        .tone(if is_doubtful(point) { Tone::Bad } else { Tone::Plain })
    };
    let rows = report.analysis.load_points.iter().map(row).collect();
    Table::new("Requests and throughput", columns, rows).note(
        "Throughput: bodies in KB of 1024 bytes; heads apart. Means per request: connecting; from sending to the first byte, \
         connecting included; receiving from the first byte to the end of the connection.",
    )
}
