//! Comparison of a stated result table with the one recomputed from the records.

use std::collections::BTreeMap;

use units::{Nanos, Ratio};

use super::{DifferenceKind, TableDifference};
use crate::{Analysis, LoadPointResult, METRICS, StageResult, TimeSummary, UntilResult};

/// A value of the result table: its name, unit last, and how it follows from a load point's result.
type NamedValue = (&'static str, fn(&LoadPointResult) -> Option<f64>);

/// Values of the result table that are not in the table of metrics, because exports have them in statistics.
const STATISTICS: &[NamedValue] = &[
    ("load", |point| Some(point.load.level())),
    ("bytes", |point| Some(point.total.transferred as f64)),
    ("response_mean_s", |point| point.response.mean),
    ("response_p50_s", |point| percentile(point, 0.5)),
    ("response_p90_s", |point| percentile(point, 0.9)),
    ("response_p95_s", |point| percentile(point, 0.95)),
    ("response_p99_s", |point| percentile(point, 0.99)),
    ("response_p999_s", |point| percentile(point, 0.999)),
    ("response_max_s", |point| point.response.max.map(Nanos::as_secs_f64)),
    ("service_mean_s", |point| point.service.mean),
];

/// A value of the result table of a stage, after its number; the same.
type StageValue = (&'static str, fn(&StageResult) -> Option<f64>);

/// Values of each stage of a load point with a shape.
const STAGE_STATISTICS: &[StageValue] = &[
    ("length_s", |stage| Some(stage.length.as_secs_f64())),
    ("operations", |stage| Some(stage.n as f64)),
    ("errors", |stage| Some(stage.errors as f64)),
    ("offered_per_s", |stage| stage.offered_rate),
    ("rate_per_s", |stage| Some(stage.rate)),
    ("users_mean", |stage| stage.users_mean),
    ("response_mean_s", |stage| stage.response.mean),
    ("response_p50_s", |stage| percentile_of(&stage.response, 0.5)),
    ("response_p95_s", |stage| percentile_of(&stage.response, 0.95)),
    ("response_p99_s", |stage| percentile_of(&stage.response, 0.99)),
];

/// A value about limits that end a load point early; the same.
type LimitValue = (&'static str, fn(&UntilResult) -> Option<f64>);

/// Values about the limits that end a load point early.
const LIMIT_STATISTICS: &[LimitValue] = &[
    ("until_broken_at_s", |until| Some(until.broken?.window.end.as_secs_f64())),
    ("until_broken_level", |until| Some(until.broken?.window.level_mean)),
    ("until_broken_value", |until| Some(until.broken?.value)),
    ("until_held_level", |until| Some(until.held?.level_mean)),
];

/// A stated row of a result table.
#[derive(Debug, Clone, PartialEq)]
pub struct StatedRow {
    /// Index of the load point.
    pub load_point: u32,
    /// Value per name, most of them metrics by their names in stored results; cells without a value are
    /// missing.
    pub cells: BTreeMap<String, f64>,
}

impl StatedRow {
    /// Makes the row that a load point's result states.
    pub fn of(point: &LoadPointResult) -> StatedRow {
        let metrics =
            METRICS.iter().filter_map(|metric| Some((metric.stated?, metric.value(point).number())));
        let statistics = STATISTICS.iter().map(|(name, value)| (*name, value(point)));
        let of_point = metrics.chain(statistics).map(|(name, value)| (name.to_owned(), value));
        let of_stages = point.stages.iter().flat_map(|stage| {
            STAGE_STATISTICS
                .iter()
                .map(|(name, value)| (format!("stage_{}_{name}", stage.index + 1), value(stage)))
        });
        let of_limits = LIMIT_STATISTICS
            .iter()
            .map(|(name, value)| ((*name).to_owned(), point.until.as_ref().and_then(*value)));
        let cells = of_point.chain(of_stages).chain(of_limits);
        let cells = cells.filter_map(|(name, value)| Some((name, value?)));
        StatedRow { load_point: point.index, cells: cells.collect() }
    }
}

/// Compares a stated table with the recomputed one, cell by cell.
///
/// `tolerance` is the relative difference that rounding may leave, from 0. A column that no row states is not
/// missing; one that only some rows state is. Findings in the order of the rows, whole columns first; empty if all
/// cells agree.
pub fn audit_results(stated: &[StatedRow], recomputed: &Analysis, tolerance: Ratio) -> Vec<TableDifference> {
    let mut findings = Vec::new();
    let mut pairs = Vec::new();
    for (row, stated) in stated.iter().enumerate() {
        match recomputed.load_points.iter().find(|point| point.index == stated.load_point) {
            Some(point) => pairs.push(ComparedRow::new(row, stated, StatedRow::of(point), tolerance)),
            None => findings.push(TableDifference {
                row: Some(row),
                kind: DifferenceKind::ExtraRow { load_point: stated.load_point },
            }),
        }
    }
    for point in &recomputed.load_points {
        if !stated.iter().any(|row| row.load_point == point.index) {
            let kind = DifferenceKind::MissingRow { load_point: point.index };
            findings.push(TableDifference { row: None, kind });
        }
    }
    let whole = exchanged_everywhere(&pairs);
    findings.extend(whole.map(|exchange| TableDifference { row: None, kind: exchanged(exchange) }));
    let columns = stated_columns(stated);
    findings.extend(pairs.iter().flat_map(|pair| pair.findings(&columns, whole)));
    findings
}

/// A stated row and the recomputed one.
struct ComparedRow<'a> {
    row: usize,
    stated: &'a BTreeMap<String, f64>,
    recomputed: BTreeMap<String, f64>,
    tolerance: f64,
}

/// Names of two columns.
type ColumnPair<'a> = (&'a str, &'a str);

impl<'a> ComparedRow<'a> {
    fn new(row: usize, stated: &'a StatedRow, recomputed: StatedRow, tolerance: Ratio) -> ComparedRow<'a> {
        ComparedRow { row, stated: &stated.cells, recomputed: recomputed.cells, tolerance: tolerance.0 }
    }

    fn same(&self, one: f64, other: f64) -> bool {
        (one - other).abs() <= self.tolerance * one.abs().max(other.abs())
    }

    fn differs(&self, name: &str) -> bool {
        let stated = self.stated.get(name);
        let recomputed = self.recomputed.get(name);
        stated.zip(recomputed).is_some_and(|(stated, recomputed)| !self.same(*stated, *recomputed))
    }

    /// Returns the pairs of columns of which each has the other's value.
    fn exchanges(&self) -> Vec<ColumnPair<'a>> {
        let wrong: Vec<&str> =
            self.stated.keys().map(String::as_str).filter(|name| self.differs(name)).collect();
        let crossed = |one: &str, other: &str| self.same(self.stated[one], self.recomputed[other]);
        let mut pairs = Vec::new();
        for (index, one) in wrong.iter().enumerate() {
            let partner = wrong[index + 1..].iter().find(|other| crossed(one, other) && crossed(other, one));
            pairs.extend(partner.map(|other| (*one, *other)));
        }
        pairs
    }

    /// Returns what is wrong in this row besides an exchange of whole columns.
    fn findings(&self, columns: &[&str], whole: Option<ColumnPair>) -> Vec<TableDifference> {
        let mut findings = Vec::new();
        let mut explained: Vec<&str> = whole.map(|(one, other)| vec![one, other]).unwrap_or_default();
        for (one, other) in self.exchanges().into_iter().filter(|pair| Some(*pair) != whole) {
            explained.extend([one, other]);
            findings.push(TableDifference { row: Some(self.row), kind: exchanged((one, other)) });
        }
        let others = columns.iter().filter(|name| !explained.contains(name));
        let cells = others.filter_map(|name| self.cell(name));
        findings.extend(cells.map(|kind| TableDifference { row: Some(self.row), kind }));
        findings
    }

    fn cell(&self, name: &str) -> Option<DifferenceKind> {
        let column = name.to_owned();
        match (self.stated.get(name).copied(), self.recomputed.get(name).copied()) {
            (Some(stated), Some(recomputed)) if !self.same(stated, recomputed) => {
                Some(DifferenceKind::ChangedCell { column, stated, recomputed })
            }
            (None, Some(recomputed)) => Some(DifferenceKind::MissingCell { column, recomputed }),
            (Some(stated), None) => Some(DifferenceKind::ExtraCell { column, stated }),
            _ => None,
        }
    }
}

fn exchanged((one, other): ColumnPair) -> DifferenceKind {
    DifferenceKind::ExchangedColumns { one: one.to_owned(), other: other.to_owned() }
}

/// Returns the two columns that are exchanged in every row, of which there are at least two.
fn exchanged_everywhere<'a>(pairs: &[ComparedRow<'a>]) -> Option<ColumnPair<'a>> {
    let first = pairs.first()?.exchanges();
    let everywhere = |exchange: &ColumnPair| pairs.iter().all(|pair| pair.exchanges().contains(exchange));
    first.into_iter().find(|exchange| 1 < pairs.len() && everywhere(exchange))
}

fn stated_columns(stated: &[StatedRow]) -> Vec<&str> {
    let mut names: Vec<&str> = stated.iter().flat_map(|row| row.cells.keys().map(String::as_str)).collect();
    names.sort_unstable();
    names.dedup();
    names
}

fn percentile(point: &LoadPointResult, q: f64) -> Option<f64> {
    percentile_of(&point.response, q)
}

fn percentile_of(times: &TimeSummary, q: f64) -> Option<f64> {
    let found = times.percentiles.iter().find(|percentile| percentile.q == q)?;
    Some(found.value.as_secs_f64())
}
