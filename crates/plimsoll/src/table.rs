//! Tables on a terminal: columns are left out in a stated order, or cells cut, until a row has room; none is wrapped.

use std::io::stdout;

use comfy_table::{CellAlignment, Table as Lines};
use disclosure::{Align, Column, Table};
use rustix::termios::tcgetwinsize;

/// The columns that are left out where a terminal has no room, the first ones first: heading and unit. All others stay.
const LEFT_OUT: [(&str, &str); 9] = [
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

/// The least width to which a column of words is cut.
const WORDS_MIN: usize = 12;

/// Lays a table of the report out for standard output: on a terminal no wider than that, else with all columns.
pub fn table_text(table: &Table) -> String {
    laid_out(table, columns_of_terminal())
}

/// Returns the width of the terminal on standard output; `None` if that is no terminal, or does not say.
fn columns_of_terminal() -> Option<usize> {
    let size = tcgetwinsize(stdout()).ok()?;
    (0 < size.ws_col).then_some(usize::from(size.ws_col))
}

fn laid_out(table: &Table, width: Option<usize>) -> String {
    let headings = table.headings();
    let rows: Vec<Vec<String>> = table.plain_rows();
    let mut shown: Vec<Shown> = (0..table.columns.len())
        .map(|index| {
            let cells = rows.iter().map(|row| &row[index]).chain([&headings[index]]);
            let width = cells.map(|cell| cell.chars().count()).max().unwrap_or(0);
            Shown { index, column: &table.columns[index], width }
        })
        .collect();
    let left_out = width.map_or_else(Vec::new, |width| fit(&mut shown, width));
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
    if !left_out.is_empty() {
        text.push_str(&format!("\n (not shown: {}; see the report)", left_out.join(", ")));
    }
    text
}

/// A column that is shown.
struct Shown<'a> {
    index: usize,
    column: &'a Column,
    /// Characters of the widest cell, or what is left of them.
    width: usize,
}

impl Shown<'_> {
    fn cut(&self, cell: &str) -> String {
        if cell.chars().count() <= self.width {
            return cell.to_owned();
        }
        let start: String = cell.chars().take(self.width.saturating_sub(1)).collect();
        format!("{}…", start.trim_end())
    }
}

/// Leaves columns out until the rest has room, then cuts the widest words; returns the headings of those left out.
fn fit(shown: &mut Vec<Shown>, width: usize) -> Vec<String> {
    // The frame is a blank at the left.
    let total = |shown: &[Shown]| shown.iter().map(|one| one.width + GAP).sum::<usize>();
    let mut left_out = Vec::new();
    for (heading, unit) in LEFT_OUT {
        if total(shown) <= width {
            return left_out;
        }
        if let Some(place) =
            shown.iter().position(|one| (one.column.heading.as_str(), one.column.unit) == (heading, unit))
        {
            shown.remove(place);
            left_out.push(heading.to_owned());
        }
    }
    while width < total(shown) {
        let words = shown.iter_mut().filter(|one| one.column.align == Align::Left && WORDS_MIN < one.width);
        match words.max_by_key(|one| one.width) {
            Some(widest) => widest.width -= 1,
            None => break,
        }
    }
    left_out
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
    fn where_there_is_room_a_table_is_whole() {
        insta::assert_snapshot!(laid_out(&table(), None));
        assert_eq!(laid_out(&table(), Some(200)), laid_out(&table(), None));
    }

    #[test]
    fn columns_are_left_out_in_order() {
        insta::assert_snapshot!(laid_out(&table(), Some(100)));
        insta::assert_snapshot!(laid_out(&table(), Some(80)));
    }

    #[test]
    fn words_are_cut_at_last_and_no_row_is_wrapped() {
        for width in 38..200 {
            let text = laid_out(&table(), Some(width));
            let rows: Vec<&str> = text.lines().filter(|line| !line.starts_with(" (not shown")).collect();
            assert_eq!(rows.len(), 3, "{width}:\n{text}");
            assert!(rows.iter().all(|row| row.chars().count() <= width), "{width}:\n{text}");
        }
        assert!(
            laid_out(&table(), Some(50)).contains("12.5 % (11.0 to 14.0 %) m…"),
            "{}",
            laid_out(&table(), Some(50))
        );
    }
}
