//! One address of a server, under the target policy.

use std::cell::Cell;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::OwnedFd;

use rustix::io::Errno;
use thiserror::Error;

use super::tcp;
use crate::TargetPolicy;

/// An address of a server with the local addresses that a load thread's connections to it come from, in turn.
#[derive(Debug)]
pub struct TargetEndpoint {
    address: SocketAddr,
    policy: TargetPolicy,
    sources: Box<[IpAddr]>,
    next_source: Cell<usize>,
}

/// A source address that connections cannot be made from.
#[derive(Debug, Error)]
#[error(
    "cannot connect from `{address}`: {problem}\nhint: source addresses must be addresses of this machine, of the same family as the server's"
)]
pub struct SourceAddressError {
    /// The source address.
    pub address: IpAddr,
    /// The system's error.
    pub problem: Errno,
}

impl TargetEndpoint {
    /// Creates an endpoint; without source addresses, the system chooses them.
    ///
    /// # Errors
    /// Connections cannot be made from one of the source addresses: later errors are then due to a lack of ports.
    pub fn new(
        address: SocketAddr,
        policy: TargetPolicy,
        sources: &[IpAddr],
    ) -> Result<TargetEndpoint, SourceAddressError> {
        for source in sources {
            let made = tcp::make_socket(&address, Some(*source));
            made.map_err(|problem| SourceAddressError { address: *source, problem })?;
        }
        Ok(TargetEndpoint { address, policy, sources: sources.into(), next_source: Cell::new(0) })
    }

    /// Returns the address of the server.
    pub(crate) fn address(&self) -> IpAddr {
        self.address.ip()
    }

    /// Returns whether the policy allows the address.
    pub(crate) fn is_allowed(&self) -> bool {
        self.policy.allows(self.address.ip())
    }

    /// Starts a connection. Returns the socket and whether it is already established.
    #[inline]
    pub(crate) fn begin(&self) -> Result<(OwnedFd, bool), Errno> {
        if !self.is_allowed() {
            return Err(Errno::ACCESS);
        }
        tcp::begin(&self.address, self.source())
    }

    /// Connects; returns the established socket.
    pub(crate) async fn connect(&self) -> Result<OwnedFd, Errno> {
        let (socket, is_established) = self.begin()?;
        if is_established { Ok(socket) } else { tcp::established(socket).await }
    }

    /// Returns the source address of the next connection.
    #[inline]
    fn source(&self) -> Option<IpAddr> {
        let index = self.next_source.get();
        let source = self.sources.get(index)?;
        self.next_source.set((index + 1) % self.sources.len());
        Some(*source)
    }
}
