//! TCP sockets, and Unix sockets in their place.
//!
//! The cost of a request is its kernel calls. A connection per request takes six: socket, connect, send (at
//! once: on a fast network the connection is established by then), registration for reading only, one read,
//! close. A kept connection takes two: send and read. A read that does not fill the buffer has emptied the
//! socket; an end of stream that was reported before the read needs no read of its own.

use std::cell::RefCell;
use std::future::poll_fn;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::{AsFd, OwnedFd};
use std::task::{Context, Poll, Waker, ready};

use rustix::io::Errno;
use rustix::net::{
    AddressFamily, SendFlags, SocketAddrUnix, SocketFlags, SocketType, bind, connect, send, socket_with,
    sockopt,
};
use tokio::io::unix::AsyncFd;
use tokio::io::{Interest, Ready};

/// An established connection, registered for reading.
#[derive(Debug)]
pub struct TcpTransport {
    descriptor: AsyncFd<OwnedFd>,
    /// Number of requests sent on it.
    pub(crate) requests: u32,
}

/// The result of one read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReadOutcome {
    /// Bytes added to the buffer; zero at the end of the stream.
    pub(crate) bytes: usize,
    /// Whether the stream has ended.
    pub(crate) is_end: bool,
}

/// The result of an attempt to send a request without waiting.
pub(crate) enum SendOutcome {
    /// All of it was sent.
    Whole(TcpTransport),
    /// The connection is established and this much was sent; the socket buffer is full.
    Partly(OwnedFd, usize),
    /// The connection is not established yet.
    NotYet(OwnedFd),
}

/// Creates a socket for connections to an address, bound to a source address if one is given.
pub(super) fn make_socket(address: &SocketAddr, source: Option<IpAddr>) -> Result<OwnedFd, Errno> {
    let family = if address.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
    let socket = socket_with(family, SocketType::STREAM, SocketFlags::NONBLOCK | SocketFlags::CLOEXEC, None)?;
    if let Some(source) = source {
        engine::descriptor::bind_address_no_port(socket.as_fd()).map_err(errno)?;
        bind(&socket, &SocketAddr::new(source, 0))?;
    }
    Ok(socket)
}

/// Starts a connection. Returns the socket and whether the kernel reports it as established already.
pub(super) fn begin(address: &SocketAddr, source: Option<IpAddr>) -> Result<(OwnedFd, bool), Errno> {
    let socket = make_socket(address, source)?;
    match connect(&socket, address) {
        Ok(()) => Ok((socket, true)),
        Err(Errno::INPROGRESS) => Ok((socket, false)),
        Err(error) => Err(error),
    }
}

/// Starts a connection to a Unix socket. The kernel establishes it at once, or refuses it.
pub(super) fn begin_unix(address: &SocketAddrUnix) -> Result<(OwnedFd, bool), Errno> {
    let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
    let socket = socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)?;
    connect(&socket, address)?;
    Ok((socket, true))
}

/// Sends a request on a connecting socket: on a fast network the connection is established by now.
pub(crate) fn send_at_once(
    socket: OwnedFd,
    is_established: bool,
    request: &[u8],
) -> Result<SendOutcome, Errno> {
    match send(&socket, request, SendFlags::NOSIGNAL) {
        Ok(n) if n == request.len() => Ok(SendOutcome::Whole(TcpTransport::new(socket)?)),
        Ok(n) => Ok(SendOutcome::Partly(socket, n)),
        Err(Errno::AGAIN) if is_established => Ok(SendOutcome::Partly(socket, 0)),
        Err(Errno::AGAIN) => Ok(SendOutcome::NotYet(socket)),
        Err(error) => Err(error),
    }
}

/// Waits until a connection attempt has succeeded or failed.
pub(crate) async fn established(socket: OwnedFd) -> Result<OwnedFd, Errno> {
    let socket = writable(socket).await?;
    sockopt::socket_error(&socket)??;
    Ok(socket)
}

/// Sends all of `request` on an established socket, waiting for buffer space if necessary.
pub(crate) async fn send_all(mut socket: OwnedFd, mut request: &[u8]) -> Result<TcpTransport, Errno> {
    while !request.is_empty() {
        match send(&socket, request, SendFlags::NOSIGNAL) {
            Ok(sent) => request = &request[sent..],
            Err(Errno::AGAIN) => socket = writable(socket).await?,
            Err(error) => return Err(error),
        }
    }
    TcpTransport::new(socket)
}

async fn writable(socket: OwnedFd) -> Result<OwnedFd, Errno> {
    let descriptor = engine::descriptor::register(socket, Interest::WRITABLE).map_err(errno)?;
    descriptor.writable().await.map_err(errno)?.retain_ready();
    Ok(descriptor.into_inner())
}

