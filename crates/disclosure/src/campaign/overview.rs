//! Executive overview of a campaign.

use super::group::{BenchmarkGroup, Entry};
use super::servers;
use crate::bottleneck::bottleneck_name;
use crate::comparison::comparison_answer;
use crate::report::Terms;
use crate::sections::highlights::highlights;
use crate::sections::state_text;
use crate::{
    Block, Cell, Column, NoteKind, Row, RowStyle, Section, Table, Text, Tile, comparison_text, numbers,
};

pub(super) fn section(groups: &[BenchmarkGroup]) -> Section {
    let blocks = match groups {
        [] => vec![Block::Note(NoteKind::Warning, "There are no runs.".into())],
        _ => vec![
            Block::Paragraph(introduction(groups).into()),
            Block::Tiles(groups.iter().filter_map(tile).collect()),
            Block::Heading("Highlights".into()),
            Block::List(groups.iter().flat_map(sentences).collect()),
            Block::Table(table(groups)),
        ],
    };
    Section { id: "overview", title: "Executive overview".into(), blocks }
}

fn introduction(groups: &[BenchmarkGroup]) -> String {
    let n_runs: usize = groups.iter().map(|group| group.runs.len()).sum();
    let servers = servers(groups.iter().flat_map(|group| &group.runs));
    let runs = if n_runs == 1 { "one run".to_owned() } else { format!("{n_runs} runs") };
    let verb = if servers.len() == 1 { "was" } else { "were" };
    let configurations = match servers.len() {
        1 => "",
        _ => " The server configurations are compared at the end.",
    };
    let benchmarks = groups.iter().filter(|group| !group.is_urls()).map(BenchmarkGroup::title);
    match benchmarks.collect::<Vec<_>>().as_slice() {
        // Servers that were loaded by URL are named by it.
        [] => format!("{} {verb} loaded in {runs}.{configurations}", listed(&servers)),
        titles => format!(
            "{} {verb} measured with {}, in {runs}. Each benchmark has its own chapter, which includes the limits of the \
             benchmark.{configurations}",
            listed(&servers),
            listed(titles)
        ),
    }
}

/// Returns `a`, `a and b`, `a, b and c`.
fn listed(names: &[&str]) -> String {
    match names {
        [] => String::new(),
        [only] => (*only).to_owned(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

/// Returns the highest valid rate of a benchmark with its server, load and verdict; `None` if there is none.
///
/// If several servers handled the highest offered load, none of them is the best: the tile shows the offered load.
fn tile(group: &BenchmarkGroup) -> Option<Tile> {
    let entries = group.entries();
    let terms = group.terms();
    let leaders: Vec<&Entry> = group.leaders().into_iter().filter_map(|index| entries.get(index)).collect();
    let modified = if group.is_modified() { ", modified" } else { "" };
    let name = format!("{}, {}", group.title(), terms.score);
    match leaders.as_slice() {
        [] => None,
        [entry] => {
            let offered = if entry.is_all_offered { ", the highest offered load" } else { "" };
            let note = format!("{}{offered}{modified}", entry.companion(terms));
            Some(Tile { name, value: numbers::figure(entry.score?), note })
        }
        [first, ..] => {
            let names: Vec<&str> = leaders.iter().map(|entry| entry.server).collect();
            let load = first.best.map(|point| point.load)?;
            let value = numbers::count(load.level().round() as u64);
            let note = format!("the highest offered load, handled by {}{modified}", listed(&names));
            Some(Tile { name, value, note })
        }
    }
}

/// Returns the sentences of the comparison, or the highlights of a single run.
fn sentences(group: &BenchmarkGroup) -> Vec<Text> {
    let texts: Vec<Text> = match &group.comparison {
        Some(comparison) if 1 < comparison.sides.len() => {
            // The answer, if there is one, then one sentence per server other than the first.
            let n = comparison.sides.len() - 1 + usize::from(comparison_answer(comparison).is_some());
            let text = comparison_text(comparison);
            text.iter().take(n).map(|sentence| Text::default().sentence(sentence)).collect()
        }
        _ => highlights(&group.runs[0].report).into_iter().take(2).collect(),
    };
    let titled = |text: Text| {
        let mut spans = Text::default().strong(format!("{}: ", group.title()));
        spans.0.extend(text.0);
        spans
    };
    texts.into_iter().map(titled).collect()
}

fn table(groups: &[BenchmarkGroup]) -> Table {
    let is_priced = groups.iter().flat_map(|group| &group.runs).any(|run| run.report.price.is_some());
    let mut columns = vec![
        Column::words(if groups.iter().all(BenchmarkGroup::is_urls) { "Load" } else { "Benchmark" }),
        Column::words("Server"),
        Column::numbers("Highest valid rate", ""),
        Column::words("At load"),
        Column::numbers("Mean response time", ""),
        Column::numbers("p99", ""),
        Column::words("Bottleneck"),
    ];
    columns.extend(is_priced.then(|| Column::numbers("Price ÷ rate", "")));
    columns.push(Column::words("Verdict"));
    let mut rows = Vec::new();
    for group in groups {
        let entries = group.entries();
        let leaders = group.leaders();
        for (index, entry) in entries.iter().enumerate() {
            let title = if index == 0 { group.title() } else { "" };
            let style = match entry.score {
                None => RowStyle::Invalid,
                Some(_) if leaders == [index] && 1 < entries.len() => RowStyle::Best,
                Some(_) => RowStyle::Plain,
            };
            rows.push(Row { cells: cells(title, entry, group.terms(), is_priced), style });
        }
    }
    Table::new("Highest valid rate of each server", columns, rows).note(
    "Rates of several runs are geometric means. In parentheses: 95 % confidence intervals. A server without a valid load \
     point has no rate.",
    )
}

fn cells(title: &str, entry: &Entry, terms: Terms, is_priced: bool) -> Vec<Cell> {
    let best = entry.best;
    let rate = entry
        .score
        .map_or(numbers::ABSENT.to_owned(), |rate| format!("{} {}", numbers::figure(rate), terms.score));
    let interval = numbers::figure_interval(entry.score_interval);
    let load = best.map_or(numbers::ABSENT.to_owned(), |point| terms.load_text(point.load));
    let bottleneck = best.and_then(|point| point.attribution.as_ref()).map(bottleneck_name);
    let mut cells: Vec<Cell> = vec![
        title.into(),
        entry.server.into(),
        Cell::with(rate, interval),
        load.into(),
        numbers::seconds(entry.response_mean()).into(),
        numbers::seconds(entry.response_p99()).into(),
        bottleneck.unwrap_or_else(|| numbers::ABSENT.to_owned()).into(),
    ];
    if is_priced {
        let price = entry.run.report.price.map(|sheet| sheet.list.total());
        let per = price.zip(entry.score).and_then(|(total, rate)| total.per(rate));
        cells.push(per.map_or(numbers::ABSENT.to_owned(), numbers::unit_price).into());
    }
    cells.push(state_text(entry.state).into());
    cells
}
