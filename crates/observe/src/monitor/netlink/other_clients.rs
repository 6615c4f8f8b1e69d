//! Connections to the server of other clients than this program.

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;

use model::{Counter, Reading};

use crate::sock_diag::TcpSocket;

/// Connections that were there at the last count and that this program does not hold.
#[derive(Debug, Default)]
pub(super) struct OtherClients {
    seen: BTreeSet<ForeignConnection>,
}

/// A connection: its ends, of which the client's is first, and the number of the client's socket, or of the server's where
/// the client is on another machine. Ports are soon used again, numbers are not.
type ForeignConnection = (SocketAddr, SocketAddr, u64);

/// Numbers of the sockets that processes hold.
#[derive(Debug)]
pub(super) struct HeldSockets<'a> {
    /// Those of this process.
    pub(super) own: &'a BTreeSet<u64>,
    /// Those of the server's processes.
    pub(super) server: &'a BTreeSet<u64>,
}

impl OtherClients {
    /// Counts, by port, the connections that neither this process nor the server itself holds, of ports that this process is
    /// connected to. Only those that were there at the last count as well: a connection that is opened or closed while sockets
    /// are listed has no holder.
    pub(super) fn count(
        &mut self,
        tcp: &[TcpSocket],
        ports: &BTreeSet<u16>,
        held: &HeldSockets<'_>,
    ) -> BTreeMap<u16, u64> {
        let by_ends: BTreeMap<(SocketAddr, SocketAddr), u64> =
            tcp.iter().map(|one| ((canonical(one.local), canonical(one.remote)), one.inode)).collect();
        let mut counts = BTreeMap::new();
        let mut seen = BTreeSet::new();
        for one in tcp.iter().filter(|one| ports.contains(&one.local.port())) {
            let ends = (canonical(one.remote), canonical(one.local));
            match by_ends.get(&ends) {
                Some(inode) if held.own.contains(inode) => {
                    counts.entry(one.local.port()).or_default();
                }
                Some(inode) if held.server.contains(inode) => {}
                // The client has closed its end.
                None if ends.0.ip().is_loopback() => {}
                Some(0) => {}
                found => {
                    seen.insert((ends.0, ends.1, *found.unwrap_or(&one.inode)));
                }
            }
        }
        for (_, server, _) in seen.intersection(&self.seen) {
            counts.entry(server.port()).and_modify(|n| *n += 1);
        }
        self.seen = seen;
        counts
    }
}

/// Reports the counts by port.
pub(super) fn report(counts: BTreeMap<u16, u64>, into: &mut Vec<Reading>) {
    let reading = |(port, n): (u16, u64)| Reading::of(Counter::SutOtherConnections, port.to_string(), n);
    into.extend(counts.into_iter().map(reading));
}

/// Returns an address with that of IPv4 where it is mapped: of the two ends of a connection one may be.
fn canonical(address: SocketAddr) -> SocketAddr {
    SocketAddr::new(address.ip().to_canonical(), address.port())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tcp(local: &str, remote: &str, inode: u64) -> TcpSocket {
        TcpSocket { local: local.parse().unwrap(), remote: remote.parse().unwrap(), uid: 0, inode }
    }

    /// Both ends of a connection.
    fn both(client: &str, server: &str, [at_client, at_server]: [u64; 2]) -> [TcpSocket; 2] {
        [tcp(client, server, at_client), tcp(server, client, at_server)]
    }

    /// By hand: to port 80, one of this process (1), two of others (2 here, one of another machine), one of the server itself
    /// (3), and one whose client has closed its end; to port 5432, one of the server.
    #[test]
    fn connections_of_others_that_stay_are_counted() {
        let mut sockets = Vec::new();
        sockets.extend(both("127.0.0.1:40001", "127.0.0.1:80", [1, 11]));
        sockets.extend(both("127.0.0.1:40002", "127.0.0.1:80", [2, 12]));
        sockets.extend(both("127.0.0.1:40003", "127.0.0.1:80", [3, 13]));
        sockets.extend(both("127.0.0.1:40004", "127.0.0.1:5432", [3, 21]));
        sockets.push(tcp("[::ffff:10.0.0.1]:80", "[::ffff:10.0.0.9]:50000", 14));
        sockets.push(tcp("127.0.0.1:80", "127.0.0.1:40005", 15));
        let held = HeldSockets { own: &[1].into(), server: &(3..=15).collect() };
        let ports = [80, 5432].into();
        let mut clients = OtherClients::default();
        assert_eq!(clients.count(&sockets, &ports, &held), [(80, 0)].into());
        assert_eq!(clients.count(&sockets, &ports, &held), [(80, 2)].into());
        // Another client has taken the place of one of them.
        sockets[2].local = "127.0.0.1:40009".parse().unwrap();
        sockets[3].remote = sockets[2].local;
        assert_eq!(clients.count(&sockets, &ports, &held), [(80, 1)].into());
    }

    /// At thousands of connections per second a port is soon used again, each time while sockets are listed.
    #[test]
    fn connections_that_have_the_ports_of_earlier_ones_are_not_counted() {
        let held = HeldSockets { own: &[1].into(), server: &[11, 12, 13, 14].into() };
        let ports = [80].into();
        let mut clients = OtherClients::default();
        for (at_client, at_server) in [(2, 12), (3, 13), (0, 14), (0, 14)] {
            let mut sockets = both("127.0.0.1:40001", "127.0.0.1:80", [1, 11]).to_vec();
            sockets.extend(both("127.0.0.1:40002", "127.0.0.1:80", [at_client, at_server]));
            assert_eq!(clients.count(&sockets, &ports, &held), [(80, 0)].into());
        }
    }

    /// Without a connection of this process nobody knows whether the load goes to a port.
    #[test]
    fn ports_that_this_process_is_not_connected_to_are_left_out() {
        let sockets = both("127.0.0.1:40002", "127.0.0.1:80", [2, 12]);
        let held = HeldSockets { own: &BTreeSet::new(), server: &[12].into() };
        let mut clients = OtherClients::default();
        for _ in 0..2 {
            assert_eq!(clients.count(&sockets, &[80].into(), &held), BTreeMap::new());
        }
    }
}
