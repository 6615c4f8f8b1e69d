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
use super::sql::control::SqlDialect;
use super::sql::driver::SqlServer;
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
    columns: Rc<KnownColumns>,
}

impl MariaDbSessions {
    /// Prepares connections from these addresses.
    pub(crate) fn new(
        server: &DatabaseServer,
        source_addresses: &[IpAddr],
    ) -> Result<MariaDbSessions, DatabaseSetupError> {
        let socket = ServerSocket::of(server, source_addresses)?;
        let login = Login { user: server.user.clone(), password: server.password.clone() };
        Ok(MariaDbSessions { socket, login, columns: Rc::default() })
    }
}

impl SqlServer for MariaDbSessions {
    type Forms = MariaDbForms;

    fn socket(&self) -> &ServerSocket {
        &self.socket
    }

    async fn connect(&self) -> Result<Wire, SqlFailure> {
        Wire::open(&self.socket, &self.login, Some(ORDER_SCHEMA), &self.columns).await
    }

    async fn cancel(&self, wire: Wire) {
        if let Ok(mut other) = self.connect_beside().await {
            // The statement may have ended, and the session with it.
            drop(other.command(&format!("KILL QUERY {}", wire.session())).await);
        }
    }
}
