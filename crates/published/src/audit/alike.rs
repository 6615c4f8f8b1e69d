//! Checks that a figure of a system is the same wherever it is printed.

use std::collections::HashMap;

use crate::{
    PrintedNumber, PublishedCell, PublishedColumn, PublishedQuantity, PublishedReport, PublishedTable,
    PublishedValue, QuantityForm,
};

use super::PublishedFinding;
use super::entry::{Entry, Row};
use super::range::ValueRange;

/// Quantities that are results of a test; others, such as memory, may differ from test to test.
const RESULTS: [QuantityForm; 14] = [
    QuantityForm::Users,
    QuantityForm::Operations,
    QuantityForm::Errors,
    QuantityForm::Rate,
    QuantityForm::ErrorRate,
    QuantityForm::Response,
    QuantityForm::ResponseDeviation,
    QuantityForm::InProgress,
    QuantityForm::Data,
    QuantityForm::Throughput,
    QuantityForm::Size,
    QuantityForm::Utilization,
    QuantityForm::Price,
    QuantityForm::Score,
];

/// Checks figures that are printed at several places, and figures of one system in several tables.
pub(super) fn check(report: &PublishedReport) -> Vec<PublishedFinding> {
    let mut findings: Vec<PublishedFinding> = report.tables.iter().flat_map(of_cells).collect();
    let rows = Row::all(report);
    // For each figure the first occurrence in every table that has it.
    let mut seen: HashMap<Identity, Vec<(&Row, Entry)>> = HashMap::new();
    for row in &rows {
        for entry in row.entries.iter() {
            let Some(identity) = identity(row, entry) else { continue };
            let places = seen.entry(identity).or_default();
            match places.iter().find(|(first, _)| first.table.id != row.table.id) {
                Some((first, other)) => findings.extend(unlike(first, other, row, entry)),
                None if places.is_empty() => places.push((row, *entry)),
                None => {}
            }
        }
    }
    findings
}

/// The identity of a figure: two figures with the same one must be equal.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Identity<'a> {
    subject: &'a str,
    benchmark: &'a str,
    quantity: String,
    per: Option<&'a str>,
    class: Option<&'a str>,
    /// The load under which it was measured, where a table has several.
    load: Option<String>,
}

fn identity<'a>(row: &Row<'a>, entry: &Entry<'a>) -> Option<Identity<'a>> {
    let place = entry.place?;
    let is_result = match entry.column.quantity {
        PublishedQuantity::Percentile(_) => true,
        PublishedQuantity::Of(form) => RESULTS.contains(&form),
    };
    if !is_result || row.table.key.contains(&place) {
        return None;
    }
    let is_load = |place: &&usize| {
        let quantity = row.table.columns[**place].quantity;
        [QuantityForm::Users, QuantityForm::OfferedRate]
            .iter()
            .any(|form| quantity == PublishedQuantity::Of(*form))
    };
    let load = row.table.key.iter().find(is_load).map(|place| row.table.rows[row.index][*place].value.text());
    Some(Identity {
        subject: row.subject?,
        // Two tests of one system without a name may be two different tests.
        benchmark: row.table.benchmark.as_deref()?,
        quantity: entry.column.quantity.name(),
        per: entry.column.per.as_deref(),
        class: entry.class,
        load: load.map(|text| text.replace(',', "")),
    })
}

fn unlike(first: &Row, one: &Entry, row: &Row, other: &Entry) -> Option<PublishedFinding> {
    let text = || format!("{} here, {} in {}", other.shown(), one.shown(), first.place());
    (!are_same(one.number, other.number)).then(|| PublishedFinding::of_row("alike", row, &[*other], text()))
}

/// Checks the figures of a record that name another place where they are printed.
fn of_cells(table: &PublishedTable) -> Vec<PublishedFinding> {
    let cells = table.rows.iter().enumerate().flat_map(|(row, cells)| {
        table.columns.iter().zip(cells).map(move |(column, cell)| (row, column, cell))
    });
    let given = table.given.iter().map(|(column, cell)| (0, column, cell));
    cells.chain(given).flat_map(|(row, column, cell)| elsewhere(table, row, column, cell)).collect()
}

fn elsewhere(
    table: &PublishedTable,
    row: usize,
    column: &PublishedColumn,
    cell: &PublishedCell,
) -> Vec<PublishedFinding> {
    let differs = |place: &&(String, PublishedValue)| !are_alike(&cell.value, &place.1);
    let finding = |(at, value): &(String, PublishedValue)| PublishedFinding {
        law: "alike",
        place: table.title.clone(),
        text: format!("`{}` is {} here, {} in {at}", column.name, cell.value.text(), value.text()),
        cells: vec![(table.id.clone(), row, column.id.clone())],
    };
    cell.also.iter().filter(differs).map(finding).collect()
}

/// Returns whether two printed values can be the same: numbers within their rounding, dates as far as both are exact.
pub(super) fn are_alike(one: &PublishedValue, other: &PublishedValue) -> bool {
    match (one, other) {
        (PublishedValue::Number(one), PublishedValue::Number(other)) => are_same(one, other),
        (PublishedValue::Date(one), PublishedValue::Date(other)) => one.compare(other).is_eq(),
        (one, other) => one == other,
    }
}

/// Returns whether two printed numbers can be the same: of the same precision, they have the same digits.
fn are_same(one: &PrintedNumber, other: &PrintedNumber) -> bool {
    let left = ValueRange::of(one);
    let right = ValueRange::of(other);
    if one.half == other.half {
        one.dimension == other.dimension && ValueRange::exact(one.value).meets(ValueRange::exact(other.value))
    } else {
        one.dimension == other.dimension && left.meets(right)
    }
}
