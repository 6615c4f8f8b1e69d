//! Checks of rows against the report: sorted, at the announced levels, dated before it, with one value where one is
//! determined.

use std::cmp::Ordering;
use std::collections::HashMap;

use crate::{CalendarDate, PublishedColumn, PublishedTable, PublishedValue, RowOrder};

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
        findings.extend(constant(table, place, column));
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
    let place = Row::new(table, row).place();
    PublishedFinding { law, place, text, cells: vec![(table.id.clone(), row, column.id.clone())] }
}

/// Checks that rows rise or fall by a column.
fn order(table: &PublishedTable, place: usize, column: &PublishedColumn) -> Vec<PublishedFinding> {
    let Some(order) = column.order else { return Vec::new() };
    let wrong = match order {
        RowOrder::Rising => Ordering::Greater,
        RowOrder::Falling => Ordering::Less,
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

/// Checks that the rows have the values that the report announces, in their order.
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
        let printed = table.rows[row][place].value.text();
        let level = digits(column.levels[row]);
        let text = format!("`{}` is {printed}, {level} was announced", column.name);
        return Some(finding("levels", table, row, column, text));
    }
    let n = found.len();
    let announced = column.levels.len();
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

/// Reports rows that are the same in the columns that determine a value, but differ in that value.
fn settled(table: &PublishedTable, place: usize, column: &PublishedColumn) -> Vec<PublishedFinding> {
    let by: Vec<usize> = column.by.iter().filter_map(|id| table.column(id)).collect();
    if by.is_empty() {
        return Vec::new();
    }
    let settling =
        |row: usize| -> Vec<String> { by.iter().map(|place| table.cell_key(row, *place)).collect() };
    let mut places: HashMap<Vec<String>, usize> = HashMap::new();
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for row in 0..table.rows.len() {
        let group = *places.entry(settling(row)).or_insert(groups.len());
        if group == groups.len() {
            groups.push(Vec::new());
        }
        groups[group].push(row);
    }
    let of_group =
        |rows: Vec<usize>| unlike(table, place, column, "settled", &rows, &settling(rows[0]).join(" "));
    groups.into_iter().flat_map(of_group).collect()
}

/// Reports rows that differ in a column that the report declares constant.
fn constant(table: &PublishedTable, place: usize, column: &PublishedColumn) -> Vec<PublishedFinding> {
    let rows: Vec<usize> = (0..table.rows.len()).filter(|_| column.is_constant).collect();
    unlike(table, place, column, "constant", &rows, "")
}

/// Returns the rows whose value is not that of most of these rows. If no value has a majority, it is unknown which
/// one is right, and one finding names one row of each.
fn unlike(
    table: &PublishedTable,
    place: usize,
    column: &PublishedColumn,
    law: &'static str,
    rows: &[usize],
    what: &str,
) -> Vec<PublishedFinding> {
    // Values with the rows that have them, in the order of the table.
    let mut values: Vec<(String, Vec<usize>)> = Vec::new();
    let mut known: HashMap<String, usize> = HashMap::new();
    let given = rows.iter().filter(|row| table.rows[**row][place].value != PublishedValue::Absent);
    for row in given {
        let value = table.cell_key(*row, place);
        let index = *known.entry(value.clone()).or_insert(values.len());
        if index == values.len() {
            values.push((value, Vec::new()));
        }
        values[index].1.push(*row);
    }
    if values.len() < 2 {
        return Vec::new();
    }
    let cell = |row: usize| table.rows[row][place].value.text();
    let what = if what.is_empty() { String::new() } else { format!(", both {what}") };
    let n_most = values.iter().map(|(_, rows)| rows.len()).max().unwrap_or_default();
    let mut most = values.iter().filter(|(_, rows)| rows.len() == n_most);
    if let (Some((_, usual)), None) = (most.next(), most.next()) {
        let others = values.iter().filter(|(_, rows)| rows.len() < n_most).flat_map(|(_, rows)| rows);
        let text = |row: usize| {
            let here = cell(row);
            let there = cell(usual[0]);
            format!("`{}` is {here} here and {there} in row {}{what}", column.name, usual[0] + 1)
        };
        return others.map(|row| finding(law, table, *row, column, text(*row))).collect();
    }
    let one_each: Vec<usize> = values.iter().map(|(_, rows)| rows[0]).collect();
    let shown: Vec<String> =
        one_each.iter().map(|row| format!("{} in row {}", cell(*row), row + 1)).collect();
    let text = format!("`{}` is {}{what}", column.name, shown.join(" and "));
    let cells = one_each.iter().map(|row| (table.id.clone(), *row, column.id.clone())).collect();
    vec![PublishedFinding { law, place: table.title.clone(), text, cells }]
}
