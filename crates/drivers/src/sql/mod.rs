//! The family of a user's own SQL statements: a connection for each user, on which all statements are prepared before the
//! load.
//!
//! - `prepared`: transactions as they are sent, with the sources of their values
//! - `session`: a connection with its prepared statements, and transactions on it
//! - `driver`: what users of a load thread share

mod driver;
mod prepared;
mod session;

use std::net::IpAddr;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use engine::{Driver, SessionError};
use model::{DataTable, DatabaseProduct, RegexError, Reply, SqlRequest, SqlWorkload};
use thiserror::Error;
use units::{Nanos, RealClock};

use crate::database::driver::DatabaseSessionDriver;
use crate::database::error::DatabaseError;
use crate::database::mariadb::MariaDbSessions;
use crate::database::per_product::{PerProduct, each};
use crate::database::postgres::PostgresSessions;
use crate::database::room::DatabaseConnections;
use crate::database::server::{DatabaseServer, DatabaseSetupError};
use crate::database::transaction::CommitMode;
use driver::SessionContext;
pub use session::StatementRefusal;

/// A reason why statements cannot be sent.
#[derive(Debug, Error)]
pub enum SqlSetupError {
    /// Connections cannot be made.
    #[error(transparent)]
    Connections(#[from] DatabaseSetupError),
    /// The values of some data are not at hand.
    #[error("the values of data `{0}` are not available")]
    NoData(String),
    /// A statement names a value that the workload does not have.
    #[error("`{0}` is not defined in the workload")]
    NoValue(String),
    /// The product reads no placeholder of a parameter as one.
    #[error("{product} reads `{{{name}}}` as text, because it is within quotes or a comment")]
    NotRead {
        /// The product.
        product: DatabaseProduct,
        /// The name of the parameter.
        name: String,
    },
    /// A regular expression of the workload is none.
    #[error("not a regular expression: {0}")]
    Regex(#[from] RegexError),
}

/// The state that all sessions of a load thread with one server share.
#[derive(Debug)]
pub struct SqlSessions(PerProduct<Rc<SessionContext<PostgresSessions>>, Rc<SessionContext<MariaDbSessions>>>);

impl SqlSessions {
    /// Prepares the transactions of a workload for a server; `data` are the values of its data, in their order.
    ///
    /// # Errors
    /// Connections cannot be made, or values are missing.
    pub fn new(
        workload: &SqlWorkload,
        data: &[Arc<DataTable>],
        server: &DatabaseServer,
        source_addresses: &[IpAddr],
        clock: RealClock,
    ) -> Result<SqlSessions, SqlSetupError> {
        Ok(SqlSessions(match server.product {
            DatabaseProduct::PostgreSql => {
                let sessions = PostgresSessions::new(server, None, source_addresses)?;
                PerProduct::PostgreSql(SessionContext::new(server.product, sessions, workload, data, clock)?)
            }
            DatabaseProduct::MariaDb => {
                let sessions = MariaDbSessions::new(server, None, source_addresses)?;
                PerProduct::MariaDb(SessionContext::new(server.product, sessions, workload, data, clock)?)
            }
        }))
    }

    /// Prepares every statement in a session that ends then; returns what the server refuses. Log-on and preparing may take as
    /// long as an operation, each.
    ///
    /// # Errors
    /// There is no session, or it is lost.
    pub async fn refusals(&self, limit: Duration) -> Result<Vec<StatementRefusal>, DatabaseError> {
        each!(&self.0, context => context.refusals(limit).await)
    }

    /// Returns the connections that the server has for the user; `None` of one that does not say.
    ///
    /// # Errors
    /// There is no session, or it is lost.
    pub async fn connections(&self, limit: Duration) -> Result<Option<DatabaseConnections>, DatabaseError> {
        each!(&self.0, context => context.connections(limit).await)
    }
}

/// A driver of one user; owns the user's session.
pub struct SqlDriver(
    PerProduct<
        DatabaseSessionDriver<SessionContext<PostgresSessions>>,
        DatabaseSessionDriver<SessionContext<MariaDbSessions>>,
    >,
);

impl SqlDriver {
    /// Creates the driver of a user, without a session.
    pub fn new(sessions: &SqlSessions) -> SqlDriver {
        SqlDriver::with(sessions, CommitMode::Kept)
    }

    /// Creates a driver whose transactions change nothing: each is rolled back when it is done.
    pub fn without_changes(sessions: &SqlSessions) -> SqlDriver {
        SqlDriver::with(sessions, CommitMode::Undone)
    }

    fn with(sessions: &SqlSessions, changes: CommitMode) -> SqlDriver {
        SqlDriver(match &sessions.0 {
            PerProduct::PostgreSql(context) => {
                PerProduct::PostgreSql(DatabaseSessionDriver::new(Rc::clone(context), changes))
            }
            PerProduct::MariaDb(context) => {
                PerProduct::MariaDb(DatabaseSessionDriver::new(Rc::clone(context), changes))
            }
        })
    }
}

impl Driver for SqlDriver {
    type Operation = SqlRequest;

    const OPENS_WHEN_NEEDED: bool = true;

    async fn open(&mut self) -> Result<(), SessionError> {
        each!(&mut self.0, driver => driver.open().await)
    }

    async fn perform(&mut self, request: &SqlRequest, sent: Nanos) -> Reply {
        each!(&mut self.0, driver => driver.perform(request, sent).await)
    }

    fn give_up(&mut self) {
        each!(&mut self.0, driver => driver.give_up());
    }

    fn describe(&self, request: &SqlRequest, reply: &Reply) -> String {
        each!(&self.0, driver => driver.describe(request, reply))
    }
}
