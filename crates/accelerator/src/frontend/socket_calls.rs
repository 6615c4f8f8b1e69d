//! Calls on sockets that safe code cannot express. The one module with `unsafe` in this crate.
//!
//! Why it is needed: no safe crate in the tree knows `TCP_DEFER_ACCEPT` and `SIOCOUTQ` (rustix 1.1, socket2 0.6).
//!
//! Why it is sound: the kernel reads or writes four bytes of an `int` that lives on the stack during the call, and keeps
//! no reference to it.
#![allow(unsafe_code)]

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};

/// The time in seconds that the kernel waits for the first bytes; then it reports the connection without them. The
/// least that it accepts.
const SECONDS: libc::c_int = 1;

/// Makes the kernel report connections of a listener once their first bytes have come (`TCP_DEFER_ACCEPT`, tcp(7)).
///
/// Where a client opens a connection per request, a listener without it is woken twice, and the connection is
/// registered and deregistered, because the request comes some microseconds after the connection.
///
/// # Errors
/// If the kernel does not know the option.
pub(super) fn defer_accept(listener: BorrowedFd<'_>) -> io::Result<()> {
    let seconds = SECONDS;
    let length = size_of::<libc::c_int>() as libc::socklen_t;
    // SAFETY: the descriptor is open while borrowed, the pointer is to `length` bytes; see the module documentation.
    let result = unsafe {
        libc::setsockopt(
            listener.as_raw_fd(),
            libc::IPPROTO_TCP,
            libc::TCP_DEFER_ACCEPT,
            (&raw const seconds).cast(),
            length,
        )
    };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Returns the bytes that were written to a TCP connection and that the other side has not acknowledged yet
/// (`SIOCOUTQ`, also called `TIOCOUTQ`, tcp(7)).
///
/// The kernel takes megabytes for a client that reads nothing: what it has taken says nothing about the client.
///
/// # Errors
/// If it is no TCP connection.
pub(super) fn unacknowledged_bytes(connection: BorrowedFd<'_>) -> io::Result<u64> {
    let mut bytes: libc::c_int = 0;
    // SAFETY: the descriptor is open while borrowed, the pointer is to an `int`; see the module documentation.
    let result = unsafe { libc::ioctl(connection.as_raw_fd(), libc::TIOCOUTQ, &raw mut bytes) };
    if result == 0 { Ok(u64::try_from(bytes).unwrap_or(0)) } else { Err(io::Error::last_os_error()) }
}
