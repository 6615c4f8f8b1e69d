//! Tables of a comparison.

use analysis::VerdictState;
use analysis::compare::{Change, ComparedMetric, Comparison, Figures, Side};

use super::sentences::{finding_text, percent};
use super::words;
use crate::report::{Words, load_number};
use crate::sections::state_text;
use crate::{Cell, Column, Row, Table, Tone, numbers};

/// Returns the highest valid load point of each side: who carries how much.
pub fn comparison_summary(comparison: &Comparison) -> Table {
    let words = words(comparison);
    let columns = columns(words, [Column::words("Server"), Column::numbers(words.load, "")], "Run");
    let leader = comparison.leader();
    let rows = comparison.sides.iter().enumerate().map(|(index, side)| {
        let load = side.best.as_ref().map_or(numbers::ABSENT.to_owned(), |best| load_number(best.load));
        let figures = side.best.as_ref().map(|best| &best.figures);
        let mut cells: Vec<Cell> = vec![side.name.clone().into(), load.into()];
        cells.extend(figure_cells(figures, index == 0));
        cells.push(Cell::with(state_text(side.state).to_owned(), repeats(comparison, side)));
        let tone = match figures {
            Some(_) if leader == Some(index) => Tone::Best,
            Some(_) => Tone::Plain,
            None => Tone::Bad,
        };
        Row { cells, tone }
    });
    Table::new("Highest valid load of each", columns, rows.collect()).note(format!(
        "Ratio: to the rate of {}, with the interval that holds for all comparisons together (95 %). A server without a valid load point has no figure.",
        comparison.sides[0].name
    ))
}

/// Says how many of several runs are valid; nothing of a single one.
fn repeats(comparison: &Comparison, side: &Side) -> String {
    let valid = side.runs.iter().filter(|run| comparison.runs[**run].state == VerdictState::Valid).count();
    if side.runs.len() == 1 { String::new() } else { format!("{valid} of {}", side.runs.len()) }
}

/// Returns one row per load and side, for the loads that all have.
pub fn comparison_table(comparison: &Comparison) -> Table {
    let words = words(comparison);
    let columns = columns(words, [Column::numbers(words.load, ""), Column::words("Server")], "Verdict");
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
            Row { cells, tone: if figures.state == VerdictState::Valid { Tone::Plain } else { Tone::Bad } }
        })
    });
    Table::new("The same load on each", columns, rows.collect()).note(
        "Rates with their 95 % intervals, ratios with those that hold for all comparisons together. Ratios are between valid load points only; the finding is about the \
         rate, among all that was compared.",
    )
}

/// Returns how every figure of every side differs from the baseline, load by load.
pub fn comparison_changes(comparison: &Comparison) -> Table {
    let words = words(comparison);
    let rows = comparison.levels.iter().flat_map(|level| {
        let others = comparison.sides.iter().zip(&level.figures).skip(1);
        let changes =
            others.flat_map(|(side, figures)| figures.changes.iter().map(move |change| (side, change)));
        changes.map(move |(side, change)| change_row(words, load_number(level.load), side, change))
    });
    let caption = format!("Differences from {}, at each load", comparison.sides[0].name);
    changes_table(&caption, Column::numbers(words.load, ""), rows.collect())
}

/// Returns how every figure of every side differs from the baseline over all loads together; `None` with fewer than two
/// loads.
pub fn comparison_overall(comparison: &Comparison) -> Option<Table> {
    let words = words(comparison);
    let changes =
        comparison.sides.iter().flat_map(|side| side.overall.iter().map(move |change| (side, change)));
    let rows: Vec<Row> = changes
        .filter(|(_, change)| 1 < change.n_loads)
        .map(|(side, change)| change_row(words, change.n_loads.to_string(), side, change))
        .collect();
    let caption = format!("Differences from {}, over all loads", comparison.sides[0].name);
    (!rows.is_empty()).then(|| changes_table(&caption, Column::numbers("Loads", ""), rows))
}

fn changes_table(caption: &str, load: Column, rows: Vec<Row>) -> Table {
    let columns = vec![
        load,
        Column::words("Server"),
        Column::words("Figure"),
        Column::numbers("Ratio", ""),
        Column::words("Finding"),
        Column::numbers("Smallest detectable difference", ""),
    ];
    Table::new(caption, columns, rows).note(
        "Ratios with the intervals by which findings were decided: they hold for all comparisons together with 95 % \
         confidence, so each by itself is wider. Where nothing differs, anything is found in at most 5 % of comparisons. \
         The last column is the smallest difference that is found in four of five such comparisons.",
    )
}

fn change_row(words: Words, load: String, side: &Side, change: &Change) -> Row {
    let seen = change.detectable.map_or(numbers::ABSENT.to_owned(), percent);
    let cells: Vec<Cell> = vec![
        load.into(),
        side.name.clone().into(),
        metric_text(words, change.metric).into(),
        ratio_cell(change),
        finding_text(change).into(),
        seen.into(),
    ];
    Row { cells, tone: Tone::Plain }
}

fn metric_text(words: Words, metric: ComparedMetric) -> &'static str {
    match metric {
        ComparedMetric::Rate => words.rate_heading,
        ComparedMetric::ResponseMean => words.response_heading,
        ComparedMetric::ResponseP99 => "p99",
        ComparedMetric::CpuPerOperation => "Server CPU/operation",
    }
}

/// Returns the columns of a table: who and where, the figures as [`figure_cells`] has them, and the judgement.
fn columns(words: Words, place: [Column; 2], judgement: &'static str) -> Vec<Column> {
    let figures = [
        Column::numbers(words.rate_heading, ""),
        Column::numbers("Ratio", ""),
        Column::words("Finding"),
        Column::numbers(words.response_heading, ""),
        Column::numbers("p99", ""),
        Column::numbers("Server", "CPUs"),
        Column::numbers("Server CPU/operation", ""),
    ];
    place.into_iter().chain(figures).chain([Column::words(judgement)]).collect()
}

fn figure_cells(figures: Option<&Figures>, is_baseline: bool) -> Vec<Cell> {
    let value = |of: fn(&Figures) -> Option<f64>| figures.and_then(of);
    let rate = numbers::figure(value(|figures| Some(figures.rate)));
    let interval = figures.and_then(|figures| figures.rate_interval);
    let interval = numbers::figure_interval(interval);
    let change = figures.and_then(|figures| figures.change(ComparedMetric::Rate));
    let is_measure = is_baseline && figures.is_some_and(|figures| figures.state == VerdictState::Valid);
    let ratio = match change {
        Some(change) => ratio_cell(change),
        None if is_measure => "1".into(),
        None => numbers::ABSENT.into(),
    };
    vec![
        Cell::with(rate, interval),
        ratio,
        change.map_or(String::new(), finding_text).into(),
        numbers::seconds(value(|figures| figures.response_mean)).into(),
        numbers::seconds(value(p99)).into(),
        numbers::figure(value(|figures| figures.sut_cpus)).into(),
        numbers::seconds(value(|figures| figures.sut_cpu_per_operation)).into(),
    ]
}

fn ratio_cell(change: &Change) -> Cell {
    let interval = change.interval.map_or(String::new(), |interval| numbers::range(Some(interval), 3));
    Cell::with(numbers::fixed(change.ratio, 3), interval)
}

fn p99(figures: &Figures) -> Option<f64> {
    Some(figures.response_p99?.as_secs_f64())
}
