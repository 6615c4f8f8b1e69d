//! A user's session: its connection with all prepared statements, and transactions on it.

use model::{Outcome, RowCount, SqlRequest};

use super::prepared::PreparedTransactions;
use crate::database::connection::SqlConnection;
use crate::database::driver::{DatabaseSession, SessionFailure};
use crate::database::failure::{RefusalTexts, SqlFailure};
use crate::database::transaction::{Changes, RETRIES_MAX};
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
}

/// A number of rows that was not expected, packed into the detail of a reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct WrongRows {
    /// The index of the statement in its transaction.
    pub(super) statement: usize,
    pub(super) n_rows: u64,
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
            TransactionFailure::OtherRows(wrong) => {
                let code = u32::try_from(wrong.statement + 1).unwrap_or(u32::MAX);
                (OperationFailure::new(Outcome::WrongBytes, wrong.detail()), code)
            }
        }
    }
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

/// A session.
pub(super) struct Session<C: SqlConnection> {
    connection: C,
    /// For each transaction, its statements.
    statements: Vec<Vec<C::Statement>>,
}

impl<C: SqlConnection> DatabaseSession for Session<C> {
    type Connection = C;

    fn connection(&self) -> &C {
        &self.connection
    }

    fn into_connection(self) -> C {
        self.connection
    }
}

impl<C: SqlConnection> Session<C> {
    /// Prepares all statements on a new connection; `refused` is told each that the server does not prepare.
    ///
    /// # Errors
    /// The connection is lost, or `refused` does not go on.
    pub(super) async fn open(
        mut connection: C,
        transactions: &PreparedTransactions,
        allows_writes: bool,
        mut refused: impl FnMut(usize, usize, SqlFailure) -> Result<(), SqlFailure>,
    ) -> Result<Session<C>, SqlFailure> {
        if !allows_writes {
            connection.command(C::READ_ONLY).await?;
        }
        let mut statements = Vec::with_capacity(transactions.kinds.len());
        for (kind, transaction) in transactions.kinds.iter().enumerate() {
            let mut prepared = Vec::with_capacity(transaction.statements.len());
            for (index, statement) in transaction.statements.iter().enumerate() {
                match connection.prepare_as_written(&statement.text, statement.n_parameters()).await {
                    Ok(one) => prepared.push(one),
                    Err(failure) if failure.ends_session() => return Err(failure),
                    Err(failure) => refused(kind, index, failure)?,
                }
            }
            statements.push(prepared);
        }
        Ok(Session { connection, statements })
    }

    /// Performs a transaction. It is begun again with the same values where another one was in its way, unless some of its
    /// statements may have been committed by themselves.
    pub(super) async fn perform(
        &mut self,
        transactions: &PreparedTransactions,
        request: &SqlRequest,
        changes: Changes,
    ) -> Result<TransactionResult, TransactionFailure> {
        let transaction = transactions.kind(request);
        let is_repeatable = transaction.is_atomic || transaction.statements.len() == 1;
        let mut n_retries = 0;
        loop {
            match self.attempt(transactions, request, changes).await {
                Err(failure) if is_repeatable && failure.is_conflict() && n_retries < RETRIES_MAX => {
                    n_retries += 1;
                }
                ended => return ended.map(|n_rows| TransactionResult { n_retries, n_rows }),
            }
        }
    }

    async fn attempt(
        &mut self,
        transactions: &PreparedTransactions,
        request: &SqlRequest,
        changes: Changes,
    ) -> Result<u64, TransactionFailure> {
        let is_one = transactions.kind(request).is_atomic || changes == Changes::Undone;
        if !is_one {
            // A procedure of the user's may leave a transaction open, too.
            return match self.statements(transactions, request).await {
                Err(TransactionFailure::Statement(failure)) => {
                    Ok(self.connection.closed(Err(failure)).await?)
                }
                ended => ended,
            };
        }
        self.connection.command("BEGIN").await?;
        match self.statements(transactions, request).await {
            Ok(n_rows) if changes == Changes::Undone => {
                self.connection.roll_back().await?;
                Ok(n_rows)
            }
            Ok(n_rows) => {
                let committed = self.connection.command("COMMIT").await;
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

    /// Executes the statements one after another; returns the number of their rows.
    async fn statements(
        &mut self,
        transactions: &PreparedTransactions,
        request: &SqlRequest,
    ) -> Result<u64, TransactionFailure> {
        let mut total = 0;
        let prepared = &self.statements[usize::from(request.kind)];
        for (index, (statement, prepared)) in
            transactions.kind(request).statements.iter().zip(prepared).enumerate()
        {
            let values = transactions.values(statement, request);
            let n_rows = self.connection.n_rows(prepared, &values).await?;
            if statement.rows.is_some_and(|expected| !expected.has(n_rows)) {
                return Err(TransactionFailure::OtherRows(WrongRows { statement: index, n_rows }));
            }
            total += n_rows;
        }
        Ok(total)
    }
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
        let text = |least, most| other_rows(Some(RowCount { least, most }), 5);
        assert_eq!(text(1, 1), "expected 1 row, found 5");
        assert_eq!(text(0, 0), "expected 0 rows, found 5");
        assert_eq!(text(6, u64::MAX), "expected at least 6 rows, found 5");
        assert_eq!(text(0, 4), "expected 0 to 4 rows, found 5");
    }
}
