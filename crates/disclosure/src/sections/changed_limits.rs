//! Limits of the server's control groups that somebody changed during the run.

use std::collections::{BTreeMap, BTreeSet};

use analysis::{LoadPointResult, SeriesUsage, allowed_cpus_by_group};
use model::Counter;

use crate::report::load_number;
use crate::{Column, Report, Row, Table, numbers};

/// The limits, as the heads of columns name them.
const LIMITS: [(Counter, &str); 6] = [
    (Counter::SutQuota, "CPU time per second"),
    (Counter::SutMemoryMax, "memory"),
    (Counter::SutReadsMax, "reads per second"),
    (Counter::SutWritesMax, "writes per second"),
    (Counter::SutReadBytesMax, "bytes read per second"),
    (Counter::SutWriteBytesMax, "bytes written per second"),
];

/// The limits of one load point by what they limit.
type Limits = BTreeMap<String, String>;

/// Returns the limits that were not the same at all load points, a row per load point; `None` if all were. The list of what
/// is watched has them as they were when the run began.
pub(super) fn changed_limits(report: &Report) -> Option<Table> {
    let points: Vec<(&LoadPointResult, Limits)> =
        super::attributed(report).map(|(point, _)| (point, limits(point))).collect();
    let all: BTreeSet<&String> = points.iter().flat_map(|(_, limits)| limits.keys()).collect();
    let is_changed =
        |name: &&String| points.iter().any(|(_, limits)| limits.get(*name) != points[0].1.get(*name));
    let changed: Vec<&String> = all.into_iter().filter(is_changed).collect();
    if changed.is_empty() {
        return None;
    }
    let columns = std::iter::once(Column::numbers(report.terms().load(), ""))
        .chain(changed.iter().map(|name| Column::words(name.as_str())))
        .collect();
    let row = |(point, limits): &(&LoadPointResult, Limits)| {
        let value = |name: &&String| limits.get(*name).cloned().unwrap_or_else(|| "none".to_owned());
        Row::plain(std::iter::once(load_number(point.load)).chain(changed.iter().map(value)))
    };
    let rows = points.iter().map(row).collect();
    Some(Table::new("Limits that changed during the run", columns, rows).note(
        "The least limit of the server’s control groups and of those above, as it was at each load point: what is used of it \
         counts for the bottleneck.",
    ))
}

fn limits(point: &LoadPointResult) -> Limits {
    let name = |one: &SeriesUsage, what: &str| {
        format!("{}: {what}", one.series.instance).trim_start_matches(": ").to_owned()
    };
    let amounts = LIMITS.iter().flat_map(|(counter, what)| {
        point.resources.of_sut(*counter).map(|one| (name(one, what), range_text(*counter, one)))
    });
    let cpus = allowed_cpus_by_group(&point.resources).into_iter().map(|(group, cpus)| {
        let cpus: Vec<String> = cpus.iter().map(u32::to_string).collect();
        (format!("{group}: CPUs"), cpus.join(", "))
    });
    amounts.chain(cpus).collect()
}

/// Writes a limit with its unit, and the range of one that changed at this load point.
fn range_text(counter: Counter, one: &SeriesUsage) -> String {
    let text = |value: u64| match counter {
        Counter::SutQuota => format!("{} CPUs", numbers::figure(value as f64 / 1e6)),
        Counter::SutReadsMax | Counter::SutWritesMax => numbers::count(value),
        _ => numbers::bytes(value),
    };
    if one.min == one.max { text(one.min) } else { format!("{} to {}", text(one.min), text(one.max)) }
}
