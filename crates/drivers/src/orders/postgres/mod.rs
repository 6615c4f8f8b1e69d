//! Order entry on PostgreSQL: a connection for each terminal, and transactions in one of three forms of SQL.
//!
//! - `stream`: the connection's bytes, counted; `wire`: requests, one at a time, and their round trips
//! - `row`: values of results; `failure`: failures by their SQLSTATE
//! - `client`, `batched`, `stored`: the forms; `reading`: transactions that only read; `output`: what forms share
//! - `session`: a transaction from its begin to its end, again where another one was in the way
//! - `schema`, `copy`, `load`: the tables, their rows in `COPY`, loading them by several connections
//! - `control`: the data as the schema describes them, and their consistency

mod batched;
mod client;
mod control;
mod copy;
mod failure;
mod load;
mod output;
mod reading;
mod row;
mod schema;
mod session;
mod stored;
mod stream;
mod wire;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::rc::Rc;

use engine::Driver;
use model::{MeasuredValues, OrderEntryWorkload, OrderRequest, OrderSql, Outcome, Reply, order_measure};
use orders::TransactionInput;
use tokio_postgres::Config;
use tokio_postgres::config::SslMode;
use units::{Clock, Nanos, RealClock, wall};

pub use control::{PostgresConnections, PostgresControl, PostgresData, PostgresError};
pub use load::{PostgresLoad, load_postgres};
pub use schema::{POSTGRES_SCHEMA, contents_of};

use super::count::{Counters, OrderCounts};
use crate::net::{OperationFailure, SourceAddressError};
use failure::SqlFailure;
use session::{Changes, Session};
use stream::ServerSocket;

/// The text of the server's refusals that are kept for descriptions: the first of each SQLSTATE, and of so many.
const MESSAGES_MAX: usize = 64;

/// Declares the choice of the stock's data about a district, whose number is a parameter.
macro_rules! district_info {
    ($district:literal) => {
        concat!(
            "CASE ",
            $district,
            "::int WHEN 1 THEN s_dist_01 WHEN 2 THEN s_dist_02 WHEN 3 THEN s_dist_03 WHEN 4 THEN s_dist_04 \
             WHEN 5 THEN s_dist_05 WHEN 6 THEN s_dist_06 WHEN 7 THEN s_dist_07 WHEN 8 THEN s_dist_08 \
             WHEN 9 THEN s_dist_09 WHEN 10 THEN s_dist_10 END"
        )
    };
}
use district_info;

/// The place of a PostgreSQL server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PostgresPlace {
    /// An address that the target policy has allowed.
    Tcp(SocketAddr),
    /// A socket of this machine, by its path.
    Unix(PathBuf),
}

/// A password, which is never shown.
#[derive(Clone, PartialEq, Eq)]
pub struct PostgresPassword(String);

impl PostgresPassword {
    /// Makes a password.
    pub fn new(text: impl Into<String>) -> PostgresPassword {
        PostgresPassword(text.into())
    }
}

impl fmt::Debug for PostgresPassword {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PostgresPassword")
    }
}

/// A PostgreSQL server with the user and the database of sessions on it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PostgresServer {
    /// Its place.
    pub place: PostgresPlace,
    /// The user.
    pub user: String,
    /// The user's password, for servers that ask for one.
    pub password: Option<PostgresPassword>,
    /// The database.
    pub database: String,
}

impl PostgresServer {
    /// Returns the parameters of connections. Names without a schema are those of our own.
    fn config(&self) -> Config {
        let mut config = Config::new();
        config
            .user(&self.user)
            .dbname(&self.database)
            .application_name("plimsoll")
            .ssl_mode(SslMode::Disable);
        config.options(format!("-c search_path={POSTGRES_SCHEMA}"));
        if let Some(PostgresPassword(password)) = &self.password {
            config.password(password);
        }
        config
    }
}

/// The state that all sessions of a load thread with one server share.
#[derive(Debug)]
pub struct PostgresContext {
    server: ServerSocket,
    config: Config,
    clock: RealClock,
    form: OrderSql,
    counts: Counters,
    /// Texts of the server by SQLSTATE.
    messages: RefCell<BTreeMap<u64, String>>,
}

