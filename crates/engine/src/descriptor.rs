//! Registers descriptors that we own with the runtime. The one module of the engine with `unsafe`.
//!
//! Why it is needed: `AsyncFd` is the only registration that lets a connection ask for readability
//! alone (a `TcpStream` also asks for writability, one needless event per connection), and tokio
//! 1.54 marks its constructor unsafe because a general `AsRawFd` type could answer with different
//! descriptors.
//!
//! Why it is sound: the type is fixed to [`OwnedFd`], which keeps one descriptor open from its
//! making to its drop, and `AsyncFd` gives it back only after it has been taken off the poll set.
#![allow(unsafe_code)]

use std::io;
use std::os::fd::OwnedFd;

use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

/// Registers a non-blocking descriptor with the runtime of the calling task.
///
/// # Errors
/// If the poll descriptor does not take it; the descriptor is closed then.
#[inline]
pub fn watch(descriptor: OwnedFd, interest: Interest) -> io::Result<AsyncFd<OwnedFd>> {
    // SAFETY: an OwnedFd always names the same open descriptor; see the head of the module.
    unsafe { AsyncFd::register_with_interest(descriptor, interest) }.map_err(io::Error::from)
}
