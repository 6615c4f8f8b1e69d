//! Accept queues of listening TCP sockets.

use std::collections::BTreeMap;
use std::io;

use model::{Counter, Reading};

use super::ListenerChoice;
use crate::netlink::{Socket, attribute, u32_at};
use crate::sock_diag::{LISTEN, TCP_MESSAGE_BYTES, TcpRequest, tcp_inode};

/// The maximum number of reported ports if none are given.
const PORTS_MAX: usize = 64;

/// `INET_DIAG_SKMEMINFO`, and the index of the number of drops in it, `SK_MEMINFO_DROPS`.
const SOCKET_MEMORY: u16 = 7;
const DROPS_INDEX: usize = 8;

/// The accept queue of one socket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct AcceptQueue {
    pub(super) port: u16,
    pub(super) inode: u64,
    waiting: u32,
    waiting_max: u32,
    /// Connection requests dropped; `None` where the kernel does not report them.
    drops: Option<u32>,
}

/// Returns the accept queues of all listening sockets.
pub(super) fn dump(socket: &mut Socket) -> io::Result<Vec<AcceptQueue>> {
    let request = TcpRequest { states: LISTEN, extensions: 1 << (SOCKET_MEMORY - 1) };
    let mut queues = Vec::new();
    request.dump(socket, |payload| queues.extend(parse(payload)))?;
    Ok(queues)
}

/// Reports the chosen accept queues by port. Several sockets on one port, as with a socket per worker, are added up.
///
/// A full queue may hold one connection more than its limit.
pub(super) fn report(queues: &[AcceptQueue], choice: &ListenerChoice<'_>, into: &mut Vec<Reading>) {
    let mut ports: BTreeMap<u16, (u64, u64, Option<u64>)> = BTreeMap::new();
    for one in queues {
        let is_wanted = match choice {
            ListenerChoice::All => ports.len() < PORTS_MAX || ports.contains_key(&one.port),
            ListenerChoice::Of { ports, owned } => ports.contains(&one.port) || owned.contains(&one.inode),
        };
        if is_wanted {
            let sum = ports.entry(one.port).or_default();
            sum.0 += u64::from(one.waiting);
            sum.1 += u64::from(one.waiting_max);
            sum.2 = one.drops.map(|drops| sum.2.unwrap_or(0) + u64::from(drops)).or(sum.2);
        }
    }
    for (port, (waiting, waiting_max, drops)) in ports {
        into.push(Reading::of(Counter::AcceptQueue, port.to_string(), waiting));
        into.push(Reading::of(Counter::AcceptQueueMax, port.to_string(), waiting_max));
        into.extend(drops.map(|drops| Reading::of(Counter::ListenerDrops, port.to_string(), drops)));
    }
}

/// Parses `struct inet_diag_msg`: four bytes, the socket's identity, a timer, then for listening sockets the
/// length of the accept queue and its limit, the user, the inode. The port is in network byte order.
pub(super) fn parse(payload: &[u8]) -> Option<AcceptQueue> {
    let port = u16::from_be_bytes(payload.get(4..6)?.try_into().ok()?);
    let memory = attribute(payload.get(TCP_MESSAGE_BYTES..)?, SOCKET_MEMORY);
    Some(AcceptQueue {
        port,
        inode: tcp_inode(payload)?,
        waiting: u32_at(payload, 56)?,
        waiting_max: u32_at(payload, 60)?,
        drops: memory.and_then(|numbers| u32_at(numbers, 4 * DROPS_INDEX)),
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::super::Netlink;
    use super::*;
    use crate::netlink::testing::attribute_bytes;

    fn payload() -> Vec<u8> {
        let mut payload = vec![0; TCP_MESSAGE_BYTES];
        payload[4..6].copy_from_slice(&8080u16.to_be_bytes());
        payload[56..60].copy_from_slice(&3u32.to_ne_bytes());
        payload[60..64].copy_from_slice(&511u32.to_ne_bytes());
        payload[68..72].copy_from_slice(&4711u32.to_ne_bytes());
        payload
    }

    #[test]
    fn port_and_queue_are_parsed() {
        let mut payload = payload();
        let queue = AcceptQueue { port: 8080, inode: 4711, waiting: 3, waiting_max: 511, drops: None };
        assert_eq!(parse(&payload), Some(queue));
        assert_eq!(parse(&payload[..71]), None);
        let memory: Vec<u8> = (0..9u32).flat_map(|number| (10 * number).to_ne_bytes()).collect();
        payload.extend(attribute_bytes(SOCKET_MEMORY, &memory));
        assert_eq!(parse(&payload), Some(AcceptQueue { drops: Some(80), ..queue }));
    }

    #[test]
    fn the_queues_of_a_port_are_added_up_and_foreign_ones_left_out() {
        let queue = parse(&payload()).unwrap();
        let all = [
            AcceptQueue { drops: Some(2), ..queue },
            AcceptQueue { inode: 2, drops: Some(5), ..queue },
            AcceptQueue { port: 9000, inode: 3, ..queue },
            AcceptQueue { port: 22, inode: 4, ..queue },
        ];
        let mut readings = Vec::new();
        report(&all, &ListenerChoice::Of { ports: &[8080], owned: &BTreeSet::from([3]) }, &mut readings);
        let expected = [
            (Counter::AcceptQueue, "8080", 6),
            (Counter::AcceptQueueMax, "8080", 1022),
            (Counter::ListenerDrops, "8080", 7),
            (Counter::AcceptQueue, "9000", 3),
            (Counter::AcceptQueueMax, "9000", 511),
        ];
        assert_eq!(readings, expected.map(|(counter, port, value)| Reading::of(counter, port, value)));
    }

    /// Goal: connections that wait to be accepted are counted. The kernel completes the handshake before
    /// `connect` returns, so no waiting is needed. Without the kernel module there is no reading.
    #[test]
    fn unaccepted_connections_are_counted() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let _waiting = [(); 2].map(|()| std::net::TcpStream::connect(address).unwrap());
        let mut readings = Vec::new();
        let choice = ListenerChoice::Of { ports: &[address.port()], owned: &BTreeSet::new() };
        Netlink::default().read(&choice, Vec::new, &mut readings);
        let of = |counter| {
            let mut found = readings.iter().filter(move |reading| reading.counter == counter);
            found.next().map(|reading| (reading.instance.as_str(), reading.value))
        };
        let port = address.port().to_string();
        if let Some(queue) = of(Counter::AcceptQueue) {
            assert_eq!(queue, (&*port, 2));
            assert!(of(Counter::AcceptQueueMax).is_some_and(|(instance, most)| instance == port && 2 < most));
            assert_eq!(of(Counter::ListenerDrops), Some((&*port, 0)));
            assert_eq!(of(Counter::SutConnections), Some((&*port, 2)));
        }
    }
}
