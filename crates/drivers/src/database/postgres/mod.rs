//! PostgreSQL: sessions over our own streams, by the messages of its protocol.
//!
//! - `message`: messages of the server; `failure`: its refusals; `row`: values of parameters and results
//! - `login`: the beginning of a session
//! - `wire`: requests, one at a time, and their replies; `buffers`: the memory for these, which sessions share

mod buffers;
mod failure;
mod login;
mod message;
pub(crate) mod row;
pub(crate) mod wire;

use std::net::IpAddr;
use std::rc::Rc;

use bytes::BytesMut;
use postgres_protocol::message::frontend;
use tokio::io::AsyncReadExt;

use super::connection::SqlConnection;
use super::failure::SqlFailure;
use super::server::{DatabaseServer, DatabaseSetupError, SqlServer};
use super::socket::ServerSocket;
use buffers::SharedBuffers;
use login::Login;
use wire::Wire;

/// The sessions of users with one server.
#[derive(Debug)]
pub(crate) struct PostgresSessions {
    socket: ServerSocket,
    login: Login,
    /// The statement after which names without a schema are those of ours.
    choose_schema: Option<String>,
    buffers: Rc<SharedBuffers>,
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
        let choose_schema = schema.map(|schema| format!("SET search_path TO {schema}"));
        Ok(PostgresSessions { socket, login: Login::new(server), choose_schema, buffers: Rc::default() })
    }
}

impl SqlServer for PostgresSessions {
    type Connection = Wire;

    fn socket(&self) -> &ServerSocket {
        &self.socket
    }

    async fn connect(&self) -> Result<Wire, SqlFailure> {
        let mut wire = Wire::open(&self.socket, &self.login, &self.buffers).await?;
        // Poolers refuse most of what could be said of it when the session begins.
        if let Some(statement) = &self.choose_schema {
            wire.command(statement).await?;
        }
        Ok(wire)
    }

    async fn cancel(&self, wire: Wire) {
        let Ok(mut stream) = wire::connect(&self.socket).await else { return };
        let mut request = BytesMut::new();
        frontend::cancel_request(wire.key().process, wire.key().secret, &mut request);
        // The server ends the connection when it is done, and does not say whether it found something to cancel. A pooler
        // forgets the request where either connection ends before that.
        if stream.send(&request).await.is_ok() {
            drop(stream.read(&mut [0]).await);
        }
        drop(wire);
    }
}
