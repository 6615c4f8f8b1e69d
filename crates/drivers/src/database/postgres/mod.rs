//! PostgreSQL: connections by `tokio-postgres`, over our own streams.
//!
//! - `wire`: requests, one at a time, and their round trips
//! - `row`, `failure`: values and failures as the library has them

mod failure;
pub(crate) mod row;
pub(crate) mod wire;

use std::net::IpAddr;

use tokio_postgres::Config;
use tokio_postgres::config::SslMode;

use super::failure::SqlFailure;
use super::server::{DatabaseServer, DatabaseSetupError, SqlServer};
use super::stream::ServerSocket;
use wire::Wire;

/// Returns the parameters of connections. Names without a schema are those of `schema`, or of the user's own search path.
/// Encryption is ours, not the library's.
fn config(server: &DatabaseServer, schema: Option<&str>) -> Config {
    let mut config = Config::new();
    config
        .user(&server.user)
        .dbname(&server.database)
        .application_name("plimsoll")
        .ssl_mode(SslMode::Disable);
    if let Some(schema) = schema {
        config.options(format!("-c search_path={schema}"));
    }
    if let Some(password) = &server.password {
        config.password(password.text());
    }
    config
}

/// The sessions of users with one server.
#[derive(Debug)]
pub(crate) struct PostgresSessions {
    socket: ServerSocket,
    config: Config,
}

impl PostgresSessions {
    /// Prepares connections from these addresses. Names without a schema are those of `schema`, or else those that the user
    /// of the server sees.
    pub(crate) fn new(
        server: &DatabaseServer,
        schema: Option<&str>,
        source_addresses: &[IpAddr],
    ) -> Result<PostgresSessions, DatabaseSetupError> {
        let socket = ServerSocket::of(server, source_addresses)?;
        Ok(PostgresSessions { socket, config: config(server, schema) })
    }
}

impl SqlServer for PostgresSessions {
    type Connection = Wire;

    fn socket(&self) -> &ServerSocket {
        &self.socket
    }

    async fn connect(&self) -> Result<Wire, SqlFailure> {
        Wire::open(&self.socket, &self.config).await
    }

    async fn cancel(&self, wire: Wire) {
        if let Ok(stream) = wire::connect(&self.socket).await {
            // The server does not say whether it found something to cancel.
            drop(wire.cancel_token().cancel_query_raw(stream, tokio_postgres::NoTls).await);
        }
    }
}
