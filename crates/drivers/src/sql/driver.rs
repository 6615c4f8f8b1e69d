//! A user of a database: its session, and what all users of a load thread share.

use std::rc::Rc;
use std::sync::Arc;

use engine::Driver;
use model::{DataTable, MeasuredValues, Outcome, Reply, SqlRequest, SqlWorkload, sql_measure};
use units::{Clock, Nanos, RealClock};

use super::SqlSetupError;
use super::prepared::PreparedTransactions;
use super::session::{
    Session, StatementRefusal, TransactionFailure, TransactionResult, WrongRows, other_rows,
};
use crate::database::connection::SqlConnection;
use crate::database::error::{DatabaseError, unconnected};
use crate::database::failure::{self, RefusalTexts, SqlFailure, SqlStateCode};
use crate::database::server::SqlServer;
use crate::database::transaction::Changes;
use crate::net::OperationFailure;

/// The state that all sessions of a load thread with one server share.
#[derive(Debug)]
pub(super) struct SessionContext<S> {
    server: S,
    transactions: PreparedTransactions,
    allows_writes: bool,
    clock: RealClock,
    refusals: RefusalTexts,
}

/// A statement that was refused when a session was opened, by the indexes of transaction and statement.
type Refused = (usize, usize, SqlFailure);

impl<S: SqlServer> SessionContext<S> {
    /// Prepares the transactions of a workload.
    pub(super) fn new(
        server: S,
        workload: &SqlWorkload,
        data: &[Arc<DataTable>],
        clock: RealClock,
    ) -> Result<Rc<SessionContext<S>>, SqlSetupError> {
        let transactions = PreparedTransactions::new(workload, data, S::Connection::parameter_name)?;
        let (allows_writes, refusals) = (workload.allows_writes, RefusalTexts::default());
        Ok(Rc::new(SessionContext { server, transactions, allows_writes, clock, refusals }))
    }

    /// Prepares every statement in a session that ends then; returns what the server refuses.
    pub(super) async fn refusals(&self) -> Result<Vec<StatementRefusal>, DatabaseError> {
        let problem = || self.server.socket().certificate_problem();
        let connection = self.server.connect().await.map_err(|failure| unconnected(failure, problem()))?;
        let mut refused: Vec<Refused> = Vec::new();
        let note = |kind, index, failure| {
            refused.push((kind, index, failure));
            Ok(())
        };
        let opened = Session::open(connection, &self.transactions, self.allows_writes, note).await;
        opened.map_err(DatabaseError::of("preparing the statements"))?;
        Ok(refused.into_iter().map(|one| self.refusal(one)).collect())
    }

    fn refusal(&self, (kind, index, failure): Refused) -> StatementRefusal {
        let transaction = &self.transactions.kinds[kind];
        let message = match &failure {
            SqlFailure::Refused(refusal) => Some(refusal.message.as_str()),
            _ => None,
        };
        StatementRefusal {
            transaction: transaction.name.clone(),
            number: index + 1,
            line: transaction.statements[index].line,
            text: self.with_remedy(&failure.operation(), failure::describe(&failure.operation(), message)),
        }
    }

    /// Adds what helps where a session was not allowed to change the database.
    fn with_remedy(&self, failure: &OperationFailure, text: String) -> String {
        let is_read_only =
            failure.outcome == Outcome::WrongStatus && failure.detail == SqlStateCode::READ_ONLY.number();
        match is_read_only && !self.allows_writes {
            true => format!("{text}; `--allow-writes` lets it change the database"),
            false => text,
        }
    }

    async fn open(&self) -> Result<Box<Session<S::Connection>>, SqlFailure> {
        let connection = self.server.connect().await?;
        // The probe has told each that is refused; here the first is enough.
        let first = |_, _, failure| Err(failure);
        let opened = Session::open(connection, &self.transactions, self.allows_writes, first).await;
        opened.map(Box::new)
    }

    fn describe(&self, request: &SqlRequest, failure: &OperationFailure) -> String {
        let transaction = self.transactions.kind(request);
        if failure.outcome == Outcome::WrongBytes
            && let Some(WrongRows { statement: index, n_rows }) = WrongRows::of_detail(failure.detail)
            && let Some(statement) = transaction.statements.get(index)
        {
            let rows = other_rows(statement.rows, n_rows);
            return format!("statement {} (line {}): {rows}", index + 1, statement.line);
        }
        self.with_remedy(failure, self.server.describe(&self.refusals, failure))
    }
}

