//! Trends of servers over time: sentences, tables, charts, JSON.

use analysis::VerdictState;
use analysis::compare::ComparedMetric;
use analysis::trend::{Trend, TrendChange, TrendSeries};
use model::capitalized;
use serde_json::{Value, json};

use crate::charts::{Axis, Chart, DataSeries, Draw, Format, Mark, Panel, Point, Spacing};
use crate::comparison::signed_percent;
use crate::render::load_json;
use crate::report::Terms;
use crate::{
    Banner, Block, Column, Document, Figure, NoteKind, Row, RowStyle, Section, Table, Text, numbers,
};

/// The version of the JSON.
pub const TREND_FORMAT: u32 = 1;

/// A run of a trend, as it is named for people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrendedRun {
    /// The name of the run: that of its file.
    pub name: String,
    /// The label that the user gave it.
    pub label: Option<String>,
    /// The time at which it began, for people.
    pub began: String,
}

/// Returns a trend in sentences: what it covers, every change with its date, and the figures without any. `runs` are all
/// runs of the input.
pub fn trend_text(trend: &Trend, runs: &[TrendedRun]) -> Vec<String> {
    let mut text = vec![coverage_text(trend, runs)];
    let mut unchanged = Vec::new();
    let mut too_few = false;
    for series in &trend.series {
        match series.changes.as_deref() {
            None => too_few = true,
            Some([]) => unchanged.push(metric_noun(series.metric)),
            Some(changes) => {
                text.extend(changes.iter().map(|change| change_text(trend, series, change, runs)));
            }
        }
    }
    if too_few {
        text.push(format!(
            "There are too few runs to find changes: {} of at least {}.",
            trend.runs.len(),
            Trend::N_RUNS_MIN
        ));
    }
    if !unchanged.is_empty() {
        text.push(format!("No change was found in {}.", unchanged.join(", ")));
    }
    text
}

fn coverage_text(trend: &Trend, runs: &[TrendedRun]) -> String {
    let subject = subject(trend, &trend.benchmark.id);
    let left_out = match trend.left_out.len() {
        0 => String::new(),
        1 => "; 1 run is left out, because a load point is missing or not valid".to_owned(),
        n => format!("; {n} runs are left out, because a load point is missing or not valid"),
    };
    match trend.runs.as_slice() {
        [] => format!("{subject}: no run with a valid load point{left_out}."),
        [(only, _)] => format!("{subject}: 1 run, of {}{left_out}.", runs[*only].began),
        [(first, _), .., (last, _)] => format!(
            "{subject}: {} runs, from {} to {}{left_out}.",
            trend.runs.len(),
            runs[*first].began,
            runs[*last].began
        ),
    }
}

fn change_text(trend: &Trend, series: &TrendSeries, change: &TrendChange, runs: &[TrendedRun]) -> String {
    let run = &runs[trend.runs[change.at].0];
    let label = run.label.as_ref().map_or(String::new(), |label| format!(" ({label})"));
    let p = if change.p < 0.001 { "p < 0.001".to_owned() } else { format!("p = {:.3}", change.p) };
    format!(
        "{} changed by {} with {}{label}, {}: from {} to {} ({p}).",
        capitalized(metric_noun(series.metric)),
        signed_percent(change.to / change.from),
        run.name,
        run.began,
        value_text(terms(trend), series.metric, change.from),
        value_text(terms(trend), series.metric, change.to)
    )
}

fn metric_noun(metric: ComparedMetric) -> &'static str {
    match metric {
        ComparedMetric::Score => "rate",
        ComparedMetric::ResponseMean => "mean response time",
        ComparedMetric::ResponsePercentile(_) => "p99",
        ComparedMetric::CpuPerOperation => "server CPU time per operation",
        ComparedMetric::ErrorRatio => "share of failures",
    }
}

fn value_text(terms: Terms, metric: ComparedMetric, value: f64) -> String {
    match metric {
        ComparedMetric::Score => terms.short_score_text(Some(value)),
        _ => numbers::seconds(value),
    }
}

