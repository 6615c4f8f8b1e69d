//! Telling systemd how a service does.
//!
//! Source: sd_notify(3): a datagram of `NAME=VALUE` to the socket that the environment names.

use std::ffi::OsStr;
use std::io;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};

/// Says that clients are served, if somebody wants to know.
pub fn ready() {
    tell("READY=1");
}

/// Says that the end has begun, if somebody wants to know.
pub fn stopping() {
    tell("STOPPING=1");
}

fn tell(state: &str) {
    if let Some(socket) = std::env::var_os("NOTIFY_SOCKET") {
        // Who does not listen need not know.
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
