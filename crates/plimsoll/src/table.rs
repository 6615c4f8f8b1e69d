//! Tables on a terminal: columns are dropped in a fixed order, or cells cut, until a row fits; rows are never wrapped.

use std::io::stdout;

use comfy_table::{CellAlignment, Table as Lines};
use disclosure::{Align, Column, Table};

use crate::wrap::{terminal_width, wrapped};

/// Columns that are dropped if the terminal is too narrow, in this order: heading and unit. All other columns stay.
const DROPPED_FIRST: [(&str, &str); 9] = [
    ("Little’s Law", ""),
    ("Errors/second", ""),
    ("Throughput", "Mbit/s"),
    ("Pages/minute", ""),
    ("Smallest detectable difference", ""),
    ("Server CPU/operation", ""),
    ("Server", "CPUs"),
    ("p99", ""),
    ("Error level", "%"),
];

/// Columns between the cells of a row.
const GAP: usize = 2;

/// Minimum width of a text column when cut.
const WORDS_MIN: usize = 12;

/// Formats a table of the report for standard output: no wider than the terminal, or with all columns without one.
pub(crate) fn table_text(table: &Table) -> String {
    format_table(table, terminal_width(stdout()))
}

fn format_table(table: &Table, width: Option<usize>) -> String {
    let headings = table.headings();
    let rows: Vec<Vec<String>> = table.plain_rows();
    let mut shown: Vec<ShownColumn> = (0..table.columns.len())
        .map(|index| {
            let cells = rows.iter().map(|row| &row[index]).chain([&headings[index]]);
            let width = cells.map(|cell| cell.chars().count()).max().unwrap_or(0);
            ShownColumn { index, column: &table.columns[index], width }
        })
        .collect();
    let dropped = width.map_or_else(Vec::new, |width| fit(&mut shown, width));
    let mut lines = Lines::new();
    lines.load_style(comfy_table::presets::NOTHING);
    let of_row = |row: &[String]| shown.iter().map(|one| one.cut(&row[one.index])).collect::<Vec<_>>();
    lines.set_header(of_row(&headings));
    lines.add_rows(rows.iter().map(|row| of_row(row)));
    for (index, one) in shown.iter().enumerate() {
        if let (Align::Right, Some(column)) = (one.column.align, lines.column_mut(index)) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    let mut text = lines.trim_fmt();
    if !dropped.is_empty() {
        let note = format!(" (not shown: {}; see the report)", dropped.join(", "));
        text.push('\n');
        text.push_str(&wrapped(&note, width));
    }
    text
}

/// A column that is shown, with its width.
struct ShownColumn<'a> {
    index: usize,
    column: &'a Column,
    /// Characters of the widest cell, after cutting.
    width: usize,
}

impl ShownColumn<'_> {
    fn cut(&self, cell: &str) -> String {
        if cell.chars().count() <= self.width {
            return cell.to_owned();
        }
        let start: String = cell.chars().take(self.width.saturating_sub(1)).collect();
        format!("{}…", start.trim_end())
    }
}

/// Drops columns until the rest fits, then cuts the widest text columns; returns the headings of the dropped columns.
fn fit(shown: &mut Vec<ShownColumn>, width: usize) -> Vec<String> {
    // The left border is a blank.
    let total = |shown: &[ShownColumn]| shown.iter().map(|one| one.width + GAP).sum::<usize>();
    let mut dropped = Vec::new();
    for (heading, unit) in DROPPED_FIRST {
        if total(shown) <= width {
            return dropped;
        }
        if let Some(index) =
            shown.iter().position(|one| (one.column.heading.as_str(), one.column.unit) == (heading, unit))
        {
            shown.remove(index);
            dropped.push(heading.to_owned());
        }
    }
    while width < total(shown) {
        let words = shown.iter_mut().filter(|one| one.column.align == Align::Left && WORDS_MIN < one.width);
        match words.max_by_key(|one| one.width) {
            Some(widest) => widest.width -= 1,
            None => break,
        }
    }
    dropped
}

#[cfg(test)]
mod tests {
    use disclosure::Row;

    use super::*;

    fn table() -> Table {
        let columns = vec![
            Column::numbers("Clients", ""),
            Column::numbers("Conn/second", ""),
            Column::numbers("Errors/second", ""),
            Column::numbers("Little’s Law", ""),
            Column::numbers("Error level", "%"),
            Column::words("Finding"),
        ];
        let finding = "12.5 % (11.0 to 14.0 %) more than nginx";
        let rows = [
            ["1", "9958", "0", "1.00", "0", finding].map(str::to_owned),
            ["200", "23 299", "0", "199.7", "0", "no difference"].map(str::to_owned),
        ];
        Table::new("Results", columns, rows.map(Row::plain).to_vec())
    }

    #[test]
    fn a_table_that_fits_is_shown_whole() {
        insta::assert_snapshot!(format_table(&table(), None));
        assert_eq!(format_table(&table(), Some(200)), format_table(&table(), None));
    }

    #[test]
    fn columns_are_dropped_in_order() {
        insta::assert_snapshot!(format_table(&table(), Some(100)));
        insta::assert_snapshot!(format_table(&table(), Some(80)));
    }

    #[test]
    fn text_is_cut_last_and_no_row_is_wrapped() {
        for width in 38..200 {
            let text = format_table(&table(), Some(width));
            let rows: Vec<&str> = text.lines().take_while(|line| !line.starts_with(" (not shown")).collect();
            assert_eq!(rows.len(), 3, "{width}:\n{text}");
            assert!(text.lines().all(|line| line.chars().count() <= width), "{width}:\n{text}");
            assert!(rows.iter().all(|row| row.chars().count() <= width), "{width}:\n{text}");
        }
        assert!(
            format_table(&table(), Some(50)).contains("12.5 % (11.0 to 14.0 %) m…"),
            "{}",
            format_table(&table(), Some(50))
        );
    }
}
