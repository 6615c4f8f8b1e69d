//! Order entry on MariaDB: a connection for each terminal, and transactions in one of two forms of SQL.
//!
//! - `wire`: commands, one at a time, and their results; `text`: statements as MariaDB has them
//! - `columns`: the columns of results; `row`: values of parameters and results
//! - `forms`: the statements of a session; `stored`: the calls of procedures
//! - `dialect`: the schema, and its rows as the lines of a file or the values of an `INSERT` (`rows`)

mod columns;
mod dialect;
mod forms;
mod row;
mod rows;
mod stored;
mod text;
mod wire;

use std::net::IpAddr;
use std::rc::Rc;

use super::database::{DatabaseServer, DatabaseSetupError};
use super::sql::connection::SqlConnection;
use super::sql::driver::{OrderServer, SqlServer};
use super::sql::failure::SqlFailure;
use super::sql::schema::ORDER_SCHEMA;
use super::sql::stream::ServerSocket;
use columns::KnownColumns;
use forms::MariaDbForms;
use wire::{Login, Wire};

/// The sessions of terminals with one server.
#[derive(Debug)]
pub(crate) struct MariaDbSessions {
    socket: ServerSocket,
    login: Login,
    /// The database whose names need no prefix, if there is one.
    database: Option<String>,
    columns: Rc<KnownColumns>,
}

impl MariaDbSessions {
    /// Prepares connections from these addresses, to our own database.
    pub(crate) fn new(
        server: &DatabaseServer,
        source_addresses: &[IpAddr],
    ) -> Result<MariaDbSessions, DatabaseSetupError> {
        MariaDbSessions::with(server, source_addresses, Some(ORDER_SCHEMA.to_owned()))
    }

    /// Prepares connections from these addresses, to the database that the server is named with, if it is.
    pub(crate) fn own(
        server: &DatabaseServer,
        source_addresses: &[IpAddr],
    ) -> Result<MariaDbSessions, DatabaseSetupError> {
        let database = Some(server.database.clone()).filter(|database| !database.is_empty());
        MariaDbSessions::with(server, source_addresses, database)
    }

    fn with(
        server: &DatabaseServer,
        source_addresses: &[IpAddr],
        database: Option<String>,
    ) -> Result<MariaDbSessions, DatabaseSetupError> {
        let socket = ServerSocket::of(server, source_addresses)?;
        let login = Login { user: server.user.clone(), password: server.password.clone() };
        Ok(MariaDbSessions { socket, login, database, columns: Rc::default() })
    }
}

impl OrderServer for MariaDbSessions {
    type Forms = MariaDbForms;
}

impl SqlServer for MariaDbSessions {
    type Connection = Wire;

    fn socket(&self) -> &ServerSocket {
        &self.socket
    }

    async fn connect(&self) -> Result<Wire, SqlFailure> {
        Wire::open(&self.socket, &self.login, self.database.as_deref(), &self.columns).await
    }

    async fn cancel(&self, wire: Wire) {
        if let Ok(mut other) = Wire::open(&self.socket, &self.login, None, &self.columns).await {
            // The statement may have ended, and the session with it.
            drop(other.command(&format!("KILL QUERY {}", wire.session())).await);
        }
    }
}
