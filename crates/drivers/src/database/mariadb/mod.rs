//! MariaDB: connections by the packets of `mysql_common`, over our own streams.
//!
//! - `wire`: commands, one at a time, and their results; `text`: statements as MariaDB has them
//! - `packets`: the framing of packets; `layout`: the values of a row, by the types of columns
//! - `row`: values of parameters and results; `columns`: their descriptions; `buffers`: the memory of commands, which sessions
//!   share

mod buffers;
mod columns;
mod layout;
mod packets;
pub(crate) mod row;
mod text;
pub(crate) mod wire;

use std::net::IpAddr;
use std::rc::Rc;

use super::connection::SqlConnection;
use super::failure::SqlFailure;
use super::server::{DatabaseServer, DatabaseSetupError, SqlServer};
use super::socket::ServerSocket;
use wire::{Login, SharedState, Wire};

/// The sessions of users with one server.
#[derive(Debug)]
pub(crate) struct MariaDbSessions {
    socket: ServerSocket,
    login: Login,
    /// The database whose names need no prefix, if there is one.
    database: Option<String>,
    shared: Rc<SharedState>,
}

impl MariaDbSessions {
    /// Prepares connections from these addresses. Names without a database are those of `database`, or else of the one that
    /// the server is named with, if it is.
    pub(crate) fn new(
        server: &DatabaseServer,
        database: Option<&str>,
        source_addresses: &[IpAddr],
    ) -> Result<MariaDbSessions, DatabaseSetupError> {
        let socket = ServerSocket::of(server, source_addresses)?;
        let login = Login { user: server.user.clone(), password: server.password.clone() };
        let database = database.unwrap_or(&server.database);
        let database = Some(database.to_owned()).filter(|database| !database.is_empty());
        Ok(MariaDbSessions { socket, login, database, shared: Rc::default() })
    }

    /// Connects without a database.
    pub(crate) async fn connect_to_none(&self) -> Result<Wire, SqlFailure> {
        Wire::open(&self.socket, &self.login, None, &self.shared).await
    }
}

impl SqlServer for MariaDbSessions {
    type Connection = Wire;

    fn socket(&self) -> &ServerSocket {
        &self.socket
    }

    async fn connect(&self) -> Result<Wire, SqlFailure> {
        Wire::open(&self.socket, &self.login, self.database.as_deref(), &self.shared).await
    }

    async fn cancel(&self, wire: Wire) {
        if let Ok(mut other) = self.connect_to_none().await {
            // The statement may have ended, and the session with it.
            drop(other.command(&format!("KILL QUERY {}", wire.session())).await);
        }
    }
}
