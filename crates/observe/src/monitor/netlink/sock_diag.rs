//! Requests for sockets by their state, and the parts that all answers have: the kernel's `sock_diag`.
//!
//! Source: Linux, include/uapi/linux/sock_diag.h, inet_diag.h and unix_diag.h, include/net/tcp_states.h.

use std::io;

use crate::netlink::{Socket, attribute, u64_of_u32};

const SOCK_DIAG_BY_FAMILY: u16 = 20;

/// `AF_UNIX`; `AF_INET` and `AF_INET6`.
const UNIX: u8 = 1;
const INET_FAMILIES: [u8; 2] = [2, 10];
/// `IPPROTO_TCP`.
const TCP: u8 = 6;
/// Size of a socket's identity in a request; all zero means any.
const SOCKET_ID_BYTES: usize = 48;

/// Sets of states; the bit of a state is that of its number.
pub(super) const ESTABLISHED: u32 = 1 << 1;
pub(super) const LISTEN: u32 = 1 << 10;
/// `TCP_ESTABLISHED` and `TCP_CLOSE_WAIT`: connections that the server still holds.
pub(super) const HELD: u32 = ESTABLISHED | 1 << 8;

/// Sizes of `struct inet_diag_msg` and `struct unix_diag_msg`, after which attributes follow.
pub(super) const TCP_MESSAGE_BYTES: usize = 72;
pub(super) const UNIX_MESSAGE_BYTES: usize = 16;

/// Parts of the answer about a Unix socket: `UDIAG_SHOW_NAME`, `UDIAG_SHOW_PEER`, `UDIAG_SHOW_RQLEN`.
pub(super) const SHOW_NAME: u32 = 0x1;
pub(super) const SHOW_PEER: u32 = 0x4;
pub(super) const SHOW_QUEUE: u32 = 0x10;
/// `UNIX_DIAG_NAME`.
pub(super) const UNIX_NAME: u16 = 0;

/// The TCP sockets that are requested: `struct inet_diag_req_v2`.
#[derive(Debug, Clone, Copy)]
pub(super) struct TcpRequest<'a> {
    /// A set of states.
    pub(super) states: u32,
    /// The set of attributes that answers have; the bit of an attribute is that of its number minus one.
    pub(super) extensions: u8,
    /// Attributes of the request.
    pub(super) attributes: &'a [u8],
}

impl TcpRequest<'_> {
    /// Passes `struct inet_diag_msg` and attributes of each of the sockets, of both versions of IP, to `each`.
    pub(super) fn dump(self, socket: &mut Socket, mut each: impl FnMut(&[u8])) -> io::Result<()> {
        for family in INET_FAMILIES {
            let mut request = vec![family, TCP, self.extensions, 0];
            request.extend(self.states.to_ne_bytes());
            request.resize(request.len() + SOCKET_ID_BYTES, 0);
            request.extend(self.attributes);
            socket.dump(SOCK_DIAG_BY_FAMILY, &request, &mut each)?;
        }
        Ok(())
    }
}

/// Requests Unix sockets by `struct unix_diag_req`, and passes `struct unix_diag_msg` and attributes of each to `each`.
pub(super) fn dump_unix(
    socket: &mut Socket,
    states: u32,
    show: u32,
    each: impl FnMut(&[u8]),
) -> io::Result<()> {
    let mut request = vec![UNIX, 0, 0, 0];
    for number in [states, 0, show] {
        request.extend(number.to_ne_bytes());
    }
    request.extend([0; 8]);
    socket.dump(SOCK_DIAG_BY_FAMILY, &request, each)
}

/// Parses the number of a TCP socket; 0 before a process has accepted the connection.
pub(super) fn tcp_inode(payload: &[u8]) -> Option<u64> {
    u64_of_u32(payload, 68)
}

/// Parses the number of a Unix socket.
pub(super) fn unix_inode(payload: &[u8]) -> Option<u64> {
    u64_of_u32(payload, 4)
}

/// Parses an attribute of a Unix socket.
pub(super) fn unix_attribute(payload: &[u8], kind: u16) -> Option<&[u8]> {
    attribute(payload.get(UNIX_MESSAGE_BYTES..)?, kind)
}

/// Parses the name of a Unix socket; empty without one. That of an abstract socket begins with a zero byte, shown as `@`.
pub(super) fn unix_name(payload: &[u8]) -> String {
    let name = unix_attribute(payload, UNIX_NAME).unwrap_or_default();
    let name = match name.split_first() {
        Some((0, rest)) => format!("@{}", String::from_utf8_lossy(rest)),
        _ => String::from_utf8_lossy(name).into_owned(),
    };
    name.trim_end_matches('\0').to_owned()
}
