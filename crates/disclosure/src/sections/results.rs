//! The results table, in the shape of the WebStone reports of 1996.

use analysis::{Analysis, LoadPointResult};
use model::{Score, ThinkTime};

use super::{is_doubtful, score, stages, state_text};
use crate::report::{Terms, load_number};
use crate::{Block, Cell, Column, Report, Row, RowStyle, Section, Table, numbers};

pub(super) fn section(report: &Report) -> Option<Section> {
    let blocks = if report.analysis.load_points.is_empty() {
        vec![Block::Paragraph("No load point was started.".into())]
    } else {
        let mut blocks = vec![Block::Table(table(report.analysis, true))];
        blocks.extend(score::blocks(report));
        blocks
    };
    Some(Section { id: "results", title: "Results".into(), blocks })
}

/// Returns the results table: one row per load point or stage, with its verdict. Without intervals, which have no room on a
/// terminal.
pub fn results_table(analysis: &Analysis) -> Table {
    if let Some(point) = analysis.load_points.first().filter(|point| point.is_shaped()) {
        return stages::short_table(Terms::of(analysis), point);
    }
    table(analysis, false)
}

fn table(analysis: &Analysis, intervals: bool) -> Table {
    let terms = Terms::of(analysis);
    let points = &analysis.load_points;
    let shown = OptionalColumns {
        part: analysis.sizing.as_ref().map(|rule| rule.part.one.as_str()),
        throughput: points.iter().any(|point| point.throughput_mbit.is_some()),
        is_score: matches!(analysis.score, Score::Throughput { .. }),
        units: points.iter().any(|point| point.units_per_minute.is_some()),
    };
    let best = analysis.headline.as_ref().map(|headline| headline.load_point);
    let rows = points.iter().enumerate().map(|(index, point)| {
        let row = Row { cells: cells(terms, point, shown, intervals), style: RowStyle::Plain };
        match (is_doubtful(point), best == Some(index)) {
            (true, _) => row.style(RowStyle::Invalid),
            (false, true) => row.style(RowStyle::Best),
            (false, false) => row,
        }
    });
    let rows = rows.collect();
    let counted = if points.iter().any(|point| point.web.is_some()) {
        "; throughput counts heads and bodies"
    } else if shown.throughput {
        "; throughput counts the bytes that operations transfer"
    } else {
        ""
    };
    let small = if intervals { " Behind a value: its 95 % interval." } else { "" };
    Table::new("Results per load point", columns(terms, shown), rows).note(format!(
        "Rates count operations that completed in the steady phase{counted}. Little’s Law is the \
         mean number of operations in progress. Formulas: see Method.{small}"
    ))
}

/// Deviation of the load factor from the number of users that needs an explanation beside the table.
const LITTLE_NOTED_MIN: f64 = 0.02;

/// Explains beside the table on a terminal what its readers could not expect: a load factor that is not the number of users,
/// and a percentile that is not there.
pub fn table_notes(report: &Report) -> Vec<String> {
    if report.analysis.load_points.iter().any(LoadPointResult::is_shaped) {
        return Vec::new();
    }
    let is_without_p99 = report.analysis.load_points.iter().any(|point| p99_seconds(point).is_none());
    let p99 = is_without_p99.then(|| "p99 –: too few response times for it.".to_owned());
    little_note(report).into_iter().chain(p99).collect()
}

/// Returns `None` where the load factor is the number of users, as it is if they do not think, or need not be.
fn little_note(report: &Report) -> Option<String> {
    let off = |point: &LoadPointResult| (point.load_factor / point.load.level() - 1.0).abs();
    let is_expected = !report.is_open()
        && report.plan.workload.think() == ThinkTime::None
        && report.plan.catalog.in_flight_per_user() == 1;
    let is_off = report.analysis.load_points.iter().any(|point| LITTLE_NOTED_MIN < off(point));
    (is_expected && is_off).then(|| {
        format!(
            "Little’s Law: mean number of successful operations in progress, rate × response time. It is below the number of \
             {} where operations fail, and above it where long ones began before the steady phase.",
            report.terms().load_noun
        )
    })
}

/// The columns that not every benchmark has.
#[derive(Clone, Copy)]
struct OptionalColumns<'a> {
    /// The part of the data per which the score is shown, too.
    part: Option<&'a str>,
    throughput: bool,
    /// Whether the score is a throughput, which is then shown in its other unit, too.
    is_score: bool,
    units: bool,
}

fn columns(terms: Terms, shown: OptionalColumns<'_>) -> Vec<Column> {
    let mut columns = vec![Column::numbers(terms.load(), ""), Column::numbers(terms.score_heading, "")];
    columns.extend(shown.part.map(|part| Column::numbers(format!("{}/{part}", terms.score_heading), "")));
    if !terms.is_operation_rate {
        columns.push(Column::numbers(terms.rate_heading(), ""));
    }
    columns.extend([
        Column::numbers("Errors/second", ""),
        Column::numbers(terms.response_heading, ""),
        Column::numbers("Little’s Law", ""),
    ]);
    if shown.throughput {
        columns.push(Column::numbers("Throughput", if shown.is_score { "KB/s" } else { "Mbit/s" }));
    }
    columns.extend([Column::numbers("p99", ""), Column::numbers("Error level", "%")]);
    if shown.units {
        columns.push(Column::numbers(terms.unit_rate_heading(), ""));
    }
    columns.push(Column::words("Verdict"));
    columns
}

fn p99_seconds(point: &LoadPointResult) -> Option<f64> {
    point.response.percentile(0.99).map(|p99| p99.value.as_secs_f64())
}

fn cells(terms: Terms, point: &LoadPointResult, shown: OptionalColumns<'_>, intervals: bool) -> Vec<Cell> {
    let p99 = point.response.percentile(0.99);
    let detail = |interval: String| if intervals { interval } else { String::new() };
    let mut cells: Vec<Cell> = vec![
        load_number(point.load).into(),
        Cell::with(numbers::figure(point.score), detail(numbers::figure_interval(point.score_interval))),
    ];
    if shown.part.is_some() {
        cells.push(numbers::figure(point.score_per_part).into());
    }
    if !terms.is_operation_rate {
        let interval = numbers::figure_interval(point.rate_interval);
        cells.push(Cell::with(numbers::figure(point.rate), detail(interval)));
    }
    cells.extend([
        numbers::figure(point.error_rate).into(),
        Cell::with(
            numbers::seconds(point.response.mean),
            detail(numbers::seconds_interval(point.response.mean_interval)),
        ),
        numbers::figure(point.load_factor).into(),
    ]);
    if shown.throughput {
        let throughput = if shown.is_score {
            numbers::kilobytes(point.score)
        } else {
            numbers::megabits(point.throughput_mbit)
        };
        cells.push(throughput.into());
    }
    cells.extend([
        Cell::with(
            numbers::time(p99.map(|p99| p99.value)),
            detail(numbers::time_interval(p99.and_then(|p99| p99.interval))),
        ),
        numbers::figure(point.error_level.map(|level| level * 100.0)).into(),
    ]);
    if shown.units {
        cells.push(numbers::figure(point.units_per_minute).into());
    }
    cells.push(state_text(point.verdict.state).into());
    cells
}
