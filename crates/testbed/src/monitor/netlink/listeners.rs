//! The accept queues of sockets that listen.

use std::collections::BTreeMap;
use std::io;

use model::{Counter, Reading};

use super::{Socket, u32_at};

/// How many ports are reported where none are named.
const PORTS_MAX: usize = 64;

/// Source: Linux, include/uapi/linux/sock_diag.h and inet_diag.h; the bit of a state is that of its number.
const SOCK_DIAG_BY_FAMILY: u16 = 20;
const TCP: u8 = 6;
const LISTEN: u32 = 1 << 10;
/// `AF_INET`, `AF_INET6`.
const FAMILIES: [u8; 2] = [2, 10];
/// A request names a socket in this many bytes; all zero means any.
const SOCKET_ID_BYTES: usize = 48;

/// Reads the accept queues by port. Several sockets at one port, as with a socket per worker, are added up.
///
/// A full queue may hold one connection more than it says.
pub fn read(socket: &mut Socket, ports: &[u16], into: &mut Vec<Reading>) -> io::Result<()> {
    let mut queues: BTreeMap<u16, (u64, u64)> = BTreeMap::new();
    for family in FAMILIES {
        socket.dump(SOCK_DIAG_BY_FAMILY, &request(family), |payload| {
            let Some(Listener { port, waiting, waiting_max }) = parse(payload) else { return };
            let is_wanted = ports.contains(&port) || ports.is_empty() && queues.len() < PORTS_MAX;
            if is_wanted {
                let queue = queues.entry(port).or_default();
                queue.0 += u64::from(waiting);
                queue.1 += u64::from(waiting_max);
            }
        })?;
    }
    for (port, (waiting, waiting_max)) in queues {
        into.push(Reading::of(Counter::AcceptQueue, port.to_string(), waiting));
        into.push(Reading::of(Counter::AcceptQueueMax, port.to_string(), waiting_max));
    }
    Ok(())
}

/// What is wanted of one socket.
#[derive(Debug, PartialEq, Eq)]
pub struct Listener {
    port: u16,
    waiting: u32,
    waiting_max: u32,
}

/// Asks for the listening sockets of an address family: `struct inet_diag_req_v2`.
fn request(family: u8) -> Vec<u8> {
    let mut request = vec![family, TCP, 0, 0];
    request.extend(LISTEN.to_ne_bytes());
    request.resize(request.len() + SOCKET_ID_BYTES, 0);
    request
}

/// Reads `struct inet_diag_msg`: four bytes, the socket's names, a timer, then for one that listens the length of its
/// accept queue and its limit. The port is in network order.
pub fn parse(payload: &[u8]) -> Option<Listener> {
    let port = u16::from_be_bytes(payload.get(4..6)?.try_into().ok()?);
    Some(Listener { port, waiting: u32_at(payload, 56)?, waiting_max: u32_at(payload, 60)? })
}

#[cfg(test)]
mod tests {
    use super::super::Netlink;
    use super::*;

    #[test]
    fn port_and_queue_stand_where_the_kernel_puts_them() {
        let mut payload = vec![0; 72];
        payload[4..6].copy_from_slice(&8080u16.to_be_bytes());
        payload[56..60].copy_from_slice(&3u32.to_ne_bytes());
        payload[60..64].copy_from_slice(&511u32.to_ne_bytes());
        assert_eq!(parse(&payload), Some(Listener { port: 8080, waiting: 3, waiting_max: 511 }));
        assert_eq!(parse(&payload[..63]), None);
    }

    /// Goal: what waits to be accepted is seen. The kernel finishes the handshake before `connect` returns, so there
    /// is nothing to wait for. Without the kernel's module for it there is no reading.
    #[test]
    fn connections_that_nobody_accepts_are_counted() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let _waiting = [(); 2].map(|()| std::net::TcpStream::connect(address).unwrap());
        let mut readings = Vec::new();
        Netlink::default().read(&[address.port()], &mut readings);
        let of = |counter| {
            let mut found = readings.iter().filter(move |reading| reading.counter == counter);
            found.next().map(|reading| (reading.instance.as_str(), reading.value))
        };
        let port = address.port().to_string();
        if let Some(queue) = of(Counter::AcceptQueue) {
            assert_eq!(queue, (&*port, 2));
            assert!(of(Counter::AcceptQueueMax).is_some_and(|(instance, most)| instance == port && 2 < most));
        }
    }
}
