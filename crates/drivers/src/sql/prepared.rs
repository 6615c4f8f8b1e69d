//! Transactions as they are sent: statements in the server's words, with the sources of their values.

use std::sync::Arc;

use model::{
    DataSet, DataTable, DatabaseProduct, ExpectedText, ExpectedValue, Parameter, PathValue, RowCount,
    SessionValue, SqlRequest, SqlStatement, SqlTransaction, SqlWorkload, TemplatePiece, compile_regex,
};

use regex::Regex;

use super::SqlSetupError;
use crate::database::connection::SqlValue;

/// The transactions of a workload, and its data.
#[derive(Debug)]
pub(super) struct PreparedTransactions {
    pub(super) kinds: Vec<PreparedTransaction>,
    data: Vec<(DataSet, Arc<DataTable>)>,
}

/// A kind of transaction.
#[derive(Debug)]
pub(super) struct PreparedTransaction {
    pub(super) name: String,
    pub(super) is_atomic: bool,
    pub(super) statements: Vec<PreparedStatement>,
    parameters: Vec<Parameter>,
}

/// A statement.
#[derive(Debug)]
pub(super) struct PreparedStatement {
    /// The text in the server's words.
    pub(super) text: String,
    pub(super) rows: Option<RowCount>,
    /// The values that its rows must have, by columns.
    pub(super) expect: Vec<ExpectedColumn>,
    /// Whether it may be answered as a rollback is.
    pub(super) rolls_back: bool,
    /// Its line in the definition.
    pub(super) line: u32,
    values: Vec<ValueSource>,
}

/// A column with the value that it must have.
#[derive(Debug)]
pub(super) struct ExpectedColumn {
    pub(super) name: String,
    value: ExpectedPattern,
}

#[derive(Debug)]
enum ExpectedPattern {
    Is(String),
    Regex(Regex),
}

impl ExpectedColumn {
    fn new(expected: &ExpectedValue) -> Result<ExpectedColumn, SqlSetupError> {
        let value = match &expected.value {
            ExpectedText::Is(text) => ExpectedPattern::Is(text.clone()),
            ExpectedText::Regex(pattern) => ExpectedPattern::Regex(compile_regex(pattern)?),
        };
        Ok(ExpectedColumn { name: expected.column.clone(), value })
    }

    /// Returns whether a value is the expected one.
    pub(super) fn fits(&self, found: Option<&[u8]>) -> bool {
        let Some(found) = found else { return false };
        match &self.value {
            ExpectedPattern::Is(text) => found == text.as_bytes(),
            ExpectedPattern::Regex(regex) => {
                std::str::from_utf8(found).is_ok_and(|text| regex.is_match(text))
            }
        }
    }

    /// Describes the expectation: `` `red` in `color` ``.
    pub(super) fn describe(&self) -> String {
        match &self.value {
            ExpectedPattern::Is(text) => format!("`{text}` in `{}`", self.name),
            ExpectedPattern::Regex(regex) => format!("a match of `{regex}` in `{}`", self.name),
        }
    }
}

/// The first words of statements that a server answers as a rollback.
const ROLLBACKS: [&str; 2] = ["rollback", "abort"];

/// The source of a value.
#[derive(Debug, Clone, Copy)]
enum ValueSource {
    /// A parameter of the transaction, by its index.
    Parameter(usize),
    /// A column of data, by their indexes.
    Column { data: usize, column: usize },
}

impl PreparedTransactions {
    /// Resolves the placeholders of all statements, as a product reads them; `parameter_name` names the n-th parameter in the
    /// server's words.
    pub(super) fn new(
        product: DatabaseProduct,
        workload: &SqlWorkload,
        tables: &[Arc<DataTable>],
        parameter_name: fn(usize) -> String,
    ) -> Result<PreparedTransactions, SqlSetupError> {
        let data: Vec<(DataSet, Arc<DataTable>)> =
            workload.data.iter().cloned().zip(tables.iter().cloned()).collect();
        if let Some(missing) = workload.data.get(data.len()) {
            return Err(SqlSetupError::NoData(missing.name.clone()));
        }
        let kind = |transaction: &SqlTransaction| {
            let statement = |one| prepared(product, one, transaction, &data, parameter_name);
            if let Some(unused) = transaction.parameters.iter().find(|one| !uses(product, transaction, one)) {
                return Err(SqlSetupError::NotRead { product, name: unused.name.clone() });
            }
            Ok(PreparedTransaction {
                name: transaction.name.clone(),
                is_atomic: transaction.is_atomic,
                statements: transaction.statements.iter().map(statement).collect::<Result<_, _>>()?,
                parameters: transaction.parameters.clone(),
            })
        };
        let kinds = workload.transactions.iter().map(kind).collect::<Result<_, SqlSetupError>>()?;
        Ok(PreparedTransactions { kinds, data })
    }

