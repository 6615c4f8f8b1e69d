//! A published table of WebStone results, and how it is read.

use thiserror::Error;

/// How many numbers a row has.
const N_CELLS: usize = 6;

/// Results as a report printed them, without the records behind them.
#[derive(Debug, Clone, PartialEq)]
pub struct PublishedTable {
    /// What the table shows: benchmark and server.
    pub title: String,
    /// Length of every load point in s.
    pub length: f64,
    /// Mean body of a reply in bytes, from the workload; `None` if not known.
    pub body_bytes_mean: Option<f64>,
    /// In the order of the report.
    pub rows: Vec<PublishedRow>,
    /// Half a unit of each column's last printed digit.
    pub rounding: Rounding,
}

/// One load point as printed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PublishedRow {
    /// Number of clients.
    pub clients: f64,
    /// Connections per second.
    pub connection_rate: f64,
    /// Errors per second.
    pub error_rate: f64,
    /// Mean response time in s.
    pub response_mean: f64,
    /// Little's load factor.
    pub load_factor: f64,
    /// Throughput in 2²⁰ bits per second.
    pub throughput_mbit: f64,
}

/// Half a unit of the last printed digit, per column.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rounding {
    /// Of the connection rate, per second.
    pub connection_rate: f64,
    /// Of the error rate, per second.
    pub error_rate: f64,
    /// Of the mean response time, in s.
    pub response_mean: f64,
    /// Of the load factor.
    pub load_factor: f64,
}

/// Why a table could not be read.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum TableError {
    /// A line does not have six numbers.
    #[error(
        "line {line}: expected six numbers (clients, connections/s, errors/s, response time, load factor, throughput), found {found}"
    )]
    Count {
        /// Line of the text, from 1.
        line: usize,
        /// How many there are.
        found: usize,
    },
    /// Something is not a number from 0.
    #[error("line {line}: expected a number from 0, found `{found}`")]
    Number {
        /// Line of the text, from 1.
        line: usize,
        /// What stands there.
        found: String,
    },
    /// There are no rows.
    #[error("expected at least one row, found none")]
    Empty,
    /// The length cannot be.
    #[error("expected a length above 0 s, found {0} s")]
    Length(String),
}

impl PublishedTable {
    /// Reads rows of six numbers: clients, connections/s, errors/s, response time (s), load factor, Mbit/s.
    ///
    /// Separated by spaces or tabs; empty lines and those that begin with `#` are passed over. How
    /// far a column is rounded follows from its longest number. `length` in s.
    pub fn parse(
        title: &str,
        length: f64,
        body_bytes_mean: Option<f64>,
        text: &str,
    ) -> Result<PublishedTable, TableError> {
        if !(0.0 < length && length.is_finite()) {
            return Err(TableError::Length(length.to_string()));
        }
        let mut rows = Vec::new();
        let mut decimals = [0; N_CELLS];
        for (line, words) in lines(text) {
            let cells = numbers(line, &words)?;
            for (most, word) in decimals.iter_mut().zip(&words) {
                *most = (*most).max(word.split_once('.').map_or(0, |(_, digits)| digits.len()));
            }
            rows.push(PublishedRow::from_cells(cells));
        }
        if rows.is_empty() {
            return Err(TableError::Empty);
        }
        let half = |column: usize| 0.5 * 0.1f64.powi(i32::try_from(decimals[column]).unwrap_or(i32::MAX));
        let rounding = Rounding {
            connection_rate: half(1),
            error_rate: half(2),
            response_mean: half(3),
            load_factor: half(4),
        };
        Ok(PublishedTable { title: title.to_owned(), length, body_bytes_mean, rows, rounding })
    }
}

impl PublishedRow {
    /// Names of the columns, in the order of [`PublishedRow::cells`].
    pub const COLUMNS: [&str; N_CELLS] =
        ["clients", "connection rate", "error rate", "response time", "load factor", "throughput"];

    /// Returns the numbers in the order of the columns.
    pub fn cells(&self) -> [f64; N_CELLS] {
        [
            self.clients,
            self.connection_rate,
            self.error_rate,
            self.response_mean,
            self.load_factor,
            self.throughput_mbit,
        ]
    }

    /// Makes a row from its numbers.
    pub fn from_cells(cells: [f64; N_CELLS]) -> PublishedRow {
        let [clients, connection_rate, error_rate, response_mean, load_factor, throughput_mbit] = cells;
        PublishedRow { clients, connection_rate, error_rate, response_mean, load_factor, throughput_mbit }
    }

    /// Returns the row with the numbers of two columns exchanged.
    pub(super) fn exchanged(&self, one: usize, other: usize) -> PublishedRow {
        let mut cells = self.cells();
        cells.swap(one, other);
        PublishedRow::from_cells(cells)
    }
}

/// Returns the words of each line that is neither empty nor a comment, with its number from 1.
fn lines(text: &str) -> impl Iterator<Item = (usize, Vec<&str>)> {
    let numbered = text.lines().enumerate().map(|(index, line)| (index + 1, line.trim()));
    let rows = numbered.filter(|(_, line)| !line.is_empty() && !line.starts_with('#'));
    rows.map(|(line, text)| (line, text.split_whitespace().collect()))
}

fn numbers(line: usize, words: &[&str]) -> Result<[f64; N_CELLS], TableError> {
    let number = |word: &&str| {
        let value = word.parse::<f64>().ok().filter(|value| 0.0 <= *value && value.is_finite());
        value.ok_or_else(|| TableError::Number { line, found: (*word).to_owned() })
    };
    let values: Vec<f64> = words.iter().map(number).collect::<Result<_, _>>()?;
    values.try_into().map_err(|values: Vec<f64>| TableError::Count { line, found: values.len() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<PublishedTable, TableError> {
        PublishedTable::parse("t", 300.0, None, text)
    }

    #[test]
    fn rows_are_read_with_their_rounding() {
        let table = read("# clients …\n\n16 285.12 0.0000 0.0557 15.88 15.24\n32\t284.5 0 0.112 31.9 15.2\n")
            .unwrap();
        assert_eq!(table.rows.len(), 2);
        assert_eq!(table.rows[0].cells(), [16.0, 285.12, 0.0, 0.0557, 15.88, 15.24]);
        let near = |found: f64, half: f64| assert!((found - half).abs() < 1e-12, "{found} for {half}");
        near(table.rounding.connection_rate, 0.005);
        near(table.rounding.error_rate, 0.00005);
        near(table.rounding.response_mean, 0.00005);
        near(table.rounding.load_factor, 0.005);
    }

    #[test]
    fn what_cannot_be_read_is_named_with_its_line() {
        let error = |text: &str| read(text).unwrap_err().to_string();
        assert!(error("\n16 285.12 0 0.05").starts_with("line 2: expected six numbers"));
        assert_eq!(error("16 x 0 0 0 0"), "line 1: expected a number from 0, found `x`");
        assert_eq!(error("16 -1 0 0 0 0"), "line 1: expected a number from 0, found `-1`");
        assert_eq!(error("16 inf 0 0 0 0"), "line 1: expected a number from 0, found `inf`");
        assert_eq!(error("# nothing"), "expected at least one row, found none");
        let length = PublishedTable::parse("t", f64::NAN, None, "1 1 1 1 1 1");
        assert_eq!(length.unwrap_err().to_string(), "expected a length above 0 s, found NaN s");
    }
}
