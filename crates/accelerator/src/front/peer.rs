//! Who is at the other end.

use std::net::SocketAddr;

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio_rustls::server::TlsStream;

use super::prefixed::Prefixed;
use crate::policy::Scheme;

/// The other end of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Peer {
    /// The client: what a trusted peer said by the PROXY protocol, else who connected.
    pub(super) client: SocketAddr,
    /// Whether it speaks TLS to us.
    pub(super) scheme: Scheme,
}

/// What a client's connection is read from and written to.
pub(super) trait Wire: AsyncRead + AsyncWrite + Unpin {
    /// Whether the end has to be said before the connection is closed: of TLS, or a client cannot tell it from an attack.
    const SAYS_END: bool;
}

impl Wire for TcpStream {
    const SAYS_END: bool = false;
}

impl<W: Wire> Wire for Prefixed<W> {
    const SAYS_END: bool = W::SAYS_END;
}

impl<W: Wire> Wire for TlsStream<W> {
    const SAYS_END: bool = true;
}
