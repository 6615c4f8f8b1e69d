//! Tables: how large their type is, and whether the page is turned for them.

use std::fmt::Write;
use std::mem;

use super::words::{CELL_WORD_MAX, array, cell_words, rich, unbroken, words};
use crate::{Align, Cell, Column, Row, RowStyle, Table};

/// Sizes of type for tables, in points, best first.
const SIZES: [f64; 3] = [8.5, 7.5, 6.5];

/// Between the margins of a page of A4, in points: 170 mm, and 257 mm when it is turned.
const WIDTH: f64 = 481.9;
const WIDTH_TURNED: f64 = 728.5;

/// Up to so many rows a table is not worth a page of its own: its columns become narrower instead.
const ROWS_UPRIGHT: usize = 12;

/// Left and right of a cell's words, in points (`inset` in the layout).
const PADDING: f64 = 7.0;

/// Width of a letter as a part of the size: that of a digit, which is wider than most letters.
const LETTER: f64 = 0.575;

/// Size of the smaller letters in a cell as a part of its size (the layout says the same).
const DETAIL: f64 = 0.85;

/// Layout of a table.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Setting {
    /// Size of the type in points.
    size: f64,
    /// Whether it has a page of its own that is wider than high.
    turned: bool,
    /// Whether numbers may take several lines, for want of room.
    narrow: bool,
}

/// Writes a table under headings that have not been written yet: they go with it if the page is turned for it.
pub(super) fn table(table: &Table, headings: &mut String, out: &mut String) {
    let Setting { size, turned, narrow } = Setting::of(table);
    let above = if turned { mem::take(headings) } else { String::new() };
    out.push_str(&mem::take(headings));
    let columns = table.columns.iter().map(column);
    let note = if table.note.is_empty() { "none".to_owned() } else { rich(&table.note) };
    let _ = writeln!(out, "data-table({}, {}, (", words(&table.caption), array(columns));
    for row in &table.rows {
        let _ = writeln!(out, "  {},", row_text(row, &table.columns, narrow));
    }
    let _ = writeln!(out, "), {note}, size: {size}pt, turned: {turned}, above: {{\n{above}}})");
}

fn column(column: &Column) -> String {
    let align = if column.align == Align::Left { "left" } else { "right" };
    format!("column({}, {}, {align})", cell_words(&column.heading), unbroken(column.unit))
}

fn row_text(row: &Row, columns: &[Column], narrow: bool) -> String {
    let style = match row.style {
        RowStyle::Plain => "plain",
        RowStyle::Best => "best",
        RowStyle::Invalid => "bad",
        RowStyle::Total => "total",
    };
    let cells = row.cells.iter().zip(columns).map(|(cell, column)| cell_text(cell, column.align, narrow));
    format!("row(\"{style}\", {})", array(cells))
}

fn cell_text(cell: &Cell, align: Align, narrow: bool) -> String {
    let text =
        |text: &str| if !narrow && is_unbroken(text, align) { unbroken(text) } else { cell_words(text) };
    if cell.detail.is_empty() {
        return text(&cell.text);
    }
    format!("cell({}, {})", text(&cell.text), text(&cell.detail))
}

/// A number stays with its unit; words among numbers may take several lines.
fn is_unbroken(text: &str, align: Align) -> bool {
    align == Align::Right && text.chars().count() <= CELL_WORD_MAX
}

impl Setting {
    /// Chooses the largest type in which the table is as wide as the page, if it is long and need be the turned one; what
    /// is wider even then gets narrower columns.
    fn of(table: &Table) -> Setting {
        let may_turn = ROWS_UPRIGHT < table.rows.len();
        let upright = SIZES.map(|size| Setting { size, turned: false, narrow: false });
        let turned = SIZES.map(|size| Setting { size, turned: true, narrow: false });
        let settings = upright.into_iter().chain(turned.into_iter().filter(|_| may_turn));
        let smallest = Setting { size: SIZES[SIZES.len() - 1], turned: may_turn, narrow: true };
        let letters: f64 = (0..table.columns.len()).map(|index| letters(table, index)).sum();
        let padding = PADDING * table.columns.len() as f64;
        let fits = |setting: &Setting| {
            let width = if setting.turned { WIDTH_TURNED } else { WIDTH };
            letters * LETTER * setting.size + padding <= width
        };
        settings.into_iter().find(fits).unwrap_or(smallest)
    }
}

