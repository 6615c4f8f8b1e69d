//! The results table, in the shape of the WebStone reports of 1996.

use analysis::{Analysis, LoadPointResult};

use super::{is_doubtful, state_text};
use crate::report::{Words, load_number};
use crate::{Block, Column, Report, Row, Section, Table, Tone, numbers};

pub fn section(report: &Report) -> Option<Section> {
    let blocks = match report.analysis.load_points.is_empty() {
        true => vec![Block::Paragraph("No load point was begun.".into())],
        false => vec![Block::Table(results_table(report.analysis))],
    };
    Some(Section { id: "results", title: "Results".into(), blocks })
}

/// Returns the results table: one row per load point, with its verdict. The terminal shows the same one.
pub fn results_table(analysis: &Analysis) -> Table {
    let words = Words::of(analysis);
    let points = &analysis.load_points;
    let times = points.iter().flat_map(|point| [point.response.mean, p99(point)]).flatten();
    let decimals = numbers::decimals_for(times);
    let pages = points.iter().any(|point| point.pages_per_minute.is_some());
    let best = analysis.headline.as_ref().map(|headline| headline.load_point);
    let rows = points.iter().enumerate().map(|(index, point)| {
        let row = Row::plain(cells(point, decimals, pages));
        match (is_doubtful(point), best == Some(index)) {
            (true, _) => row.tone(Tone::Bad),
            (false, true) => row.tone(Tone::Best),
            (false, false) => row,
        }
    });
    let rows = rows.collect();
    Table::new("Results per load point", columns(words, pages), rows).note(
        "Rates count operations that completed in the steady phase; throughput counts heads and bodies, in 2²⁰ bits; \
         Little’s Law is the mean number of operations in progress. Formulas: see Method.",
    )
}

fn columns(words: Words, pages: bool) -> Vec<Column> {
    let mut columns = vec![
        Column::numbers(words.load, ""),
        Column::numbers(words.rate_heading, ""),
        Column::numbers("Errors/second", ""),
        Column::numbers(words.response_heading, "s"),
        Column::numbers("Little’s Law", ""),
        Column::numbers("Throughput", "Mbits/sec"),
        Column::numbers("p99", "s"),
        Column::numbers("Error level", "%"),
    ];
    if pages {
        columns.push(Column::numbers("Pages/minute", ""));
    }
    columns.push(Column::words("Verdict"));
    columns
}

fn cells(point: &LoadPointResult, decimals: usize, pages: bool) -> Vec<String> {
    let mut cells = vec![
        load_number(point.load),
        numbers::fixed(point.rate, 2),
        numbers::fixed(point.error_rate, 4),
        numbers::fixed(point.response.mean, decimals),
        numbers::fixed(point.load_factor, 2),
        numbers::fixed(point.throughput_mbit, 2),
        numbers::fixed(p99(point), decimals),
        numbers::fixed(point.error_level.map(|level| level * 100.0), 3),
    ];
    if pages {
        cells.push(numbers::fixed(point.pages_per_minute, 1));
    }
    cells.push(state_text(point.verdict.state).to_owned());
    cells
}

fn p99(point: &LoadPointResult) -> Option<f64> {
    Some(point.response.percentile(0.99)?.value.as_secs_f64())
}
