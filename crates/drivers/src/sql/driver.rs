//! The sessions of users who execute their own statements, and what all of a load thread share.

use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use model::{DataTable, DatabaseProduct, MeasuredValues, Outcome, SqlRequest, SqlWorkload, sql_measure};
use units::RealClock;

use super::SqlSetupError;
use super::prepared::{ExpectedColumn, PreparedTransactions};
use super::session::{
    SqlSession, StatementRefusal, TransactionFailure, TransactionResult, WrongRows, WrongValue, other_rows,
};
use crate::database::connection::SqlConnection;
use crate::database::driver::{DatabaseSessions, SharedServer, TrafficCounts};
use crate::database::error::{CONNECTING, DatabaseError, unconnected, within};
use crate::database::failure::{SqlFailure, SqlStateCode};
use crate::database::room::{DatabaseConnections, connections_of};
use crate::database::server::SqlServer;
use crate::database::transaction::CommitMode;
use crate::net::OperationFailure;

/// The state that all sessions of a load thread with one server share.
#[derive(Debug)]
pub(super) struct SessionContext<S> {
    shared: SharedServer<S>,
    transactions: PreparedTransactions,
    allows_writes: bool,
}

/// The attempt to have all statements prepared.
const PREPARING: &str = "preparing the statements";

/// The attempt to have the limits on connections told.
const ASKING: &str = "asking for its limits on connections";

/// A statement that was refused when a session was opened, by the indexes of transaction and statement.
type Refused = (usize, usize, SqlFailure);

impl<S: SqlServer> SessionContext<S> {
    /// Prepares the transactions of a workload.
    pub(super) fn new(
        product: DatabaseProduct,
        server: S,
        workload: &SqlWorkload,
        data: &[Arc<DataTable>],
        clock: RealClock,
    ) -> Result<Rc<SessionContext<S>>, SqlSetupError> {
        let transactions = PreparedTransactions::new(product, workload, data, S::Connection::parameter_name)?;
        let shared = SharedServer::new(server, clock);
        Ok(Rc::new(SessionContext { shared, transactions, allows_writes: workload.allows_writes }))
    }

    /// Prepares every statement in a session that ends then; returns what the server refuses.
    pub(super) async fn refusals(&self, limit: Duration) -> Result<Vec<StatementRefusal>, DatabaseError> {
        let problem = || self.shared.server.socket().certificate_problem();
        let connected = within(CONNECTING, limit, self.shared.server.connect()).await?;
        let connection = connected.map_err(|failure| unconnected(failure, problem()))?;
        let mut refused: Vec<Refused> = Vec::new();
        let note = |kind, index, failure| {
            refused.push((kind, index, failure));
            Ok(())
        };
        let opened = SqlSession::open(connection, &self.transactions, self.allows_writes, note);
        within(PREPARING, limit, opened).await?.map_err(DatabaseError::of(PREPARING))?;
        Ok(refused.into_iter().map(|one| self.refusal(one)).collect())
    }

    /// Returns the connections that the server has for the user; `None` of one that does not say.
    pub(super) async fn connections(
        &self,
        limit: Duration,
    ) -> Result<Option<DatabaseConnections>, DatabaseError> {
        let problem = || self.shared.server.socket().certificate_problem();
        let connected = within(CONNECTING, limit, self.shared.server.connect()).await?;
        let mut connection = connected.map_err(|failure| unconnected(failure, problem()))?;
        match within(ASKING, limit, connection.texts(S::Connection::CONNECTIONS)).await? {
            Ok(rows) => Ok(connections_of(&rows)),
            // Others behind the same protocol do not have all that is asked for.
            Err(SqlFailure::Refused(_)) => Ok(None),
            Err(failure) => Err(DatabaseError::of(ASKING)(failure)),
        }
    }

    fn refusal(&self, (kind, index, failure): Refused) -> StatementRefusal {
        let transaction = &self.transactions.kinds[kind];
        StatementRefusal {
            transaction: transaction.name.clone(),
            number: index + 1,
            line: transaction.statements[index].line,
            text: self.with_remedy(&failure.operation(), failure.describe()),
        }
    }

    /// Adds what helps where a session was not allowed to change the database.
    fn with_remedy(&self, failure: &OperationFailure, text: String) -> String {
        let is_read_only =
            failure.outcome == Outcome::WrongStatus && failure.detail == SqlStateCode::READ_ONLY.number();
        if is_read_only && !self.allows_writes {
            format!("{text}; `--allow-writes` lets it change the database")
        } else {
            text
        }
    }
}

impl<S: SqlServer> DatabaseSessions for SessionContext<S> {
    type Server = S;
    type Session = SqlSession<S::Connection>;
    type Operation = SqlRequest;
    type Performed = TransactionResult;
    type Failure = TransactionFailure;

    fn shared(&self) -> &SharedServer<S> {
        &self.shared
    }

    async fn open(&self) -> Result<Box<SqlSession<S::Connection>>, SqlFailure> {
        let connection = self.shared.server.connect().await?;
        // The probe has told each that is refused; here the first is enough.
        let first = |_, _, failure| Err(failure);
        let opened = SqlSession::open(connection, &self.transactions, self.allows_writes, first).await;
        opened.map(Box::new)
    }

    async fn perform(
        &self,
        session: &mut SqlSession<S::Connection>,
        request: &SqlRequest,
        changes: CommitMode,
    ) -> Result<TransactionResult, TransactionFailure> {
        session.perform(&self.transactions, request, changes).await
    }

    fn measured(
        &self,
        _: &SqlRequest,
        result: TransactionResult,
        exchanged: TrafficCounts,
    ) -> MeasuredValues {
        let mut values = MeasuredValues::default();
        for (measure, value) in [
            (sql_measure::ROUND_TRIPS, exchanged.round_trips),
            (sql_measure::RETRIES, result.n_retries),
            (sql_measure::ROWS, result.n_rows),
            (sql_measure::SENT_BYTES, exchanged.sent),
            (sql_measure::RECEIVED_BYTES, exchanged.received),
        ] {
            values.set(measure, value);
        }
        values
    }

    fn kind_name<'a>(&'a self, request: &'a SqlRequest) -> &'a str {
        &self.transactions.kind(request).name
    }

    fn describe(&self, request: &SqlRequest, failure: &OperationFailure) -> String {
        let transaction = self.transactions.kind(request);
        if failure.outcome == Outcome::WrongBytes
            && let Some(WrongValue { statement: index, column }) = WrongValue::of_detail(failure.detail)
            && let Some(statement) = transaction.statements.get(index)
        {
            let expected = statement.expect.get(column).map(ExpectedColumn::describe).unwrap_or_default();
            return format!(
                "statement {} (line {}): expected {expected}, found another value, or no row",
                index + 1,
                statement.line
            );
        }
        if failure.outcome == Outcome::WrongBytes
            && let Some(WrongRows { statement: index, n_rows }) = WrongRows::of_detail(failure.detail)
            && let Some(statement) = transaction.statements.get(index)
        {
            let rows = other_rows(statement.rows, n_rows);
            return format!("statement {} (line {}): {rows}", index + 1, statement.line);
        }
        self.with_remedy(failure, self.shared.describe(failure))
    }
}
