//! Listening TCP sockets of a network namespace: by sock_diag(7), or where that is impossible from the text of
//! `/proc/PID/net/tcp` and `tcp6`.

use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use rustix::net::netlink::SOCK_DIAG;

use super::namespaces::Namespace;
use crate::in_network::in_network_of;
use crate::netlink::Socket;
use crate::sock_diag::{self, TcpRequest, TcpSocket};

/// The state of a listening socket. Source: Linux, include/net/tcp_states.h.
const LISTEN: &str = "0A";

/// A listening socket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Listener {
    /// The address that it is bound to.
    pub(crate) address: SocketAddr,
    /// The user that made it.
    pub(crate) uid: u32,
    /// The number of the socket.
    pub(crate) inode: u64,
}

impl From<TcpSocket> for Listener {
    fn from(socket: TcpSocket) -> Listener {
        Listener { address: socket.local, uid: socket.uid, inode: socket.inode }
    }
}

impl Listener {
    /// Returns whether connections to an address arrive here. An IPv6 socket bound to no address accepts IPv4, too.
    pub(crate) fn accepts(&self, target: SocketAddr) -> bool {
        let own = self.address.ip().to_canonical();
        let is_any = own.is_unspecified() && (self.address.is_ipv6() || target.is_ipv4());
        self.address.port() == target.port() && (is_any || own == target.ip().to_canonical())
    }
}

/// Returns the listening sockets in the network namespace of a process; empty if this user may not see them.
pub(crate) fn listeners_near(pid: u32) -> Vec<Listener> {
    match diagnosed(pid) {
        Ok(found) if !found.is_empty() => found,
        _ => listed(pid),
    }
}

/// Asks the kernel; no socket is described if it lacks the module, and only root may enter another namespace.
fn diagnosed(pid: u32) -> io::Result<Vec<Listener>> {
    let open = || Socket::open(Some(SOCK_DIAG));
    let near = Namespace::of(pid);
    let mut socket = if near.is_other() || near.is_hidden() { in_network_of(pid, open)? } else { open()? };
    let mut found = Vec::new();
    let request = TcpRequest { states: sock_diag::LISTEN, extensions: 0 };
    request.dump(&mut socket, |payload| found.extend(TcpSocket::parse(payload).map(Listener::from)))?;
    Ok(found)
}

/// Reads the tables of `/proc`; empty if they cannot be read.
fn listed(pid: u32) -> Vec<Listener> {
    let tables = ["tcp", "tcp6"].map(|name| listening_part(&format!("/proc/{pid}/net/{name}")));
    tables.iter().flatten().flat_map(|text| parse(text)).collect()
}

/// Returns whether a TCP port is listened on in the network namespace of a process.
pub fn is_listening(pid: u32, port: u16) -> bool {
    listeners_near(pid).iter().any(|one| one.address.port() == port)
}

/// Reads the heading of a table and its listening sockets, which the kernel prints first. The rest has a line for every
/// connection, including tens of thousands in TIME-WAIT. Source: Linux, net/ipv4/tcp_ipv4.c, `tcp_seek_last_pos`.
fn listening_part(path: &str) -> Option<String> {
    let lines = BufReader::new(File::open(path).ok()?).lines().map_while(Result::ok);
    let is_listening = |line: &String| line.split_ascii_whitespace().nth(3) == Some(LISTEN);
    let part = lines.enumerate().take_while(|(index, line)| *index == 0 || is_listening(line));
    Some(part.map(|(_, line)| line + "\n").collect())
}

/// Parses the listening sockets of a table.
pub(crate) fn parse(table: &str) -> Vec<Listener> {
    accept_queues(table).into_iter().map(|(listener, _)| listener).collect()
}

/// Parses lines `sl local_address rem_address st tx:rx tr:when retrnsmt uid timeout inode …`: the listening sockets, each
/// with the number of connections in its accept queue, which is `rx`.
pub(crate) fn accept_queues(table: &str) -> Vec<(Listener, u64)> {
    let line = |line: &str| {
        let mut fields = line.split_ascii_whitespace();
        let address = parse_address(fields.nth(1)?)?;
        let _remote = fields.next()?;
        if fields.next()? != LISTEN {
            return None;
        }
        let (_, waiting) = fields.next()?.split_once(':')?;
        let waiting = u64::from_str_radix(waiting, 16).ok()?;
        let uid = fields.nth(2)?.parse().ok()?;
        Some((Listener { address, uid, inode: fields.nth(1)?.parse().ok()? }, waiting))
    };
    table.lines().filter_map(line).collect()
}

