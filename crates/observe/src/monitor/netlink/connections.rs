//! Established connections: those to the server's ports, and its own to services. They are counted less often the more that
//! costs: the kernel walks a table whose size depends on the machine's memory, and all connections in it, including those in
//! TIME-WAIT.

use std::collections::{BTreeMap, BTreeSet};
use std::io;

use model::{Counter, Reading};

use super::other_clients::{self, HeldSockets, OtherClients};
use super::reading_interval::ReadingInterval;
use super::services::{self, OwnSockets, Service};
use crate::netlink::Socket;
use crate::sock_diag::{HELD, TcpRequest, TcpSocket};
use crate::watch::{own_processes, sockets_held_by};

/// The most ports whose connections are counted.
const PORTS_MAX: usize = 8;

/// The connections, as last counted.
#[derive(Debug, Default)]
pub(super) struct Connections {
    pace: ReadingInterval,
    services: BTreeMap<Service, u64>,
    others: OtherClients,
}

/// The established connections to a port.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(in crate::monitor) struct PortConnections {
    pub(in crate::monitor) all: u64,
    /// Those that do not wait to be accepted.
    pub(in crate::monitor) accepted: u64,
}

impl PortConnections {
    fn count(tcp: &[TcpSocket], port: u16) -> PortConnections {
        let mut n = PortConnections::default();
        for one in tcp.iter().filter(|one| one.local.port() == port) {
            n.all += 1;
            // A connection has no socket, and no number, before a process has accepted it.
            n.accepted += u64::from(one.inode != 0);
        }
        n
    }

    /// Reports those to this port.
    pub(in crate::monitor) fn report(self, port: u16, into: &mut Vec<Reading>) {
        into.push(Reading::of(Counter::SutConnections, port.to_string(), self.all));
        into.push(Reading::of(Counter::SutAccepted, port.to_string(), self.accepted));
    }
}

impl Connections {
    /// Returns the services that groups of processes were seen to be connected to.
    pub(super) fn services(&self) -> impl Iterator<Item = &Service> {
        self.services.keys()
    }

    /// Counts the connections to these ports, and those of each group of processes to services outside of it, and reports
    /// them, if that is due: what was counted before another load is no reading of this one. `listening` returns the listening
    /// sockets of the namespace by their numbers.
    pub(super) fn read(
        &mut self,
        socket: &mut Socket,
        ports: &BTreeSet<u16>,
        groups: impl FnOnce() -> Vec<Vec<u32>>,
        listening: impl FnOnce() -> BTreeMap<u64, Service>,
        into: &mut Vec<Reading>,
    ) -> io::Result<()> {
        if !self.pace.is_due() {
            return Ok(());
        }
        let groups = groups();
        if groups.is_empty() && ports.is_empty() {
            return Ok(());
        }
        let others = &mut self.others;
        let (tcp, services, other_clients) = self.pace.measure(|| {
            let mut tcp = Vec::new();
            let request = TcpRequest { states: HELD, extensions: 0 };
            request.dump(socket, |payload| tcp.extend(TcpSocket::parse(payload)))?;
            if groups.is_empty() {
                return Ok((tcp, None, BTreeMap::new()));
            }
            let listening = listening();
            let own: Vec<OwnSockets> = groups.iter().map(|pids| OwnSockets::of(pids, &listening)).collect();
            let other_clients = count_others(others, &tcp, ports, &own);
            let services = services::count(socket, &own, &tcp)?;
            Ok((tcp, Some(services), other_clients))
        })?;
        for port in ports.iter().take(PORTS_MAX) {
            PortConnections::count(&tcp, *port).report(*port, into);
        }
        if let Some(counts) = services {
            services::renew(&mut self.services, counts);
            other_clients::report(other_clients, into);
            services::report(self.services.iter().map(|(service, n)| (service.name(), *n)), into);
        }
        Ok(())
    }
}

/// Counts the connections of other clients to the ports, where any client of them is on this machine.
fn count_others(
    others: &mut OtherClients,
    tcp: &[TcpSocket],
    ports: &BTreeSet<u16>,
    servers: &[OwnSockets],
) -> BTreeMap<u16, u64> {
    if !tcp.iter().any(|one| ports.contains(&one.remote.port())) {
        return BTreeMap::new();
    }
    let own = sockets_held_by(&own_processes());
    let server = servers.iter().flat_map(|server| &server.held).copied().collect();
    others.count(tcp, ports, &HeldSockets { own: &own, server: &server })
}

#[cfg(test)]
mod tests {
    use std::net::{TcpListener, TcpStream};
    use std::os::unix::net::{UnixListener, UnixStream};

    use rustix::net::netlink::SOCK_DIAG;

    use super::*;

    fn of(readings: &[Reading], counter: Counter, name: &str) -> Option<u64> {
        readings.iter().find(|one| one.counter == counter && one.instance == name).map(|one| one.value)
    }

    /// Goal: the kernel tells how many connections each port has, of either version of IP, and how many were accepted. Without
    /// its module there are none. What is not due is no reading.
    #[test]
    fn connections_are_counted_by_port() {
        let listeners = ["127.0.0.1:0", "[::1]:0"].map(|address| TcpListener::bind(address).unwrap());
        let addresses = listeners.each_ref().map(|one| one.local_addr().unwrap());
        let open = |at: usize| TcpStream::connect(addresses[at]).unwrap();
        let _held = [open(0), open(0), open(0), open(1)];
        let _accepted = listeners[0].accept().unwrap();
        let mut connections = Connections::default();
        let mut readings = Vec::new();
        let mut socket = Socket::open(Some(SOCK_DIAG)).unwrap();
        let ports: BTreeSet<u16> = addresses.iter().map(|one| one.port()).collect();
        let mut read = |readings: &mut Vec<Reading>| {
            connections.read(&mut socket, &ports, Vec::new, BTreeMap::new, readings).unwrap();
        };
        read(&mut readings);
        let found = addresses.map(|one| {
            let name = one.port().to_string();
            [Counter::SutConnections, Counter::SutAccepted].map(|counter| of(&readings, counter, &name))
        });
        let has_module = found[0][0] != Some(0);
        let expected = if has_module { [[3, 1], [1, 0]] } else { [[0; 2]; 2] };
        assert_eq!(found, expected.map(|counts| counts.map(Some)));
        if has_module {
            let n = readings.len();
            read(&mut readings);
            assert_eq!(readings.len(), n);
        }
    }

    /// Goal: the kernel tells this process's connections. Without its modules there are none.
    #[test]
    fn connections_of_this_process_to_services_are_counted() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s");
        let local = UnixListener::bind(&path).unwrap();
        let remote = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = remote.local_addr().unwrap().port();
        let _held = [(); 3].map(|()| TcpStream::connect(("127.0.0.1", port)).unwrap());
        let _client = UnixStream::connect(&path).unwrap();
        let _accepted = local.accept().unwrap();
        let mut connections = Connections::default();
        let mut readings = Vec::new();
        let mut socket = Socket::open(Some(SOCK_DIAG)).unwrap();
        // As if the listeners were those of another program.
        let own = || vec![vec![std::process::id()]];
        connections.read(&mut socket, &BTreeSet::new(), own, BTreeMap::new, &mut readings).unwrap();
        let of = |name: &str| of(&readings, Counter::SutServiceConnections, name);
        if of(&port.to_string()).is_some() {
            assert_eq!((of(&port.to_string()), of(path.to_str().unwrap())), (Some(3), Some(1)));
            assert!(connections.services().any(|one| *one == Service::Port { number: port, is_here: true }));
        }
    }
}
