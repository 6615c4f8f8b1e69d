//! Kinds of network addresses. A connection is allowed or refused by the kind of its address after name resolution.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

/// The kind of a network address, as far as the policy distinguishes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AddressKind {
    /// This machine.
    Loopback,
    /// A private network (RFC 1918, RFC 4193).
    Private,
    /// Link-local, the range of most clouds' metadata services.
    LinkLocal,
    /// A metadata service of a cloud in a private range.
    Metadata,
    /// An address that belongs to no single host: unspecified, broadcast, multicast.
    NotOneHost,
    /// A public address, or one reserved for other purposes.
    Public,
}

impl AddressKind {
    /// Returns the kind of an address. An IPv4 address mapped into an IPv6 one has its own kind. One that a gateway
    /// would have to translate has its own kind only if that is forbidden: loopback or a private network behind
    /// another's gateway is not ours, and counts as public.
    pub fn of(address: IpAddr) -> AddressKind {
        let address = match address.to_canonical() {
            IpAddr::V4(address) => return AddressKind::of_v4(address),
            IpAddr::V6(address) => address,
        };
        match translated_v4(address).map(AddressKind::of_v4) {
            Some(AddressKind::Loopback | AddressKind::Private) => AddressKind::Public,
            Some(kind) => kind,
            None => AddressKind::of_v6(address),
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
            _ if is_metadata(address) => AddressKind::Metadata,
            _ if address.is_unique_local() => AddressKind::Private,
            _ if address.is_unicast_link_local() => AddressKind::LinkLocal,
            _ if address.is_unspecified() || address.is_multicast() => AddressKind::NotOneHost,
            _ => AddressKind::Public,
        }
    }

    /// Returns whether an observer of a run (a collector, or an exporter of metrics) may have such an address: any
    /// but those of metadata services and those of no single host.
    pub(crate) fn may_observe(self) -> bool {
        matches!(self, AddressKind::Loopback | AddressKind::Private | AddressKind::Public)
    }

    /// Returns the kind in words: `a public address`.
    pub fn name(self) -> &'static str {
        match self {
            AddressKind::Loopback => "a loopback address",
            AddressKind::Private => "a private address",
            AddressKind::LinkLocal => "a link-local address, where cloud machines keep their metadata",
            AddressKind::Metadata => "an address where cloud machines keep their metadata",
            AddressKind::NotOneHost => "not the address of one host",
            AddressKind::Public => "a public address",
        }
    }
}

/// Metadata services of cloud machines in the private range of IPv6 (vendors' manuals, 2026); of the first,
/// Amazon's, the whole /32 is theirs.
const METADATA: [Ipv6Addr; 6] = [
    Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254),
    Ipv6Addr::new(0xfd00, 0xc1, 0, 0, 0, 0, 0xa9fe, 0xa9fe),
    Ipv6Addr::new(0xfd20, 0xce, 0, 0, 0, 0, 0, 0x254),
    Ipv6Addr::new(0xfd00, 0x42, 0, 0, 0, 0, 0, 0x42),
    Ipv6Addr::new(0xfd00, 0x100, 0, 0, 0, 0, 0x100, 0x200),
    Ipv6Addr::new(0xfd00, 0xa9fe, 0xa9fe, 0, 0, 0, 0, 1),
];

fn is_metadata(address: Ipv6Addr) -> bool {
    address.segments()[..2] == METADATA[0].segments()[..2] || METADATA.contains(&address)
}

