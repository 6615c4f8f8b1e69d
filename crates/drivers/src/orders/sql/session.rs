//! A terminal's session: its connection with the prepared statements of a form, and transactions on it.

use model::OrderSql;
use orders::{TransactionInput, TransactionOutput};
use units::WallTime;

use super::output::TransactionEnd;
use crate::database::connection::SqlConnection;
use crate::database::driver::DatabaseSession;
use crate::database::failure::SqlFailure;
use crate::database::transaction::{CommitMode, RETRIES_MAX};
use crate::orders::count::{Counters, OpenTransaction};
use crate::orders::verify;

/// The prepared statements of a form, as one database has them.
pub(crate) trait SqlForms: Sized {
    /// The connection that they are prepared on.
    type Connection: SqlConnection;

    /// Prepares those of a form.
    async fn prepare(form: OrderSql, connection: &mut Self::Connection) -> Result<Self, SqlFailure>;

    /// Returns whether a transaction is one statement, which needs neither begin nor end.
    fn is_one_statement(&self, input: &TransactionInput) -> bool;

    /// Returns the statement that begins a transaction whose changes are kept. One that reads in several statements reads as
    /// of one moment, or a delivery between them would be seen by halves.
    fn begin(input: &TransactionInput) -> &'static str;

    /// Performs the statements of a transaction between its begin and its end. One that ends within a statement keeps its
    /// changes, or undoes them.
    async fn perform(
        &self,
        connection: &mut Self::Connection,
        input: &TransactionInput,
        now: WallTime,
        changes: CommitMode,
    ) -> Result<TransactionEnd, SqlFailure>;
}

/// The session of a terminal of order entry.
pub(crate) struct OrderSession<F: SqlForms> {
    connection: F::Connection,
    forms: F,
}

impl<F: SqlForms> DatabaseSession for OrderSession<F> {
    type Connection = F::Connection;

    fn connection(&self) -> &F::Connection {
        &self.connection
    }

    fn into_connection(self) -> F::Connection {
        self.connection
    }
}

impl<F: SqlForms> OrderSession<F> {
    /// Prepares the statements on a new connection.
    pub(crate) async fn open(
        form: OrderSql,
        mut connection: F::Connection,
    ) -> Result<OrderSession<F>, SqlFailure> {
        let forms = F::prepare(form, &mut connection).await?;
        Ok(OrderSession { connection, forms })
    }

    /// Performs a transaction and returns the number of retries; what it writes bears the time `now`.
    ///
    /// It is retried with the same input where another transaction was in its way. A commit that was sent and not
    /// answered is counted as in doubt, also if this future is dropped.
    pub(crate) async fn perform(
        &mut self,
        counts: &Counters,
        input: &TransactionInput,
        now: WallTime,
        changes: CommitMode,
    ) -> Result<u64, SqlFailure> {
        let mut n_retries = 0;
        loop {
            match self.attempt(counts, input, now, changes).await {
                Err(failure) if failure.is_conflict() && n_retries < RETRIES_MAX => n_retries += 1,
                ended => return ended.map(|_| n_retries),
            }
        }
    }

    async fn attempt(
        &mut self,
        counts: &Counters,
        input: &TransactionInput,
        now: WallTime,
        changes: CommitMode,
    ) -> Result<TransactionOutput, SqlFailure> {
        if changes == CommitMode::Undone {
            return self.undone(input, now).await;
        }
        if self.forms.is_one_statement(input) {
            let open = OpenTransaction::begin(counts, input);
            let ended = self.body(input, now, changes).await;
            let ended = ended.and_then(|end| self.connection.last_reply().alone().map(|()| end));
            // What became of it is counted first: this may be given up.
            let settled = settle(open, input, ended.map(output_of));
            return self.connection.closed(settled).await;
        }
        self.connection.begin(F::begin(input)).await?;
        match self.body(input, now, changes).await {
            Ok(TransactionEnd::Commit(output)) => {
                let open = OpenTransaction::begin(counts, input);
                let committed = self.connection.commit().await;
                let settled = settle(open, input, committed.map(|()| output));
                self.connection.closed(settled).await
            }
            Ok(TransactionEnd::Rollback(output)) => {
                self.connection.roll_back().await?;
                checked(input, output)
            }
            Err(failure) => Err(self.connection.undone(failure).await),
        }
    }

    /// Performs a transaction whose changes are undone.
    async fn undone(
        &mut self,
        input: &TransactionInput,
        now: WallTime,
    ) -> Result<TransactionOutput, SqlFailure> {
        self.connection.begin("BEGIN").await?;
        match self.body(input, now, CommitMode::Undone).await {
            Ok(end) => {
                self.connection.roll_back().await?;
                checked(input, output_of(end))
            }
            Err(failure) => Err(self.connection.undone(failure).await),
        }
    }

    async fn body(
        &mut self,
        input: &TransactionInput,
        now: WallTime,
        changes: CommitMode,
    ) -> Result<TransactionEnd, SqlFailure> {
        self.forms.perform(&mut self.connection, input, now, changes).await
    }
}

fn output_of(end: TransactionEnd) -> TransactionOutput {
    match end {
        TransactionEnd::Commit(output) | TransactionEnd::Rollback(output) => output,
    }
}

/// Counts what became of a transaction whose end has been sent.
fn settle(
    open: OpenTransaction<'_>,
    input: &TransactionInput,
    ended: Result<TransactionOutput, SqlFailure>,
) -> Result<TransactionOutput, SqlFailure> {
    match ended {
        Ok(output) => {
            // An answer that cannot be right is no answer: in doubt.
            let output = checked(input, output)?;
            open.end(&output);
            Ok(output)
        }
        Err(failure @ SqlFailure::NotCommitted(_)) => {
            open.end_without_changes();
            Err(failure)
        }
        Err(SqlFailure::Refused(refusal)) if !refusal.leaves_doubt() => {
            open.end_without_changes();
            Err(SqlFailure::Refused(refusal))
        }
        Err(failure) => Err(failure),
    }
}

/// Checks the output against the input.
fn checked(input: &TransactionInput, output: TransactionOutput) -> Result<TransactionOutput, SqlFailure> {
    match verify::fault(input, &output) {
        None => Ok(output),
        Some(code) => Err(SqlFailure::WrongResult(code)),
    }
}
