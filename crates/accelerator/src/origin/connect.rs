//! New connections to a server.

use std::io::ErrorKind;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use units::Nanos;

use super::connection::Connection;
use super::deadline::within;
use super::failure::OriginFailure;
use super::servers::Server;
use super::stream::Stream;

/// Makes a connection, by TLS if the server is asked so, all within a time limit.
pub(super) async fn connect(server: &Server, now: Nanos, limit: Nanos) -> Result<Connection, OriginFailure> {
    server.counts.connections.fetch_add(1, Ordering::Relaxed);
    within(limit, establish(server, now), || OriginFailure::ConnectTimedOut).await
}

async fn establish(server: &Server, now: Nanos) -> Result<Connection, OriginFailure> {
    let addresses = server.resolver.addresses(now).await?;
    let socket = reach(&addresses).await?;
    // Whoever waits for a reply has sent all there is; waiting for more would only delay it.
    socket.set_nodelay(true).map_err(|error| OriginFailure::Unreachable(error.kind()))?;
    let Some((config, name)) = &server.tls else {
        return Ok(Connection::new(Stream::Plain(socket)));
    };
    let stream = TlsConnector::from(Arc::clone(config)).connect(name.clone(), socket).await;
    let stream = stream.map_err(|error| OriginFailure::Tls(error.to_string()))?;
    Ok(Connection::new(Stream::Tls(Box::new(stream))))
}

/// Connects to the first address that accepts.
async fn reach(addresses: &[SocketAddr]) -> Result<TcpStream, OriginFailure> {
    let mut last = ErrorKind::NotFound;
    for address in addresses {
        match TcpStream::connect(address).await {
            Ok(socket) => return Ok(socket),
            Err(error) => last = error.kind(),
        }
    }
    Err(OriginFailure::Unreachable(last))
}