/// Returns the figures run by run, with the changes.
pub fn trend_table(trend: &Trend, runs: &[TrendedRun]) -> Table {
    let terms = terms(trend);
    let heading = |metric| match metric {
        ComparedMetric::Score => terms.score_heading,
        ComparedMetric::ResponseMean => terms.response_heading,
        ComparedMetric::ResponsePercentile(_) => "p99",
        ComparedMetric::CpuPerOperation => "Server CPU/operation",
        ComparedMetric::ErrorRatio => "Failures",
    };
    let mut columns = vec![Column::words("Began"), Column::words("Run"), Column::words("Label")];
    columns.extend(trend.series.iter().map(|series| Column::numbers(heading(series.metric), "")));
    columns.push(Column::words("Change"));
    let rows = trend.runs.iter().enumerate().map(|(index, (run, _))| {
        let run = &runs[*run];
        let label = run.label.clone().unwrap_or_default();
        let mut cells = vec![run.began.clone().into(), run.name.clone().into(), label.into()];
        let value = |series: &TrendSeries| match series.metric {
            ComparedMetric::Score => numbers::figure(series.values[index]),
            _ => numbers::seconds(series.values[index]),
        };
        cells.extend(trend.series.iter().map(|series| value(series).into()));
        let changes = changes_at(trend, index);
        let style = if changes.is_empty() { RowStyle::Plain } else { RowStyle::Best };
        cells.push(changes.into());
        Row { cells, style }
    });
    Table::new("Runs in the order of time", columns, rows.collect()).note(
        "Geometric means over the loads that are followed. A change is marked at the first run of the new level, with the \
         difference of the levels before and after it.",
    )
}

fn changes_at(trend: &Trend, index: usize) -> String {
    let at = |series: &TrendSeries| {
        let change = series.changes.as_ref()?.iter().find(|change| change.at == index)?;
        Some(format!("{} {}", metric_noun(series.metric), signed_percent(change.to / change.from)))
    };
    trend.series.iter().filter_map(at).collect::<Vec<_>>().join(", ")
}

/// Creates the document of trends. `runs` are all runs of the input.
pub fn trend_document(trends: &[Trend], runs: &[TrendedRun], program: &str) -> Document {
    let servers: Vec<&str> = trends.iter().map(|trend| trend.server.as_str()).collect();
    let n_changes: usize = trends.iter().map(n_changes).sum();
    let found = match n_changes {
        0 => "No change was found.".to_owned(),
        1 => "1 change was found.".to_owned(),
        n => format!("{n} changes were found."),
    };
    Document {
        title: "Trend".into(),
        subtitle: servers.join(", "),
        banner: Banner {
            state: VerdictState::Valid,
            text: format!("{} runs, valid load points only. {found}", runs.len()).into(),
            reasons: Vec::new(),
            modified: Vec::new(),
        },
        hero: None,
        brief: Vec::new(),
        n_open: usize::MAX,
        answer: Text::default(),
        lead: None,
        sections: trends.iter().map(|trend| section(trend, runs)).collect(),
        colophon: format!(
            "All numbers are computed from the run files and can be recomputed from them. Generated by {program}."
        )
        .into(),
    }
}

fn n_changes(trend: &Trend) -> usize {
    trend.series.iter().filter_map(|series| series.changes.as_ref()).map(Vec::len).sum()
}

fn section(trend: &Trend, runs: &[TrendedRun]) -> Section {
    let mut blocks: Vec<Block> =
        trend_text(trend, runs).into_iter().map(|text| Block::Paragraph(text.into())).collect();
    if 1 < trend.runs.len() {
        blocks.push(Block::Figure(Box::new(Figure {
            chart: chart(trend),
            caption: "Lines: the levels between changes.".into(),
            table: trend_table(trend, runs),
            bulky: true,
        })));
    }
    blocks.push(Block::Note(NoteKind::Info, method_text().into()));
    Section { id: "trend", title: subject(trend, &trend.benchmark.title), blocks }
}

/// Returns benchmark and server; of URLs, which name their server, the URLs alone.
fn subject(trend: &Trend, benchmark: &str) -> String {
    if trend.benchmark.is_urls() {
        trend.benchmark.title.clone()
    } else {
        format!("{benchmark} on {}", trend.server)
    }
}

