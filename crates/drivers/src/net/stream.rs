//! Streams to a server, over TCP, TLS or a Unix socket, which count the bytes of its protocol.

use std::cell::Cell;
use std::io::{Result, Write as _};
use std::net::IpAddr;
use std::path::Path;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll};

use model::Outcome;
use rustix::io::Errno;
use rustix::net::sockopt::set_tcp_quickack;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt, ReadBuf};
use tokio::net::{TcpStream, UnixStream};
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use super::endpoint::TargetEndpoint;
use super::failure::OperationFailure;
use super::tls::ClientTls;

/// Bytes of a stream so far.
#[derive(Debug, Default)]
pub(crate) struct StreamBytes {
    sent: Cell<u64>,
    received: Cell<u64>,
}

impl StreamBytes {
    /// Returns the bytes sent and received.
    pub(crate) fn get(&self) -> (u64, u64) {
        (self.sent.get(), self.received.get())
    }
}

/// A stream that counts its bytes: with TLS, those within it.
///
/// It says farewell when it is dropped, as far as the socket takes it without waiting: servers log and count sessions that
/// end without it.
#[derive(Debug)]
pub(crate) struct MeteredStream {
    socket: Socket,
    pub(crate) bytes: Rc<StreamBytes>,
    /// The last request of a session; nothing before there is one.
    pub(crate) farewell: &'static [u8],
}

impl Drop for MeteredStream {
    fn drop(&mut self) {
        // A server that has closed the connection before does not receive it.
        let _ = match &mut self.socket {
            _ if self.farewell.is_empty() => return,
            Socket::Tcp(stream) => stream.try_write(self.farewell),
            Socket::Unix(stream) => stream.try_write(self.farewell),
            Socket::Tls(stream) => stream.0.get_mut().1.writer().write(self.farewell),
            Socket::HandedOver => return,
        };
    }
}

impl MeteredStream {
    /// Connects over TCP, without encryption so far.
    pub(crate) async fn connect(
        endpoint: &TargetEndpoint,
    ) -> std::result::Result<MeteredStream, OperationFailure> {
        let socket = endpoint.connect().await?;
        let stream = TcpStream::from_std(socket.into()).map_err(OperationFailure::of_io)?;
        stream.set_nodelay(true).map_err(OperationFailure::of_io)?;
        Ok(MeteredStream::of(Socket::Tcp(stream)))
    }

    /// Connects to a Unix socket.
    pub(crate) async fn connect_unix(path: &Path) -> std::result::Result<MeteredStream, OperationFailure> {
        let stream = UnixStream::connect(path).await.map_err(OperationFailure::of_io)?;
        Ok(MeteredStream::of(Socket::Unix(stream)))
    }

    fn of(socket: Socket) -> MeteredStream {
        MeteredStream { socket, bytes: Rc::default(), farewell: &[] }
    }

    /// Has the kernel acknowledge what has arrived at once, not with the next request: a server that does not send the next
    /// part of a reply before that (Nagle's algorithm, RFC 896) would wait for the delayed acknowledgment, some 40 ms.
    ///
    /// Costs a kernel call. The kernel goes back to delays by itself, so that it is to be told each time.
    pub(crate) fn acknowledge(&self) {
        let stream = match &self.socket {
            Socket::Tcp(stream) => stream,
            Socket::Tls(stream) => stream.0.get_ref().0,
            Socket::Unix(_) | Socket::HandedOver => return,
        };
        // It is acknowledged later if that fails.
        let _ = set_tcp_quickack(stream, true);
    }

    /// Sends a request, as a whole: TLS keeps what the socket does not take at once until it is flushed. Where the caller does
    /// not wait for the end, the stream says no farewell, which would complete the request.
    pub(crate) async fn send(&mut self, request: &[u8]) -> std::result::Result<(), OperationFailure> {
        let farewell = std::mem::take(&mut self.farewell);
        self.write_all(request).await.map_err(OperationFailure::of_io)?;
        self.flush().await.map_err(OperationFailure::of_io)?;
        self.farewell = farewell;
        Ok(())
    }

