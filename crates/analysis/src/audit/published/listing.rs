//! Rows stand as the report says: sorted, at the announced levels, dated before it, with one value where one is settled.

use std::cmp::Ordering;

use model::{CalendarDate, Order, PublishedColumn, PublishedTable, PublishedValue};

use super::PublishedFinding;
use super::entry::Row;
use super::written::digits;

/// Checks a table's columns.
pub(super) fn check(table: &PublishedTable, published: &CalendarDate) -> Vec<PublishedFinding> {
    let mut findings = Vec::new();
    for (place, column) in table.columns.iter().enumerate() {
        findings.extend(order(table, place, column));
        findings.extend(levels(table, place, column));
        findings.extend(dates(table, place, published));
        findings.extend(settled(table, place, column));
    }
    findings
}

fn finding(
    law: &'static str,
    table: &PublishedTable,
    row: usize,
    column: &PublishedColumn,
    text: String,
) -> PublishedFinding {
    let place = Row::of_table(table).nth(row).map_or_else(|| table.title.clone(), |row| row.place());
    PublishedFinding { law, place, text, cells: vec![(table.id.clone(), row, column.id.clone())] }
}

/// Rows rise or fall by a column.
fn order(table: &PublishedTable, place: usize, column: &PublishedColumn) -> Vec<PublishedFinding> {
    let Some(order) = column.order else { return Vec::new() };
    let wrong = match order {
        Order::Rising => Ordering::Greater,
        Order::Falling => Ordering::Less,
    };
    let value = |row: usize| &table.rows[row][place].value;
    let is_wrong = |row: &usize| compare(value(row - 1), value(*row)) == Some(wrong);
    let text =
        |row: usize| format!("`{}` is {} after {}", column.name, value(row).text(), value(row - 1).text());
    (1..table.rows.len())
        .filter(is_wrong)
        .map(|row| finding("order", table, row, column, text(row)))
        .collect()
}

fn compare(one: &PublishedValue, other: &PublishedValue) -> Option<Ordering> {
    match (one, other) {
        (PublishedValue::Number(one), PublishedValue::Number(other)) => one.value.partial_cmp(&other.value),
        (PublishedValue::Date(one), PublishedValue::Date(other)) => Some(one.compare(other)),
        (PublishedValue::Text(one), PublishedValue::Text(other)) => Some(one.cmp(other)),
        _ => None,
    }
}

/// The rows have the values that the report announces, in their order.
fn levels(table: &PublishedTable, place: usize, column: &PublishedColumn) -> Option<PublishedFinding> {
    if column.levels.is_empty() {
        return None;
    }
    let found: Vec<Option<f64>> = table
        .rows
        .iter()
        .map(|row| row[place].value.number().map(|number| number.value / number.scale))
        .collect();
    let wrong = found.iter().zip(&column.levels).position(|(found, level)| *found != Some(*level));
    if let Some(row) = wrong {
        let (printed, level) = (table.rows[row][place].value.text(), digits(column.levels[row]));
        let text = format!("`{}` is {printed}, {level} was announced", column.name);
        return Some(finding("levels", table, row, column, text));
    }
    let (n, announced) = (found.len(), column.levels.len());
    let text = || format!("{announced} values of `{}` were announced, there are {n}", column.name);
    (n != announced).then(|| finding("levels", table, n - 1, column, text()))
}

fn dates(table: &PublishedTable, place: usize, published: &CalendarDate) -> Vec<PublishedFinding> {
    let column = &table.columns[place];
    let late = |row: &usize| match &table.rows[*row][place].value {
        PublishedValue::Date(date) => date.compare(published) == Ordering::Greater,
        _ => false,
    };
    let text = |row: usize| {
        let date = table.rows[row][place].value.text();
        format!("`{}` is {date}, the report was published {}", column.name, published.text)
    };
    (0..table.rows.len()).filter(late).map(|row| finding("dates", table, row, column, text(row))).collect()
}

/// Where other columns settle a value, rows that are the same there are the same here.
fn settled(table: &PublishedTable, place: usize, column: &PublishedColumn) -> Vec<PublishedFinding> {
    let by: Vec<usize> = column.by.iter().filter_map(|id| table.column(id)).collect();
    if by.is_empty() {
        return Vec::new();
    }
    let cell = |row: usize, place: usize| table.rows[row][place].value.text();
    let is_same = |one: usize, other: usize| by.iter().all(|place| cell(one, *place) == cell(other, *place));
    let first = |row: usize| (0..row).find(|earlier| is_same(*earlier, row));
    let differing = |row: usize| first(row).filter(|earlier| cell(*earlier, place) != cell(row, place));
    let text = |row: usize, earlier: usize| {
        let same: Vec<&str> = by.iter().map(|place| cell(row, *place)).collect();
        let (here, there) = (cell(row, place), cell(earlier, place));
        format!(
            "`{}` is {here} here and {there} in row {}, both {}",
            column.name,
            earlier + 1,
            same.join(" ")
        )
    };
    let rows = (1..table.rows.len()).filter_map(|row| Some((row, differing(row)?)));
    rows.map(|(row, earlier)| finding("settled", table, row, column, text(row, earlier))).collect()
}