/// Parses an address as the kernel prints it: words of 32 bits in the byte order of the machine, then the port.
fn parse_address(text: &str) -> Option<SocketAddr> {
    let (address, port) = text.split_once(':')?;
    let word = |at: usize| Some(u32::from_str_radix(address.get(at..at + 8)?, 16).ok()?.to_ne_bytes());
    let ip = match address.len() {
        8 => IpAddr::from(Ipv4Addr::from(word(0)?)),
        32 => {
            let words = [word(0)?, word(8)?, word(16)?, word(24)?];
            let bytes: [u8; 16] = words.concat().try_into().ok()?;
            IpAddr::from(Ipv6Addr::from(bytes))
        }
        _ => return None,
    };
    Some(SocketAddr::new(ip, u16::from_str_radix(port, 16).ok()?))
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    /// Recorded on a little-endian machine: a listener on 127.0.0.1:8080, one on every address, a connection.
    const TCP: &str = "\
  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000    33        0 4711 1 0000000000000000 100 0 0 10 0
   1: 00000000:0016 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 12 1 0000000000000000 100 0 0 10 0
   2: 0100007F:1F90 0100007F:C350 01 00000000:00000000 00:00000000 00000000    33        0 4713 1 0000000000000000 20 4 30 10 -1
";
    const TCP6: &str = "\
  sl  local_address                         remote_address                        st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 00000000000000000000000000000000:1F90 00000000000000000000000000000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 99 1 0000000000000000 100 0 0 10 0
   1: 00000000000000000000000001000000:0050 00000000000000000000000000000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 98 1 0000000000000000 100 0 0 10 0
";

    fn at(text: &str) -> SocketAddr {
        text.parse().unwrap()
    }

    #[test]
    #[cfg(target_endian = "little")]
    fn listeners_are_read_and_connections_left_out() {
        let found = parse(TCP);
        let listener = |address, uid, inode| Listener { address: at(address), uid, inode };
        assert_eq!(found, [listener("127.0.0.1:8080", 33, 4711), listener("0.0.0.0:22", 0, 12)]);
        let found = parse(TCP6);
        assert_eq!(found, [listener("[::]:8080", 0, 99), listener("[::1]:80", 0, 98)]);
        assert_eq!(parse("x\n0: zz:1 0:0 0A\n"), []);
    }

    #[test]
    fn a_listener_accepts_what_its_address_covers() {
        let accepts =
            |own: &str, target: &str| Listener { address: at(own), uid: 0, inode: 1 }.accepts(at(target));
        assert!(accepts("127.0.0.1:80", "127.0.0.1:80"));
        assert!(accepts("0.0.0.0:80", "10.0.0.1:80"));
        assert!(accepts("[::]:80", "10.0.0.1:80"));
        assert!(accepts("[::ffff:10.0.0.1]:80", "10.0.0.1:80"));
        assert!(!accepts("0.0.0.0:80", "[::1]:80"));
        assert!(!accepts("127.0.0.1:80", "127.0.0.1:81"));
        assert!(!accepts("127.0.0.1:80", "10.0.0.1:80"));
    }

    #[test]
    fn a_listener_of_this_process_is_found() {
        for address in ["127.0.0.1:0", "[::1]:0"] {
            // A machine may have no IPv6.
            let Ok(listener) = TcpListener::bind(address) else { continue };
            let target = listener.local_addr().unwrap();
            let own = std::process::id();
            let at_target = |found: Vec<Listener>| found.into_iter().find(|one| one.address == target);
            let found = at_target(listeners_near(own));
            assert!(found.is_some_and(|one| one.accepts(target)), "{target}");
            assert_eq!(found, at_target(listed(own)), "both sources agree");
            assert!(is_listening(own, target.port()), "{target}");
        }
    }
}
