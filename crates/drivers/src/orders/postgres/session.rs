//! A terminal's session: its connection with the prepared statements of a form, and transactions on it.

use model::OrderSql;
use orders::{TransactionInput, TransactionOutput, TransactionType};
use tokio_postgres::CancelToken;
use units::WallTime;

use super::PostgresContext;
use super::batched::{self, BatchedStatements};
use super::client::{self, ClientStatements};
use super::failure::SqlFailure;
use super::output::End;
use super::reading::{self, ReadingStatements};
use super::stored::{self, StoredStatements};
use super::wire::Wire;
use crate::orders::count::OpenTransaction;
use crate::orders::verify;

/// The most times that a transaction is begun again with the same input: after as many deadlocks it has failed.
const RETRIES_MAX: u64 = 100;

/// A session.
pub(super) struct Session {
    wire: Wire,
    statements: Statements,
}

/// The prepared statements of a form.
enum Statements {
    Client(Box<ClientStatements>, Box<ReadingStatements>),
    Batched(Box<BatchedStatements>, Box<ReadingStatements>),
    Stored(Box<StoredStatements>),
}

/// Whether the changes of transactions are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Changes {
    Kept,
    Undone,
}

impl Session {
    /// Connects, and prepares the statements.
    pub(super) async fn open(context: &PostgresContext) -> Result<Session, SqlFailure> {
        let mut wire = Wire::open(&context.server, &context.config).await?;
        let statements = match context.form {
            OrderSql::Client => Statements::Client(
                Box::new(ClientStatements::prepare(&mut wire).await?),
                Box::new(ReadingStatements::prepare(&mut wire).await?),
            ),
            OrderSql::Batched => Statements::Batched(
                Box::new(BatchedStatements::prepare(&mut wire).await?),
                Box::new(ReadingStatements::prepare(&mut wire).await?),
            ),
            // Requests of our own protocol are none of PostgreSQL: what comes next to them is a call.
            OrderSql::Stored | OrderSql::Request => {
                Statements::Stored(Box::new(StoredStatements::prepare(&mut wire).await?))
            }
        };
        Ok(Session { wire, statements })
    }

    /// Returns the number of requests so far, and the bytes sent and received.
    pub(super) fn totals(&self) -> [u64; 3] {
        let (sent, received) = self.wire.bytes();
        [self.wire.n_round_trips(), sent, received]
    }

    /// Returns what it takes to cancel the request that is waited for.
    pub(super) fn cancel_token(&self) -> CancelToken {
        self.wire.cancel_token()
    }

    /// Performs a transaction and returns the number of retries; what it writes bears the time `now`.
    ///
    /// It is retried with the same input where another transaction was in its way. A commit that was sent and not
    /// answered is counted as in doubt, also if this future is dropped.
    pub(super) async fn perform(
        &mut self,
        context: &PostgresContext,
        input: &TransactionInput,
        now: WallTime,
        changes: Changes,
    ) -> Result<u64, SqlFailure> {
        let mut n_retries = 0;
        loop {
            match self.attempt(context, input, now, changes).await {
                Err(failure) if failure.is_conflict() && n_retries < RETRIES_MAX => n_retries += 1,
                ended => return ended.map(|_| n_retries),
            }
        }
    }

    async fn attempt(
        &mut self,
        context: &PostgresContext,
        input: &TransactionInput,
        now: WallTime,
        changes: Changes,
    ) -> Result<TransactionOutput, SqlFailure> {
        if changes == Changes::Undone {
            return self.undone(input, now).await;
        }
        let is_one_statement = matches!(
            (&self.statements, input),
            (Statements::Stored(_), _) | (Statements::Batched(..), TransactionInput::StockLevel(_))
        );
        if is_one_statement {
            let open = OpenTransaction::begin(&context.counts, input);
            let ended = self.body(input, now).await;
            return settle(open, input, ended.map(output_of));
        }
        self.wire.command(begin(input)).await?;
        match self.body(input, now).await {
            Ok(End::Commit(output)) => {
                let open = OpenTransaction::begin(&context.counts, input);
                let committed = self.wire.command("COMMIT").await;
                settle(open, input, committed.map(|()| output))
            }
            Ok(End::Rollback(output)) => {
                self.wire.command("ROLLBACK").await?;
                checked(input, output)
            }
            Err(failure) => self.undo(failure).await,
        }
    }

    /// Performs a transaction whose changes are undone.
    async fn undone(
        &mut self,
        input: &TransactionInput,
        now: WallTime,
    ) -> Result<TransactionOutput, SqlFailure> {
        self.wire.command("BEGIN").await?;
        match self.body(input, now).await {
            Ok(end) => {
                self.wire.command("ROLLBACK").await?;
                checked(input, output_of(end))
            }
            Err(failure) => self.undo(failure).await,
        }
    }

    /// Ends a transaction that has failed.
    async fn undo(&mut self, failure: SqlFailure) -> Result<TransactionOutput, SqlFailure> {
        if !failure.ends_session() {
            self.wire.command("ROLLBACK").await?;
        }
        Err(failure)
    }

    /// Performs the statements of a transaction between its begin and its end.
    async fn body(&mut self, input: &TransactionInput, now: WallTime) -> Result<End, SqlFailure> {
        let wire = &mut self.wire;
        match (&self.statements, input) {
            (Statements::Stored(sql), input) => stored::call(wire, sql, input, now).await.map(End::Commit),
            (Statements::Client(sql, _), TransactionInput::NewOrder(input)) => {
                client::new_order(wire, sql, input, now).await
            }
            (Statements::Client(sql, _), TransactionInput::Payment(input)) => {
                client::payment(wire, sql, input, now).await
            }
            (Statements::Client(sql, _), TransactionInput::Delivery(input)) => {
                client::delivery(wire, sql, input, now).await
            }
            (Statements::Client(_, sql), TransactionInput::StockLevel(input)) => {
                reading::stock_level(wire, sql, input).await
            }
            (Statements::Batched(sql, _), TransactionInput::NewOrder(input)) => {
                batched::new_order(wire, sql, input, now).await
            }
            (Statements::Batched(sql, _), TransactionInput::Payment(input)) => {
                batched::payment(wire, sql, input, now).await
            }
            (Statements::Batched(sql, _), TransactionInput::Delivery(input)) => {
                batched::delivery(wire, sql, input, now).await
            }
            (Statements::Batched(sql, _), TransactionInput::StockLevel(input)) => {
                batched::stock_level(wire, sql, input).await.map(End::Commit)
            }
            (
                Statements::Client(_, sql) | Statements::Batched(_, sql),
                TransactionInput::OrderStatus(input),
            ) => reading::order_status(wire, sql, input).await,
        }
    }
}

/// Returns the statement that begins a transaction. One that reads in several statements reads as of one moment, or a
/// delivery between them would be seen by halves.
fn begin(input: &TransactionInput) -> &'static str {
    match input.kind().transaction_type() {
        TransactionType::NewOrder | TransactionType::Payment | TransactionType::Delivery => "BEGIN",
        TransactionType::OrderStatus => "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
        TransactionType::StockLevel => "BEGIN READ ONLY",
    }
}

fn output_of(end: End) -> TransactionOutput {
    match end {
        End::Commit(output) | End::Rollback(output) => output,
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
        Err(SqlFailure::Refused(refusal)) => {
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
