//! Checks that a table that repeats the figures of another one has the same figures.

use std::collections::HashMap;

use crate::{PublishedReport, PublishedTable, Repeat};

use super::PublishedFinding;
use super::alike::are_alike;
use super::entry::Row;

/// Checks every table that is said to repeat others, row by row.
pub(super) fn check(report: &PublishedReport) -> Vec<PublishedFinding> {
    let mut findings = Vec::new();
    for table in &report.tables {
        for repeat in &table.repeats {
            if let Some(other) = report.tables.iter().find(|other| other.id == repeat.table) {
                findings.extend(of_tables(table, other, repeat));
            }
        }
    }
    findings
}

fn of_tables(table: &PublishedTable, other: &PublishedTable, repeat: &Repeat) -> Vec<PublishedFinding> {
    let key_columns: Vec<usize> =
        table.key.iter().filter_map(|place| other.column(&table.columns[*place].id)).collect();
    let key_there = |row: usize| -> Vec<String> {
        key_columns.iter().map(|column| other.cell_key(row, *column)).collect()
    };
    let rows_there: HashMap<Vec<String>, usize> =
        (0..other.rows.len()).rev().map(|row| (key_there(row), row)).collect();
    let mut findings = Vec::new();
    for row in 0..table.rows.len() {
        let key = table.row_key(row);
        match rows_there.get(&key) {
            Some(there) => findings.extend(of_rows((table, row), (other, *there), &repeat.columns)),
            None => findings.push(PublishedFinding {
                law: "repeats",
                place: Row::new(table, row).place(),
                text: format!("there is no such row in {}, whose figures are repeated", other.title),
                cells: table.key.iter().map(|place| cell(table, row, &table.columns[*place].id)).collect(),
            }),
        }
    }
    findings
}

fn cell(table: &PublishedTable, row: usize, column: &str) -> (String, usize, String) {
    (table.id.clone(), row, column.to_owned())
}

fn of_rows(
    (table, row): (&PublishedTable, usize),
    (other, there): (&PublishedTable, usize),
    columns: &[String],
) -> Vec<PublishedFinding> {
    let unlike = |id: &String| {
        let one = table.column(id)?;
        let two = other.column(id)?;
        let value = &table.rows[row][one].value;
        let repeated = &other.rows[there][two].value;
        (!are_alike(value, repeated)).then(|| PublishedFinding {
            law: "repeats",
            place: Row::new(table, row).place(),
            text: format!(
                "`{}` is {} here, {} in {}",
                table.columns[one].name,
                value.text(),
                repeated.text(),
                Row::new(other, there).place()
            ),
            cells: vec![cell(table, row, id), cell(other, there, id)],
        })
    };
    columns.iter().filter_map(unlike).collect()
}
