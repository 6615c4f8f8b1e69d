//! Readiness notifications to systemd.
//!
//! Source: sd_notify(3): a datagram of `NAME=VALUE` to the socket named in the environment.

use std::ffi::OsStr;
use std::io;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};

/// Reports that the service accepts clients, if a service manager listens.
pub(crate) fn ready() {
    notify("READY=1");
}

/// Reports that the service is stopping, if a service manager listens.
pub(crate) fn stopping() {
    notify("STOPPING=1");
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
