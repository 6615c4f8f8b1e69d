//! Checks that parts of a whole are from 0 to 100 %, and 100 % together.

use crate::{PublishedQuantity, PublishedTable, QuantityForm};

use super::PublishedFinding;
use super::entry::{Entry, Row};
use super::range::ValueRange;
use super::written::digits;

/// Checks the shares of a row, one by one.
pub(super) fn check_row(row: &Row) -> Vec<PublishedFinding> {
    let outside = |entry: &Entry| !entry.range().may_be_at_most(ValueRange::exact(1.0));
    let finding = |entry: Entry| {
        PublishedFinding::of_row("shares", row, &[entry], format!("{} is more than the whole", entry.shown()))
    };
    row.every(QuantityForm::Share).filter(outside).map(finding).collect()
}

/// Checks that the shares of a column, or of a record that has several, are 100 % together.
pub(super) fn check_table(table: &PublishedTable) -> Vec<PublishedFinding> {
    let rows: Vec<Row> = Row::of_table(table).collect();
    let is_record = table.key.is_empty();
    let groups: Vec<Vec<Entry>> = if is_record {
        rows.iter().map(|row| row.every(QuantityForm::Share).collect()).collect()
    } else {
        columns(table).map(|place| of_column(&rows, place)).collect()
    };
    groups.into_iter().filter(|group| 1 < group.len()).filter_map(|group| together(table, &group)).collect()
}

fn columns(table: &PublishedTable) -> impl Iterator<Item = usize> {
    let share = PublishedQuantity::Of(QuantityForm::Share);
    (0..table.columns.len()).filter(move |place| table.columns[*place].quantity == share)
}

fn of_column<'a>(rows: &[Row<'a>], place: usize) -> Vec<Entry<'a>> {
    let entries = rows.iter().flat_map(|row| row.entries.iter());
    entries.filter(|entry| entry.place == Some(place)).copied().collect()
}

fn together(table: &PublishedTable, group: &[Entry]) -> Option<PublishedFinding> {
    let sum = group.iter().fold(ValueRange::ZERO, |sum, entry| sum.plus(entry.range()));
    if sum.meets(ValueRange::exact(1.0)) {
        return None;
    }
    let names: Vec<String> = group.iter().map(|entry| entry.number.text.clone()).collect();
    let text = format!("{} is {} %, not 100 %", names.join(" + "), digits(100.0 * sum.middle()));
    Some(PublishedFinding { law: "shares", place: table.title.clone(), text, cells: Vec::new() })
}
