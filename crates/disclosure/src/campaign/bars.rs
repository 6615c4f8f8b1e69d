//! Bar chart of the servers' highest valid rates.

use model::capitalized;

use super::group::Entry;
use crate::charts::{Axis, Chart, DataSeries, Draw, Format, Panel, Point, Spacing};
use crate::report::{Terms, load_number};
use crate::{Cell, Column, Figure, Row, Table, numbers};

/// Returns the figure, the highest bar first; `None` if fewer than two servers have a valid rate.
pub(super) fn figure(entries: &[Entry], terms: Terms) -> Option<Figure> {
    let mut ranked: Vec<(f64, &Entry)> =
        entries.iter().filter_map(|entry| Some((entry.score?, entry))).collect();
    if ranked.len() < 2 {
        return None;
    }
    ranked.sort_by(|one, other| other.0.total_cmp(&one.0));
    let caption =
        "The highest valid rate of each server. Error bars: 95 % confidence intervals, where known.";
    Some(Figure {
        chart: chart(&ranked, terms),
        caption: caption.into(),
        table: table(&ranked, terms),
        bulky: false,
    })
}

fn chart(ranked: &[(f64, &Entry)], terms: Terms) -> Chart {
    let n = ranked.len() as f64;
    let bar = |(row, (rate, entry)): (usize, &(f64, &Entry))| {
        let point = Point::new(*rate, n - 0.5 - row as f64);
        DataSeries {
            name: entry.server.to_owned(),
            style: entry.index,
            draw: Draw::Bars,
            points: vec![Point { range: entry.score_interval, ..point }],
        }
    };
    Chart {
        id: "bars",
        title: format!("Highest valid rate of each server, in {}", terms.score),
        description: description(ranked, terms),
        x: Axis::new(capitalized(terms.score), Spacing::FromZero, Format::Plain),
        panels: vec![Panel {
            y: Axis::new("Server", Spacing::FromZero, Format::Plain),
            series: ranked.iter().enumerate().map(bar).collect(),
            limit: None,
        }],
        zones: Vec::new(),
        marks: Vec::new(),
    }
}

fn description(ranked: &[(f64, &Entry)], terms: Terms) -> String {
    let one = |(rate, entry): &(f64, &Entry)| format!("{} {}", entry.server, numbers::figure(*rate));
    let all: Vec<String> = ranked.iter().map(one).collect();
    format!("In {}: {}.", terms.score, all.join(", "))
}

fn table(ranked: &[(f64, &Entry)], terms: Terms) -> Table {
    let columns = vec![
        Column::words("Server"),
        Column::numbers(terms.score_heading, ""),
        Column::numbers(terms.load(), ""),
        Column::numbers(terms.response_heading, ""),
        Column::numbers("p99", ""),
    ];
    let row = |(rate, entry): &(f64, &Entry)| {
        let interval = numbers::figure_interval(entry.score_interval);
        let best = entry.best;
        Row::plain([
            Cell::from(entry.server),
            Cell::with(numbers::figure(*rate), interval),
            best.map_or(numbers::ABSENT.to_owned(), |point| load_number(point.load)).into(),
            numbers::seconds(entry.response_mean()).into(),
            numbers::seconds(entry.response_p99()).into(),
        ])
    };
    Table::new("Highest valid rates", columns, ranked.iter().map(row).collect())
}