impl PostgresContext {
    /// Prepares the transactions of a workload for a server.
    ///
    /// # Errors
    /// Connections cannot be made from one of the source addresses.
    pub fn new(
        workload: &OrderEntryWorkload,
        server: &PostgresServer,
        source_addresses: &[IpAddr],
        clock: RealClock,
    ) -> Result<Rc<PostgresContext>, SourceAddressError> {
        Ok(Rc::new(PostgresContext {
            server: ServerSocket::of(&server.place, source_addresses)?,
            config: server.config(),
            clock,
            form: workload.sql,
            counts: Counters::default(),
            messages: RefCell::default(),
        }))
    }

    /// Returns what became of the transactions of all sessions so far.
    pub fn counts(&self) -> OrderCounts {
        self.counts.get()
    }

    /// Keeps the text of a refusal.
    fn note(&self, failure: &SqlFailure) {
        let SqlFailure::Refused(refusal) = failure else { return };
        let messages = &mut *self.messages.borrow_mut();
        if messages.len() < MESSAGES_MAX {
            messages.entry(refusal.state.number()).or_insert_with(|| refusal.message.clone());
        }
    }

    fn describe(&self, failure: &OperationFailure) -> String {
        let messages = self.messages.borrow();
        failure::describe(failure, messages.get(&failure.detail).map(String::as_str))
    }
}

/// A driver of one terminal; owns the terminal's session.
pub struct PostgresDriver {
    context: Rc<PostgresContext>,
    changes: Changes,
    session: Option<Box<Session>>,
}

impl PostgresDriver {
    /// Creates the driver of a terminal, without a session.
    pub fn new(context: Rc<PostgresContext>) -> PostgresDriver {
        PostgresDriver { context, changes: Changes::Kept, session: None }
    }

    /// Creates a driver whose transactions change nothing: each is rolled back when it is done.
    pub fn without_changes(context: Rc<PostgresContext>) -> PostgresDriver {
        PostgresDriver { context, changes: Changes::Undone, session: None }
    }

    /// Performs a transaction; returns its measures.
    async fn transact(&mut self, input: &TransactionInput) -> Result<(Nanos, MeasuredValues), SqlFailure> {
        let context = Rc::clone(&self.context);
        if self.session.is_none() {
            self.session = Some(Box::new(Session::open(&context).await?));
        }
        let Some(session) = &mut self.session else { return Err(SqlFailure::closed()) };
        let before = session.totals();
        let performed = session.perform(&context, input, wall(), self.changes).await;
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
    if let Some((lines, remote)) = super::lines(input) {
        values.set(order_measure::LINES, lines);
        values.set(order_measure::REMOTE_LINES, remote);
    }
    values
}

impl Driver for PostgresDriver {
    type Operation = OrderRequest;

    /// Opens the session and prepares its statements, so that no transaction waits for it.
    async fn open(&mut self) -> Result<(), String> {
        let context = Rc::clone(&self.context);
        match Box::pin(Session::open(&context)).await {
            Ok(session) => {
                self.session = Some(Box::new(session));
                Ok(())
            }
            Err(failure) => {
                context.note(&failure);
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
                self.context.note(&failure);
                let failure = failure.operation();
                let reply = failure.into_reply(sent, done, MeasuredValues::default());
                Reply { code: failure::code(&failure), ..reply }
            }
        }
    }

    /// Has the server cancel the transaction, which would keep its locks otherwise, and closes the session.
    fn give_up(&mut self) {
        let Some(session) = self.session.take() else { return };
        let context = Rc::clone(&self.context);
        tokio::task::spawn_local(async move {
            let token = session.cancel_token();
            if let Ok(stream) = context.server.connect().await {
                // The server does not say whether it found something to cancel.
                drop(token.cancel_query_raw(stream, tokio_postgres::NoTls).await);
            }
            drop(session);
        });
    }

    fn describe(&self, request: &OrderRequest, reply: &Reply) -> String {
        let text = match reply.outcome {
            Outcome::TimedOut => format!("no complete reply after {}", reply.done - reply.sent),
            outcome => self.context.describe(&OperationFailure::new(outcome, reply.detail)),
        };
        format!("{}: {text}", request.input.kind().name())
    }
}
