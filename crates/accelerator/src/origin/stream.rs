//! The byte stream of a connection, with and without TLS.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use rustix::net::RecvFlags;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio_rustls::client::TlsStream;

/// The byte stream of a connection to a server.
#[derive(Debug)]
pub(super) enum Stream {
    Plain(TcpStream),
    Tls(Box<TlsStream<TcpStream>>),
}

impl Stream {
    /// Returns whether nothing was received, not even an end. On an idle connection anything means that it cannot be
    /// reused.
    ///
    /// Asks the kernel, as the event loop may not have been told yet. With TLS a late session ticket counts as well,
    /// at the cost of a new connection.
    /// cost of a new connection.
    pub(super) fn is_reusable(&self) -> bool {
        let (socket, is_open) = match self {
            Stream::Plain(socket) => (socket, true),
            Stream::Tls(stream) => (stream.get_ref().0, stream.get_ref().1.wants_read()),
        };
        let mut byte = [0u8];
        let peeked = rustix::net::recv(socket, &mut byte, RecvFlags::PEEK | RecvFlags::DONTWAIT);
        is_open && peeked.is_err_and(|error| error == rustix::io::Errno::AGAIN)
    }
}

impl AsyncRead for Stream {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Stream::Plain(stream) => Pin::new(stream).poll_read(context, buffer),
            Stream::Tls(stream) => Pin::new(stream).poll_read(context, buffer),
        }
    }
}

impl AsyncWrite for Stream {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            Stream::Plain(stream) => Pin::new(stream).poll_write(context, bytes),
            Stream::Tls(stream) => Pin::new(stream).poll_write(context, bytes),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Stream::Plain(stream) => Pin::new(stream).poll_flush(context),
            Stream::Tls(stream) => Pin::new(stream).poll_flush(context),
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Stream::Plain(stream) => Pin::new(stream).poll_shutdown(context),
            Stream::Tls(stream) => Pin::new(stream).poll_shutdown(context),
        }
    }
}
