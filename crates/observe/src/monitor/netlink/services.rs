//! Established connections of processes to services: databases, applications behind a proxy.

use std::collections::{BTreeMap, BTreeSet};
use std::io;

use model::{Counter, Reading};

use crate::netlink::{Socket, u32_at};
use crate::sock_diag::{
    ESTABLISHED, SHOW_NAME, SHOW_PEER, TcpSocket, dump_unix, unix_attribute, unix_inode, unix_name,
};
use crate::watch::{ProcessSelector, SearchScope, sockets_held_by};

/// The most services with their own series; the others are left out.
const SERVICES_MAX: usize = 16;

/// `SOCK_STREAM`.
const STREAM: u8 = 1;
/// `UNIX_DIAG_PEER`.
const PEER: u16 = 2;

/// A service by the place where it listens.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::monitor) enum Service {
    /// A TCP port; its address is left out, because it may name a machine.
    Port {
        number: u16,
        /// Whether it is on the same machine, in the same network namespace.
        is_here: bool,
    },
    /// A Unix socket.
    Socket(String),
}

/// The sockets that belong to one group of processes: those that they hold, and where they listen.
#[derive(Debug, Default)]
pub(super) struct OwnSockets {
    pub(super) held: BTreeSet<u64>,
    ports: BTreeSet<u16>,
    paths: BTreeSet<String>,
}

/// A connected Unix socket; `peer` is 0 if the peer has not accepted yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct UnixConnection {
    inode: u64,
    name: String,
    peer: u64,
}

impl Service {
    /// Returns the processes to look for behind it; `None` if it is on another machine.
    pub(in crate::monitor) fn back_end(&self) -> Option<SearchScope> {
        match self {
            Service::Port { number, is_here } => {
                is_here.then_some(SearchScope::Selected(ProcessSelector::Port(*number)))
            }
            Service::Socket(path) => Some(SearchScope::Socket(path.clone())),
        }
    }

    /// Returns the name in series: the port, or the path of the socket.
    pub(in crate::monitor) fn name(&self) -> String {
        match self {
            Service::Port { number, .. } => number.to_string(),
            Service::Socket(path) => path.clone(),
        }
    }
}

/// Takes new counts of connections to services, as far as there is room for further services; one that nothing is connected to
/// any more has none.
pub(in crate::monitor) fn renew(
    known: &mut BTreeMap<Service, u64>,
    counts: impl IntoIterator<Item = (Service, u64)>,
) {
    known.values_mut().for_each(|n| *n = 0);
    for (service, n) in counts {
        if known.len() < SERVICES_MAX || known.contains_key(&service) {
            known.insert(service, n);
        }
    }
}

/// Reports the connections to services, those of one name together; called at each count, also where nothing is connected:
/// its readings tell how often connections were counted.
pub(in crate::monitor) fn report(counts: impl Iterator<Item = (String, u64)>, into: &mut Vec<Reading>) {
    let mut by_name: BTreeMap<String, u64> = BTreeMap::new();
    for (name, n) in counts {
        *by_name.entry(name).or_default() += n;
    }
    into.push(Reading::of(Counter::SutServices, "", by_name.len() as u64));
    into.extend(by_name.into_iter().map(|(name, n)| Reading::of(Counter::SutServiceConnections, name, n)));
}

/// Counts the connections of each group to services outside of it, of all connections over TCP and those of Unix sockets,
/// which are requested.
pub(super) fn count(
    socket: &mut Socket,
    own: &[OwnSockets],
    tcp: &[TcpSocket],
) -> io::Result<BTreeMap<Service, u64>> {
    let mut unix = Vec::new();
    dump_unix(socket, ESTABLISHED, SHOW_NAME | SHOW_PEER, |payload| unix.extend(parse_unix(payload)))?;
    Ok(services_of(own, tcp, &unix))
}

