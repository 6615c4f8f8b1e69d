//! The protocol between systemd and a service: sockets that it passes, notifications that it gets.
//!
//! Sources: sd_notify(3): a datagram of `NAME=VALUE` to the socket named in the environment; sd_listen_fds(3): open
//! descriptors from number 3 on, for the process with a number in the environment.

use std::ffi::OsStr;
use std::io;
use std::os::fd::{OwnedFd, RawFd};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};
use std::str::FromStr;

use rustix::process::{PidfdFlags, PidfdGetfdFlags, getpid, pidfd_getfd, pidfd_open};

/// The first passed descriptor.
const FIRST_DESCRIPTOR: RawFd = 3;

/// A descriptor that was passed.
#[derive(Debug)]
pub(crate) struct PassedDescriptor {
    /// The name that the socket unit gives it (`FileDescriptorName=`).
    pub(crate) name: String,
    pub(crate) descriptor: OwnedFd,
}

/// Returns duplicates of the descriptors that were passed to this process.
///
/// Duplicates, because only they are certain to belong to nobody else: the system makes them (pidfd_getfd(2)), and if
/// the environment is wrong, it says so. The originals stay open, as systemd's own do.
///
/// # Errors
/// If there are fewer than the environment says, or the system does not permit it.
pub(crate) fn passed_descriptors() -> io::Result<Vec<PassedDescriptor>> {
    let count = number::<RawFd>("LISTEN_FDS").unwrap_or(0);
    if number("LISTEN_PID") != Some(std::process::id()) || count < 1 {
        return Ok(Vec::new());
    }
    let names = std::env::var("LISTEN_FDNAMES").unwrap_or_default();
    let names = names.split(':').map(str::to_owned).chain(std::iter::repeat("unknown".to_owned()));
    let this = pidfd_open(getpid(), PidfdFlags::empty())?;
    let numbers = FIRST_DESCRIPTOR..FIRST_DESCRIPTOR.saturating_add(count);
    let passed = numbers.zip(names).map(|(number, name)| {
        let descriptor = pidfd_getfd(&this, number, PidfdGetfdFlags::empty())?;
        Ok(PassedDescriptor { name, descriptor })
    });
    passed.collect()
}

fn number<T: FromStr>(variable: &str) -> Option<T> {
    std::env::var(variable).ok()?.parse().ok()
}

/// Reports that the service accepts clients, if a service manager listens.
pub(crate) fn ready() {
    notify("READY=1");
}

/// Reports that the service is stopping, if a service manager listens.
pub(crate) fn stopping() {
    notify("STOPPING=1");
}

/// Reports that another process is the service from now on, if a service manager listens.
pub(crate) fn main_process(process: i32) {
    notify(&format!("MAINPID={process}"));
}

fn notify(state: &str) {
    if let Some(socket) = std::env::var_os("NOTIFY_SOCKET") {
        // The notification is optional.
        let _ = send(&socket, state);
    }
}

fn send(socket: &OsStr, state: &str) -> io::Result<()> {
    let address = match socket.as_bytes() {
        [b'@', name @ ..] => SocketAddr::from_abstract_name(name)?,
        _ => SocketAddr::from_pathname(socket)?,
    };
    UnixDatagram::unbound()?.send_to_addr(state.as_bytes(), &address).map(drop)
}
