//! Several runs side by side: tables for the terminal, and a document of their own.

use analysis::State;
use analysis::compare::{Comparison, LevelFigures};
use model::{Headline, Load};

use crate::charts::{Axis, Chart, Draw, Format, Panel, Point, Series, Spacing};
use crate::report::{Words, load_number};
use crate::scaling;
use crate::sections::{modification_text, state_text};
use crate::{
    Banner, Block, Cell, Column, Document, Figure, NoteKind, Provenance, Row, Section, Table, Text, Tone,
    numbers,
};

/// Returns the highest valid load point of each run: who carries how much.
pub fn comparison_summary(comparison: &Comparison) -> Table {
    let words = words(comparison);
    let columns = columns(words, [Column::words("Server"), Column::numbers(words.load, "")], "Run");
    let figures = || comparison.runs.iter().filter_map(|run| Some(run.best?.figures));
    let decimals = decimals(figures());
    let highest = figures().map(|figures| figures.rate).fold(0.0, f64::max);
    let rows = comparison.runs.iter().map(|run| {
        let load = run.best.map_or(numbers::ABSENT.to_owned(), |best| load_number(best.load));
        let figures = run.best.map(|best| best.figures);
        let mut cells: Vec<Cell> = vec![run.name.clone().into(), load.into()];
        cells.extend(figure_cells(figures.as_ref(), decimals));
        cells.push(state_text(run.state).into());
        let tone = match figures {
            Some(figures) if figures.rate == highest => Tone::Best,
            Some(_) => Tone::Plain,
            None => Tone::Bad,
        };
        Row { cells, tone }
    });
    Table::new("Highest valid load of each", columns, rows.collect()).note(format!(
        "Ratio: to the rate of {}. A server without a valid load point has no figure.",
        comparison.runs[0].name
    ))
}

/// Returns one row per load and server, for the loads that all runs have.
pub fn comparison_table(comparison: &Comparison) -> Table {
    let words = words(comparison);
    let columns = columns(words, [Column::numbers(words.load, ""), Column::words("Server")], "Verdict");
    let decimals = decimals(comparison.levels.iter().flat_map(|level| level.figures.iter().copied()));
    let rows = comparison.levels.iter().flat_map(|level| {
        comparison.runs.iter().zip(&level.figures).enumerate().map(move |(index, (run, figures))| {
            let load = if index == 0 { load_number(level.load) } else { String::new() };
            let mut cells: Vec<Cell> = vec![load.into(), run.name.clone().into()];
            cells.extend(figure_cells(Some(figures), decimals));
            cells.push(state_text(figures.state).into());
            Row { cells, tone: if figures.state == State::Valid { Tone::Plain } else { Tone::Bad } }
        })
    });
    Table::new("The same load on each", columns, rows.collect())
        .note("Rates with their 95 % intervals. Ratios are between valid load points only.")
}

/// Returns the columns of a table: who and where, the figures as [`figure_cells`] has them, and the judgement.
fn columns(words: Words, place: [Column; 2], judgement: &'static str) -> Vec<Column> {
    let figures = [
        Column::numbers(words.rate_heading, ""),
        Column::numbers("Ratio", ""),
        Column::numbers(words.response_heading, "s"),
        Column::numbers("p99", "s"),
        Column::numbers("Server", "CPUs"),
        Column::numbers("Server CPU/operation", "µs"),
    ];
    place.into_iter().chain(figures).chain([Column::words(judgement)]).collect()
}

/// Makes a document of the comparison; `provenance` in the order of the runs, may be shorter.
pub fn comparison_document(comparison: &Comparison, provenance: &[Provenance]) -> Document {
    let names: Vec<&str> = comparison.runs.iter().map(|run| run.name.as_str()).collect();
    let files: Vec<Text> = comparison
        .runs
        .iter()
        .zip(provenance)
        .filter_map(|(run, provenance)| {
            let file = provenance.run_file.clone()?;
            Some(Text::default().strong(run.name.clone()).plain(": ").code(file))
        })
        .collect();
    let mut summary = vec![Block::Table(comparison_summary(comparison))];
    if !files.is_empty() {
        summary.extend([Block::Heading("Run files".into()), Block::List(files)]);
    }
    let mut sections = vec![
        Section { id: "comparison", title: "Comparison".into(), blocks: summary },
        Section { id: "levels", title: "Load by load".into(), blocks: levels(comparison) },
    ];
    sections.extend(scaling::section(&comparison.scalings, words(comparison).rate_heading));
    let program = provenance.first().map_or(String::new(), |first| format!(" Made by {}.", first.program));
    Document {
        title: format!("{}: comparison", comparison.benchmark.title),
        subtitle: format!("{} · benchmark version {}", names.join(", "), comparison.benchmark.version),
        banner: banner(comparison),
        hero: None,
        sections,
        colophon: format!(
            "Every number follows from the run files and can be computed again from them.{program}"
        )
        .into(),
    }
}

