//! One address of a server, under the target policy, or a Unix socket.

use std::cell::Cell;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::OwnedFd;
use std::path::Path;

use rustix::io::Errno;
use rustix::net::SocketAddrUnix;
use thiserror::Error;

use super::tcp;
use crate::TargetPolicy;

/// An address of a server with the local addresses that a load thread's connections to it come from, in turn.
#[derive(Debug)]
pub struct TargetEndpoint {
    place: EndpointAddress,
    policy: TargetPolicy,
    sources: Box<[IpAddr]>,
    next_source: Cell<usize>,
}

/// The place of a server.
#[derive(Debug)]
enum EndpointAddress {
    Tcp(SocketAddr),
    Unix(SocketAddrUnix),
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

/// A path that is too long for a Unix socket.
#[derive(Debug, Error)]
#[error("`{0}` is too long for the path of a Unix socket\nhint: create a symbolic link with a shorter path")]
pub struct SocketPathError(String);

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
        Ok(TargetEndpoint {
            place: EndpointAddress::Tcp(address),
            policy,
            sources: sources.into(),
            next_source: Cell::new(0),
        })
    }

    /// Creates an endpoint at a Unix socket of this machine.
    ///
    /// # Errors
    /// The path is too long for a socket.
    pub fn of_socket(path: &Path) -> Result<TargetEndpoint, SocketPathError> {
        let address = SocketAddrUnix::new(path).map_err(|_| SocketPathError(path.display().to_string()))?;
        let policy = TargetPolicy;
        let next_source = Cell::new(0);
        Ok(TargetEndpoint {
            place: EndpointAddress::Unix(address),
            policy,
            sources: Box::default(),
            next_source,
        })
    }

    /// Makes the endpoint of another port of the server, under the same policy. A Unix socket has no other.
    pub(crate) fn at_port(&self, port: u16) -> TargetEndpoint {
        let place = match &self.place {
            EndpointAddress::Tcp(address) => EndpointAddress::Tcp(SocketAddr::new(address.ip(), port)),
            EndpointAddress::Unix(address) => EndpointAddress::Unix(address.clone()),
        };
        let TargetEndpoint { policy, sources, .. } = self;
        TargetEndpoint { place, policy: *policy, sources: sources.clone(), next_source: Cell::new(0) }
    }

    /// Returns the address of the server if the policy does not allow it.
    pub(crate) fn forbidden(&self) -> Option<IpAddr> {
        match &self.place {
            EndpointAddress::Tcp(address) if !self.policy.allows(address.ip()) => Some(address.ip()),
            EndpointAddress::Tcp(_) | EndpointAddress::Unix(_) => None,
        }
    }

    /// Returns whether it is a Unix socket.
    pub(crate) fn is_socket(&self) -> bool {
        matches!(self.place, EndpointAddress::Unix(_))
    }

    /// Starts a connection. Returns the socket and whether it is already established.
    #[inline]
    pub(crate) fn begin(&self) -> Result<(OwnedFd, bool), Errno> {
        match &self.place {
            EndpointAddress::Tcp(address) if self.policy.allows(address.ip()) => {
                tcp::begin(address, self.source())
            }
            EndpointAddress::Tcp(_) => Err(Errno::ACCESS),
            EndpointAddress::Unix(address) => tcp::begin_unix(address),
        }
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
