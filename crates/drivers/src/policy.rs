//! Where load may be sent to: a load generator is a weapon otherwise.
//!
//! Addresses decide, not names: a name is resolved once, every address it has must be allowed, and
//! connections are made to the addresses that were checked, each of them checked again. So a name
//! that changes its mind (rebinding) or hides an address in another notation gains nothing.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, ToSocketAddrs};

use thiserror::Error;

/// What an address belongs to, as far as the policy cares.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AddressKind {
    /// This machine.
    Loopback,
    /// A private network (RFC 1918, RFC 4193).
    Private,
    /// Link-local: cloud machines keep their metadata there.
    LinkLocal,
    /// Not one host: unspecified, broadcast, multicast.
    NotOneHost,
    /// Somebody's address on the Internet, or one reserved for something else.
    Public,
}

impl AddressKind {
    /// Returns what an address belongs to; an IPv4 address inside an IPv6 one counts as itself.
    pub fn of(address: IpAddr) -> AddressKind {
        match address {
            IpAddr::V4(address) => AddressKind::of_v4(address),
            IpAddr::V6(address) => match embedded_v4(address) {
                Some(inner) => AddressKind::of_v4(inner),
                None => AddressKind::of_v6(address),
            },
        }
    }

    fn of_v4(address: Ipv4Addr) -> AddressKind {
        match address {
            _ if address.is_loopback() => AddressKind::Loopback,
            _ if address.is_private() => AddressKind::Private,
            _ if address.is_link_local() => AddressKind::LinkLocal,
            _ if address.octets()[0] == 0 || address.is_broadcast() || address.is_multicast() => {
                AddressKind::NotOneHost
            }
            _ => AddressKind::Public,
        }
    }

    fn of_v6(address: Ipv6Addr) -> AddressKind {
        match address {
            _ if address.is_loopback() => AddressKind::Loopback,
            _ if address.is_unique_local() => AddressKind::Private,
            _ if address.is_unicast_link_local() => AddressKind::LinkLocal,
            _ if address.is_unspecified() || address.is_multicast() => AddressKind::NotOneHost,
            _ => AddressKind::Public,
        }
    }

    fn name(self) -> &'static str {
        match self {
            AddressKind::Loopback => "a loopback address",
            AddressKind::Private => "a private address",
            AddressKind::LinkLocal => "a link-local address, where cloud machines keep their metadata",
            AddressKind::NotOneHost => "not the address of one host",
            AddressKind::Public => "a public address",
        }
    }
}

/// Returns the IPv4 address that an IPv6 address stands for: mapped (`::ffff:a.b.c.d`), compatible
/// (`::a.b.c.d`), NAT64 (`64:ff9b::a.b.c.d`) or 6to4 (`2002:aabb:ccdd::`).
fn embedded_v4(address: Ipv6Addr) -> Option<Ipv4Addr> {
    let [a, b, c, d, e, f, high, low] = address.segments();
    let v4 = |high: u16, low: u16| Ipv4Addr::from(u32::from(high) << 16 | u32::from(low));
    match [a, b, c, d, e, f] {
        [0, 0, 0, 0, 0, 0xffff] | [0x64, 0xff9b, 0, 0, 0, 0] => Some(v4(high, low)),
        [0, 0, 0, 0, 0, 0] if (high, low) != (0, 0) && (high, low) != (0, 1) => Some(v4(high, low)),
        [0x2002, high, low, ..] => Some(v4(high, low)),
        _ => None,
    }
}

/// Where load may be sent to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Policy;

/// Why a target is refused or cannot be used.
#[derive(Debug, Error)]
pub enum PolicyError {
    /// An address of the target is not allowed.
    #[error("the target policy does not allow `{address}` ({of}): it is {}", kind.name())]
    Forbidden {
        /// The address.
        address: IpAddr,
        /// The name that led to it, or the address as written.
        of: String,
        /// What it belongs to.
        kind: AddressKind,
    },
    /// The name has no address.
    #[error("no address found for `{0}`")]
    NoAddress(String),
    /// The name could not be looked up.
    #[error("cannot look up `{0}`: {1}")]
    Lookup(String, #[source] io::Error),
}

impl Policy {
    /// Returns whether connections to an address are allowed: loopback and private ranges only.
    #[inline]
    pub fn allows(self, address: IpAddr) -> bool {
        matches!(AddressKind::of(address), AddressKind::Loopback | AddressKind::Private)
    }

    /// Looks up a host and returns its addresses, all of which are allowed; never empty.
    ///
    /// # Errors
    /// If one of them is not allowed, there is none, or the look-up does not work.
    pub fn resolve(self, host: &str, port: u16) -> Result<Vec<SocketAddr>, PolicyError> {
        let bare = host.trim_start_matches('[').trim_end_matches(']');
        let addresses: Vec<SocketAddr> = (bare, port)
            .to_socket_addrs()
            .map_err(|error| PolicyError::Lookup(host.to_owned(), error))?
            .collect();
        if addresses.is_empty() {
            return Err(PolicyError::NoAddress(host.to_owned()));
        }
        match addresses.iter().find(|address| !self.allows(address.ip())) {
            None => Ok(addresses),
            Some(address) => Err(PolicyError::Forbidden {
                address: address.ip(),
                of: host.to_owned(),
                kind: AddressKind::of(address.ip()),
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loopback_and_private_ranges_are_allowed_and_nothing_else() {
        for (address, allowed) in [
            ("127.0.0.1", true),
            ("127.255.0.9", true),
            ("::1", true),
            ("10.1.2.3", true),
            ("172.16.0.1", true),
            ("172.32.0.1", false),
            ("192.168.1.1", true),
            ("fd00::1", true),
            ("169.254.169.254", false),
            ("fe80::1", false),
            ("0.0.0.0", false),
            ("0.1.2.3", false),
            ("::", false),
            ("255.255.255.255", false),
            ("224.0.0.1", false),
            ("ff02::1", false),
            ("8.8.8.8", false),
            ("100.64.0.1", false),
            ("2606:4700::1111", false),
        ] {
            assert_eq!(Policy.allows(address.parse().unwrap()), allowed, "{address}");
        }
    }

    #[test]
    fn an_address_inside_another_counts_as_itself() {
        for (address, kind) in [
            ("::ffff:169.254.169.254", AddressKind::LinkLocal),
            ("::ffff:127.0.0.1", AddressKind::Loopback),
            ("::ffff:8.8.8.8", AddressKind::Public),
            ("::169.254.169.254", AddressKind::LinkLocal),
            ("64:ff9b::169.254.169.254", AddressKind::LinkLocal),
            ("2002:a9fe:a9fe::1", AddressKind::LinkLocal),
        ] {
            assert_eq!(AddressKind::of(address.parse().unwrap()), kind, "{address}");
        }
    }

    #[test]
    fn unusual_notations_are_resolved_before_they_are_judged() {
        // These all name 169.254.169.254 or 127.0.0.1 for a resolver that takes them at all.
        for host in ["169.254.169.254", "0xa9fea9fe", "2852039166", "[::ffff:a9fe:a9fe]"] {
            assert!(Policy.resolve(host, 80).is_err(), "{host}");
        }
        assert!(Policy.resolve("localhost", 80).is_ok());
    }
}
