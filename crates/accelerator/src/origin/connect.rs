//! New connections to a server.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use units::Nanos;

use super::connection::OriginConnection;
use super::deadline::within;
use super::failure::OriginFailure;
use super::servers::UpstreamServer;
use super::stream::Stream;

/// Opens a connection, with TLS if the server needs it, within a time limit.
///
/// Each alternative gets its part of the limit: cached addresses if the name cannot be resolved in time, the next
/// address if one does not answer.
pub(super) async fn connect(
    server: &UpstreamServer,
    now: Nanos,
    limit: Nanos,
) -> Result<OriginConnection, OriginFailure> {
    server.counts.connections.fetch_add(1, Ordering::Relaxed);
    within(limit, establish(server, now, limit), || OriginFailure::ConnectTimedOut).await
}

async fn establish(
    server: &UpstreamServer,
    now: Nanos,
    limit: Nanos,
) -> Result<OriginConnection, OriginFailure> {
    let addresses = server.resolver.addresses(now, Nanos(limit.0 / 2)).await?;
    let socket = reach(&addresses, limit).await?;
    // A writer that waits for a response has sent all there is; waiting for more would only delay it.
    socket.set_nodelay(true).map_err(|error| OriginFailure::Unreachable(error.kind()))?;
    let Some((config, name)) = &server.tls else {
        return Ok(OriginConnection::new(Stream::Plain(socket)));
    };
    let stream = TlsConnector::from(Arc::clone(config)).connect(name.clone(), socket).await;
    let stream = stream.map_err(|error| OriginFailure::Tls(error.to_string()))?;
    Ok(OriginConnection::new(Stream::Tls(Box::new(stream))))
}

/// Connects to the first address that accepts; each has an equal part of the time limit.
async fn reach(addresses: &[SocketAddr], limit: Nanos) -> Result<TcpStream, OriginFailure> {
    let share = Nanos(limit.0 / addresses.len().max(1) as u64);
    let mut failed = OriginFailure::ConnectTimedOut;
    for address in addresses {
        let connecting = async {
            let connected = TcpStream::connect(address).await;
            connected.map_err(|error| OriginFailure::Unreachable(error.kind()))
        };
        match within(share, connecting, || OriginFailure::ConnectTimedOut).await {
            Ok(socket) => return Ok(socket),
            Err(failure) => failed = failure,
        }
    }
    Err(failed)
}

#[cfg(test)]
mod tests {
    use tokio::net::{TcpListener, TcpSocket};

    use super::*;

    #[test]
    fn an_unresponsive_address_leaves_time_for_the_next() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        runtime.block_on(async {
            let any = "127.0.0.1:0".parse().expect("an address");
            let socket = TcpSocket::new_v4().expect("a socket");
            socket.bind(any).expect("a port");
            let full = socket.listen(1).expect("a listener");
            let full_address = full.local_addr().expect("an address");
            // Nobody accepts: once the queue is full, the system leaves who knocks without an answer.
            let mut queued = Vec::new();
            while let Ok(stream) = reach(&[full_address], Nanos::from_millis(100)).await {
                queued.push(stream);
            }
            let live = TcpListener::bind(any).await.expect("a port");
            let addresses = [full_address, live.local_addr().expect("an address")];
            let reached = reach(&addresses, Nanos::from_millis(200)).await.expect("the second accepts");
            assert_eq!(reached.peer_addr().expect("an address"), addresses[1]);
        });
    }
}
