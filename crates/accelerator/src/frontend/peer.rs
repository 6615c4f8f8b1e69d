//! The peer of a client connection.

use std::net::SocketAddr;

use cache_policy::Scheme;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio_rustls::server::TlsStream;

use super::rewind::Rewind;

/// The peer of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Peer {
    /// The client: as a trusted peer says by the PROXY protocol, else the peer that connected.
    pub(super) client: SocketAddr,
    /// `https` if it speaks TLS to this listener.
    pub(super) scheme: Scheme,
}

/// The byte stream of a client's connection.
pub(super) trait ClientStream: AsyncRead + AsyncWrite + Unpin {
    /// Whether the sending side must be shut down before the connection is closed: for TLS, where a client cannot
    /// tell a missing `close_notify` from an attack.
    const NEEDS_SHUTDOWN: bool;
}

impl ClientStream for TcpStream {
    const NEEDS_SHUTDOWN: bool = false;
}

impl<W: ClientStream> ClientStream for Rewind<W> {
    const NEEDS_SHUTDOWN: bool = W::NEEDS_SHUTDOWN;
}

impl<W: ClientStream> ClientStream for TlsStream<W> {
    const NEEDS_SHUTDOWN: bool = true;
}
