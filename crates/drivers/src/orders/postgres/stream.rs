//! Streams to a database server, over TCP or a Unix socket, which count their bytes.

use std::cell::Cell;
use std::io::{self, Result};
use std::path::PathBuf;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

use rustix::io::Errno;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpStream, UnixStream};

use super::PostgresPlace;
use crate::net::{OperationFailure, SourceAddressError, TargetEndpoint, TargetPolicy};

/// The place of a server, with the addresses that connections to it come from.
#[derive(Debug)]
pub(super) enum ServerSocket {
    Tcp(TargetEndpoint),
    Unix(PathBuf),
}

impl ServerSocket {
    pub(super) fn of(
        place: &PostgresPlace,
        source_addresses: &[std::net::IpAddr],
    ) -> std::result::Result<ServerSocket, SourceAddressError> {
        Ok(match place {
            PostgresPlace::Tcp(address) => {
                ServerSocket::Tcp(TargetEndpoint::new(*address, TargetPolicy, source_addresses)?)
            }
            PostgresPlace::Unix(path) => ServerSocket::Unix(path.clone()),
        })
    }

    /// Connects.
    pub(super) async fn connect(&self) -> std::result::Result<MeteredStream, OperationFailure> {
        let socket = match self {
            ServerSocket::Tcp(endpoint) => {
                let stream = TcpStream::from_std(endpoint.connect().await?.into()).map_err(failure)?;
                stream.set_nodelay(true).map_err(failure)?;
                Socket::Tcp(stream)
            }
            ServerSocket::Unix(path) => Socket::Unix(UnixStream::connect(path).await.map_err(failure)?),
        };
        Ok(MeteredStream { socket, bytes: Rc::default() })
    }
}

fn failure(error: io::Error) -> OperationFailure {
    OperationFailure::from(Errno::from_io_error(&error).unwrap_or(Errno::IO))
}

/// Bytes of a stream so far.
#[derive(Debug, Default)]
pub(super) struct StreamBytes {
    sent: Cell<u64>,
    received: Cell<u64>,
}

impl StreamBytes {
    /// Returns the bytes sent and received.
    pub(super) fn get(&self) -> (u64, u64) {
        (self.sent.get(), self.received.get())
    }
}

/// A stream that counts its bytes.
#[derive(Debug)]
pub(super) struct MeteredStream {
    socket: Socket,
    pub(super) bytes: Rc<StreamBytes>,
}

#[derive(Debug)]
enum Socket {
    Tcp(TcpStream),
    Unix(UnixStream),
}

impl AsyncRead for MeteredStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<Result<()>> {
        let before = buffer.filled().len();
        let read = match &mut self.socket {
            Socket::Tcp(stream) => Pin::new(stream).poll_read(context, buffer),
            Socket::Unix(stream) => Pin::new(stream).poll_read(context, buffer),
        };
        let n_read = buffer.filled().len() - before;
        self.bytes.received.set(self.bytes.received.get() + n_read as u64);
        read
    }
}

impl AsyncWrite for MeteredStream {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<Result<usize>> {
        let written = match &mut self.socket {
            Socket::Tcp(stream) => Pin::new(stream).poll_write(context, bytes),
            Socket::Unix(stream) => Pin::new(stream).poll_write(context, bytes),
        };
        if let Poll::Ready(Ok(n_written)) = &written {
            self.bytes.sent.set(self.bytes.sent.get() + *n_written as u64);
        }
        written
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<()>> {
        match &mut self.socket {
            Socket::Tcp(stream) => Pin::new(stream).poll_flush(context),
            Socket::Unix(stream) => Pin::new(stream).poll_flush(context),
        }
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<()>> {
        match &mut self.socket {
            Socket::Tcp(stream) => Pin::new(stream).poll_shutdown(context),
            Socket::Unix(stream) => Pin::new(stream).poll_shutdown(context),
        }
    }
}
