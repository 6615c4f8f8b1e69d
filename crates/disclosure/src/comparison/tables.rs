//! Tables of a comparison.

use analysis::VerdictState;
use analysis::compare::{ComparedMetric, ComparedSide, Comparison, FigureChange, Figures};

use super::sentences::{finding_text, percent};
use super::terms;
use crate::report::{Terms, load_number};
use crate::sections::state_text;
use crate::{Cell, Column, Row, RowStyle, Table, numbers};

/// Returns the highest valid load point of each side.
pub fn comparison_summary(comparison: &Comparison) -> Table {
    let terms = terms(comparison);
    let columns = columns(terms, [Column::words("Server"), Column::numbers(terms.load(), "")], "Run");
    let leader = comparison.leader();
    let rows = comparison.sides.iter().enumerate().map(|(index, side)| {
        let load = side.best.as_ref().map_or(numbers::ABSENT.to_owned(), |best| load_number(best.load));
        let figures = side.best.as_ref().map(|best| &best.figures);
        let mut cells: Vec<Cell> = vec![side.name.clone().into(), load.into()];
        cells.extend(figure_cells(figures, index == 0));
        cells.push(Cell::with(state_text(side.state).to_owned(), repeats(comparison, side)));
        let style = match figures {
            Some(_) if leader == Some(index) => RowStyle::Best,
            Some(_) => RowStyle::Plain,
            None => RowStyle::Invalid,
        };
        Row { cells, style }
    });
    Table::new("Highest valid load of each server", columns, rows.collect()).note(format!(
    "Ratio: to the rate of {}, with the 95 % confidence interval adjusted for multiple comparisons. A server without a \
     valid load point has no values.",
        comparison.sides[0].name
    ))
}

/// Returns the number of valid runs of several; empty for a single run.
fn repeats(comparison: &Comparison, side: &ComparedSide) -> String {
    let valid = side.runs.iter().filter(|run| comparison.runs[**run].state == VerdictState::Valid).count();
    if side.runs.len() == 1 { String::new() } else { format!("{valid} of {}", side.runs.len()) }
}

/// Returns one row per load and side, for the loads that all sides have in common.
pub fn comparison_table(comparison: &Comparison) -> Table {
    let terms = terms(comparison);
    let columns = columns(terms, [Column::numbers(terms.load(), ""), Column::words("Server")], "Verdict");
    let rows = comparison.levels.iter().flat_map(|level| {
        comparison.sides.iter().zip(&level.figures).enumerate().map(move |(index, (side, figures))| {
            let load = if index == 0 { load_number(level.load) } else { String::new() };
            let mut cells: Vec<Cell> = vec![load.into(), side.name.clone().into()];
            cells.extend(figure_cells(Some(figures), index == 0));
            let repeats = match figures.n_runs {
                1 => String::new(),
                n => format!("{} of {n}", figures.n_valid),
            };
            cells.push(Cell::with(state_text(figures.state).to_owned(), repeats));
            Row {
                cells,
                style: if figures.state == VerdictState::Valid { RowStyle::Plain } else { RowStyle::Invalid },
            }
        })
    });
    Table::new("Results at the same load", columns, rows.collect()).note(
        "Ratio: to the rate of the first server, with the 95 % confidence interval on which the finding is based, adjusted for \
         multiple comparisons. Ratios are between valid load points only.",
    )
}

/// Returns the differences of all metrics of all sides from the baseline, by load.
pub fn comparison_changes(comparison: &Comparison) -> Table {
    let terms = terms(comparison);
    let rows = comparison.levels.iter().flat_map(|level| {
        let others = comparison.sides.iter().zip(&level.figures).skip(1);
        let changes =
            others.flat_map(|(side, figures)| figures.changes.iter().map(move |change| (side, change)));
        changes.map(move |(side, change)| change_row(terms, load_number(level.load), side, change))
    });
    let caption = format!("Differences from {} at each load", comparison.sides[0].name);
    changes_table(&caption, Column::numbers(terms.load(), ""), rows.collect())
}