/// Returns how many letters wide a column is at least.
fn letters(table: &Table, index: usize) -> f64 {
    let column = &table.columns[index];
    let head = [longest_word(&column.heading), column.unit.chars().count()];
    let cells = table.rows.iter().filter_map(|row| row.cells.get(index)).map(|cell| {
        let least = |text: &str| {
            if is_unbroken(text, column.align) {
                text.chars().count()
            } else {
                // Terms may take several lines, but three or four of them in a line read better than one.
                text.chars().count().min(CELL_WORD_MAX)
            }
        };
        (least(&cell.text) as f64).max(DETAIL * least(&cell.detail) as f64)
    });
    head.into_iter().map(|n| n.min(CELL_WORD_MAX) as f64).chain(cells).fold(0.0, f64::max)
}

fn longest_word(text: &str) -> usize {
    text.split_whitespace().map(|word| word.chars().count()).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(n_columns: usize, cell: &str) -> Table {
        rows_of_numbers(n_columns, ROWS_UPRIGHT + 1, cell)
    }

    fn rows_of_numbers(n_columns: usize, n_rows: usize, cell: &str) -> Table {
        let columns = (0..n_columns).map(|_| Column::numbers("Rate", "")).collect();
        Table::new("t", columns, (0..n_rows).map(|_| Row::plain(vec![cell; n_columns])).collect())
    }

    fn set(size: f64, turned: bool, narrow: bool) -> Setting {
        Setting { size, turned, narrow }
    }

    /// By hand: 10 columns of 8 letters are 10 · (8 · 0.575 · 8.5 + 7) = 461 pt; of 9 they would be 510.
    #[test]
    fn a_table_is_set_as_large_as_the_page_allows() {
        assert_eq!(Setting::of(&numbers(10, "12345.67")), set(8.5, false, false));
        assert_eq!(Setting::of(&numbers(10, "123456.78")), set(7.5, false, false));
    }

    /// By hand: 14 columns of 8 letters at 6.5 pt are 14 · (29.9 + 7) = 517 pt; on a turned page at 8.5 pt 14 · 46.1 = 645.
    #[test]
    fn a_wide_table_gets_a_turned_page_to_itself() {
        assert_eq!(Setting::of(&numbers(14, "12345.67")), set(8.5, true, false));
        assert_eq!(Setting::of(&numbers(60, "12345.67")), set(6.5, true, true));
    }

    /// Goal: no page is turned for four rows.
    #[test]
    fn a_wide_table_of_few_rows_stays_on_an_upright_page() {
        let table = |n_rows| rows_of_numbers(14, n_rows, "12345.67");
        assert_eq!(Setting::of(&table(4)), set(6.5, false, true));
        assert_eq!(Setting::of(&table(ROWS_UPRIGHT)), set(6.5, false, true));
    }

    #[test]
    fn words_wrap_and_so_need_not_turn_the_page() {
        let text = "a remark that is much longer than any column should ever be ".repeat(4);
        let columns = vec![Column::words("What"), Column::words("Remark")];
        let table = Table::new("t", columns, vec![Row::plain([text.as_str(), text.as_str()])]);
        assert_eq!(Setting::of(&table), set(8.5, false, false));
    }

    #[test]
    fn a_table_is_written_row_by_row() {
        let columns = vec![Column::words("File"), Column::numbers("Mean", "ms")];
        let rows = vec![
            Row::plain([Cell::from("/a \"b\""), Cell::with("12.3 ms".into(), "12–13".into())])
                .style(RowStyle::Best),
        ];
        let mut out = String::new();
        let mut headings = "heading(level: 1, \"h\")\n".to_owned();
        table(&Table::new("c", columns, rows).note("n"), &mut headings, &mut out);
        let expected = "heading(level: 1, \"h\")\ndata-table(\"c\", (column(\"File\", \"\", left), column(\"Mean\", \"ms\", right),), (\n  \
             row(\"best\", (\"/a \\\"b\\\"\", cell(\"12.3\u{a0}ms\", \"12–13\"),)),\n), \"n\", size: 8.5pt, turned: false, above: {\n})\n";
        assert_eq!((out.as_str(), headings.as_str()), (expected, ""));
    }

    #[test]
    fn headings_go_with_the_table_that_the_page_is_turned_for() {
        let mut out = String::new();
        let mut headings = "heading(level: 1, \"h\")\n".to_owned();
        table(&numbers(14, "12345.67"), &mut headings, &mut out);
        assert!(out.starts_with("data-table(") && headings.is_empty(), "{out}");
        assert!(out.ends_with("turned: true, above: {\nheading(level: 1, \"h\")\n})\n"), "{out}");
    }

    #[test]
    fn a_table_without_rows_is_still_one() {
        let mut out = String::new();
        table(&Table::new("c", vec![Column::words("File")], vec![]), &mut String::new(), &mut out);
        assert!(out.contains("(column(\"File\", \"\", left),), (\n), none, "), "{out}");
    }
}
