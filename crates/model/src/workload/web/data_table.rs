//! The values of data of users, read from CSV (RFC 4180) or JSON lines. They are shown nowhere, not even by `Debug`.

use std::fmt;

use serde_json::{Map, Value};

/// The longest file of data in bytes.
pub const DATA_BYTES_MAX: u64 = 256 << 20;

/// The most columns of data.
const COLUMNS_MAX: usize = 1000;

/// The rows of a file of data.
#[derive(Clone, PartialEq, Eq)]
pub struct DataTable {
    columns: Vec<String>,
    /// All values, row by row.
    text: String,
    /// The end of each value in the text.
    ends: Vec<u32>,
}

impl fmt::Debug for DataTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "DataTable({} columns, {} rows)", self.columns.len(), self.rows())
    }
}

/// A mistake in a file of data. It never repeats a value.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {problem}")]
pub struct DataError {
    /// The line, from 1.
    pub line: usize,
    /// The mistake.
    pub problem: String,
}

impl DataTable {
    /// Reads CSV with a line of column names (RFC 4180); lines may end with or without a carriage return. Values are separated
    /// as the names are: by commas, or else by semicolons or tabs, as spreadsheets write them in some countries.
    ///
    /// # Errors
    ///
    /// The first mistake.
    pub fn from_csv(text: &str) -> Result<DataTable, DataError> {
        let rest = without_mark(text);
        let mut records = CsvRecords { rest, line: 1, separator: separator_of(rest) };
        let fail = |line, problem: &str| DataError { line, problem: problem.to_owned() };
        let Some((_, columns)) = records.next().transpose()? else {
            return Err(fail(1, "expected a line of column names, found nothing"));
        };
        let mut table = DataTable::with_columns(columns)?;
        for record in records {
            let (line, values) = record?;
            if values.len() != table.columns.len() {
                let problem = format!("expected {} values, found {}", table.columns.len(), values.len());
                return Err(DataError { line, problem });
            }
            values.iter().try_for_each(|value| table.push(value, line))?;
        }
        table.unless_empty()
    }

    /// Reads JSON lines: an object per line, whose members are strings, numbers, truth values or null. The first line
    /// names the columns.
    ///
    /// # Errors
    ///
    /// The first mistake.
    pub fn from_json_lines(text: &str) -> Result<DataTable, DataError> {
        let mut table: Option<DataTable> = None;
        for (line, text) in (1..).zip(without_mark(text).lines()).filter(|(_, text)| !text.trim().is_empty())
        {
            let fail = |problem: String| DataError { line, problem };
            let object: Map<String, Value> =
                serde_json::from_str(text).map_err(|_| fail("expected a JSON object".to_owned()))?;
            let table = match &mut table {
                Some(table) => table,
                none => none.insert(DataTable::with_columns(object.keys().cloned().collect())?),
            };
            for index in 0..table.columns.len() {
                let column = &table.columns[index];
                let value = match object.get(column) {
                    Some(Value::String(text)) => text.clone(),
                    Some(Value::Null) => String::new(),
                    Some(value @ (Value::Number(_) | Value::Bool(_))) => value.to_string(),
                    Some(_) => {
                        return Err(fail(format!(
                            "expected a string or a number as `{column}`, found a list or an object"
                        )));
                    }
                    None => return Err(fail(format!("no `{column}`, which the first line has"))),
                };
                table.push(&value, line)?;
            }
        }
        let nothing =
            || DataError { line: 1, problem: "expected a JSON object per line, found nothing".to_owned() };
        table.ok_or_else(nothing)?.unless_empty()
    }

