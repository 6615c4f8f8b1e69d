//! A user's session: its connection with all prepared statements, and transactions on it.

use model::{Outcome, RowCount, SqlRequest};

use super::prepared::{PreparedStatement, PreparedTransactions};
use crate::database::connection::{SqlConnection, SqlValue};
use crate::database::driver::{DatabaseSession, SessionFailure};
use crate::database::failure::{RefusalTexts, SqlFailure};
use crate::database::transaction::{CommitMode, RETRIES_MAX, TransactionState};
use crate::net::OperationFailure;

/// A statement that a server does not prepare.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StatementRefusal {
    /// The name of its transaction.
    pub transaction: String,
    /// Its number in the transaction, from 1.
    pub number: usize,
    /// Its line in the definition.
    pub line: u32,
    /// The reason, with the SQLSTATE.
    pub text: String,
}

/// A failure of a transaction.
pub(super) enum TransactionFailure {
    /// A statement of the transaction, or its begin or end, failed.
    Statement(SqlFailure),
    /// A statement has returned or changed another number of rows than expected.
    OtherRows(WrongRows),
    /// A row of a statement has another value than expected, or there is no row.
    OtherValue(WrongValue),
}

/// A number of rows that was not expected, packed into the detail of a reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct WrongRows {
    /// The index of the statement in its transaction.
    pub(super) statement: usize,
    pub(super) n_rows: u64,
}

/// A value that was not expected, packed into the detail of a reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct WrongValue {
    /// The index of the statement in its transaction.
    pub(super) statement: usize,
    /// The index of the column among those with expected values.
    pub(super) column: usize,
}

/// The bit by which a wrong value is told from a wrong number of rows.
const VALUE_BIT: u64 = 1 << 63;

impl WrongValue {
    /// Returns it as a number that no wrong number of rows has.
    pub(super) fn detail(self) -> u64 {
        VALUE_BIT | (self.statement as u64) << ROW_BITS | self.column as u64
    }

    /// Returns what a number was made from; `None` if that was something else.
    pub(super) fn of_detail(detail: u64) -> Option<WrongValue> {
        let part = |number: u64| usize::try_from(number).ok();
        let is_one = detail & VALUE_BIT != 0;
        let statement = (detail & !VALUE_BIT) >> ROW_BITS;
        let column = detail & ((1 << ROW_BITS) - 1);
        is_one.then_some(WrongValue { statement: part(statement)?, column: part(column)? })
    }
}

/// The bits of the number of rows.
const ROW_BITS: u32 = 48;

impl WrongRows {
    /// Returns it as a number, greater than the codes of other wrong results; a number of rows of more than 48 bits is cut
    /// off.
    pub(super) fn detail(self) -> u64 {
        (self.statement as u64 + 1) << ROW_BITS | self.n_rows.min((1 << ROW_BITS) - 1)
    }

    /// Returns what a number was made from; `None` if that was something else.
    pub(super) fn of_detail(detail: u64) -> Option<WrongRows> {
        let statement = usize::try_from(detail >> ROW_BITS).ok()?.checked_sub(1)?;
        Some(WrongRows { statement, n_rows: detail & ((1 << ROW_BITS) - 1) })
    }
}

impl From<SqlFailure> for TransactionFailure {
    fn from(failure: SqlFailure) -> TransactionFailure {
        TransactionFailure::Statement(failure)
    }
}

impl SessionFailure for TransactionFailure {
    fn ends_session(&self) -> bool {
        matches!(self, TransactionFailure::Statement(failure) if failure.ends_session())
    }

    fn noted(&self, refusals: &RefusalTexts) -> (OperationFailure, u32) {
        match self {
            TransactionFailure::Statement(failure) => failure.noted(refusals),
            TransactionFailure::OtherRows(wrong) => of_statement(wrong.statement, wrong.detail()),
            TransactionFailure::OtherValue(wrong) => of_statement(wrong.statement, wrong.detail()),
        }
    }
}

/// Returns the failure of a statement with a wrong result. Its number is the code.
fn of_statement(index: usize, detail: u64) -> (OperationFailure, u32) {
    let code = u32::try_from(index + 1).unwrap_or(u32::MAX);
    (OperationFailure::new(Outcome::WrongBytes, detail), code)
}

