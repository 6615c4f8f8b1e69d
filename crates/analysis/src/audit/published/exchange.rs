//! The laws of rows and bands, and columns that were exchanged: those after whose exchange back nothing is broken.

use std::collections::HashSet;

use model::{PublishedTable, PublishedValue};

use super::entry::Row;
use super::{PublishedFinding, bands, row_findings};

/// Part of the rows that must break a law before a whole column comes under suspicion.
const SUSPECT_MIN: f64 = 0.5;

/// Part of the rows that may still do so after the columns were exchanged back.
const RESTORED_MAX: f64 = 0.2;

/// Rows from which one can tell a column from a cell.
const ROWS_MIN: usize = 3;

/// Checks the rows of a table.
pub(super) fn check_table(table: &PublishedTable) -> Vec<PublishedFinding> {
    if let Some((one, other, restored)) = in_all_rows(table) {
        let text = format!("{} stand in each other's place in every row", names(table, one, other));
        let first =
            PublishedFinding { law: "exchanged", place: table.title.clone(), text, cells: Vec::new() };
        return [first].into_iter().chain(laws(&restored)).collect();
    }
    let mut findings = laws(table);
    if table.rows.len() < ROWS_MIN {
        return findings;
    }
    for row in broken(table, &findings) {
        if let Some((one, other)) = in_row(table, row) {
            findings.retain(|finding| !concerns(finding, table, row));
            findings.push(exchanged(table, row, one, other));
        }
    }
    findings
}

fn laws(table: &PublishedTable) -> Vec<PublishedFinding> {
    let rows = Row::of_table(table).flat_map(|row| row_findings(&row));
    rows.chain(bands::check(table)).collect()
}

/// Returns the rows that findings are about; all rows, if one is about the table as a whole.
fn broken(table: &PublishedTable, findings: &[PublishedFinding]) -> Vec<usize> {
    let is_whole = |finding: &PublishedFinding| finding.cells.is_empty();
    if findings.iter().any(is_whole) {
        return (0..table.rows.len()).collect();
    }
    let rows: HashSet<usize> =
        findings.iter().flat_map(|finding| &finding.cells).map(|(_, row, _)| *row).collect();
    let mut rows: Vec<usize> = rows.into_iter().collect();
    rows.sort_unstable();
    rows
}

fn concerns(finding: &PublishedFinding, table: &PublishedTable, row: usize) -> bool {
    finding.cells.iter().any(|(id, index, _)| *id == table.id && *index == row)
}

/// Returns two columns that are exchanged in all rows, and the table with them in their places.
fn in_all_rows(table: &PublishedTable) -> Option<(usize, usize, PublishedTable)> {
    let n = table.rows.len();
    let n_broken = broken(table, &laws(table)).len();
    if n < ROWS_MIN || (n_broken as f64) < SUSPECT_MIN * n as f64 {
        return None;
    }
    let restored = pairs(table).map(|(one, other)| {
        let restored = (0..n).fold(table.clone(), |table, row| with_exchange(table, row, one, other));
        let left = broken(&restored, &laws(&restored)).len();
        (left, one, other, restored)
    });
    let (left, one, other, restored) = restored.min_by_key(|(left, ..)| *left)?;
    (left as f64 <= RESTORED_MAX * n as f64).then_some((one, other, restored))
}

/// Returns two columns that are exchanged in this row: the first exchange that leaves nothing broken there.
fn in_row(table: &PublishedTable, row: usize) -> Option<(usize, usize)> {
    pairs(table).find(|(one, other)| {
        let restored = with_exchange(table.clone(), row, *one, *other);
        !broken(&restored, &laws(&restored)).contains(&row)
    })
}

/// Returns pairs of columns of numbers that can be exchanged: of different quantities, or of different classes.
fn pairs(table: &PublishedTable) -> impl Iterator<Item = (usize, usize)> + '_ {
    let n = table.columns.len();
    let is_number = |place: &usize| table.rows.iter().any(|row| row[*place].value.number().is_some());
    let places: Vec<usize> = (0..n).filter(is_number).collect();
    let pairs: Vec<(usize, usize)> = places
        .iter()
        .enumerate()
        .flat_map(|(i, one)| places[i + 1..].iter().map(move |other| (*one, *other)))
        .collect();
    pairs.into_iter()
}

/// Exchanges the digits of two cells; the units stay with the columns.
fn with_exchange(mut table: PublishedTable, row: usize, one: usize, other: usize) -> PublishedTable {
    let cells = &mut table.rows[row];
    if let (PublishedValue::Number(left), PublishedValue::Number(right)) =
        (&cells[one].value, &cells[other].value)
    {
        let (new_left, new_right) = (right.in_unit_of(left), left.in_unit_of(right));
        cells[one].value = PublishedValue::Number(new_left);
        cells[other].value = PublishedValue::Number(new_right);
    }
    table
}

fn exchanged(table: &PublishedTable, row: usize, one: usize, other: usize) -> PublishedFinding {
    let place = Row::of_table(table).nth(row).map_or_else(|| table.title.clone(), |row| row.place());
    let text = format!("{} stand in each other's place", names(table, one, other));
    let cells = [one, other].map(|place| (table.id.clone(), row, table.columns[place].id.clone()));
    PublishedFinding { law: "exchanged", place, text, cells: cells.to_vec() }
}

fn names(table: &PublishedTable, one: usize, other: usize) -> String {
    format!("`{}` and `{}`", table.columns[one].name, table.columns[other].name)
}
