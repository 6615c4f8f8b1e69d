//! Rows as text: the lines of a file for `LOAD DATA`, or the values of an `INSERT`. Source: the documentation of MariaDB
//! 10.11, `LOAD DATA` and string literals.

use units::WallTime;

use crate::database::mariadb::row::date_text;
use crate::orders::sql::rows::RowWriter;

/// The bytes that are collected before they are sent.
const CHUNK_BYTES: usize = 64 * 1024;

/// The marks around values and rows.
#[derive(Debug)]
pub(super) struct RowFormat {
    /// Before and behind a row, and between two of them.
    open: &'static str,
    close: &'static str,
    between_rows: &'static str,
    between_columns: &'static str,
    /// Before and behind texts and times.
    quote: &'static str,
    null: &'static str,
    /// Characters of a text that have a backslash before them.
    escaped: &'static [char],
}

/// The lines of a file.
pub(super) const LINES: RowFormat = RowFormat {
    open: "",
    close: "\n",
    between_rows: "",
    between_columns: "\t",
    quote: "",
    null: "\\N",
    escaped: &['\\', '\t', '\n'],
};

/// The values of an `INSERT`.
pub(super) const VALUES: RowFormat = RowFormat {
    open: "(",
    close: ")",
    between_rows: ",",
    between_columns: ",",
    quote: "'",
    null: "NULL",
    escaped: &['\\', '\''],
};

/// Rows on their way.
#[derive(Debug)]
pub(crate) struct RowBuffer {
    format: &'static RowFormat,
    /// The text before the first row of each chunk.
    head: String,
    text: String,
    /// Whether a row is open, and whether it has a column.
    has_row: bool,
    has_column: bool,
}

impl RowBuffer {
    /// Begins without rows.
    pub(super) fn new(format: &'static RowFormat, head: String) -> RowBuffer {
        RowBuffer { format, head, text: String::new(), has_row: false, has_column: false }
    }

    /// Returns whether it is enough to be sent.
    pub(super) fn is_full(&self) -> bool {
        CHUNK_BYTES <= self.text.len()
    }

    /// Takes the rows so far; the text is empty without any.
    pub(super) fn take(&mut self) -> String {
        self.close();
        std::mem::take(&mut self.text)
    }

    fn close(&mut self) {
        if self.has_row {
            self.text.push_str(self.format.close);
        }
        self.has_row = false;
    }

    fn column(&mut self, value: &str) {
        if self.has_column {
            self.text.push_str(self.format.between_columns);
        }
        self.has_column = true;
        self.text.push_str(value);
    }

    fn quoted(&mut self, text: &str) {
        self.column(self.format.quote);
        self.text.push_str(text);
        self.text.push_str(self.format.quote);
    }
}

impl RowWriter for RowBuffer {
    fn begin(&mut self, _: i16) {
        if self.has_row {
            self.close();
            self.text.push_str(self.format.between_rows);
        } else {
            self.text.push_str(&self.head);
        }
        (self.has_row, self.has_column) = (true, false);
        self.text.push_str(self.format.open);
    }

    fn integer(&mut self, value: u32) {
        self.column(&value.to_string());
    }

    fn bigint(&mut self, value: i64) {
        self.column(&value.to_string());
    }

    fn text(&mut self, text: &str) {
        let is_escaped = |c: char| self.format.escaped.contains(&c);
        if !text.contains(is_escaped) {
            return self.quoted(text);
        }
        let escape = |c: char| is_escaped(c).then_some('\\').into_iter().chain([c]);
        let text: String = text.chars().flat_map(escape).collect();
        self.quoted(&text);
    }

    fn time(&mut self, time: WallTime) {
        self.quoted(&date_text(time));
    }

    fn null(&mut self) {
        self.column(self.format.null);
    }
}

#[cfg(test)]
mod tests {
    use orders::{DistrictKey, NewOrderRow};

    use super::*;
    use crate::orders::sql::rows::CopiedRow;

    /// Writes two rows, and one behind a chunk.
    fn chunks(format: &'static RowFormat, head: &str) -> [String; 3] {
        let mut buffer = RowBuffer::new(format, head.to_owned());
        let row = |order| NewOrderRow { district: DistrictKey { warehouse: 1, district: 2 }, order };
        row(3).write(&mut buffer);
        row(4).write(&mut buffer);
        let first = buffer.take();
        row(5).write(&mut buffer);
        [first, buffer.take(), buffer.take()]
    }

    #[test]
    fn rows_are_lines_or_values() {
        assert_eq!(chunks(&LINES, ""), ["1\t2\t3\n1\t2\t4\n", "1\t2\t5\n", ""]);
        let inserts = ["INSERT INTO n VALUES (1,2,3),(1,2,4)", "INSERT INTO n VALUES (1,2,5)", ""];
        assert_eq!(chunks(&VALUES, "INSERT INTO n VALUES "), inserts);
    }

    /// By hand: 2000-01-01 is 946,684,800 s after 1970.
    #[test]
    fn values_are_escaped() {
        let written = |format| {
            let mut buffer = RowBuffer::new(format, String::new());
            buffer.begin(3);
            buffer.text("a\\b\tc\nd'");
            buffer.null();
            buffer.time(WallTime(946_684_800_123));
            buffer.take()
        };
        assert_eq!(written(&LINES), "a\\\\b\\\tc\\\nd'\t\\N\t2000-01-01 00:00:00.123\n");
        assert_eq!(written(&VALUES), "('a\\\\b\tc\nd\\'',NULL,'2000-01-01 00:00:00.123')");
    }
}