impl TransactionFailure {
    fn is_conflict(&self) -> bool {
        matches!(self, TransactionFailure::Statement(failure) if failure.is_conflict())
    }
}

/// The result of a transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TransactionResult {
    /// The number of times that it was begun again.
    pub(super) n_retries: u64,
    /// The rows that its statements returned or changed.
    pub(super) n_rows: u64,
}

/// The session of a user of an SQL workload.
pub(super) struct SqlSession<C: SqlConnection> {
    connection: C,
    /// For each transaction, its statements.
    statements: Vec<Vec<C::Statement>>,
}

impl<C: SqlConnection> DatabaseSession for SqlSession<C> {
    type Connection = C;

    fn connection(&self) -> &C {
        &self.connection
    }

    fn into_connection(self) -> C {
        self.connection
    }
}

impl<C: SqlConnection> SqlSession<C> {
    /// Prepares all statements on a new connection; `refused` is told each that the server does not prepare.
    ///
    /// # Errors
    /// The connection is lost, or `refused` does not go on.
    pub(super) async fn open(
        mut connection: C,
        transactions: &PreparedTransactions,
        allows_writes: bool,
        mut refused: impl FnMut(usize, usize, SqlFailure) -> Result<(), SqlFailure>,
    ) -> Result<SqlSession<C>, SqlFailure> {
        if !allows_writes {
            connection.command(C::READ_ONLY).await?;
        }
        let mut statements = Vec::with_capacity(transactions.kinds.len());
        for (kind, transaction) in transactions.kinds.iter().enumerate() {
            let mut prepared = Vec::with_capacity(transaction.statements.len());
            for (index, statement) in transaction.statements.iter().enumerate() {
                let looked_at: Vec<&str> = statement.expect.iter().map(|one| one.name.as_str()).collect();
                let n_parameters = statement.n_parameters();
                match connection.prepare_as_written(&statement.text, n_parameters, &looked_at).await {
                    Ok(one) => prepared.push(one),
                    Err(failure) if failure.ends_session() => return Err(failure),
                    Err(failure) => refused(kind, index, failure)?,
                }
            }
            statements.push(prepared);
        }
        Ok(SqlSession { connection, statements })
    }

    /// Performs a transaction. It is begun again with the same values where another one was in its way, unless some of its
    /// statements may have been committed before.
    pub(super) async fn perform(
        &mut self,
        transactions: &PreparedTransactions,
        request: &SqlRequest,
        changes: CommitMode,
    ) -> Result<TransactionResult, TransactionFailure> {
        let mut n_retries = 0;
        loop {
            let mut may_be_kept = false;
            match self.attempt(transactions, request, changes, &mut may_be_kept).await {
                Err(failure) if !may_be_kept && failure.is_conflict() && n_retries < RETRIES_MAX => {
                    n_retries += 1;
                }
                ended => return ended.map(|n_rows| TransactionResult { n_retries, n_rows }),
            }
        }
    }

    /// Performs a transaction once; notes whether a statement of it may have been committed.
    async fn attempt(
        &mut self,
        transactions: &PreparedTransactions,
        request: &SqlRequest,
        changes: CommitMode,
        may_be_kept: &mut bool,
    ) -> Result<u64, TransactionFailure> {
        let is_one = transactions.kind(request).is_atomic || changes == CommitMode::Undone;
        if !is_one {
            let ended = self.statements(transactions, request, may_be_kept).await;
            return self.by_themselves(ended).await;
        }
        self.connection.begin("BEGIN").await?;
        match self.statements(transactions, request, may_be_kept).await {
            Ok(n_rows) if changes == CommitMode::Undone => {
                self.connection.roll_back().await?;
                Ok(n_rows)
            }
            Ok(n_rows) => {
                let committed = self.connection.commit().await;
                self.connection.closed(committed).await?;
                Ok(n_rows)
            }
            Err(TransactionFailure::Statement(failure)) => Err(self.connection.undone(failure).await.into()),
            Err(failure) => {
                self.connection.roll_back().await?;
                Err(failure)
            }
        }
    }

