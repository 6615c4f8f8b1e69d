//! Classes of requests: the mix as meant and as it came, and where the time went.

use analysis::{KindResult, LoadPointResult};

use crate::{Block, Column, Report, Row, RowStyle, Section, Table, numbers};

/// For workloads whose kinds are classes of many objects; single files have statistics of their own.
pub(super) fn section(report: &Report) -> Option<Section> {
    let requests = &report.web()?.requests;
    let classes = requests.iter().any(|one| one.share_gap_max.is_some() || !one.parameters.is_empty());
    let point = report.main_point().filter(|_| classes && 1 < requests.len())?;
    let title = "Classes of requests".into();
    Some(Section { id: "classes", title, blocks: vec![Block::Table(table(report, point))] })
}

fn table(report: &Report, point: &LoadPointResult) -> Table {
    let columns = vec![
        Column::words("Class"),
        Column::numbers("Expected", "%"),
        Column::numbers("Achieved", "%"),
        Column::numbers("Tolerance", "%"),
        Column::numbers("Operations", ""),
        Column::numbers("Errors", ""),
        Column::numbers("Response time, mean", ""),
        Column::numbers("Std dev", ""),
        Column::numbers("Share of time", "%"),
    ];
    let completed = point.completed().max(1) as f64;
    let time = |kind: &KindResult| kind.n as f64 * kind.response.mean.unwrap_or(0.0);
    let all_time = time(&point.total);
    let percent = |ratio: Option<f64>| numbers::fixed(ratio.map(|ratio| ratio * 100.0), 2);
    let row = |kind: &KindResult, expected: Option<f64>, gap: Option<f64>| {
        Row::plain([
            kind.name.clone(),
            percent(expected),
            percent(Some((kind.n + kind.errors) as f64 / completed)),
            percent(gap),
            numbers::count(kind.n),
            numbers::count(kind.errors),
            numbers::seconds(kind.response.mean),
            numbers::seconds(kind.response.deviation),
            percent(Some(time(kind) / all_time)),
        ])
    };
    let kinds = point.kinds.iter().zip(&report.plan.catalog.kinds);
    let mut rows: Vec<Row> =
        kinds.map(|(result, kind)| row(result, kind.share, kind.share_gap_max)).collect();
    rows.push(row(&point.total, Some(1.0), None).style(RowStyle::Total));
    let caption = format!("Classes at {}", report.terms().load_text(point.load));
    Table::new(caption, columns, rows).note(
        "Shares count successful and failed operations. A share may be off by the given part of the expected one, or by four standard deviations of chance if that is more; a class of which fewer than 25 operations are expected is not judged. Share of time: of the response time of all successful \
         operations.",
    )
}
