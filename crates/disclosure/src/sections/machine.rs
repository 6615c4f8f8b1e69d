//! Host metrics of each load point, in the units that administrators know.

use std::collections::BTreeSet;

use analysis::{LoadPointResult, SeriesUsage};
use model::{Counter, CounterKind, CounterUnit};

use crate::report::load_number;
use crate::{Block, Column, Report, Row, Section, Table, Text, numbers};

/// More instances than this of one counter (CPUs, mostly) are summed up.
const INSTANCES_MAX: usize = 8;

/// More load points than this do not find room beside one another.
const COLUMNS_MAX: usize = 10;

/// A line of the table: a counter of a machine, of one instance or of all.
type Line = (u32, Counter, Option<String>);

pub(super) fn section(report: &Report) -> Option<Section> {
    let points = &report.analysis.load_points;
    let machines = points.iter().map(|point| &point.resources.machines).find(|all| !all.is_empty())?;
    let mut blocks = vec![Block::Paragraph(Text::from(
        "Averages over the steady phase, sampled once a second: rates for counters, means for gauges. Shares of time are in percent; of several CPUs 100 % is all of one.",
    ))];
    for (number, machine) in (0..).zip(machines) {
        let caption = format!("{} ({})", machine.name, machine.role.name());
        let tables: Vec<Block> = points
            .chunks(COLUMNS_MAX)
            .map(|some| table(points, some, number, &caption))
            .filter(|table| !table.rows.is_empty())
            .map(Block::Table)
            .collect();
        if !tables.is_empty() {
            blocks.push(Block::bulky_fold(caption, tables));
        }
    }
    blocks.extend(cost(points).map(|text| Block::Paragraph(text.into())));
    Some(Section { id: "counters", title: "Host metrics".into(), blocks })
}

/// Makes a table with a column for each of `some` of the load points. All tables of a machine have the same lines.
fn table(points: &[LoadPointResult], some: &[LoadPointResult], machine: u32, caption: &str) -> Table {
    let mut columns = vec![Column::words("Counter"), Column::words("Of"), Column::words("Unit")];
    columns.extend(some.iter().map(|point| Column::numbers(load_number(point.load), "")));
    let row = |line: &Line| {
        let (_, counter, instance) = line;
        let of = instance.clone().unwrap_or_else(|| "all".to_owned());
        let mut cells = vec![about(*counter), of, unit_text(*counter).to_owned()];
        cells.extend(some.iter().map(|point| value_text(*counter, value(point, line))));
        Row::plain(cells)
    };
    Table::new(caption, columns, lines(points, machine).iter().map(row).collect())
}

/// Returns the lines of a machine in the order of the catalog: of each counter its instances, or their sum if there are
/// too many to read and it has one.
fn lines(points: &[LoadPointResult], machine: u32) -> Vec<Line> {
    let series = points.iter().flat_map(|point| &point.resources.series);
    let all: BTreeSet<(Counter, &str)> = series
        .filter(|one| one.series.machine == machine)
        .map(|one| (one.series.counter, one.series.instance.as_str()))
        .collect();
    let mut lines: Vec<Line> = Vec::new();
    for (counter, instance) in &all {
        let n = all.iter().filter(|(other, _)| other == counter).count();
        let line = match n {
            n if n <= INSTANCES_MAX || !counter.adds_up() => {
                (machine, *counter, Some((*instance).to_owned()))
            }
            _ => (machine, *counter, None),
        };
        if lines.last() != Some(&line) {
            lines.push(line);
        }
    }
    lines
}

/// Returns the value of a line at a load point; of all instances their sum.
fn value(point: &LoadPointResult, (machine, counter, instance): &Line) -> Option<f64> {
    let belongs = |one: &&SeriesUsage| {
        let series = &one.series;
        series.machine == *machine
            && series.counter == *counter
            && instance.as_ref().is_none_or(|instance| *instance == series.instance)
    };
    let values: Vec<f64> =
        point.resources.series.iter().filter(belongs).filter_map(|one| one.value).collect();
    (!values.is_empty()).then(|| values.iter().sum())
}

/// Returns what a counter is, without the full stop of its sentence.
fn about(counter: Counter) -> String {
    counter.description().trim_end_matches('.').to_owned()
}

fn unit_text(counter: Counter) -> &'static str {
    match (counter.kind(), counter.unit()) {
        (CounterKind::Total, CounterUnit::Micros) => "% of time",
        (CounterKind::Total, CounterUnit::Bytes) => "KiB/s",
        (CounterKind::Total, _) => "/s",
        (CounterKind::Level, CounterUnit::Bytes) => "MiB",
        (CounterKind::Level, CounterUnit::Hertz) => "MHz",
        (CounterKind::Level, CounterUnit::BitsPerSecond) => "Mbit/s",
        (CounterKind::Level, CounterUnit::Micros) => "µs",
        (CounterKind::Level, CounterUnit::Count) => "",
    }
}

fn value_text(counter: Counter, value: Option<f64>) -> String {
    let scale = match (counter.kind(), counter.unit()) {
        (CounterKind::Total, CounterUnit::Micros) => 1e-4,
        (CounterKind::Total, CounterUnit::Bytes) => 1.0 / 1024.0,
        (CounterKind::Level, CounterUnit::Bytes) => 1.0 / 1_048_576.0,
        (CounterKind::Level, CounterUnit::Hertz | CounterUnit::BitsPerSecond) => 1e-6,
        (CounterKind::Total | CounterKind::Level, _) => 1.0,
    };
    numbers::figure(value.map(|value| value * scale))
}

/// Says what the monitor itself cost; `None` if it was not measured.
fn cost(points: &[LoadPointResult]) -> Option<String> {
    let of_monitor = points
        .iter()
        .flat_map(|point| &point.resources.series)
        .filter(|one| one.series.counter == Counter::MonitorCpu);
    let most = of_monitor.filter_map(|one| Some(one.value? / 1e6)).max_by(f64::total_cmp)?;
    Some(format!(
        "The monitor itself used {} of a CPU at most, on the load's side of the machine.",
        numbers::percent(most, 3)
    ))
}
