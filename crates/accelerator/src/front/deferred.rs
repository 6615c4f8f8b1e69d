//! Connections that are not shown to us before their client has sent something. The one module with `unsafe` here.
//!
//! Why it is needed: no safe crate in the tree knows `TCP_DEFER_ACCEPT` (rustix 1.1, socket2 0.6). Where a client makes a
//! connection for each request, a listener without it is woken twice, and the connection registered and taken off again,
//! because the request comes some microseconds after the connection.
//!
//! Why it is sound: the kernel reads four bytes from an `int` that lives on the stack during the call, and keeps nothing
//! of it.
#![allow(unsafe_code)]

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};

/// How long the kernel waits for the first bytes, in seconds; then it shows the connection without. The least it takes.
const SECONDS: libc::c_int = 1;

/// Lets the kernel show connections of a listener when their first bytes have come (`TCP_DEFER_ACCEPT`, tcp(7)).
///
/// # Errors
/// If the kernel does not know the option.
pub(super) fn defer_accept(listener: BorrowedFd<'_>) -> io::Result<()> {
    let seconds = SECONDS;
    let length = size_of::<libc::c_int>() as libc::socklen_t;
    // SAFETY: the descriptor is open while borrowed, the pointer is to `length` bytes; see the head of the module.
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