/// A driver of one user; owns the user's session.
pub(super) struct SessionDriver<S: SqlServer> {
    context: Rc<SessionContext<S>>,
    changes: Changes,
    session: Option<Box<Session<S::Connection>>>,
}

impl<S: SqlServer> SessionDriver<S> {
    /// Creates the driver of a user, without a session.
    pub(super) fn new(context: Rc<SessionContext<S>>, changes: Changes) -> SessionDriver<S> {
        SessionDriver { context, changes, session: None }
    }

    /// Performs a transaction; returns its measures.
    async fn transact(
        &mut self,
        request: &SqlRequest,
    ) -> Result<(Nanos, MeasuredValues), TransactionFailure> {
        let context = Rc::clone(&self.context);
        if self.session.is_none() {
            self.session = Some(context.open().await?);
        }
        let Some(session) = &mut self.session else { return Err(SqlFailure::closed().into()) };
        let before = session.totals();
        let performed = session.perform(&context.transactions, request, self.changes).await;
        let done = context.clock.now();
        match performed {
            Ok(result) => Ok((done, measured(result, before, session.totals()))),
            Err(failure) => {
                if failure.ends_session() {
                    self.session = None;
                }
                Err(failure)
            }
        }
    }
}

/// Returns the measures of a transaction from the totals of its session before and after it.
fn measured(result: TransactionResult, before: [u64; 3], after: [u64; 3]) -> MeasuredValues {
    let [round_trips, sent, received] = std::array::from_fn(|index| after[index] - before[index]);
    let mut values = MeasuredValues::default();
    for (measure, value) in [
        (sql_measure::ROUND_TRIPS, round_trips),
        (sql_measure::RETRIES, result.n_retries),
        (sql_measure::ROWS, result.n_rows),
        (sql_measure::SENT_BYTES, sent),
        (sql_measure::RECEIVED_BYTES, received),
    ] {
        values.set(measure, value);
    }
    values
}

impl<S: SqlServer> Driver for SessionDriver<S> {
    type Operation = SqlRequest;

    /// Opens the session and prepares its statements, so that no transaction waits for it.
    async fn open(&mut self) -> Result<(), String> {
        let context = Rc::clone(&self.context);
        match Box::pin(context.open()).await {
            Ok(session) => {
                self.session = Some(session);
                Ok(())
            }
            Err(failure) => {
                context.refusals.note(&failure);
                let text = context.server.describe(&context.refusals, &failure.operation());
                Err(format!("the session could not be opened: {text}"))
            }
        }
    }

    async fn perform(&mut self, request: &SqlRequest, sent: Nanos) -> Reply {
        // Boxed, so that the task of a user who thinks is small.
        let failure = match Box::pin(self.transact(request)).await {
            Ok((done, values)) => return OperationFailure::NONE.into_reply(sent, done, values),
            Err(failure) => failure,
        };
        let done = self.context.clock.now();
        let (failure, code) = match failure {
            TransactionFailure::Statement(failure) => {
                self.context.refusals.note(&failure);
                let failure = failure.operation();
                (failure, failure::code(&failure))
            }
            TransactionFailure::OtherRows(wrong) => {
                let code = u32::try_from(wrong.statement + 1).unwrap_or(u32::MAX);
                (OperationFailure::new(Outcome::WrongBytes, wrong.detail()), code)
            }
        };
        let reply = failure.into_reply(sent, done, MeasuredValues::default());
        Reply { code, ..reply }
    }

    /// Has the server cancel the transaction, and closes the session.
    fn give_up(&mut self) {
        let Some(session) = self.session.take() else { return };
        let context = Rc::clone(&self.context);
        tokio::task::spawn_local(async move { context.server.cancel(session.into_connection()).await });
    }

    fn describe(&self, request: &SqlRequest, reply: &Reply) -> String {
        let text = match reply.outcome {
            Outcome::TimedOut => format!("no complete reply after {}", reply.done - reply.sent),
            outcome => self.context.describe(request, &OperationFailure::new(outcome, reply.detail)),
        };
        format!("{}: {text}", self.context.transactions.kind(request).name)
    }
}
