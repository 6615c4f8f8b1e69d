//! Per-file statistics, as WebStone prints them for every file and in total.

use analysis::{KindResult, LoadPointResult, SummaryStatistics};
use model::web_measure;

use crate::report::load_number;
use crate::{Block, Column, NoteKind, Report, Row, RowStyle, Section, Table, numbers};

/// Rows of per-file statistics that a report has room for; beyond, other load points than the main one are shown in short.
const ROWS_MAX: usize = 300;

/// Rows of that short form that there is room for.
const SHORT_MAX: usize = 400;

pub(super) fn section(report: &Report) -> Option<Section> {
    let main = report.main_point().filter(|_| report.web().is_some())?;
    let mut blocks = vec![Block::fold(load_title(report, main), tables_at(report, main))];
    let n_rows: usize = report.analysis.load_points.iter().map(|point| 5 * (point.kinds.len() + 1)).sum();
    let others = report.analysis.load_points.iter().filter(|point| point.index != main.index);
    if n_rows <= ROWS_MAX {
        let of_other = |point| Block::bulky_fold(load_title(report, point), tables_at(report, point));
        blocks.extend(others.map(of_other));
    } else {
        let others: Vec<&LoadPointResult> = others.collect();
        blocks.extend(in_short(report, &others));
        let text = format!(
            "The tables of the other load points ({n_rows} rows) are in the JSON form of this report."
        );
        blocks.push(Block::Note(NoteKind::Info, text.into()));
    }
    Some(Section { id: "files", title: "Per-file statistics".into(), blocks })
}

fn load_title(report: &Report, point: &LoadPointResult) -> String {
    format!("At {}", report.terms().load_text(point.load))
}

/// Returns the tables of a load point.
fn tables_at(report: &Report, point: &LoadPointResult) -> Vec<Block> {
    vec![Block::Table(counts(report, point)), statistics(point)]
}

/// Returns hits and response times per file at other load points; `None` if that is too long as well.
fn in_short(report: &Report, points: &[&LoadPointResult]) -> Option<Block> {
    let columns = vec![
        Column::numbers(report.terms().load(), ""),
        Column::words("File"),
        Column::numbers("Hits", ""),
        Column::numbers("Average", ""),
        Column::numbers("Std dev", ""),
        Column::numbers("Minimum", ""),
        Column::numbers("Maximum", ""),
    ];
    let row = |index: usize, point: &LoadPointResult, kind: &KindResult| {
        let load = if index == 0 { load_number(point.load) } else { String::new() };
        let counted = [load, kind.name.clone(), numbers::count(kind.n)];
        Row::plain(counted.into_iter().chain(times(kind.response)))
    };
    let rows: Vec<Row> = points
        .iter()
        .flat_map(|point| point.kinds.iter().enumerate().map(|(index, kind)| row(index, point, kind)))
        .collect();
    let title = "Response times per file at the other load points".to_owned();
    let is_short = (1..=SHORT_MAX).contains(&rows.len());
    is_short.then(|| {
        let table = Table::new(title.clone(), columns, rows);
        Block::bulky_fold(title, vec![Block::Table(table)])
    })
}

fn counts(report: &Report, point: &LoadPointResult) -> Table {
    let columns = vec![
        Column::words("File"),
        Column::numbers("Hits", ""),
        Column::numbers("Errors", ""),
        Column::numbers("Share", "%"),
        Column::numbers("Expected", "%"),
        Column::numbers("File size", "B"),
        Column::numbers("Bodies", "B"),
        Column::numbers("Heads", "B"),
        Column::numbers("Moved", "B"),
    ];
    let all = point.total.n + point.total.errors;
    let row = |kind: &KindResult, expected: Option<f64>| {
        let web = kind.web.unwrap_or_default();
        let share = (0 < all).then(|| (kind.n + kind.errors) as f64 / all as f64);
        Row::plain([
            kind.name.clone(),
            numbers::count(kind.n),
            numbers::count(kind.errors),
            numbers::fixed(share.map(|share| share * 100.0), 2),
            numbers::fixed(expected.map(|share| share * 100.0), 2),
            numbers::count(web.object_bytes),
            numbers::count(web.body),
            numbers::count(web.head),
            numbers::count(kind.transferred),
        ])
    };
    let kinds = &report.plan.catalog.kinds;
    let share = |result: &KindResult| kinds.iter().find(|kind| kind.name == result.name)?.share;
    let mut rows: Vec<Row> = point.kinds.iter().map(|kind| row(kind, share(kind))).collect();
    rows.push(row(&point.total, Some(1.0)).style(RowStyle::Total));
    Table::new("Hits and bytes per file", columns, rows)
        .note("Shares count successful and failed operations; the expected share is that of the mix.")
}

fn statistics(point: &LoadPointResult) -> Block {
    let columns = vec![
        Column::words("File"),
        Column::words("What"),
        Column::numbers("Average", ""),
        Column::numbers("Std dev", ""),
        Column::numbers("Minimum", ""),
        Column::numbers("Maximum", ""),
        Column::numbers("p50", ""),
        Column::numbers("p99", ""),
    ];
    let mut rows: Vec<Row> = point.kinds.iter().flat_map(|kind| lines(kind, RowStyle::Plain)).collect();
    rows.extend(lines(&point.total, RowStyle::Total));
    let table = Table::new("Times and sizes per file", columns, rows)
        .note("Std dev is the population standard deviation, √|E[x²] − E[x]²|.");
    Block::Table(table)
}

/// The four lines that WebStone prints per file, the file's name on the first one; with percentiles where we have them.
fn lines(kind: &KindResult, style: RowStyle) -> impl Iterator<Item = Row> + use<> {
    let seconds = |q: f64| numbers::time(kind.percentiles.percentile(q).map(|one| one.value));
    let none = || [String::new(), String::new()];
    let lines = [
        ("connect time", times(kind.measure(web_measure::CONNECT)), none()),
        ("response time", times(kind.response), [seconds(0.5), seconds(0.99)]),
        ("response size (B)", sizes(kind.measure(web_measure::REPLY_BYTES)), none()),
        ("body size (B)", sizes(kind.measure(web_measure::BODY_BYTES)), none()),
    ];
    let names = [kind.name.clone(), String::new(), String::new(), String::new()];
    names.into_iter().zip(lines).map(move |(name, (what, four, percentiles))| {
        Row::plain([name, what.to_owned()].into_iter().chain(four).chain(percentiles)).style(style)
    })
}

fn times(four: SummaryStatistics) -> [String; 4] {
    [four.mean, four.deviation, four.min, four.max].map(numbers::seconds)
}

fn sizes(four: SummaryStatistics) -> [String; 4] {
    [four.mean, four.deviation, four.min, four.max].map(numbers::figure)
}
