//! The question whether a running server is on this machine.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};

use drivers::TargetPolicy;
use drivers::web::Target;

/// Returns whether a server is on this machine: the kernel would send to its address from the same one. Nothing is
/// sent.
pub(crate) fn is_here(target: &Target) -> bool {
    let addresses = TargetPolicy.resolve(&target.host, target.port).unwrap_or_default();
    addresses.first().is_some_and(|address| is_own(*address))
}

fn is_own(address: SocketAddr) -> bool {
    let any = match address {
        SocketAddr::V4(_) => IpAddr::from(Ipv4Addr::UNSPECIFIED),
        SocketAddr::V6(_) => IpAddr::from(Ipv6Addr::UNSPECIFIED),
    };
    let source = UdpSocket::bind((any, 0)).and_then(|socket| {
        socket.connect(address)?;
        socket.local_addr()
    });
    address.ip().is_loopback() || source.is_ok_and(|source| source.ip() == address.ip())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loopback_addresses_are_here_and_documentation_addresses_are_not() {
        for here in ["127.0.0.1:80", "127.0.0.2:80", "[::1]:80"] {
            assert!(is_own(here.parse().unwrap()), "{here}");
        }
        assert!(!is_own("192.0.2.1:80".parse().unwrap()));
    }
}