    /// Returns the result of statements that the server commits by themselves: nothing is left open behind them. A procedure
    /// of the user's may leave a transaction open, or a statement that begins one.
    async fn by_themselves(
        &mut self,
        ended: Result<u64, TransactionFailure>,
    ) -> Result<u64, TransactionFailure> {
        match ended {
            Ok(n_rows) => {
                self.connection.last_reply().alone()?;
                Ok(n_rows)
            }
            Err(TransactionFailure::Statement(failure)) => Ok(self.connection.closed(Err(failure)).await?),
            Err(failure) => {
                if self.connection.may_be_open() {
                    self.connection.roll_back().await?;
                }
                Err(failure)
            }
        }
    }

    /// Executes the statements one after another; returns the number of their rows. What one has done may be committed where
    /// no transaction is open behind it.
    async fn statements(
        &mut self,
        transactions: &PreparedTransactions,
        request: &SqlRequest,
        may_be_kept: &mut bool,
    ) -> Result<u64, TransactionFailure> {
        let mut total = 0;
        let prepared = &self.statements[usize::from(request.kind)];
        for (index, (statement, prepared)) in
            transactions.kind(request).statements.iter().zip(prepared).enumerate()
        {
            let values = transactions.values(statement, request);
            let (n_rows, wrong) = match statement.expect[..] {
                [] => (self.connection.n_rows(prepared, &values).await?, None),
                _ => checked_rows(&mut self.connection, prepared, &values, statement).await?,
            };
            *may_be_kept |= self.connection.last_reply().transaction == TransactionState::None;
            if !statement.rolls_back {
                self.connection.last_reply().of_statement()?;
            }
            if let Some(column) = wrong {
                return Err(TransactionFailure::OtherValue(WrongValue { statement: index, column }));
            }
            if statement.rows.is_some_and(|expected| !expected.has(n_rows)) {
                return Err(TransactionFailure::OtherRows(WrongRows { statement: index, n_rows }));
            }
            total += n_rows;
        }
        Ok(total)
    }
}

/// Executes a statement; returns the number of its rows, and the first column whose value in one of them is not expected. It is
/// the first of all where a row has to be there, and none is.
async fn checked_rows<C: SqlConnection>(
    connection: &mut C,
    prepared: &C::Statement,
    values: &[SqlValue<'_>],
    statement: &PreparedStatement,
) -> Result<(u64, Option<usize>), SqlFailure> {
    let mut wrong = None;
    let mut take = |column: usize, value: Option<&[u8]>| {
        if wrong.is_none() && statement.expect.get(column).is_some_and(|expected| !expected.fits(value)) {
            wrong = Some(column);
        }
    };
    let n_rows = connection.texts_of(prepared, values, &mut take).await?;
    let allows_none = statement.rows.is_some_and(|rows| rows.has(0));
    let none = (n_rows == 0 && !allows_none).then_some(0);
    Ok((n_rows, wrong.or(none)))
}

/// Describes a number of rows that was not expected.
pub(super) fn other_rows(expected: Option<RowCount>, n_rows: u64) -> String {
    let expected = match expected {
        Some(RowCount { least: 1, most: 1 }) => "1 row".to_owned(),
        Some(RowCount { least, most }) if least == most => format!("{least} rows"),
        Some(RowCount { least, most: u64::MAX }) => format!("at least {least} rows"),
        Some(RowCount { least, most }) => format!("{least} to {most} rows"),
        None => "other rows".to_owned(),
    };
    format!("expected {expected}, found {n_rows}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wrong_numbers_of_rows_are_told_with_their_statement() {
        let wrong = WrongRows { statement: 3, n_rows: 12 };
        assert_eq!(WrongRows::of_detail(wrong.detail()), Some(wrong));
        let many = WrongRows { statement: 0, n_rows: u64::MAX };
        assert_eq!(WrongRows::of_detail(many.detail()).map(|rows| rows.statement), Some(0));
        assert_eq!(WrongRows::of_detail(9), None);
        let value = WrongValue { statement: 999, column: 3 };
        assert_eq!(WrongValue::of_detail(value.detail()), Some(value));
        assert_eq!(WrongValue::of_detail(wrong.detail()), None);
        let text = |least, most| other_rows(Some(RowCount { least, most }), 5);
        assert_eq!(text(1, 1), "expected 1 row, found 5");
        assert_eq!(text(0, 0), "expected 0 rows, found 5");
        assert_eq!(text(6, u64::MAX), "expected at least 6 rows, found 5");
        assert_eq!(text(0, 4), "expected 0 to 4 rows, found 5");
    }
}
