//! Established connections by local port, counted less often the more that costs.

use std::collections::BTreeSet;
use std::io;

use model::{Counter, Reading};

use super::pace::Pace;
use crate::netlink::Socket;
use crate::sock_diag::{HELD, TcpRequest, tcp_inode};

/// The most ports whose connections are counted.
const PORTS_MAX: usize = 8;

/// `INET_DIAG_REQ_BYTECODE` and its conditions on the local port: not below, not above.
const BYTECODE: u16 = 1;
const PORT_AT_LEAST: u8 = 2;
const PORT_AT_MOST: u8 = 3;
const CONDITION_BYTES: u16 = 8;

/// The counts of connections, as last read.
#[derive(Debug, Default)]
pub(super) struct Connections {
    pace: Pace,
    counts: Vec<(u16, PortConnections)>,
}

/// The established connections to a port.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(in crate::monitor) struct PortConnections {
    pub(in crate::monitor) all: u64,
    /// Those that do not wait to be accepted.
    pub(in crate::monitor) accepted: u64,
}

impl PortConnections {
    /// Reports those to this port.
    pub(in crate::monitor) fn report(self, port: u16, into: &mut Vec<Reading>) {
        into.push(Reading::of(Counter::SutConnections, port.to_string(), self.all));
        into.push(Reading::of(Counter::SutAccepted, port.to_string(), self.accepted));
    }
}

impl Connections {
    /// Reports the connections to these ports, counted again if that is due.
    pub(super) fn read(
        &mut self,
        socket: &mut Socket,
        ports: &BTreeSet<u16>,
        into: &mut Vec<Reading>,
    ) -> io::Result<()> {
        let ports = || ports.iter().take(PORTS_MAX);
        let is_known = ports().eq(self.counts.iter().map(|(port, _)| port));
        if !is_known || self.pace.is_due() {
            let count = |port: &u16| Ok((*port, count(socket, *port)?));
            self.counts = self.pace.measure(|| ports().map(count).collect())?;
        }
        for (port, n) in &self.counts {
            n.report(*port, into);
        }
        Ok(())
    }
}

fn count(socket: &mut Socket, port: u16) -> io::Result<PortConnections> {
    let mut n = PortConnections::default();
    let request = TcpRequest { states: HELD, extensions: 0, attributes: &filter(port) };
    request.dump(socket, |payload| {
        n.all += 1;
        // A connection has no socket, and no number, before a process has accepted it.
        n.accepted += u64::from(tcp_inode(payload).is_some_and(|inode| inode != 0));
    })?;
    Ok(n)
}

/// Builds a program that the kernel runs for each socket: whether the local port is this one.
fn filter(port: u16) -> Vec<u8> {
    let length = 2 * CONDITION_BYTES;
    let mut filter = (4 + length).to_ne_bytes().to_vec();
    filter.extend(BYTECODE.to_ne_bytes());
    for (condition, left) in [(PORT_AT_LEAST, length), (PORT_AT_MOST, length - CONDITION_BYTES)] {
        // `struct inet_diag_bc_op`: code, the jump if it holds, the jump beyond the end if it does not; then the port.
        filter.extend([condition, CONDITION_BYTES as u8]);
        filter.extend((left + 4).to_ne_bytes());
        filter.extend([0, 0]);
        filter.extend(port.to_ne_bytes());
    }
    filter
}

#[cfg(test)]
mod tests {
    use std::net::{TcpListener, TcpStream};

    use rustix::net::netlink::SOCK_DIAG;

    use super::*;

    /// Goal: the kernel counts this port's connections alone. Without its module there are none.
    #[test]
    fn connections_are_counted_by_port() {
        let listeners = [(); 2].map(|()| TcpListener::bind("127.0.0.1:0").unwrap());
        let ports = listeners.each_ref().map(|one| one.local_addr().unwrap().port());
        let open = |port: u16| TcpStream::connect(("127.0.0.1", port)).unwrap();
        let _held = [open(ports[0]), open(ports[0]), open(ports[0]), open(ports[1])];
        let _accepted = listeners[0].accept().unwrap();
        let mut socket = Socket::open(Some(SOCK_DIAG)).unwrap();
        let found = ports.map(|port| count(&mut socket, port).unwrap());
        let all = found.map(|one| one.all);
        assert!(all == [3, 1] || all == [0, 0], "{found:?}");
        assert_eq!(found.map(|one| one.accepted), if all[0] == 3 { [1, 0] } else { [0, 0] });
        let mut connections = Connections::default();
        let mut readings = Vec::new();
        connections.read(&mut socket, &ports.into(), &mut readings).unwrap();
        let sum = |counter| -> u64 {
            readings.iter().filter(|one| one.counter == counter).map(|one| one.value).sum()
        };
        assert_eq!(sum(Counter::SutConnections), all.iter().sum::<u64>());
        assert_eq!(sum(Counter::SutAccepted), found[0].accepted);
        assert!(!connections.pace.is_due() || all == [0, 0]);
    }
}
