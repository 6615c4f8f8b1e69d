//! The numbers of the last second and of the steady phase: load, server, generator.

use analysis::LoadPointStatus;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use super::paint::{bold, dim, put, take_rows};
use crate::progress::state::{SecondValues, State};
use crate::progress::text::{ABSENT, byte_rate, percent, rate, time};

/// Number of rows with the heading, in a closed loop and in an open loop, without a score of its own.
const ROWS: u16 = 7;
const ROWS_OPEN: u16 = 8;

/// Returns the number of rows with the heading, of whatever load.
pub(super) fn n_rows(state: &State) -> u16 {
    let is_open = state.run().plan.loads().any(|load| !load.is_closed());
    let rows = if is_open { ROWS_OPEN } else { ROWS };
    rows + u16::from(!state.run().plan.catalog.score.is_operation_rate())
}

/// The layout of a block: widths of the names and of each number, in columns.
struct Block {
    names: usize,
    numbers: usize,
    n_numbers: usize,
}

const LOAD: Block = Block { names: 10, numbers: 11, n_numbers: 2 };
const SERVER: Block = Block { names: 8, numbers: 17, n_numbers: 1 };
const GENERATOR: Block = Block { names: 8, numbers: 9, n_numbers: 1 };

/// Minimum gap between blocks, in columns.
const GAP: u16 = 2;

/// A name and its numbers.
type Row = (&'static str, Vec<String>);

/// Draws as many of the three blocks as fit.
pub(super) fn draw(state: &State, area: Rect, buffer: &mut Buffer) {
    let blocks = [
        (LOAD, "Load", vec!["last second".to_owned(), "steady".to_owned()], load(state)),
        (SERVER, "Server", Vec::new(), server(state)),
        (GENERATOR, "Generator", Vec::new(), generator(state)),
    ];
    let least = |n: usize| -> u16 { blocks[..n].iter().map(|(block, ..)| block.width() + GAP).sum() };
    let n = (1..=blocks.len()).rev().find(|n| least(*n) <= area.width + GAP).unwrap_or(1);
    let spare = (area.width + GAP).saturating_sub(least(n)) / n as u16;
    let mut x = area.x;
    for (block, name, headings, rows) in blocks.into_iter().take(n) {
        let width = block.width();
        let mut free = Rect { x, width, ..area }.intersection(area);
        put(
            buffer,
            take_rows(&mut free, 1),
            &Line::styled(block.text(name, &headings), bold()),
            &Line::default(),
        );
        for (name, numbers) in rows {
            let names = block.names;
            let numbers = block.text("", &numbers).split_off(names);
            let line = Line::from(vec![Span::styled(format!("{name:<names$}"), dim()), Span::raw(numbers)]);
            put(buffer, take_rows(&mut free, 1), &line, &Line::default());
        }
        x += width + GAP + spare;
    }
}

impl Block {
    fn width(&self) -> u16 {
        (self.names + self.n_numbers * self.numbers) as u16
    }

    /// Formats a row, with the numbers in their columns.
    fn text(&self, name: &str, numbers: &[String]) -> String {
        let Block { names, numbers: width, .. } = *self;
        numbers.iter().fold(format!("{name:<names$}"), |text, number| format!("{text}{number:>width$}"))
    }
}

fn load(state: &State) -> Vec<Row> {
    let Some(point) = &state.point else { return Vec::new() };
    let second = state.second.as_ref();
    let measured = point.measured();
    let now = |text: &dyn Fn(&SecondValues) -> String| second.map_or(ABSENT.to_owned(), text);
    let steady = |text: &dyn Fn(&LoadPointStatus) -> String| measured.map_or(ABSENT.to_owned(), text);
    let mut rows = vec![
        ("completed", vec![now(&|s| rate(s.rate)), steady(&|s| rate(s.rate))]),
        ("due", vec![now(&|s| rate(s.due_rate)), steady(&|s| rate(s.due_rate))]),
        ("p50", vec![now(&|s| time(s.p50)), steady(&|s| time(s.p50))]),
        ("p95", vec![now(&|s| time(s.p95)), steady(&|s| time(s.p95))]),
        ("p99", vec![now(&|s| time(s.p99)), steady(&|s| time(s.p99))]),
        ("errors", vec![now(&|s| s.errors.to_string()), steady(&|s| s.errors.to_string())]),
        ("in flight", vec![now(&|s| mean(s.in_flight)), steady(&|s| mean(s.in_flight_mean))]),
    ];
    if !state.is_operation_rate(point.key.run) {
        let score = measured.and_then(|status| status.score);
        let text = score.map_or(ABSENT.to_owned(), |score| format!("{score:.1}"));
        rows.insert(0, ("score", vec![String::new(), text]));
    }
    // In a closed loop, the due rate equals the completed rate.
    rows.retain(|(name, _)| *name != "due" || !point.key.load.is_closed());
    rows
}

fn mean(value: f64) -> String {
    format!("{value:.1}")
}

fn server(state: &State) -> Vec<Row> {
    let counters = &state.counters;
    let used = state.second.and_then(|second| second.sut_cpus);
    let used = used.or_else(|| counters.sut_cpus());
    let cpu = match (used, state.run().plan.sut_allowance()) {
        (Some(used), Some(allowed)) => format!("{} of {allowed} CPU", percent(used / allowed)),
        (Some(used), None) => format!("{used:.2} CPU"),
        (None, _) => ABSENT.to_owned(),
    };
    let known = |text: Option<String>| text.unwrap_or(ABSENT.to_owned());
    let machine = counters.cpus_busy().map(|(busy, n)| format!("{busy:.2} of {n} CPUs"));
    let disk = counters.busiest_disk().map(|(disk, busy)| format!("{disk} {:>5} busy", percent(busy.0)));
    let network = counters.network();
    vec![
        ("CPU", vec![cpu]),
        ("host CPU", vec![known(machine)]),
        ("disk", vec![known(disk)]),
        ("net in", vec![known(network.map(|(received, _)| byte_rate(received)))]),
        ("net out", vec![known(network.map(|(_, sent)| byte_rate(sent)))]),
    ]
}

fn generator(state: &State) -> Vec<Row> {
    let of = |text: &dyn Fn(&SecondValues) -> String| state.second.as_ref().map_or(ABSENT.to_owned(), text);
    vec![
        ("CPU", vec![of(&|second| percent(second.generator_busy.0))]),
        ("CPU wait", vec![of(&|second| percent(second.run_queue.0))]),
        ("late p99", vec![of(&|second| time(second.lateness_p99))]),
    ]
}
