//! Counters that the kernel reports only over netlink: accept queues of listeners, connections, queueing disciplines
//! of interfaces.
//!
//! `/proc/net/tcp` contains the accept queues, too, but with a line for every connection.
//!
//! - `listeners`: accept queues of listening TCP sockets; `unix_listeners`: of Unix sockets
//! - `connections`: established connections; `services`: those of the server to services behind it; `other_clients`: those to
//!   the server of other clients than this program; `pace`: how often they are counted
//! - `queues`: queueing disciplines

mod connections;
mod listeners;
mod other_clients;
mod queues;
mod reading_interval;
mod services;
mod unix_listeners;

use std::collections::BTreeSet;
use std::io;

use model::Reading;
use rustix::net::Protocol;
use rustix::net::netlink::SOCK_DIAG;

use crate::in_network::in_network_of;
use crate::netlink::Socket;
use connections::Connections;
pub(super) use connections::PortConnections;
pub(super) use services::{Service, is_of_system, renew as renew_services, report as report_services};
pub(super) use unix_listeners::UnixAcceptQueue;

/// `NETLINK_ROUTE`, whose number is 0.
const ROUTE: Option<Protocol> = None;

/// The listening sockets that are reported.
#[derive(Debug, Clone, Copy)]
pub(super) enum ListenerChoice<'a> {
    /// All of them, up to a limit.
    All,
    /// Those on these ports, and those with these numbers.
    Of {
        /// TCP ports.
        ports: &'a [u16],
        /// Numbers of sockets that the server's processes hold.
        owned: &'a BTreeSet<u64>,
    },
}

/// The netlink sockets of the two kinds of counters. A socket that failed is reopened for the next reading.
#[derive(Debug, Default)]
pub(super) struct Netlink {
    /// A process in the network namespace that is read; `None` for that of the thread that reads first.
    within: Option<u32>,
    diagnosis: Option<Socket>,
    routes: Option<Socket>,
    connections: Connections,
}

impl Netlink {
    /// Returns one that reads the network namespace of a process.
    pub(super) fn within(pid: u32) -> Netlink {
        Netlink { within: Some(pid), ..Netlink::default() }
    }

    /// Returns the numbers of all listening sockets, TCP and Unix; empty if they cannot be read.
    pub(super) fn listening(&mut self) -> BTreeSet<u64> {
        let mut inodes = BTreeSet::new();
        with_socket(self.within, &mut self.diagnosis, Some(SOCK_DIAG), |socket| {
            inodes.extend(listeners::dump(socket)?.iter().map(|one| one.inode));
            inodes.extend(unix_listeners::dump(socket)?.iter().map(|one| one.inode));
            Ok(())
        });
        inodes
    }

    /// Returns the services that groups of processes were seen to be connected to.
    pub(super) fn services(&self) -> impl Iterator<Item = &Service> {
        self.connections.services()
    }

    /// Reads the chosen listeners, the connections to their ports, those of each group of processes to services, and the
    /// queueing disciplines of all interfaces. `groups` is called only if these connections are due to be counted.
    pub(super) fn read(
        &mut self,
        choice: &ListenerChoice<'_>,
        groups: impl FnOnce() -> Vec<Vec<u32>>,
        into: &mut Vec<Reading>,
    ) {
        let connections = &mut self.connections;
        with_socket(self.within, &mut self.diagnosis, Some(SOCK_DIAG), |socket| {
            let queues = listeners::dump(socket)?;
            listeners::report(&queues, choice, into);
            let ListenerChoice::Of { ports, owned } = choice else { return Ok(()) };
            let unix_queues = unix_listeners::dump(socket)?;
            UnixAcceptQueue::report(&unix_queues, owned, into);
            let is_own =
                |one: &&listeners::AcceptQueue| owned.contains(&one.inode) || ports.contains(&one.port);
            let ports = queues.iter().filter(is_own).map(|one| one.port).collect();
            let tcp = queues.iter().map(|one| (one.inode, Service::Port { number: one.port, is_here: true }));
            let unix = unix_queues.into_iter().map(|one| (one.inode, Service::Socket(one.path)));
            connections.read(socket, &ports, groups, || tcp.chain(unix).collect(), into)
        });
        with_socket(self.within, &mut self.routes, ROUTE, |socket| queues::read(socket, into));
    }
}

fn with_socket(
    within: Option<u32>,
    socket: &mut Option<Socket>,
    protocol: Option<Protocol>,
    ask: impl FnOnce(&mut Socket) -> io::Result<()>,
) {
    if socket.is_none() {
        *socket = match within {
            None => Socket::open(protocol).ok(),
            Some(pid) => in_network_of(pid, || Socket::open(protocol)).ok(),
        };
    }
    // After an error the rest of an answer may still arrive, so the socket is discarded.
    if socket.as_mut().is_some_and(|socket| ask(socket).is_err()) {
        *socket = None;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::netlink::testing::attribute_bytes;

    proptest! {
        #[test]
        fn any_message_is_parsed_without_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            listeners::parse(&bytes);
            queues::parse(&bytes);
            unix_listeners::parse(&bytes);
            services::parse_unix(&bytes);
        }

        /// Goal: the parsers are also reached behind what they require: the type of the socket, whole attributes.
        #[test]
        fn any_attributes_of_a_unix_socket_are_parsed_without_panic(
            attributes in prop::collection::vec((0u16..6, prop::collection::vec(any::<u8>(), 0..20)), 0..6),
            length in 0usize..100,
        ) {
            let mut bytes = vec![1; crate::sock_diag::UNIX_MESSAGE_BYTES];
            bytes.extend(attributes.iter().flat_map(|(kind, value)| attribute_bytes(*kind, value)));
            bytes.truncate(length);
            unix_listeners::parse(&bytes);
            services::parse_unix(&bytes);
        }
    }
}
