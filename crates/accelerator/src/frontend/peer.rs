//! The peer of a client connection.

use std::net::SocketAddr;
use std::os::fd::AsFd;
use std::time::Duration;

use cache_policy::Scheme;
use socket2::SockRef;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio_rustls::server::TlsStream;

use super::rewind::Rewind;
use super::socket_calls::unacknowledged_bytes;

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

    /// Returns the bytes that the kernel has taken and the client's machine has not acknowledged; with TLS, encrypted.
    fn unacknowledged(&self) -> u64;

    /// Has the connection reset when it is closed, so that the kernel keeps nothing for a client that takes nothing.
    fn reset_on_close(&self);
}

impl ClientStream for TcpStream {
    const NEEDS_SHUTDOWN: bool = false;

    fn unacknowledged(&self) -> u64 {
        // Without an answer what the kernel has taken counts.
        unacknowledged_bytes(self.as_fd()).unwrap_or(0)
    }

    fn reset_on_close(&self) {
        // If the client has left already, there is nothing to reset.
        let _ = SockRef::from(self).set_linger(Some(Duration::ZERO));
    }
}

impl<W: ClientStream> ClientStream for Rewind<W> {
    const NEEDS_SHUTDOWN: bool = W::NEEDS_SHUTDOWN;

    fn unacknowledged(&self) -> u64 {
        self.get_ref().unacknowledged()
    }

    fn reset_on_close(&self) {
        self.get_ref().reset_on_close();
    }
}

impl<W: ClientStream> ClientStream for TlsStream<W> {
    const NEEDS_SHUTDOWN: bool = true;

    fn unacknowledged(&self) -> u64 {
        self.get_ref().0.unacknowledged()
    }

    fn reset_on_close(&self) {
        self.get_ref().0.reset_on_close();
    }
}