    /// Returns whether nobody else can read what goes over it: with TLS, or within this machine.
    pub(crate) fn is_private(&self) -> bool {
        match &self.socket {
            Socket::Tcp(stream) => stream.peer_addr().is_ok_and(|peer| is_within_machine(peer.ip())),
            Socket::Tls(_) | Socket::Unix(_) => true,
            Socket::HandedOver => false,
        }
    }

    /// Goes on over TLS, to which the server has agreed.
    pub(crate) async fn encrypted(
        mut self,
        tls: &ClientTls,
    ) -> std::result::Result<MeteredStream, OperationFailure> {
        let failed = OperationFailure::new(Outcome::TlsFailed, 0);
        let socket = std::mem::replace(&mut self.socket, Socket::HandedOver);
        let Socket::Tcp(stream) = socket else { return Err(failed) };
        let connecting = TlsConnector::from(Arc::clone(&tls.config)).connect(tls.name.clone(), stream);
        let stream = connecting.await.map_err(|error| match Errno::from_io_error(&error) {
            Some(errno) => OperationFailure::from(errno),
            None => failed,
        })?;
        self.socket = Socket::Tls(Box::new(ClosingTls(stream)));
        Ok(self)
    }
}

/// Returns whether a connection with an address does not leave this machine.
fn is_within_machine(peer: IpAddr) -> bool {
    peer.to_canonical().is_loopback()
}

#[derive(Debug)]
enum Socket {
    Tcp(TcpStream),
    Tls(Box<ClosingTls>),
    Unix(UnixStream),
    /// None: the handshake of TLS has it.
    HandedOver,
}

/// A TLS stream that says `close_notify` when it is dropped, as far as the socket takes it without waiting.
///
/// OpenSSL remembers an end without it as an error of the thread that has met it. Where threads of a pool serve many
/// sessions, as MariaDB's do, that error then ends another client's session.
#[derive(Debug)]
struct ClosingTls(TlsStream<TcpStream>);

impl Drop for ClosingTls {
    fn drop(&mut self) {
        let (socket, session) = self.0.get_mut();
        session.send_close_notify();
        let mut bytes = Vec::new();
        while session.wants_write() {
            if session.write_tls(&mut bytes).is_err() {
                return;
            }
        }
        // A server that has closed the connection before does not receive it.
        let _ = socket.try_write(&bytes);
    }
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
            Socket::Tls(stream) => Pin::new(&mut stream.0).poll_read(context, buffer),
            Socket::Unix(stream) => Pin::new(stream).poll_read(context, buffer),
            Socket::HandedOver => Poll::Ready(Ok(())),
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
            Socket::Tls(stream) => Pin::new(&mut stream.0).poll_write(context, bytes),
            Socket::Unix(stream) => Pin::new(stream).poll_write(context, bytes),
            Socket::HandedOver => Poll::Ready(Ok(0)),
        };
        if let Poll::Ready(Ok(n_written)) = &written {
            self.bytes.sent.set(self.bytes.sent.get() + *n_written as u64);
        }
        written
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<()>> {
        match &mut self.socket {
            Socket::Tcp(stream) => Pin::new(stream).poll_flush(context),
            Socket::Tls(stream) => Pin::new(&mut stream.0).poll_flush(context),
            Socket::Unix(stream) => Pin::new(stream).poll_flush(context),
            Socket::HandedOver => Poll::Ready(Ok(())),
        }
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<()>> {
        match &mut self.socket {
            Socket::Tcp(stream) => Pin::new(stream).poll_shutdown(context),
            Socket::Tls(stream) => Pin::new(&mut stream.0).poll_shutdown(context),
            Socket::Unix(stream) => Pin::new(stream).poll_shutdown(context),
            Socket::HandedOver => Poll::Ready(Ok(())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_in_clear_go_over_loopback_and_no_other_address() {
        let is_within = |address: &str| is_within_machine(address.parse().unwrap());
        assert_eq!(["127.0.0.1", "127.8.0.1", "::1", "::ffff:127.0.0.1"].map(is_within), [true; 4]);
        assert_eq!(["10.0.0.1", "192.168.1.2", "fd00::1", "::ffff:10.0.0.1"].map(is_within), [false; 4]);
    }
}