    /// Makes a table of columns and of all values, row by row, as [`DataTable::values`] returns them.
    ///
    /// # Errors
    ///
    /// The columns cannot be, or the values are not those of whole rows.
    pub fn from_values<'a>(
        columns: Vec<String>,
        values: impl IntoIterator<Item = &'a str>,
    ) -> Result<DataTable, DataError> {
        let mut table = DataTable::with_columns(columns)?;
        values.into_iter().try_for_each(|value| table.push(value, 1))?;
        if !table.ends.len().is_multiple_of(table.columns.len()) {
            let problem = "expected values of whole rows".to_owned();
            return Err(DataError { line: 1, problem });
        }
        table.unless_empty()
    }

    fn with_columns(columns: Vec<String>) -> Result<DataTable, DataError> {
        let fail = |problem: String| Err(DataError { line: 1, problem });
        if columns.is_empty() || COLUMNS_MAX < columns.len() {
            return fail(format!("expected 1 to {COLUMNS_MAX} columns, found {}", columns.len()));
        }
        let twice = (1..columns.len()).find(|index| columns[..*index].contains(&columns[*index]));
        match twice {
            Some(index) => fail(format!("columns {} and one before it have the same name", index + 1)),
            None => Ok(DataTable { columns, text: String::new(), ends: Vec::new() }),
        }
    }

    fn push(&mut self, value: &str, line: usize) -> Result<(), DataError> {
        self.text.push_str(value);
        let end = u32::try_from(self.text.len());
        self.ends.push(end.map_err(|_| DataError { line, problem: "more than 4 GiB of values".to_owned() })?);
        Ok(())
    }

    fn unless_empty(self) -> Result<DataTable, DataError> {
        if self.ends.is_empty() {
            Err(DataError { line: 2, problem: "expected a row of values, found none".to_owned() })
        } else {
            Ok(self)
        }
    }

    /// Returns the number of rows; above zero.
    pub fn rows(&self) -> u64 {
        (self.ends.len() / self.columns.len()) as u64
    }

    /// Returns all values, row by row.
    pub fn values(&self) -> impl Iterator<Item = &str> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(|(start, end)| &self.text[start as usize..*end as usize])
    }

    /// Returns the names of the columns.
    pub fn columns(&self) -> &[String] {
        &self.columns
    }

    /// Returns a value by row and column; empty if there is no such row.
    pub fn value(&self, row: u64, column: usize) -> &str {
        let index = usize::try_from(row).ok().and_then(|row| row.checked_mul(self.columns.len()));
        let index = index.and_then(|index| index.checked_add(column));
        let end = |index: usize| self.ends.get(index).map(|end| *end as usize);
        let range = index.and_then(|index| Some(index.checked_sub(1).map_or(Some(0), end)?..end(index)?));
        range.map_or("", |range| &self.text[range])
    }
}

/// Returns a text without a byte order mark, which some programs write.
fn without_mark(text: &str) -> &str {
    text.strip_prefix('\u{feff}').unwrap_or(text)
}

/// Returns what separates the names of columns, outside of quotes.
fn separator_of(text: &str) -> char {
    let first = text.lines().next().unwrap_or_default();
    let unquoted: String = first.split('"').step_by(2).collect();
    [',', ';', '\t'].into_iter().find(|separator| unquoted.contains(*separator)).unwrap_or(',')
}

/// The records of CSV, each with its line.
struct CsvRecords<'a> {
    rest: &'a str,
    line: usize,
    separator: char,
}

impl Iterator for CsvRecords<'_> {
    type Item = Result<(usize, Vec<String>), DataError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.rest.is_empty() {
            return None;
        }
        let line = self.line;
        let mut values = Vec::new();
        loop {
            let value = match self.rest.strip_prefix('"') {
                Some(quoted) => {
                    self.rest = quoted;
                    self.quoted()
                }
                None => Some(self.plain()),
            };
            let Some(value) = value else {
                self.rest = "";
                let problem = "a quoted value does not end, or is followed by text".to_owned();
                return Some(Err(DataError { line, problem }));
            };
            values.push(value);
            if let Some(rest) = self.rest.strip_prefix(self.separator) {
                self.rest = rest;
                continue;
            }
            self.rest = self.rest.strip_prefix("\r\n").or(self.rest.strip_prefix('\n')).unwrap_or(self.rest);
            self.line += 1;
            return Some(Ok((line, values)));
        }
    }
}