impl TcpTransport {
    /// Registers an established socket for reading.
    pub(crate) fn new(socket: OwnedFd) -> Result<TcpTransport, Errno> {
        let descriptor = engine::descriptor::register(socket, Interest::READABLE).map_err(errno)?;
        Ok(TcpTransport { descriptor, requests: 0 })
    }

    /// Returns whether a kept connection can be reused: no unexpected bytes have arrived, and the peer has
    /// not ended it. Costs no kernel call.
    pub(crate) fn is_fresh(&self) -> bool {
        let mut context = Context::from_waker(Waker::noop());
        matches!(self.descriptor.poll_read_ready(&mut context), Poll::Pending)
    }

    /// Waits until the peer has closed its side. Costs no kernel call.
    pub(crate) async fn peer_closes(&self) {
        while let Ok(mut guard) = poll_fn(|context| self.descriptor.poll_read_ready(context)).await {
            if guard.ready().is_read_closed() {
                return;
            }
            guard.clear_ready();
        }
    }

    /// Sends as much of a request as fits the socket buffer. Returns the rest.
    #[inline]
    pub(crate) fn send_now(&self, request: &[u8]) -> Result<Option<Box<[u8]>>, Errno> {
        match send(self.descriptor.get_ref(), request, SendFlags::NOSIGNAL) {
            Ok(sent) if sent == request.len() => Ok(None),
            Ok(sent) => Ok(Some(request[sent..].into())),
            Err(Errno::AGAIN) => Ok(Some(request.into())),
            Err(error) => Err(error),
        }
    }

    /// Returns and clears the pending error of the socket. Costs a kernel call.
    pub(crate) fn error(&self) -> Result<(), Errno> {
        sockopt::socket_error(self.descriptor.get_ref())?
    }

    /// Returns the socket, deregistered.
    pub(crate) fn into_socket(self) -> OwnedFd {
        self.descriptor.into_inner()
    }

    /// Sends the rest of a request, waiting for buffer space.
    pub(crate) async fn send_rest(self, rest: Box<[u8]>) -> Result<TcpTransport, Errno> {
        let requests = self.requests;
        let mut link = send_all(self.into_socket(), &rest).await?;
        link.requests = requests;
        Ok(link)
    }

    /// Waits for bytes and reads them into the buffer after `kept`, which is placed at its start. In an async function,
    /// what it has at hand between two steps would be part of the task of every user.
    #[inline]
    pub(crate) fn read<'a>(
        &'a self,
        buffer: &'a RefCell<Vec<u8>>,
        kept: &'a [u8],
    ) -> impl Future<Output = Result<ReadOutcome, Errno>> {
        poll_fn(move |context| self.poll_read(context, buffer, kept))
    }

    fn poll_read(
        &self,
        context: &mut Context<'_>,
        buffer: &RefCell<Vec<u8>>,
        kept: &[u8],
    ) -> Poll<Result<ReadOutcome, Errno>> {
        loop {
            let mut guard = ready!(self.descriptor.poll_read_ready(context)).map_err(errno)?;
            let has_ended = guard.ready().is_read_closed();
            let mut buffer = buffer.borrow_mut();
            buffer[..kept.len()].copy_from_slice(kept);
            let room = &mut buffer[kept.len()..];
            match rustix::io::read(self.descriptor.get_ref(), &mut *room) {
                Ok(0) => return Poll::Ready(Ok(ReadOutcome { bytes: 0, is_end: true })),
                Ok(bytes) => {
                    let is_all = bytes < room.len();
                    if is_all {
                        guard.clear_ready_matching(Ready::READABLE);
                    }
                    return Poll::Ready(Ok(ReadOutcome { bytes, is_end: is_all && has_ended }));
                }
                Err(Errno::AGAIN) => guard.clear_ready(),
                Err(Errno::INTR) => {}
                Err(error) => return Poll::Ready(Err(error)),
            }
        }
    }
}

pub(crate) fn errno(error: io::Error) -> Errno {
    Errno::from_io_error(&error).unwrap_or(Errno::IO)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Goal: local ports are allocated per connection, not per socket, so that many source addresses can
    /// share them.
    #[test]
    fn a_bound_socket_has_no_port_before_it_connects() {
        let source = "127.0.0.2".parse().unwrap();
        let socket = make_socket(&"127.0.0.1:80".parse().unwrap(), Some(source)).unwrap();
        let bound: SocketAddr = rustix::net::getsockname(&socket).unwrap().try_into().unwrap();
        assert_eq!(bound, SocketAddr::new(source, 0));
    }
}