fn method_text() -> &'static str {
    "Changes are found by circular binary segmentation with a permutation test (Olshen et al. 2004). If nothing changes, a \
     change is found in at most 5 % of trends, over all figures together. A slow drift of the machine is found as a change, \
     too."
}

fn chart(trend: &Trend) -> Chart {
    let panel = |series: &TrendSeries| {
        let format = match series.metric {
            ComparedMetric::Score => Format::Plain,
            _ => Format::Seconds,
        };
        let points =
            series.values.iter().enumerate().map(|(index, value)| Point::new(run_number(index), *value));
        let values =
            DataSeries { name: "runs".into(), style: 0, draw: Draw::Points, points: points.collect() };
        Panel {
            y: Axis::new(capitalized(metric_noun(series.metric)), Spacing::FromZero, format),
            series: [values].into_iter().chain(levels(series)).collect(),
            limit: None,
        }
    };
    let mut at: Vec<usize> =
        trend.series.iter().flat_map(|one| one.changes.iter().flatten()).map(|change| change.at).collect();
    at.sort_unstable();
    at.dedup();
    let mark = |index: usize| Mark { x: run_number(index) - 0.5, name: "change".into(), line: true };
    Chart {
        id: "trend-chart",
        title: format!("Trend of {}", trend.server),
        description: "Each metric in every run, in the order of time, with the changes of its level.".into(),
        x: Axis::new("Run, in the order of time", Spacing::Tight, Format::Plain),
        panels: trend.series.iter().map(panel).collect(),
        zones: Vec::new(),
        marks: at.into_iter().map(mark).collect(),
    }
}

/// Returns the levels between changes as a line; `None` without changes.
fn levels(series: &TrendSeries) -> Option<DataSeries> {
    let changes = series.changes.as_deref().filter(|changes| !changes.is_empty())?;
    let ends = changes.iter().map(|change| change.at).chain([series.values.len()]);
    let starts = [0].into_iter().chain(changes.iter().map(|change| change.at));
    let heights = changes.first().map(|first| first.from).into_iter().chain(changes.iter().map(|one| one.to));
    let points = starts.zip(ends).zip(heights).flat_map(|((start, end), height)| {
        let from = Point { gap: true, ..Point::new(run_number(start) - 0.5, height) };
        [from, Point::new(run_number(end) - 0.5, height)]
    });
    Some(DataSeries { name: "level".into(), style: 1, draw: Draw::Line, points: points.collect() })
}

/// Returns the number of a run, from 1, as a position on the axis.
fn run_number(index: usize) -> f64 {
    index as f64 + 1.0
}

fn terms(trend: &Trend) -> Terms<'_> {
    Terms::new(&trend.score, &trend.words, trend.loads.iter().all(|load| load.is_closed()))
}

/// Renders trends as JSON. `runs` are all runs of the input.
pub fn trend_json(trends: &[Trend], runs: &[TrendedRun]) -> Value {
    let value = |trend: &Trend| {
        let run = |index: usize| {
            let run = &runs[index];
            json!({ "name": run.name, "label": run.label })
        };
        let kept = trend.runs.iter().map(|(index, began)| {
            let mut run = run(*index);
            run["began_unix_ms"] = json!(began.0);
            run
        });
        json!({
            "benchmark": { "id": trend.benchmark.id, "version": trend.benchmark.version },
            "server": trend.server,
            "loads": trend.loads.iter().map(|load| load_json(*load)).collect::<Vec<_>>(),
            "runs": kept.collect::<Vec<_>>(),
            "left_out": trend.left_out.iter().map(|index| run(*index)).collect::<Vec<_>>(),
            "series": trend.series.iter().map(series_json).collect::<Vec<_>>(),
            "text": trend_text(trend, runs),
        })
    };
    json!({ "format": TREND_FORMAT, "trends": trends.iter().map(value).collect::<Vec<_>>() })
}

fn series_json(series: &TrendSeries) -> Value {
    let change = |change: &TrendChange| {
        json!({
            "at": change.at,
            "from": change.from,
            "to": change.to,
            "ratio": change.to / change.from,
            "p": change.p,
        })
    };
    let changes = series.changes.as_ref().map(|changes| changes.iter().map(change).collect::<Vec<_>>());
    json!({ "metric": series.metric.name(), "values": series.values, "changes": changes })
}