/// Returns the differences of all metrics of all sides from the baseline over all loads together; `None` with fewer than
/// two loads.
pub fn comparison_overall(comparison: &Comparison) -> Option<Table> {
    let terms = terms(comparison);
    let changes =
        comparison.sides.iter().flat_map(|side| side.overall.iter().map(move |change| (side, change)));
    let rows: Vec<Row> = changes
        .filter(|(_, change)| 1 < change.n_loads)
        .map(|(side, change)| change_row(terms, change.n_loads.to_string(), side, change))
        .collect();
    let caption = format!("Differences from {} over all loads", comparison.sides[0].name);
    (!rows.is_empty()).then(|| changes_table(&caption, Column::numbers("Loads", ""), rows))
}

fn changes_table(caption: &str, load: Column, rows: Vec<Row>) -> Table {
    let columns = vec![
        load,
        Column::words("Server"),
        Column::words("Metric"),
        Column::numbers("Ratio", ""),
        Column::words("Finding"),
        Column::numbers("Smallest detectable difference", ""),
    ];
    Table::new(caption, columns, rows).note(
        "Ratios with the confidence intervals on which the findings are based: simultaneous 95 % intervals, adjusted for \
         multiple comparisons. Without true differences, at most 5 % of comparisons have a false positive. The last column is \
         the smallest difference that is detected with a power of 80 %.",
    )
}

fn change_row(terms: Terms, load: String, side: &ComparedSide, change: &FigureChange) -> Row {
    let detectable = change.detectable.map_or(numbers::ABSENT.to_owned(), percent);
    let cells: Vec<Cell> = vec![
        load.into(),
        side.name.clone().into(),
        metric_text(terms, change.metric).into(),
        ratio_cell(change),
        finding_text(change).into(),
        detectable.into(),
    ];
    Row { cells, style: RowStyle::Plain }
}

fn metric_text(terms: Terms<'_>, metric: ComparedMetric) -> &str {
    match metric {
        ComparedMetric::Score => terms.score_heading,
        ComparedMetric::ResponseMean => terms.response_heading,
        ComparedMetric::ResponsePercentile(_) => "p99",
        ComparedMetric::CpuPerOperation => "Server CPU/operation",
        ComparedMetric::ErrorRatio => "Failures",
    }
}

/// Returns the columns of a table: server and load, the figures of [`figure_cells`], and the verdict.
fn columns(terms: Terms, key: [Column; 2], verdict: &'static str) -> Vec<Column> {
    let figures = [
        Column::numbers(terms.score_heading, ""),
        Column::numbers("Ratio", ""),
        Column::words("Finding"),
        Column::numbers(terms.response_heading, ""),
        Column::numbers("p99", ""),
        Column::numbers("Server", "CPUs"),
        Column::numbers("Server CPU/operation", ""),
    ];
    key.into_iter().chain(figures).chain([Column::words(verdict)]).collect()
}

fn figure_cells(figures: Option<&Figures>, is_baseline: bool) -> Vec<Cell> {
    let value = |of: fn(&Figures) -> Option<f64>| figures.and_then(of);
    let score = numbers::figure(value(|figures| Some(figures.score)));
    let change = figures.and_then(|figures| figures.change(ComparedMetric::Score));
    let is_measure = is_baseline && figures.is_some_and(|figures| figures.state == VerdictState::Valid);
    let ratio = match change {
        Some(change) => ratio_cell(change),
        None if is_measure => "1".into(),
        None => numbers::ABSENT.into(),
    };
    vec![
        score.into(),
        ratio,
        change.map_or(String::new(), finding_text).into(),
        numbers::seconds(value(|figures| figures.response_mean)).into(),
        numbers::seconds(value(p99)).into(),
        numbers::figure(value(|figures| figures.sut_cpus)).into(),
        numbers::seconds(value(|figures| figures.sut_cpu_per_operation)).into(),
    ]
}

fn ratio_cell(change: &FigureChange) -> Cell {
    let interval = change.interval.map_or(String::new(), |interval| numbers::range(Some(interval), 3));
    Cell::with(numbers::fixed(change.ratio, 3), interval)
}

fn p99(figures: &Figures) -> Option<f64> {
    Some(figures.response_p99?.as_secs_f64())
}