impl CsvRecords<'_> {
    fn plain(&mut self) -> String {
        let end = self.rest.find([self.separator, '\n']).unwrap_or(self.rest.len());
        let (value, rest) = self.rest.split_at(end);
        let is_last = !rest.starts_with(self.separator);
        self.rest = rest;
        let value = if is_last { value.strip_suffix('\r').unwrap_or(value) } else { value };
        value.to_owned()
    }

    /// Reads a value after its quote; two quotes stand for one.
    fn quoted(&mut self) -> Option<String> {
        let mut value = String::new();
        loop {
            let end = self.rest.find('"')?;
            self.line += self.rest[..end].matches('\n').count();
            value.push_str(&self.rest[..end]);
            self.rest = &self.rest[end + 1..];
            match self.rest.strip_prefix('"') {
                Some(rest) => {
                    value.push('"');
                    self.rest = rest;
                }
                None => break,
            }
        }
        let ends_line = self.rest.is_empty() || ["\n", "\r\n"].iter().any(|end| self.rest.starts_with(end));
        (ends_line || self.rest.starts_with(self.separator)).then_some(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn values_are_separated_as_the_names_are() {
        for text in ["a,b\n1,x;y\n", "a;b\r\n1;\"x;y\"\r\n", "\u{feff}a\tb\n1\tx;y\n", "\"a\";b\n1;\"x;y\"\n"]
        {
            let table = DataTable::from_csv(text).unwrap();
            assert_eq!(
                (table.columns(), table.value(0, 1)),
                (&["a".to_owned(), "b".to_owned()][..], "x;y"),
                "{text}"
            );
        }
        let one = DataTable::from_csv("\"a;b\"\n1;2\n").unwrap();
        assert_eq!((one.columns().len(), one.value(0, 0)), (1, "1;2"), "a name in quotes");
        let mixed = DataTable::from_csv("a,b;c\n1,2\n").unwrap();
        assert_eq!(mixed.columns(), ["a", "b;c"]);
    }

    #[test]
    fn csv_is_read_with_quotes_and_either_line_end() {
        let table = DataTable::from_csv("\u{feff}name,text\r\nanna,\"a \"\"b\"\",\nc\"\nbert,\n").unwrap();
        assert_eq!((table.columns(), table.rows()), (&["name".to_owned(), "text".to_owned()][..], 2));
        let values = [(0, 0), (0, 1), (1, 0), (1, 1), (2, 0)].map(|(row, column)| table.value(row, column));
        assert_eq!(values, ["anna", "a \"b\",\nc", "bert", "", ""]);
        assert_eq!(DataTable::from_csv("a\n1").unwrap().rows(), 1);
    }

    #[test]
    fn json_lines_are_read_by_the_columns_of_the_first() {
        let table =
            DataTable::from_json_lines("{\"b\": 5, \"a\": \"x\"}\n\n{\"a\": null, \"b\": true, \"c\": 1}\n")
                .unwrap();
        let column = |name| table.columns().iter().position(|column| column == name).unwrap();
        let values =
            [(0, "a"), (0, "b"), (1, "a"), (1, "b")].map(|(row, name)| table.value(row, column(name)));
        assert_eq!(values, ["x", "5", "", "true"]);
    }

    #[test]
    fn mistakes_name_their_line_and_no_value() {
        let csv = |text| DataTable::from_csv(text).unwrap_err().to_string();
        let json = |text| DataTable::from_json_lines(text).unwrap_err().to_string();
        let found = [
            csv(""),
            csv("a,a\n1,2"),
            csv("a,b\n"),
            csv("a,b\n\"s\n3\",cret\nsecret\n"),
            csv("a\n\"secret"),
            csv("a\n\"secret\"x"),
            json(""),
            json("{}"),
            json("[\"secret\"]"),
            json("{\"a\": \"secret\"}\n{\"b\": 1}"),
            json("{\"a\": [\"secret\"]}"),
        ];
        insta::assert_snapshot!(found.join("\n"), @r"
        line 1: expected a line of column names, found nothing
        line 1: columns 2 and one before it have the same name
        line 2: expected a row of values, found none
        line 4: expected 2 values, found 1
        line 2: a quoted value does not end, or is followed by text
        line 2: a quoted value does not end, or is followed by text
        line 1: expected a JSON object per line, found nothing
        line 1: expected 1 to 1000 columns, found 0
        line 1: expected a JSON object
        line 2: no `a`, which the first line has
        line 1: expected a string or a number as `a`, found a list or an object
        ");
        assert!(!found.join("").contains("secret"));
        assert_eq!(
            format!("{:?}", DataTable::from_csv("a\nsecret").unwrap()),
            "DataTable(1 columns, 1 rows)"
        );
    }

    fn quoted(value: &str) -> String {
        format!("\"{}\"", value.replace('"', "\"\""))
    }

    proptest! {
        #[test]
        fn values_survive_csv(rows in prop::collection::vec(("[a-z\",\r\n]{0,8}", "[ä\"\n,]{0,8}"), 1..10)) {
            let lines: String = rows.iter().map(|(a, b)| format!("{},{}\r\n", quoted(a), quoted(b))).collect();
            let table = DataTable::from_csv(&format!("a,b\n{lines}")).unwrap();
            prop_assert_eq!(table.rows(), rows.len() as u64);
            let again = DataTable::from_values(table.columns().to_vec(), table.values()).unwrap();
            prop_assert_eq!(&again, &table);
            for (row, (a, b)) in (0..).zip(&rows) {
                prop_assert_eq!((table.value(row, 0), table.value(row, 1)), (a.as_str(), b.as_str()));
            }
        }

        #[test]
        fn any_text_is_data_or_a_mistake(text in "(a,b\n)?[a-c\",\r\n{}:\\[0-9]{0,60}") {
            for read in [DataTable::from_csv, DataTable::from_json_lines] {
                if let Ok(table) = read(&text) {
                    prop_assert!(0 < table.rows());
                    for row in 0..table.rows() {
                        (0..table.columns().len()).for_each(|column| { table.value(row, column); });
                    }
                }
            }
        }
    }
}