/// Returns the IPv4 address that a gateway makes of an IPv6 address: compatible (`::a.b.c.d`), NAT64
/// (`64:ff9b::a.b.c.d`), 6to4 (`2002:aabb:ccdd::`) or ISATAP (`…:5efe:a.b.c.d`). Teredo and the other
/// NAT64 prefixes need no translation here: they are in public space, refused whatever is inside.
fn translated_v4(address: Ipv6Addr) -> Option<Ipv4Addr> {
    let v4 = |high: u16, low: u16| Ipv4Addr::from(u32::from(high) << 16 | u32::from(low));
    match address.segments() {
        [0, 0, 0, 0, 0, 0, 0, 0 | 1] => None,
        [0, 0, 0, 0, 0, 0, high, low]
        | [0x64, 0xff9b, 0, 0, 0, 0, high, low]
        | [0x2002, high, low, ..]
        | [_, _, _, _, 0 | 0x200, 0x5efe, high, low] => Some(v4(high, low)),
        _ => None,
    }
}

/// A reason why an observer's addresses are refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("no connection is made to `{address}`: it is {}", kind.name())]
pub struct ForbiddenObserver {
    /// The address.
    pub address: IpAddr,
    /// The kind of the address.
    pub kind: AddressKind,
}

/// Checks that a run may be observed from all addresses of a name.
///
/// # Errors
///
/// The first forbidden address.
pub fn check_observer(addresses: &[SocketAddr]) -> Result<(), ForbiddenObserver> {
    let kinds = addresses.iter().map(|address| (address.ip(), AddressKind::of(address.ip())));
    match kinds.into_iter().find(|(_, kind)| !kind.may_observe()) {
        None => Ok(()),
        Some((address, kind)) => Err(ForbiddenObserver { address, kind }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_inside_another_is_seen() {
        use AddressKind::{LinkLocal, Loopback, NotOneHost, Private, Public};
        for (address, kind) in [
            ("::ffff:169.254.169.254", LinkLocal),
            ("::ffff:7f00:1", Loopback),
            ("::ffff:10.0.0.1", Private),
            ("::ffff:0.0.0.0", NotOneHost),
            ("::ffff:8.8.8.8", Public),
            ("::169.254.169.254", LinkLocal),
            ("64:ff9b::169.254.169.254", LinkLocal),
            ("2002:a9fe:a9fe::1", LinkLocal),
            ("fd00::5efe:169.254.169.254", LinkLocal),
            ("fd00::200:5efe:8.8.8.8", Public),
        ] {
            assert_eq!(AddressKind::of(address.parse().unwrap()), kind, "{address}");
        }
    }

    #[test]
    fn metadata_services_in_the_private_range_are_known() {
        let others = ["fd00:ec2::23", "fd00:ec2:0:1::1"].map(|address| address.parse().unwrap());
        for address in METADATA.into_iter().chain(others) {
            assert_eq!(AddressKind::of(address.into()), AddressKind::Metadata, "{address}");
        }
        assert_eq!(AddressKind::of("fd00:ec3::254".parse().unwrap()), AddressKind::Private);
    }

    #[test]
    fn observers_may_have_any_address_but_those_of_metadata_services() {
        let refused = |address: &str| check_observer(&[SocketAddr::new(address.parse().unwrap(), 4318)]);
        for address in
            ["127.0.0.1", "10.0.0.1", "192.168.1.1", "::1", "fd00::1", "8.8.8.8", "2606:4700::1111"]
        {
            assert_eq!(refused(address), Ok(()), "{address}");
        }
        for address in [
            "169.254.169.254",
            "169.254.0.1",
            "fe80::1",
            "::ffff:169.254.169.254",
            "::169.254.169.254",
            "64:ff9b::a9fe:a9fe",
            "fd00:ec2::254",
            "0.0.0.0",
            "::",
            "255.255.255.255",
            "224.0.0.1",
            "ff02::1",
        ] {
            assert!(refused(address).is_err(), "{address}");
        }
        // A name with one good and one bad address is no good name.
        let both = ["127.0.0.1:1", "169.254.169.254:1"].map(|address| address.parse().unwrap());
        assert_eq!(
            check_observer(&both).unwrap_err().to_string(),
            "no connection is made to `169.254.169.254`: it is a link-local address, where cloud machines keep their \
             metadata"
        );
    }
}
