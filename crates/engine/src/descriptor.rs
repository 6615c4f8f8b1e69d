//! Calls on owned descriptors that safe code cannot express. The one module with `unsafe`.
//!
//! [`register`] needs it because `AsyncFd` is the only registration that lets a connection ask for readability
//! alone (a `TcpStream` also asks for writability, one needless event per connection), and tokio
//! 1.54 marks its constructor unsafe because a general `AsRawFd` type could answer with different
//! descriptors.
//!
//! It is sound because the type is fixed to [`OwnedFd`], which keeps one descriptor open from its
//! making to its drop, and `AsyncFd` gives it back only after it has been taken off the poll set.
//!
//! [`bind_address_no_port`] needs it because no safe crate in the tree knows `IP_BIND_ADDRESS_NO_PORT`
//! (rustix 1.1, socket2 0.6). It is sound because the kernel reads four bytes from an `int` that
//! lives on the stack during the call, and keeps no reference to it.
#![allow(unsafe_code)]

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd};

use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

/// Registers a non-blocking descriptor with the runtime of the calling task.
///
/// # Errors
///
/// The poll descriptor does not accept it; the descriptor is closed then.
#[inline]
pub fn register(descriptor: OwnedFd, interest: Interest) -> io::Result<AsyncFd<OwnedFd>> {
    // SAFETY: an OwnedFd always names the same open descriptor; see the head of the module.
    unsafe { AsyncFd::register_with_interest(descriptor, interest) }.map_err(io::Error::from)
}

/// Lets the kernel choose the local port of a socket when it connects instead of when it is bound to an address:
/// only then can ports be reused towards other peers (`IP_BIND_ADDRESS_NO_PORT`, Linux 4.2; for IPv6 too).
///
/// # Errors
///
/// The kernel does not know the option.
pub fn bind_address_no_port(socket: BorrowedFd<'_>) -> io::Result<()> {
    let on: libc::c_int = 1;
    let length = libc::socklen_t::try_from(size_of::<libc::c_int>()).expect("an integer has few bytes");
    let option = libc::IP_BIND_ADDRESS_NO_PORT;
    // SAFETY: the descriptor is open while borrowed, the pointer is to `length` bytes; see the head of the module.
    let result = unsafe {
        libc::setsockopt(socket.as_raw_fd(), libc::IPPROTO_IP, option, (&raw const on).cast(), length)
    };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}
