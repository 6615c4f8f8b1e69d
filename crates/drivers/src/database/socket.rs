//! The place of a database server, as connections to it are made.

use std::net::IpAddr;
use std::path::PathBuf;

use super::failure::SqlFailure;
use super::server::{DatabasePlace, DatabaseServer, DatabaseSetupError};
use crate::net::{CertificateProblem, ClientTls, MeteredStream, TargetEndpoint, TargetPolicy};

/// A server, as connections to it are made.
#[derive(Debug)]
pub(crate) struct ServerSocket {
    endpoint: SocketEndpoint,
    /// Encryption, which begins when the server has agreed to it.
    pub(crate) tls: Option<ClientTls>,
}

/// The place of a server, with the addresses that connections to it come from.
#[derive(Debug)]
enum SocketEndpoint {
    Tcp(TargetEndpoint),
    Unix(PathBuf),
}

impl ServerSocket {
    pub(crate) fn of(
        server: &DatabaseServer,
        source_addresses: &[IpAddr],
    ) -> Result<ServerSocket, DatabaseSetupError> {
        let endpoint = match &server.place {
            DatabasePlace::Tcp(address) => {
                SocketEndpoint::Tcp(TargetEndpoint::new(*address, TargetPolicy, source_addresses)?)
            }
            DatabasePlace::Unix(path) => SocketEndpoint::Unix(path.clone()),
        };
        // The protocols of databases have no name in ALPN, or none that a server insists on.
        let tls = server.encryption.as_ref().map(|one| ClientTls::new(&one.host, &one.trust, None, &[]));
        Ok(ServerSocket { endpoint, tls: tls.transpose()? })
    }

    /// Returns the problem of the last certificate that was refused.
    pub(crate) fn certificate_problem(&self) -> Option<CertificateProblem> {
        self.tls.as_ref()?.problem()
    }

    /// Connects, without encryption so far.
    pub(crate) async fn connect(&self) -> Result<MeteredStream, SqlFailure> {
        let connected = match &self.endpoint {
            SocketEndpoint::Tcp(endpoint) => MeteredStream::connect(endpoint).await,
            SocketEndpoint::Unix(path) => MeteredStream::connect_unix(path).await,
        };
        connected.map_err(SqlFailure::from)
    }
}
