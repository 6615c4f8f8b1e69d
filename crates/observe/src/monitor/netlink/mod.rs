//! Counters that the kernel reports only over netlink: accept queues of listeners, queueing disciplines of
//! interfaces.
//!
//! `/proc/net/tcp` contains the accept queues, too, but with a line for every connection.
//!
//! - `listeners`: accept queues of listening sockets
//! - `queues`: queueing disciplines

mod listeners;
mod queues;

use std::io;

use model::Reading;
use rustix::net::Protocol;
use rustix::net::netlink::SOCK_DIAG;

use crate::netlink::Socket;

/// `NETLINK_ROUTE`, whose number is 0.
const ROUTE: Option<Protocol> = None;

/// The netlink sockets of the two kinds of counters. A socket that failed is reopened for the next reading.
#[derive(Debug, Default)]
pub(super) struct Netlink {
    diagnosis: Option<Socket>,
    routes: Option<Socket>,
}

impl Netlink {
    /// Reads the accept queues of the listeners on `ports`, or of all if it is empty, and the queueing
    /// disciplines of all interfaces. Both belong to the network namespace of the thread that reads first.
    pub(super) fn read(&mut self, ports: &[u16], into: &mut Vec<Reading>) {
        with_socket(&mut self.diagnosis, Some(SOCK_DIAG), |socket| listeners::read(socket, ports, into));
        with_socket(&mut self.routes, ROUTE, |socket| queues::read(socket, into));
    }
}

fn with_socket(
    socket: &mut Option<Socket>,
    protocol: Option<Protocol>,
    ask: impl FnOnce(&mut Socket) -> io::Result<()>,
) {
    if socket.is_none() {
        *socket = Socket::open(protocol).ok();
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

    proptest! {
        #[test]
        fn any_message_is_parsed_without_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            listeners::parse(&bytes);
            queues::parse(&bytes);
        }
    }
}
