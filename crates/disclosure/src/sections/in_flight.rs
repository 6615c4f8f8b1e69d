//! Operations that the end of the steady phase cut off.

use analysis::LoadPointResult;
use model::{WebWorkload, web_measure};

use crate::report::load_number;
use crate::{Block, Column, Report, Row, Section, Table, numbers};

pub(super) fn section(report: &Report) -> Option<Section> {
    if report.analysis.load_points.is_empty() {
        return None;
    }
    let text = match report.web() {
        Some(_) => {
            "Operations in flight at the end of the steady phase count in no rate and no percentile. Long operations are cut \
             off more often than short ones, so the mean size of completed responses is slightly below that of the \
             requested ones; the table shows by how much."
        }
        None => {
            "Operations in flight at the end of the steady phase count in no rate and no percentile. Long operations are cut \
             off more often than short ones; the table shows how many there were."
        }
    };
    let blocks = vec![Block::Paragraph(text.into()), Block::Table(table(report))];
    Some(Section { id: "in-flight", title: "In flight at the end".into(), blocks })
}

fn table(report: &Report) -> Table {
    let mut columns = vec![
        Column::numbers(report.terms().load(), ""),
        Column::numbers("Completed", ""),
        Column::numbers("In flight at the end", ""),
        Column::numbers("of all", "%"),
    ];
    let web = report.web();
    columns.extend(web.map(|_| Column::numbers("Their bodies", "B")));
    columns.push(Column::numbers("Mean age", ""));
    columns.extend(web.map(|_| Column::numbers("Mean body, completed", "B")));
    // Responses whose length is not known in advance have no expected mean.
    let expected = web.and_then(WebWorkload::mean_body_bytes);
    columns.extend(expected.map(|_| Column::numbers("Mean body, expected", "B")));
    let row = |point: &LoadPointResult| {
        let completed = point.total.n + point.total.errors;
        let all = completed + point.in_flight_at_end;
        let share = (0 < all).then(|| point.in_flight_at_end as f64 * 100.0 / all as f64);
        let mut cells = vec![
            load_number(point.load),
            numbers::count(completed),
            numbers::count(point.in_flight_at_end),
            numbers::fixed(share, 3),
        ];
        cells.extend(point.web.as_ref().map(|web| numbers::count(web.in_flight_body_bytes)));
        cells.push(numbers::seconds(mean_age(point)));
        let mean_body = |_| numbers::figure(point.total.measure(web_measure::BODY_BYTES).mean);
        cells.extend(point.web.as_ref().map(mean_body));
        cells.extend(expected.map(numbers::figure));
        Row::plain(cells)
    };
    Table::new(
        "Operations cut off by the end of the steady phase",
        columns,
        report.analysis.load_points.iter().map(row).collect(),
    )
}

/// Returns the mean age of the operations in flight at the end, in s; `None` if there were none.
fn mean_age(point: &LoadPointResult) -> Option<f64> {
    let n = point.in_flight_at_end;
    (0 < n).then(|| point.in_flight_age.as_secs_f64() / n as f64)
}
