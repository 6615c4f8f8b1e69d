//! Notices that users got outside their operations.

use analysis::{LoadPointResult, NoticeResult};

use crate::report::load_number;
use crate::{Block, Column, Report, Row, Section, Table, Text, numbers};

pub(super) fn section(report: &Report) -> Option<Section> {
    let kinds = report.plan.catalog.notices.iter().enumerate();
    let tables: Vec<Block> =
        kinds.map(|(index, kind)| Block::Table(table(report, index, &kind.name))).collect();
    if tables.is_empty() || report.analysis.load_points.is_empty() {
        return None;
    }
    let text = "Users get notices outside their operations. Percentiles cover all notices whose wait began in the steady \
                phase; one that never came counts as longer than all others.";
    let blocks = [vec![Block::Paragraph(Text::from(text))], tables].concat();
    Some(Section { id: "notices", title: "Notices".into(), blocks })
}

fn table(report: &Report, index: usize, name: &str) -> Table {
    let columns = vec![
        Column::numbers(report.terms().load(), ""),
        Column::numbers("Begun", ""),
        Column::numbers("Came", ""),
        Column::numbers("Lost", ""),
        Column::numbers("Pending", ""),
        Column::numbers("Mean", ""),
        Column::numbers("p50", ""),
        Column::numbers("p90", ""),
        Column::numbers("p95", ""),
        Column::numbers("p99", ""),
    ];
    let points = report.analysis.load_points.iter();
    let rows = points.filter_map(|point| Some(row(point, point.notices.get(index)?))).collect();
    Table::new(format!("Times until {name}"), columns, rows)
}

fn row(point: &LoadPointResult, notice: &NoticeResult) -> Row {
    let percentile = |q| numbers::time(notice.percentile(q));
    Row::plain([
        load_number(point.load),
        numbers::count(notice.begun),
        numbers::count(notice.ended),
        numbers::count(notice.lost),
        numbers::count(notice.pending),
        numbers::seconds(notice.mean),
        percentile(0.5),
        percentile(0.9),
        percentile(0.95),
        percentile(0.99),
    ])
}
