//! Transactions of a user's own SQL statements, with values that vary, on the user's own database.

use serde::{Deserialize, Serialize};

use super::app::OUTCOMES;
use super::family_workload::{FamilyWorkload, SESSIONS_MAX};
use super::order_entry::DatabaseProduct;
use super::sql_lexis;
use super::web::{DataSet, Parameter, TemplatePiece, UserPage, template_pieces};
use crate::{
    Catalog, Family, HasKind, Limit, Measure, MeasureUnit, OperationKind, Outcome, Score, ThinkTime, Words,
};

/// The measures of a transaction besides its response time, by their indexes in the catalog.
pub mod sql_measure {
    /// The requests that were sent for it and answered.
    pub const ROUND_TRIPS: usize = 0;
    /// The number of times that it was begun again with the same values.
    pub const RETRIES: usize = 1;
    /// The rows that its statements returned or changed.
    pub const ROWS: usize = 2;
    /// The bytes sent.
    pub const SENT_BYTES: usize = 3;
    /// The bytes received.
    pub const RECEIVED_BYTES: usize = 4;
}

/// The first words of statements that only read, unless something in them says otherwise: the server has the last word.
const READING: [&str; 8] = ["select", "values", "table", "show", "explain", "describe", "desc", "with"];

/// The transactions of a benchmark, their weights, and the values in their statements. One operation kind per transaction.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SqlWorkload {
    /// The kinds of transactions; not empty, names all different.
    pub transactions: Vec<SqlTransaction>,
    /// The pause after each transaction.
    pub think: ThinkTime,
    /// The data of users; names all different.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub data: Vec<DataSet>,
    /// Whether statements may change the database; if not, sessions are read-only.
    pub allows_writes: bool,
    /// Whether connections are encrypted.
    pub is_encrypted: bool,
}

/// A kind of transaction.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SqlTransaction {
    /// The name in reports.
    pub name: String,
    /// Its share of all transactions is this divided by the sum of all weights. Above zero.
    pub weight: u64,
    /// Whether its statements stand between `BEGIN` and `COMMIT`; else each is committed by itself.
    pub is_atomic: bool,
    /// The statements, in the order in which they are executed; not empty.
    pub statements: Vec<SqlStatement>,
    /// The values that statements name; each is drawn once for the whole transaction. Their counts do not grow.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parameters: Vec<Parameter>,
    /// Relative deviation of its share of all transactions above which a load point is not valid.
    pub share_gap_max: Option<f64>,
    /// Limits on its response times and errors that a valid load point keeps.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub limits: Vec<Limit>,
}

/// A statement.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SqlStatement {
    /// The text, in which placeholders such as `{id}` stand for values.
    pub sql: String,
    /// The number of rows that it returns or changes, where one is expected.
    pub rows: Option<RowCount>,
    /// The values that each of its rows must have; where there are some, a row must be there, unless `rows` allows none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub expect: Vec<ExpectedValue>,
    /// The line of the definition that it begins in, from 1.
    pub line: u32,
}

/// A value that a column must have.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExpectedValue {
    /// The name of the column.
    pub column: String,
    /// The value, as the product's own client prints it.
    pub value: ExpectedText,
}

/// A text that a value must be.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ExpectedText {
    /// This one.
    Is(String),
    /// One with a match of this regular expression.
    Regex(String),
}

/// An expected number of rows: any from the least to the greatest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RowCount {
    /// The least.
    pub least: u64,
    /// The greatest.
    pub most: u64,
}

/// One transaction, with the values that were drawn for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SqlRequest {
    /// Index into the workload's transactions.
    pub kind: u16,
    /// For each parameter of the transaction, the index of its value.
    pub picks: Vec<u64>,
    /// The place from which the rows of data follow.
    pub at: UserPage,
}

impl HasKind for SqlRequest {
    fn kind(&self) -> u16 {
        self.kind
    }
}

impl SqlWorkload {
    /// Returns what a run of the workload counts and measures.
    pub fn catalog(&self) -> Catalog {
        let total: f64 = self.transactions.iter().map(|transaction| transaction.weight as f64).sum();
        let kind = |transaction: &SqlTransaction| OperationKind {
            name: transaction.name.clone(),
            share: Some(transaction.weight as f64 / total),
            share_gap_max: transaction.share_gap_max,
            limits: transaction.limits.clone(),
            measures: Vec::new(),
            expected: Vec::new(),
        };
        Catalog {
            kinds: self.transactions.iter().map(kind).collect(),
            units: Vec::new(),
            pauses: self.think.pauses(),
            measures: vec![
                Measure::always("round trips", MeasureUnit::Count),
                Measure::always("retries", MeasureUnit::Count),
                Measure::always("rows", MeasureUnit::Count),
                Measure::always("sent bytes", MeasureUnit::Bytes),
                Measure::always("received bytes", MeasureUnit::Bytes),
            ],
            transferred: vec![sql_measure::SENT_BYTES, sql_measure::RECEIVED_BYTES],
            response_parts: Vec::new(),
            notices: Vec::new(),
            bands: Vec::new(),
            codes: Vec::new(),
            in_flight: None,
            sizing: None,
            outcomes: OUTCOMES
                .into_iter()
                .chain([Outcome::NotCommitted])
                .chain(self.is_encrypted.then_some(Outcome::TlsFailed))
                .collect(),
            score: Score::default(),
            words: Words::of_rate("transaction", "user"),
        }
    }