    pub(super) fn kind(&self, request: &SqlRequest) -> &PreparedTransaction {
        &self.kinds[usize::from(request.kind)]
    }

    /// Returns the values of a statement of a request.
    pub(super) fn values<'a>(
        &'a self,
        statement: &'a PreparedStatement,
        request: &SqlRequest,
    ) -> Vec<SqlValue<'a>> {
        let parameters = &self.kind(request).parameters;
        let value = |source: &ValueSource| match *source {
            ValueSource::Parameter(index) => match parameters[index].written_value(request.picks[index]) {
                PathValue::Number(number) => SqlValue::Integer(i64::try_from(number).unwrap_or(i64::MAX)),
                PathValue::Text(text) => SqlValue::Text(text),
            },
            ValueSource::Column { data, column } => {
                let (set, table) = &self.data[data];
                // A user without a row has left.
                let row = set.row(data, request.at).unwrap_or_default();
                SqlValue::Text(table.value(row, column))
            }
        };
        statement.values.iter().map(value).collect()
    }
}

impl PreparedStatement {
    /// Returns the number of its parameters.
    pub(super) fn n_parameters(&self) -> usize {
        self.values.len()
    }
}

/// Returns whether a transaction has the value of a parameter, as a product reads its statements.
fn uses(product: DatabaseProduct, transaction: &SqlTransaction, parameter: &Parameter) -> bool {
    let is_it = |piece: &TemplatePiece<'_>| matches!(piece, TemplatePiece::Parameter { name, .. } if *name == parameter.name);
    transaction.statements.iter().any(|one| one.pieces(product).iter().any(is_it))
}

fn prepared(
    product: DatabaseProduct,
    statement: &SqlStatement,
    transaction: &SqlTransaction,
    data: &[(DataSet, Arc<DataTable>)],
    parameter_name: fn(usize) -> String,
) -> Result<PreparedStatement, SqlSetupError> {
    let mut text = String::with_capacity(statement.sql.len());
    let mut values = Vec::new();
    for piece in statement.pieces(product) {
        if let TemplatePiece::Text(part) = piece {
            text.push_str(part);
            continue;
        }
        let source = source(piece, transaction, data);
        values.push(source.ok_or_else(|| SqlSetupError::NoValue(piece.to_string()))?);
        text.push_str(&parameter_name(values.len()));
    }
    Ok(PreparedStatement {
        text,
        rows: statement.rows,
        expect: statement.expect.iter().map(ExpectedColumn::new).collect::<Result<_, _>>()?,
        rolls_back: ROLLBACKS.contains(&statement.first_word(product).as_str()),
        line: statement.line,
        values,
    })
}