fn banner(comparison: &Comparison) -> Banner {
    let not_valid: Vec<_> = comparison.runs.iter().filter(|run| run.state != State::Valid).collect();
    let worst = if not_valid.iter().any(|run| run.state == State::Incomplete) {
        State::Incomplete
    } else {
        State::Invalid
    };
    let counted =
        format!("{} of {} runs valid", comparison.runs.len() - not_valid.len(), comparison.runs.len());
    Banner {
        state: if not_valid.is_empty() { State::Valid } else { worst },
        text: format!("{counted}; all of the same benchmark, workload, protocol, phases and seed.").into(),
        reasons: not_valid
            .iter()
            .map(|run| {
                Text::default().strong(run.name.clone()).plain(format!(": run {}", state_text(run.state)))
            })
            .collect(),
        modified: comparison.modifications.iter().map(modification_text).collect(),
    }
}

fn levels(comparison: &Comparison) -> Vec<Block> {
    if comparison.levels.is_empty() {
        let text = "There is no load at which all of them were measured.";
        return vec![Block::Note(NoteKind::Info, text.into())];
    }
    let figure = Figure {
        chart: chart(comparison),
        caption: "Bars: 95 % intervals. Hollow markers: load points that are not valid.".into(),
        table: comparison_table(comparison),
        bulky: false,
    };
    vec![Block::Figure(Box::new(figure))]
}

fn chart(comparison: &Comparison) -> Chart {
    let words = words(comparison);
    let panel = |title: &str, format, value: fn(&LevelFigures) -> Option<f64>, ranges: bool| {
        let series = (0..comparison.runs.len()).map(|run| {
            let point = |level: &analysis::compare::ComparedLevel| {
                let figures = level.figures.get(run)?;
                let drawn = Point::new(level.load.level(), value(figures)?);
                let range = figures.rate_interval.filter(|_| ranges);
                Some(Point { range, hollow: figures.state != State::Valid, ..drawn })
            };
            Series {
                name: comparison.runs[run].name.clone(),
                style: run,
                draw: Draw::Points,
                points: comparison.levels.iter().filter_map(point).collect(),
            }
        });
        let series = series.filter(|series| !series.points.is_empty()).collect();
        Panel { y: Axis::new(title, Spacing::FromZero, format), series, limit: None }
    };
    let at = comparison.levels.iter().map(|level| level.load.level()).collect();
    Chart {
        id: "comparison-chart",
        title: format!("Rate and response time against {}", words.load_noun),
        description: format!("The rate in {} and the mean response time of each server.", words.rate),
        x: Axis { at, ..Axis::new(words.load, Spacing::FromZero, Format::Plain) },
        panels: vec![
            panel(words.rate_heading, Format::Plain, |figures| Some(figures.rate), true),
            panel("Mean response time", Format::Seconds, |figures| figures.response_mean, false),
        ],
        zones: Vec::new(),
        marks: Vec::new(),
    }
}

fn figure_cells(figures: Option<&LevelFigures>, decimals: usize) -> Vec<Cell> {
    let value = |of: fn(&LevelFigures) -> Option<f64>| figures.and_then(of);
    let rate = numbers::fixed(value(|figures| Some(figures.rate)), 2);
    let interval = figures.and_then(|figures| figures.rate_interval);
    let interval = interval.map_or(String::new(), |interval| numbers::range(Some(interval), 2));
    vec![
        Cell::with(rate, interval),
        numbers::fixed(value(|figures| figures.ratio), 3).into(),
        numbers::fixed(value(|figures| figures.response_mean), decimals).into(),
        numbers::fixed(value(p99), decimals).into(),
        numbers::fixed(value(|figures| figures.sut_cpus), 3).into(),
        numbers::fixed(value(|figures| Some(figures.sut_cpu_per_operation? * 1e6)), 1).into(),
    ]
}

fn p99(figures: &LevelFigures) -> Option<f64> {
    Some(figures.response_p99?.as_secs_f64())
}

fn decimals(figures: impl Iterator<Item = LevelFigures>) -> usize {
    numbers::decimals_for(figures.flat_map(|figures| [figures.response_mean, p99(&figures)]).flatten())
}

fn words(comparison: &Comparison) -> Words {
    let of_levels = comparison.levels.iter().map(|level| level.load);
    let of_best = comparison.runs.iter().filter_map(|run| Some(run.best?.load));
    let headline: Headline = comparison.benchmark.headline;
    Words::new(headline, of_levels.chain(of_best).all(Load::is_closed))
}
