//! A harmonic score beside the figures without its weights, and the figures of its suite.

use analysis::{LoadPointResult, ScoreSummary};

use super::{is_doubtful, state_text};
use crate::report::load_number;
use crate::{Block, Column, Report, Row, RowStyle, Table, Text, numbers};

/// Returns the figures of a suite whose score is a harmonic one; empty of another.
pub(super) fn blocks(report: &Report) -> Vec<Block> {
    let summary = report.analysis.score_summary();
    summary.map_or_else(Vec::new, |summary| {
        vec![
            Block::Heading("Score of the suite".into()),
            Block::Facts(facts(report, summary)),
            Block::Table(table(report)),
        ]
    })
}

fn facts(report: &Report, summary: ScoreSummary) -> Vec<(String, Text)> {
    let terms = report.terms();
    let at = |index: usize| {
        let point = &report.analysis.load_points[index];
        format!("{} at {}", terms.score_text(point.score), terms.load_text(point.load))
    };
    let over = format!("{} of {} load points", summary.n_load_points, report.plan.load_points.len());
    let rows = [
        ("Peak", at(summary.peak)),
        ("Greatest load", at(summary.greatest_load)),
        ("Harmonic mean", format!("{} over {over}", terms.score_text(Some(summary.harmonic_mean)))),
    ];
    rows.map(|(name, value)| (name.to_owned(), value.into())).into()
}

fn table(report: &Report) -> Table {
    let terms = report.terms();
    let columns = vec![
        Column::numbers(terms.load(), ""),
        Column::numbers(terms.score_heading, ""),
        Column::numbers("N·Σn ÷ Σt", ""),
        Column::numbers(terms.rate_heading(), ""),
        Column::words("Verdict"),
    ];
    let row = |point: &LoadPointResult| {
        Row::plain([
            load_number(point.load),
            numbers::figure(point.score),
            numbers::figure(point.rate_of_clients),
            numbers::figure(point.rate),
            state_text(point.verdict.state).to_owned(),
        ])
        .style(if is_doubtful(point) { RowStyle::Invalid } else { RowStyle::Plain })
    };
    let rows = report.analysis.load_points.iter().map(row).collect();
    Table::new("Score beside the rates without its weights", columns, rows).note(
        "Only the score has the declared weights of the kinds, so that the drift of the mix does not move it: quote the rates \
         beside it, never alone. N·Σn ÷ Σt: the rate of N clients by their own sums, with n the successful operations of \
         each and t the sum of their response times.",
    )
}
