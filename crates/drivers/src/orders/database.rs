//! Order entry on databases that speak SQL: terminals, and work beside them.

use std::net::IpAddr;
use std::rc::Rc;
use std::sync::atomic::AtomicBool;

use engine::{Driver, SessionError};
use model::{DatabaseProduct, OrderEntryWorkload, OrderRequest, Reply};
use orders::wire::ConditionResult;
use orders::{ConsistencyCondition, DataScale, OrderTable, OrderTotals, Population};
use units::{Nanos, RealClock};

use super::count::OrderCounts;
use super::sql::control::{DatabaseAccount, DatabaseData, SessionCounts, SqlControl, SqlDialect};
use super::sql::driver::SqlContext;
use super::sql::load::{LoadMethod, load};
use super::sql::schema::ORDER_SCHEMA;
use crate::database::driver::{DatabaseSessionDriver, DatabaseSessions};
use crate::database::error::DatabaseError;
use crate::database::mariadb::MariaDbSessions;
use crate::database::per_product::{PerProduct, each};
use crate::database::postgres::PostgresSessions;
use crate::database::room::DatabaseConnections;
use crate::database::server::{DatabaseServer, DatabaseSetupError};
use crate::database::transaction::CommitMode;

/// The state that all sessions of a load thread with one server share.
#[derive(Debug)]
pub struct DatabaseContext(PerProduct<Rc<SqlContext<PostgresSessions>>, Rc<SqlContext<MariaDbSessions>>>);

impl DatabaseContext {
    /// Prepares the transactions of a workload for a server.
    ///
    /// # Errors
    /// Connections cannot be made from one of the source addresses, or not be encrypted.
    pub fn new(
        workload: &OrderEntryWorkload,
        server: &DatabaseServer,
        source_addresses: &[IpAddr],
        clock: RealClock,
    ) -> Result<Rc<DatabaseContext>, DatabaseSetupError> {
        Ok(Rc::new(DatabaseContext(match server.product {
            DatabaseProduct::PostgreSql => {
                let sessions = PostgresSessions::new(server, Some(ORDER_SCHEMA), source_addresses)?;
                PerProduct::PostgreSql(SqlContext::new(sessions, workload.sql, clock))
            }
            DatabaseProduct::MariaDb => {
                let sessions = MariaDbSessions::new(server, Some(ORDER_SCHEMA), source_addresses)?;
                PerProduct::MariaDb(SqlContext::new(sessions, workload.sql, clock))
            }
        })))
    }

    /// Returns what became of the transactions of all sessions so far.
    pub fn counts(&self) -> OrderCounts {
        each!(&self.0, context => context.counts())
    }
}

/// A driver of one terminal; owns the terminal's session.
pub struct DatabaseDriver(
    PerProduct<
        DatabaseSessionDriver<SqlContext<PostgresSessions>>,
        DatabaseSessionDriver<SqlContext<MariaDbSessions>>,
    >,
);

impl DatabaseDriver {
    /// Creates the driver of a terminal, without a session.
    pub fn new(context: &DatabaseContext) -> DatabaseDriver {
        DatabaseDriver::with(context, CommitMode::Kept)
    }

    /// Creates a driver whose transactions change nothing: each is rolled back when it is done.
    pub fn without_changes(context: &DatabaseContext) -> DatabaseDriver {
        DatabaseDriver::with(context, CommitMode::Undone)
    }

    fn with(context: &DatabaseContext, changes: CommitMode) -> DatabaseDriver {
        DatabaseDriver(match &context.0 {
            PerProduct::PostgreSql(context) => {
                PerProduct::PostgreSql(DatabaseSessionDriver::new(Rc::clone(context), changes))
            }
            PerProduct::MariaDb(context) => {
                PerProduct::MariaDb(DatabaseSessionDriver::new(Rc::clone(context), changes))
            }
        })
    }
}

impl Driver for DatabaseDriver {
    type Operation = OrderRequest;

    const OPENS_WHEN_NEEDED: bool = true;

    async fn open(&mut self) -> Result<(), SessionError> {
        each!(&mut self.0, driver => driver.open().await)
    }

    async fn perform(&mut self, request: &OrderRequest, sent: Nanos) -> Reply {
        each!(&mut self.0, driver => driver.perform(request, sent).await)
    }

    fn give_up(&mut self) {
        each!(&mut self.0, driver => driver.give_up());
    }

    fn describe(&self, request: &OrderRequest, reply: &Reply) -> String {
        each!(&self.0, driver => driver.describe(request, reply))
    }
}

/// A session beside the terminals.
pub struct DatabaseControl(PerProduct<SqlControl<PostgresSessions>, SqlControl<MariaDbSessions>>);

impl DatabaseControl {
    /// Opens a session.
    ///
    /// # Errors
    /// There is no connection.
    pub async fn open(context: &DatabaseContext) -> Result<DatabaseControl, DatabaseError> {
        Ok(DatabaseControl(match &context.0 {
            PerProduct::PostgreSql(context) => {
                PerProduct::PostgreSql(SqlControl::open(&context.shared().server).await?)
            }
            PerProduct::MariaDb(context) => {
                PerProduct::MariaDb(SqlControl::open(&context.shared().server).await?)
            }
        }))
    }