fn source(
    piece: TemplatePiece,
    transaction: &SqlTransaction,
    data: &[(DataSet, Arc<DataTable>)],
) -> Option<ValueSource> {
    match piece {
        TemplatePiece::Parameter { name, .. } => {
            transaction.parameter_index(name).map(ValueSource::Parameter)
        }
        TemplatePiece::Session(SessionValue::Column { data: name, column }) => {
            let index = data.iter().position(|(set, _)| set.name == name)?;
            let column = data[index].1.columns().iter().position(|known| known == column)?;
            Some(ValueSource::Column { data: index, column })
        }
        TemplatePiece::Session(SessionValue::Extracted(_)) | TemplatePiece::Text(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use model::{RowPick, RowsEnd, ThinkTime, UserPage, ValueCount};

    use super::*;

    fn workload(sql: &str) -> SqlWorkload {
        let statement = SqlStatement { sql: sql.to_owned(), rows: None, expect: Vec::new(), line: 1 };
        let color = Parameter::texts("color", vec!["red".to_owned(), "green".to_owned()]);
        SqlWorkload {
            transactions: vec![SqlTransaction {
                name: "find".to_owned(),
                weight: 1,
                is_atomic: false,
                statements: vec![statement],
                parameters: vec![Parameter::numbers("id", 7, ValueCount::Fixed(3)), color],
                share_gap_max: None,
                limits: Vec::new(),
            }],
            think: ThinkTime::None,
            data: vec![DataSet {
                name: "users".to_owned(),
                file: "users.csv".to_owned(),
                hash: String::new(),
                rows: 2,
                pick: RowPick::Sequential,
                at_end: RowsEnd::Wrap,
            }],
            allows_writes: false,
            is_encrypted: false,
        }
    }

    #[test]
    fn values_are_sent_beside_the_text() {
        let sql = "SELECT '{id}', $x FROM t WHERE a = {id} AND b = {color} AND c = {users.name} OR a = {id}";
        let table = Arc::new(DataTable::from_csv("id,name\n1,anna\n2,bert\n").unwrap());
        let prepare = |name: fn(usize) -> String| {
            PreparedTransactions::new(
                DatabaseProduct::PostgreSql,
                &workload(sql),
                &[Arc::clone(&table)],
                name,
            )
            .unwrap()
        };
        let dollars = prepare(|n| format!("${n}"));
        let expected = "SELECT '{id}', $x FROM t WHERE a = $1 AND b = $2 AND c = $3 OR a = $4";
        assert_eq!(dollars.kinds[0].statements[0].text, expected);
        let marks = prepare(|_| "?".to_owned());
        assert_eq!(
            marks.kinds[0].statements[0].text,
            expected.replace(['1', '2', '3', '4'], "").replace("= $", "= ?")
        );
        let at = UserPage { seed: 1, user: 0, users: 1, page: 1 };
        let request = SqlRequest { kind: 0, picks: vec![2, 1], at };
        let values = dollars.values(&dollars.kinds[0].statements[0], &request);
        let expected =
            [SqlValue::Integer(9), SqlValue::Text("green"), SqlValue::Text("bert"), SqlValue::Integer(9)];
        assert_eq!(values, expected);
    }

    #[test]
    fn what_stands_for_nothing_is_named() {
        let table = Arc::new(DataTable::from_csv("id\n1\n").unwrap());
        let prepare = |sql: &str, tables: &[Arc<DataTable>]| {
            let mut workload = workload(sql);
            workload.transactions[0].parameters.clear();
            let prepared =
                PreparedTransactions::new(DatabaseProduct::MariaDb, &workload, tables, |_| "?".to_owned());
            prepared.unwrap_err().to_string()
        };
        let found = [
            prepare("SELECT {ip}", &[Arc::clone(&table)]),
            prepare("SELECT {users.name}", &[table]),
            prepare("SELECT 1", &[]),
        ];
        assert_eq!(
            found,
            [
                "`{ip}` is not defined in the workload",
                "`{users.name}` is not defined in the workload",
                "the values of data `users` are not available",
            ]
        );
    }

    #[test]
    fn a_value_in_what_the_product_reads_as_text_is_told() {
        let workload = workload("SELECT $${color} {id}$$, {id}");
        let prepare = |product| {
            PreparedTransactions::new(
                product,
                &workload,
                &[Arc::new(DataTable::from_csv("id\n1\n").unwrap())],
                |_| "?".to_owned(),
            )
        };
        assert!(prepare(DatabaseProduct::MariaDb).is_ok());
        let error = prepare(DatabaseProduct::PostgreSql).unwrap_err().to_string();
        assert_eq!(error, "PostgreSQL reads `{color}` as text, because it is within quotes or a comment");
    }

    #[test]
    fn expected_values_are_texts_or_matches() {
        let column =
            |value| ExpectedColumn::new(&ExpectedValue { column: "color".to_owned(), value }).unwrap();
        let red = column(ExpectedText::Is("red".into()));
        let short = column(ExpectedText::Regex("^[a-z]{3}$".into()));
        for (found, expected) in [
            (Some(&b"red"[..]), [true, true]),
            (Some(b"tan"), [false, true]),
            (Some(b"\xff"), [false, false]),
            (None, [false, false]),
        ] {
            assert_eq!([red.fits(found), short.fits(found)], expected, "{found:?}");
        }
        assert_eq!(short.describe(), "a match of `^[a-z]{3}$` in `color`");
    }
}
