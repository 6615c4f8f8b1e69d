//! A terminal on a database that speaks SQL: its session, and what all terminals of a load thread share.

use std::rc::Rc;

use engine::Driver;
use model::{MeasuredValues, OrderRequest, OrderSql, Outcome, Reply, order_measure};
use orders::TransactionInput;
use units::{Clock, Nanos, RealClock, wall};

use super::session::{Session, SqlForms};
use crate::database::failure::{self, RefusalTexts, SqlFailure};
use crate::database::server::SqlServer;
use crate::database::transaction::Changes;
use crate::net::OperationFailure;
use crate::orders::count::{Counters, OrderCounts};

/// A database server of terminals.
pub(crate) trait OrderServer: SqlServer {
    /// The statements of its sessions.
    type Forms: SqlForms<Connection = Self::Connection>;
}

/// The state that all sessions of a load thread with one server share.
#[derive(Debug)]
pub(crate) struct SqlContext<S> {
    pub(crate) server: S,
    form: OrderSql,
    clock: RealClock,
    counts: Counters,
    refusals: RefusalTexts,
}

impl<S: OrderServer> SqlContext<S> {
    /// Prepares transactions in a form.
    pub(crate) fn new(server: S, form: OrderSql, clock: RealClock) -> Rc<SqlContext<S>> {
        let (counts, refusals) = (Counters::default(), RefusalTexts::default());
        Rc::new(SqlContext { server, form, clock, counts, refusals })
    }

    /// Returns what became of the transactions of all sessions so far.
    pub(crate) fn counts(&self) -> OrderCounts {
        self.counts.get()
    }

    async fn open(&self) -> Result<Box<Session<S::Forms>>, SqlFailure> {
        let connection = self.server.connect().await?;
        Session::open(self.form, connection).await.map(Box::new)
    }

    fn describe(&self, failure: &OperationFailure) -> String {
        self.server.describe(&self.refusals, failure)
    }
}

/// A driver of one terminal; owns the terminal's session.
pub(crate) struct SqlDriver<S: OrderServer> {
    context: Rc<SqlContext<S>>,
    changes: Changes,
    session: Option<Box<Session<S::Forms>>>,
}

impl<S: OrderServer> SqlDriver<S> {
    /// Creates the driver of a terminal, without a session.
    pub(crate) fn new(context: Rc<SqlContext<S>>, changes: Changes) -> SqlDriver<S> {
        SqlDriver { context, changes, session: None }
    }

    /// Performs a transaction; returns its measures.
    async fn transact(&mut self, input: &TransactionInput) -> Result<(Nanos, MeasuredValues), SqlFailure> {
        let context = Rc::clone(&self.context);
        if self.session.is_none() {
            self.session = Some(context.open().await?);
        }
        let Some(session) = &mut self.session else { return Err(SqlFailure::closed()) };
        let before = session.totals();
        let performed = session.perform(&context.counts, input, wall(), self.changes).await;
        let done = context.clock.now();
        match performed {
            Ok(n_retries) => Ok((done, measured(input, n_retries, before, session.totals()))),
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
fn measured(input: &TransactionInput, n_retries: u64, before: [u64; 3], after: [u64; 3]) -> MeasuredValues {
    let [round_trips, sent, received] = std::array::from_fn(|index| after[index] - before[index]);
    let mut values = MeasuredValues::default();
    for (measure, value) in [
        (order_measure::ROUND_TRIPS, round_trips),
        (order_measure::RETRIES, n_retries),
        (order_measure::SENT_BYTES, sent),
        (order_measure::RECEIVED_BYTES, received),
    ] {
        values.set(measure, value);
    }
    if let Some((lines, remote)) = crate::orders::lines(input) {
        values.set(order_measure::LINES, lines);
        values.set(order_measure::REMOTE_LINES, remote);
    }
    values
}

impl<S: OrderServer> Driver for SqlDriver<S> {
    type Operation = OrderRequest;

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
                let text = context.describe(&failure.operation());
                Err(format!("the session could not be opened: {text}"))
            }
        }
    }

    async fn perform(&mut self, request: &OrderRequest, sent: Nanos) -> Reply {
        // Boxed, so that the task of a user who thinks is small.
        match Box::pin(self.transact(&request.input)).await {
            Ok((done, values)) => OperationFailure::NONE.into_reply(sent, done, values),
            Err(failure) => {
                let done = self.context.clock.now();
                self.context.refusals.note(&failure);
                let failure = failure.operation();
                let reply = failure.into_reply(sent, done, MeasuredValues::default());
                Reply { code: failure::code(&failure), ..reply }
            }
        }
    }

    /// Has the server cancel the transaction, and closes the session.
    fn give_up(&mut self) {
        let Some(session) = self.session.take() else { return };
        let context = Rc::clone(&self.context);
        tokio::task::spawn_local(async move { context.server.cancel(session.into_connection()).await });
    }

    fn describe(&self, request: &OrderRequest, reply: &Reply) -> String {
        let text = match reply.outcome {
            Outcome::TimedOut => format!("no complete reply after {}", reply.done - reply.sent),
            outcome => self.context.describe(&OperationFailure::new(outcome, reply.detail)),
        };
        format!("{}: {text}", request.input.kind().name())
    }
}