    /// Opens a session with a server, for work that has no terminals.
    ///
    /// # Errors
    /// There is no connection.
    pub async fn connect(server: &DatabaseServer) -> Result<DatabaseControl, DatabaseError> {
        Ok(DatabaseControl(match server.product {
            DatabaseProduct::PostgreSql => PerProduct::PostgreSql(
                SqlControl::open(&PostgresSessions::new(server, Some(ORDER_SCHEMA), &[])?).await?,
            ),
            DatabaseProduct::MariaDb => PerProduct::MariaDb(
                SqlControl::open(&MariaDbSessions::new(server, Some(ORDER_SCHEMA), &[])?).await?,
            ),
        }))
    }

    /// Returns the data in our schema.
    ///
    /// # Errors
    /// There is a schema of that name which is not ours, or the server refuses to read.
    pub async fn data(&mut self) -> Result<DatabaseData, DatabaseError> {
        each!(&mut self.0, control => control.data().await)
    }

    /// Removes our schema with all that is in it.
    ///
    /// # Errors
    /// The schema is not ours, or the server refuses.
    pub async fn drop_schema(&mut self) -> Result<(), DatabaseError> {
        each!(&mut self.0, control => control.drop_schema().await)
    }

    /// Returns the connections that the server has for the user of the session, whose own counts as free.
    ///
    /// # Errors
    /// The server refuses to read.
    pub async fn connections(&mut self) -> Result<DatabaseConnections, DatabaseError> {
        each!(&mut self.0, control => control.connections().await)
    }

    /// Returns whether the user of the session may make our schema, as far as the server says so beforehand.
    ///
    /// # Errors
    /// The server refuses to read.
    pub async fn can_make_schema(&mut self) -> Result<bool, DatabaseError> {
        each!(&mut self.0, control => control.can_make_schema().await)
    }

    /// Returns the size of the data, and the version of the server with the settings that decide when a commit is durable.
    ///
    /// # Errors
    /// The server refuses to read.
    pub async fn description(&mut self) -> Result<String, DatabaseError> {
        each!(&mut self.0, control => control.description().await)
    }

    /// Counts the sessions of the server, without its other counters.
    ///
    /// # Errors
    /// The server refuses to read.
    pub async fn sessions(&mut self) -> Result<SessionCounts, DatabaseError> {
        each!(&mut self.0, control => control.sessions().await)
    }

    /// Returns what the server says of itself.
    ///
    /// # Errors
    /// The server refuses to read, or does not count that.
    pub async fn account(&mut self) -> Result<DatabaseAccount, DatabaseError> {
        each!(&mut self.0, control => control.account().await)
    }

    /// Finds the rows that violate a condition.
    ///
    /// # Errors
    /// The server refuses to read, or does not answer.
    pub async fn violations(
        &mut self,
        condition: ConsistencyCondition,
        scale: &DataScale,
    ) -> Result<ConditionResult, DatabaseError> {
        each!(&mut self.0, control => control.violations(condition, scale).await)
    }

    /// Counts the orders.
    ///
    /// # Errors
    /// The server refuses to read, or does not answer.
    pub async fn totals(&mut self) -> Result<OrderTotals, DatabaseError> {
        each!(&mut self.0, control => control.totals().await)
    }
}

/// The data to be loaded, and by how many connections.
#[derive(Debug, Clone, Copy)]
pub struct DatabaseLoad<'a> {
    /// The server, where the schema does not exist.
    pub server: &'a DatabaseServer,
    /// The rows.
    pub population: Population,
    /// The number of connections, at least one.
    pub n_connections: usize,
}

/// Loads a population; returns how. `progress` gets the number of rows loaded so far, ten times a second. Blocks the
/// calling thread.
///
/// # Errors
/// The schema exists, the server refuses or is lost, or `stop` is set: then the schema is there, and incomplete.
pub fn load_database(
    data: &DatabaseLoad<'_>,
    stop: &AtomicBool,
    progress: impl FnMut(u64),
) -> Result<LoadMethod, DatabaseError> {
    let DatabaseLoad { server, population, n_connections } = data;
    match server.product {
        DatabaseProduct::PostgreSql => {
            let sessions = || Ok(PostgresSessions::new(server, Some(ORDER_SCHEMA), &[])?);
            load(sessions, population, *n_connections, stop, progress)
        }
        DatabaseProduct::MariaDb => {
            let sessions = || Ok(MariaDbSessions::new(server, Some(ORDER_SCHEMA), &[])?);
            load(sessions, population, *n_connections, stop, progress)
        }
    }
}

/// Returns the statements that make our schema, and go to it, as loading executes them.
pub fn schema_statements(product: DatabaseProduct) -> &'static [&'static str] {
    match product {
        DatabaseProduct::PostgreSql => PostgresSessions::CREATE,
        DatabaseProduct::MariaDb => MariaDbSessions::CREATE,
    }
}

/// Returns the statements before the rows of a table and those behind them, as loading executes them.
pub fn row_statements(product: DatabaseProduct, table: OrderTable) -> (Vec<String>, Vec<String>) {
    match product {
        DatabaseProduct::PostgreSql => {
            (PostgresSessions::before_rows(table), PostgresSessions::after_rows(table))
        }
        DatabaseProduct::MariaDb => (MariaDbSessions::before_rows(table), MariaDbSessions::after_rows(table)),
    }
}
