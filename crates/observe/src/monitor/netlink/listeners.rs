//! Accept queues of listening sockets.

use std::collections::BTreeMap;
use std::io;

use model::{Counter, Reading};

use crate::netlink::{Socket, u32_at};

/// The maximum number of reported ports if none are given.
const PORTS_MAX: usize = 64;

/// Source: Linux, include/uapi/linux/sock_diag.h and inet_diag.h; the bit of a state is that of its number.
const SOCK_DIAG_BY_FAMILY: u16 = 20;
const TCP: u8 = 6;
const LISTEN: u32 = 1 << 10;
/// `AF_INET`, `AF_INET6`.
const FAMILIES: [u8; 2] = [2, 10];
/// Size of a socket's identity in a request; all zero means any.
const SOCKET_ID_BYTES: usize = 48;

/// Reads the accept queues by port. Several sockets on one port, as with a socket per worker, are added up.
///
/// A full queue may hold one connection more than its limit.
pub(super) fn read(socket: &mut Socket, ports: &[u16], into: &mut Vec<Reading>) -> io::Result<()> {
    let mut queues: BTreeMap<u16, (u64, u64)> = BTreeMap::new();
    for family in FAMILIES {
        socket.dump(SOCK_DIAG_BY_FAMILY, &request(family), |payload| {
            let Some(AcceptQueue { port, waiting, waiting_max }) = parse(payload) else { return };
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

/// The accept queue of one socket.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct AcceptQueue {
    port: u16,
    waiting: u32,
    waiting_max: u32,
}

/// Builds a request for the listening sockets of an address family: `struct inet_diag_req_v2`.
fn request(family: u8) -> Vec<u8> {
    let mut request = vec![family, TCP, 0, 0];
    request.extend(LISTEN.to_ne_bytes());
    request.resize(request.len() + SOCKET_ID_BYTES, 0);
    request
}

/// Parses `struct inet_diag_msg`: four bytes, the socket's identity, a timer, then for listening sockets the
/// length of the accept queue and its limit. The port is in network byte order.
pub(super) fn parse(payload: &[u8]) -> Option<AcceptQueue> {
    let port = u16::from_be_bytes(payload.get(4..6)?.try_into().ok()?);
    Some(AcceptQueue { port, waiting: u32_at(payload, 56)?, waiting_max: u32_at(payload, 60)? })
}

#[cfg(test)]
mod tests {
    use super::super::Netlink;
    use super::*;

    #[test]
    fn port_and_queue_are_parsed() {
        let mut payload = vec![0; 72];
        payload[4..6].copy_from_slice(&8080u16.to_be_bytes());
        payload[56..60].copy_from_slice(&3u32.to_ne_bytes());
        payload[60..64].copy_from_slice(&511u32.to_ne_bytes());
        assert_eq!(parse(&payload), Some(AcceptQueue { port: 8080, waiting: 3, waiting_max: 511 }));
        assert_eq!(parse(&payload[..63]), None);
    }

    /// Goal: connections that wait to be accepted are counted. The kernel completes the handshake before
    /// `connect` returns, so no waiting is needed. Without the kernel module there is no reading.
    #[test]
    fn unaccepted_connections_are_counted() {
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
