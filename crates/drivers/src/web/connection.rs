//! Sockets of the web driver.
//!
//! What a request costs is kernel calls. A connection per request takes six of them: socket,
//! connect, send (at once: on a fast network the connection is established by then), registration
//! for reading only, one read, close. A kept connection takes two: send and read. A read that
//! does not fill the buffer is taken as the end of what has arrived; a peer's end of stream that
//! was announced before the read needs no read of its own.

use std::io;
use std::net::SocketAddr;
use std::os::fd::OwnedFd;
use std::task::{Context, Poll, Waker};

use rustix::io::Errno;
use rustix::net::{AddressFamily, SendFlags, SocketFlags, SocketType, connect, send, socket_with, sockopt};
use tokio::io::unix::AsyncFd;
use tokio::io::{Interest, Ready};

/// An established connection, registered for reading.
#[derive(Debug)]
pub(crate) struct Link {
    descriptor: AsyncFd<OwnedFd>,
    /// Requests that it has carried.
    pub(crate) requests: u32,
}

/// What one look at a connection brought.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Arrived {
    /// Bytes in the buffer; zero at the end of the stream.
    pub(crate) bytes: usize,
    /// Whether nothing can follow.
    pub(crate) is_end: bool,
}

/// A socket whose connection was begun.
pub(crate) struct Begun {
    socket: OwnedFd,
    /// Whether the kernel said that it is established already.
    is_established: bool,
}

/// Begins a connection.
pub(crate) fn begin(address: &SocketAddr) -> Result<Begun, Errno> {
    let family = if address.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
    let socket = socket_with(family, SocketType::STREAM, SocketFlags::NONBLOCK | SocketFlags::CLOEXEC, None)?;
    match connect(&socket, address) {
        Ok(()) => Ok(Begun { socket, is_established: true }),
        Err(Errno::INPROGRESS) => Ok(Begun { socket, is_established: false }),
        Err(error) => Err(error),
    }
}

impl Begun {
    /// Sends a request at once if the connection is established. Returns how much of it went out;
    /// `None` if the connection is not there yet.
    pub(crate) fn try_send(&self, request: &[u8]) -> Result<Option<usize>, Errno> {
        match send(&self.socket, request, SendFlags::NOSIGNAL) {
            Ok(sent) => Ok(Some(sent)),
            Err(Errno::AGAIN) if !self.is_established => Ok(None),
            Err(Errno::AGAIN) => Ok(Some(0)),
            Err(error) => Err(error),
        }
    }

    /// Waits until the connection is established or has failed.
    pub(crate) async fn established(self) -> Result<OwnedFd, Errno> {
        let descriptor = engine::descriptor::watch(self.socket, Interest::WRITABLE).map_err(errno)?;
        descriptor.writable().await.map_err(errno)?.retain_ready();
        sockopt::socket_error(descriptor.get_ref())??;
        Ok(descriptor.into_inner())
    }

    /// Returns the socket of a connection that is known to be established.
    pub(crate) fn into_socket(self) -> OwnedFd {
        self.socket
    }
}

/// Sends all of `request` on an established socket, waiting for room where needed.
pub(crate) async fn send_all(socket: OwnedFd, mut request: &[u8]) -> Result<Link, Errno> {
    let mut socket = socket;
    while !request.is_empty() {
        match send(&socket, request, SendFlags::NOSIGNAL) {
            Ok(sent) => request = &request[sent..],
            Err(Errno::AGAIN) => {
                let descriptor = engine::descriptor::watch(socket, Interest::WRITABLE).map_err(errno)?;
                descriptor.writable().await.map_err(errno)?.retain_ready();
                socket = descriptor.into_inner();
            }
            Err(error) => return Err(error),
        }
    }
    Link::new(socket)
}

impl Link {
    /// Registers an established socket for reading.
    pub(crate) fn new(socket: OwnedFd) -> Result<Link, Errno> {
        let descriptor = engine::descriptor::watch(socket, Interest::READABLE).map_err(errno)?;
        Ok(Link { descriptor, requests: 0 })
    }

    /// Returns whether a kept connection can still be used: nothing has arrived that nobody asked for, and the
    /// peer has not ended it. Costs no kernel call.
    pub(crate) fn is_fresh(&self) -> bool {
        let mut context = Context::from_waker(Waker::noop());
        matches!(self.descriptor.poll_read_ready(&mut context), Poll::Pending)
    }

    /// Sends as much of a request as there is room for.
    pub(crate) fn try_send(&self, request: &[u8]) -> Result<usize, Errno> {
        match send(self.descriptor.get_ref(), request, SendFlags::NOSIGNAL) {
            Err(Errno::AGAIN) => Ok(0),
            result => result,
        }
    }

    /// Returns the socket, no longer registered.
    pub(crate) fn into_socket(self) -> OwnedFd {
        self.descriptor.into_inner()
    }

    /// Waits for something to arrive and reads it.
    pub(crate) async fn read(&self, buffer: &std::cell::RefCell<Vec<u8>>) -> Result<Arrived, Errno> {
        loop {
            let mut guard = self.descriptor.readable().await.map_err(errno)?;
            let has_ended = guard.ready().is_read_closed();
            let mut buffer = buffer.borrow_mut();
            let room = buffer.len();
            match rustix::io::read(self.descriptor.get_ref(), &mut buffer[..]) {
                Ok(0) => return Ok(Arrived { bytes: 0, is_end: true }),
                Ok(bytes) => {
                    let is_all = bytes < room;
                    if is_all {
                        guard.clear_ready_matching(Ready::READABLE);
                    }
                    return Ok(Arrived { bytes, is_end: is_all && has_ended });
                }
                Err(Errno::AGAIN) => guard.clear_ready(),
                Err(Errno::INTR) => {}
                Err(error) => return Err(error),
            }
        }
    }
}

fn errno(error: io::Error) -> Errno {
    Errno::from_io_error(&error).unwrap_or(Errno::IO)
}
