//! Requests for sockets by their state, and the parts that all answers have: the kernel's `sock_diag`.
//!
//! The kernel has listening sockets in a table of their own, while reading `/proc/net/tcp` always walks that of all
//! connections, too, which takes milliseconds even if there are none.
//!
//! Source: Linux, include/uapi/linux/sock_diag.h, inet_diag.h and unix_diag.h, include/net/tcp_states.h.

use std::io;
use std::net::{IpAddr, SocketAddr};

use crate::netlink::{Socket, attribute, u32_at, u64_of_u32};

/// `TCPDIAG_GETSOCK` and `SOCK_DIAG_BY_FAMILY`.
const TCP_SOCKETS: u16 = 18;
const SOCKETS_OF_FAMILY: u16 = 20;

/// `AF_UNIX`.
const UNIX: u8 = 1;
/// Size of a socket's identity in a request; all zero means any.
const SOCKET_ID_BYTES: usize = 48;

/// Sets of states; the bit of a state is that of its number.
pub(crate) const ESTABLISHED: u32 = 1 << 1;
pub(crate) const LISTEN: u32 = 1 << 10;
/// `TCP_ESTABLISHED` and `TCP_CLOSE_WAIT`: connections that the server still holds.
pub(crate) const HELD: u32 = ESTABLISHED | 1 << 8;

/// Sizes of `struct inet_diag_msg` and `struct unix_diag_msg`, after which attributes follow.
pub(crate) const TCP_MESSAGE_BYTES: usize = 72;
pub(crate) const UNIX_MESSAGE_BYTES: usize = 16;

/// Parts of the answer about a Unix socket: `UDIAG_SHOW_NAME`, `UDIAG_SHOW_PEER`, `UDIAG_SHOW_RQLEN`.
pub(crate) const SHOW_NAME: u32 = 0x1;
pub(crate) const SHOW_PEER: u32 = 0x4;
pub(crate) const SHOW_QUEUE: u32 = 0x10;
/// `UNIX_DIAG_NAME`.
pub(crate) const UNIX_NAME: u16 = 0;

/// A TCP socket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TcpSocket {
    /// Its own address.
    pub(crate) local: SocketAddr,
    /// The address of its peer; port 0 for a listening socket.
    pub(crate) remote: SocketAddr,
    /// The user that made it.
    pub(crate) uid: u32,
    /// Its number; 0 before a process has accepted the connection.
    pub(crate) inode: u64,
}

/// The TCP sockets that are requested: `struct inet_diag_req`. The kernel describes those of both versions of IP in one walk
/// of its table; the later `struct inet_diag_req_v2` takes one for each.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TcpRequest {
    /// A set of states.
    pub(crate) states: u32,
    /// The set of attributes that answers have; the bit of an attribute is that of its number minus one.
    pub(crate) extensions: u8,
}

impl TcpRequest {
    /// Passes `struct inet_diag_msg` and attributes of each of the sockets, of both versions of IP, to `each`.
    pub(crate) fn dump(self, socket: &mut Socket, each: impl FnMut(&[u8])) -> io::Result<()> {
        // The family, which the kernel ignores, and two lengths that it does not use.
        let mut request = vec![0, 0, 0, self.extensions];
        request.resize(request.len() + SOCKET_ID_BYTES, 0);
        request.extend(self.states.to_ne_bytes());
        request.extend(0u32.to_ne_bytes());
        socket.dump(TCP_SOCKETS, &request, each)
    }
}

impl TcpSocket {
    /// Parses `struct inet_diag_msg`: the family, three bytes, both ports in network byte order, both addresses, …, the user,
    /// the number.
    pub(crate) fn parse(payload: &[u8]) -> Option<TcpSocket> {
        let port = |at: usize| Some(u16::from_be_bytes(payload.get(at..at + 2)?.try_into().ok()?));
        let address = |at: usize| -> Option<IpAddr> {
            Some(match payload.first()? {
                2 => <[u8; 4]>::try_from(payload.get(at..at + 4)?).ok()?.into(),
                _ => <[u8; 16]>::try_from(payload.get(at..at + 16)?).ok()?.into(),
            })
        };
        Some(TcpSocket {
            local: (address(8)?, port(4)?).into(),
            remote: (address(24)?, port(6)?).into(),
            uid: u32_at(payload, 64)?,
            inode: tcp_inode(payload)?,
        })
    }
}

/// Requests Unix sockets by `struct unix_diag_req`, and passes `struct unix_diag_msg` and attributes of each to `each`.
pub(crate) fn dump_unix(
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
    socket.dump(SOCKETS_OF_FAMILY, &request, each)
}

/// Parses the number of a TCP socket; 0 before a process has accepted the connection.
pub(crate) fn tcp_inode(payload: &[u8]) -> Option<u64> {
    u64_of_u32(payload, 68)
}

/// Parses the number of a Unix socket.
pub(crate) fn unix_inode(payload: &[u8]) -> Option<u64> {
    u64_of_u32(payload, 4)
}

/// Parses an attribute of a Unix socket.
pub(crate) fn unix_attribute(payload: &[u8], kind: u16) -> Option<&[u8]> {
    attribute(payload.get(UNIX_MESSAGE_BYTES..)?, kind)
}

/// Parses the name of a Unix socket; empty without one. That of an abstract socket begins with a zero byte, shown as `@`.
pub(crate) fn unix_name(payload: &[u8]) -> String {
    let name = unix_attribute(payload, UNIX_NAME).unwrap_or_default();
    let name = match name.split_first() {
        Some((0, rest)) => format!("@{}", String::from_utf8_lossy(rest)),
        _ => String::from_utf8_lossy(name).into_owned(),
    };
    name.trim_end_matches('\0').to_owned()
}

#[cfg(test)]
mod tests {
    use std::net::{TcpListener, TcpStream};

    use proptest::prelude::*;
    use rustix::net::netlink::SOCK_DIAG;

    use super::*;

    /// Goal: only sockets in the states asked for are described, with the addresses of both ends.
    #[test]
    fn sockets_are_described_by_state() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let mut socket = Socket::open(Some(SOCK_DIAG)).unwrap();
        let mut of = |states| {
            let mut found = Vec::new();
            let request = TcpRequest { states, extensions: 0 };
            request.dump(&mut socket, |payload| found.extend(TcpSocket::parse(payload))).unwrap();
            found
        };
        let listening = of(LISTEN);
        let established = of(ESTABLISHED);
        // A machine may lack the kernel module.
        if listening.is_empty() {
            return;
        }
        let own = listener.local_addr().unwrap();
        assert!(listening.iter().any(|one| one.local == own && one.remote.port() == 0 && one.inode != 0));
        assert!(listening.iter().all(|one| one.remote.port() == 0));
        let local = client.local_addr().unwrap();
        let remote = own;
        assert!(established.iter().any(|one| (one.local, one.remote) == (local, remote)));
        assert!(established.iter().any(|one| (one.local, one.remote, one.inode) == (remote, local, 0)));
    }

    proptest! {
        #[test]
        fn any_message_is_parsed_without_panic(bytes in prop::collection::vec(any::<u8>(), 0..100)) {
            let parsed = TcpSocket::parse(&bytes);
            prop_assert_eq!(parsed.is_some(), TCP_MESSAGE_BYTES <= bytes.len());
        }
    }
}