    /// Describes what sessions may do.
    pub fn mode_text(&self) -> &'static str {
        if self.allows_writes { "sessions that may change the database" } else { "read-only sessions" }
    }

    /// Returns whether what a user does next depends on what was before: the rows of data.
    pub fn has_user_state(&self) -> bool {
        !self.data.is_empty()
    }

    /// Returns the first statement whose text says that it changes the database, with its transaction.
    pub fn first_write(&self) -> Option<(&SqlTransaction, &SqlStatement)> {
        let of = |transaction| statements_of(transaction).find(|(_, statement)| !statement.reads());
        self.transactions.iter().find_map(of)
    }
}

fn statements_of(transaction: &SqlTransaction) -> impl Iterator<Item = (&SqlTransaction, &SqlStatement)> {
    transaction.statements.iter().map(move |statement| (transaction, statement))
}

impl SqlTransaction {
    /// Returns the index of a parameter by its name.
    pub fn parameter_index(&self, name: &str) -> Option<usize> {
        self.parameters.iter().position(|parameter| parameter.name == name)
    }
}

impl SqlStatement {
    /// Returns the text in pieces, as a product reads it: what stands between placeholders, and these. Within quotes and
    /// comments braces are text, as those of arrays and of JSON are.
    pub fn pieces<'a>(&'a self, product: DatabaseProduct) -> Vec<TemplatePiece<'a>> {
        let code = sql_lexis::code_ranges(&self.sql, product);
        let mut at = 0;
        let piece = |piece: TemplatePiece<'a>| {
            let place = at..at + piece.to_string().len();
            at = place.end;
            // Ranges follow each other.
            let next = code.partition_point(|range| range.end <= place.start);
            if code.get(next).is_some_and(|range| range.start <= place.start) {
                piece
            } else {
                TemplatePiece::Text(&self.sql[place])
            }
        };
        template_pieces(&self.sql).into_iter().map(piece).collect()
    }

    /// Returns the first word in lower case, as a product reads the statement.
    pub fn first_word(&self, product: DatabaseProduct) -> String {
        sql_lexis::first_word(&self.sql, product)
    }

    /// Returns whether the text begins as one that only reads, as one of the products reads it: the server has the last word.
    pub fn reads(&self) -> bool {
        let reads = |product: &DatabaseProduct| {
            let word = self.first_word(*product);
            READING.iter().any(|known| *known == word)
        };
        DatabaseProduct::ALL.iter().any(reads)
    }
}

impl RowCount {
    /// Returns whether a number of rows is one of the expected.
    pub fn has(self, n_rows: u64) -> bool {
        (self.least..=self.most).contains(&n_rows)
    }
}

impl FamilyWorkload for SqlWorkload {
    fn family(&self) -> Family {
        Family::Sql
    }

    fn in_flight_max(&self) -> u32 {
        SESSIONS_MAX
    }

    fn catalog(&self) -> Catalog {
        SqlWorkload::catalog(self)
    }

    fn think(&self) -> ThinkTime {
        self.think
    }

    fn has_user_state(&self) -> bool {
        SqlWorkload::has_user_state(self)
    }

    fn is_encrypted(&self) -> bool {
        self.is_encrypted
    }

    fn has_one_writer(&self, _: &str) -> bool {
        false
    }

    fn grows_with_load(&self) -> bool {
        false
    }

    fn data_text(&self) -> Option<String> {
        None
    }

    fn mode_text(&self) -> Option<String> {
        Some(SqlWorkload::mode_text(self).to_owned())
    }

    fn notice(&self) -> Option<&'static str> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn statement(sql: &str) -> SqlStatement {
        SqlStatement { sql: sql.to_owned(), rows: None, expect: Vec::new(), line: 1 }
    }

    fn workload(statements: &[&str]) -> SqlWorkload {
        let transaction = |weight, name: &str| SqlTransaction {
            name: name.to_owned(),
            weight,
            is_atomic: false,
            statements: statements.iter().map(|sql| statement(sql)).collect(),
            parameters: Vec::new(),
            share_gap_max: None,
            limits: Vec::new(),
        };
        SqlWorkload {
            transactions: vec![transaction(3, "a"), transaction(1, "b")],
            think: ThinkTime::None,
            data: Vec::new(),
            allows_writes: false,
            is_encrypted: false,
        }
    }

    #[test]
    fn the_catalog_is_valid_and_has_the_shares_of_the_weights() {
        let catalog = workload(&["SELECT 1"]).catalog();
        assert_eq!(catalog.check(), Ok(()));
        assert_eq!(catalog.kinds.iter().map(|kind| kind.share).collect::<Vec<_>>(), [Some(0.75), Some(0.25)]);
    }

    #[test]
    fn statements_that_read_are_told_by_their_first_word() {
        for sql in [
            "SELECT 1",
            " (select 1) union select 2",
            "-- of today\n/* all */ Values (1)",
            "WITH a AS (SELECT 1) SELECT * FROM a",
            "table t",
            "# of MariaDB\nselect 1",
        ] {
            assert!(statement(sql).reads(), "{sql}");
        }
        for sql in ["INSERT INTO t VALUES (1)", "selects", "", "-- select", "CALL p()", "/* select"] {
            assert!(!statement(sql).reads(), "{sql}");
        }
        let mixed = workload(&["SELECT 1", "DELETE FROM t"]);
        let (transaction, write) = mixed.first_write().unwrap();
        assert_eq!((transaction.name.as_str(), write.sql.as_str()), ("a", "DELETE FROM t"));
        assert_eq!(workload(&["SELECT 1"]).first_write(), None);
    }
}