/// Returns the number of connections to each service from outside of the group that it belongs to.
fn services_of(own: &[OwnSockets], tcp: &[TcpSocket], unix: &[UnixConnection]) -> BTreeMap<Service, u64> {
    let names: BTreeMap<u64, &str> = unix.iter().map(|one| (one.inode, one.name.as_str())).collect();
    let mut counts: BTreeMap<Service, u64> = BTreeMap::new();
    for group in own {
        for one in tcp.iter().filter(|one| group.held.contains(&one.inode)) {
            let [local, remote] = [one.local, one.remote].map(|end| end.ip().to_canonical());
            let is_here = remote.is_loopback() || remote == local;
            let number = one.remote.port();
            let is_client = group.ports.contains(&one.local.port());
            let is_internal = is_here && group.ports.contains(&number);
            if !is_client && !is_internal {
                *counts.entry(Service::Port { number, is_here }).or_default() += 1;
            }
        }
        // The end that was accepted has the name of the listening socket, the other one has none.
        for one in unix.iter().filter(|one| group.held.contains(&one.inode) && one.name.is_empty()) {
            let path = names.get(&one.peer).copied().unwrap_or_default();
            if !path.is_empty() && !group.paths.contains(path) && !is_of_system(path) {
                *counts.entry(Service::Socket(path.to_owned())).or_default() += 1;
            }
        }
    }
    counts
}

/// Returns whether a socket is one of the system's own, for logs and messages.
pub(in crate::monitor) fn is_of_system(path: &str) -> bool {
    const OF_SYSTEM: [&str; 4] = ["/run/systemd/", "/run/dbus/", "/var/run/dbus/", "/dev/"];
    OF_SYSTEM.iter().any(|prefix| path.starts_with(prefix))
}

impl OwnSockets {
    pub(super) fn of(pids: &[u32], listening: &BTreeMap<u64, Service>) -> OwnSockets {
        let mut own = OwnSockets { held: sockets_held_by(pids), ..OwnSockets::default() };
        for (_, service) in listening.iter().filter(|(inode, _)| own.held.contains(inode)) {
            match service {
                Service::Port { number, .. } => own.ports.insert(*number),
                Service::Socket(path) => own.paths.insert(path.clone()),
            };
        }
        own
    }
}

/// Parses `struct unix_diag_msg` of a stream.
pub(super) fn parse_unix(payload: &[u8]) -> Option<UnixConnection> {
    if *payload.get(1)? != STREAM {
        return None;
    }
    let peer = u64::from(u32_at(unix_attribute(payload, PEER)?, 0)?);
    Some(UnixConnection { inode: unix_inode(payload)?, name: unix_name(payload), peer })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tcp(local: &str, remote: &str, inode: u64) -> TcpSocket {
        TcpSocket { local: local.parse().unwrap(), remote: remote.parse().unwrap(), uid: 0, inode }
    }

    fn unix(inode: u64, name: &str, peer: u64) -> UnixConnection {
        UnixConnection { inode, name: name.to_owned(), peer }
    }

    /// By hand: a proxy on port 80 with two clients, which is connected to an application of its own on port 9000, twice to a
    /// database here, once to another machine, to a Unix socket and to the system's log.
    #[test]
    fn only_connections_to_services_outside_of_the_group_count() {
        let proxy = OwnSockets {
            held: (1..=20).collect(),
            ports: [80, 9000].into(),
            paths: ["/run/own.sock".to_owned()].into(),
        };
        let tcp = [
            tcp("10.0.0.1:80", "10.0.0.9:40000", 1),
            tcp("127.0.0.1:80", "127.0.0.1:40001", 2),
            tcp("127.0.0.1:50000", "127.0.0.1:9000", 3),
            tcp("127.0.0.1:50001", "127.0.0.1:5432", 4),
            tcp("10.0.0.1:50002", "10.0.0.1:5432", 5),
            tcp("10.0.0.1:50003", "10.0.0.7:6379", 6),
            tcp("10.0.0.1:50004", "10.0.0.7:6379", 99),
        ];
        let unix = [
            unix(11, "", 31),
            unix(31, "/run/php.sock", 11),
            unix(12, "", 32),
            unix(32, "/run/systemd/journal/stdout", 12),
            unix(13, "", 33),
            unix(33, "/run/own.sock", 13),
            unix(14, "/run/own.sock", 34),
            // Not accepted yet.
            unix(15, "", 0),
        ];
        let found = services_of(&[proxy], &tcp, &unix);
        let expected = [
            (Service::Port { number: 5432, is_here: true }, 2),
            (Service::Port { number: 6379, is_here: false }, 1),
            (Service::Socket("/run/php.sock".to_owned()), 1),
        ];
        assert_eq!(found, expected.into());
    }
}
