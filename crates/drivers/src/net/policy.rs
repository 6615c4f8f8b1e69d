//! The target policy: the addresses that load may be sent to, since a load generator is a weapon otherwise.
//!
//! Addresses decide, not names: a name is resolved once, every address it has must be allowed, and
//! connections are made to the checked addresses, each of which is checked again. A name that changes its
//! address (DNS rebinding) or hides one in an unusual notation gains nothing.

use std::io;
use std::net::{IpAddr, SocketAddr, ToSocketAddrs};

use languages::is_host;
use model::AddressKind;
use thiserror::Error;

/// The policy on addresses that load may be sent to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TargetPolicy;

/// An error of the target policy or of name resolution.
#[derive(Debug, Error)]
pub enum TargetPolicyError {
    /// An address of the target is not allowed.
    #[error("the target policy does not allow `{address}`{}: it is {}", led_to(of, address), kind.name())]
    Forbidden {
        /// The address.
        address: IpAddr,
        /// The name that resolved to it, or the address as written.
        of: String,
        /// The kind of address.
        kind: AddressKind,
    },
    /// The name has no address.
    #[error("no address found for `{0}`")]
    NoAddress(String),
    /// The name could not be resolved.
    #[error("cannot look up `{0}`: {1}")]
    Lookup(String, #[source] io::Error),
}

/// Returns the name that resolved to an address, in parentheses; empty if the address itself was given.
fn led_to(of: &str, address: &IpAddr) -> String {
    let is_itself = lookup_host(of).is_some_and(|host| host == address.to_string());
    if is_itself { String::new() } else { format!(" ({of})") }
}

impl TargetPolicy {
    /// Returns whether connections to an address are allowed: loopback and private ranges only.
    #[inline]
    pub fn allows(self, address: IpAddr) -> bool {
        matches!(AddressKind::of(address), AddressKind::Loopback | AddressKind::Private)
    }

    /// Resolves a host to its addresses, all of which are allowed; never empty.
    ///
    /// # Errors
    /// An address is not allowed, there is none, or the lookup fails.
    pub fn resolve(self, host: &str, port: u16) -> Result<Vec<SocketAddr>, TargetPolicyError> {
        let bare = lookup_host(host).ok_or_else(|| TargetPolicyError::NoAddress(host.to_owned()))?;
        let addresses: Vec<SocketAddr> = (bare, port)
            .to_socket_addrs()
            .map_err(|error| TargetPolicyError::Lookup(host.to_owned(), error))?
            .collect();
        if addresses.is_empty() {
            return Err(TargetPolicyError::NoAddress(host.to_owned()));
        }
        match addresses.iter().find(|address| !self.allows(address.ip())) {
            None => Ok(addresses),
            Some(address) => Err(TargetPolicyError::Forbidden {
                address: address.ip(),
                of: host.to_owned(),
                kind: AddressKind::of(address.ip()),
            }),
        }
    }
}

/// Returns a host in the form used for lookups: a name or IPv4 address unchanged, an IPv6 address without its
/// brackets; `None` if it is neither. An address with a zone (`fe80::1%eth0`) is neither, because it is
/// link-local.
pub(crate) fn lookup_host(host: &str) -> Option<&str> {
    is_host(host).then(|| host.trim_start_matches('[').trim_end_matches(']'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_loopback_and_private_ranges_are_allowed() {
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
            assert_eq!(TargetPolicy.allows(address.parse().unwrap()), allowed, "{address}");
        }
    }

    /// Loopback and private networks behind a NAT64 or 6to4 gateway are not local.
    #[test]
    fn addresses_that_a_gateway_translates_are_not_allowed() {
        for address in [
            "::127.0.0.1",
            "::0.0.0.2",
            "64:ff9b::127.0.0.1",
            "64:ff9b::10.0.0.1",
            "64:ff9b:1::10.0.0.1",
            "2002:7f00:1::",
            "2002:c0a8:101::1",
            "2001::7f00:1",
            "2001:0:4136:e378:8000:63bf:80ff:fffe",
            "fd00::5efe:10.0.0.1",
            "::ffff:0:127.0.0.1",
        ] {
            assert!(!TargetPolicy.allows(address.parse().unwrap()), "{address}");
        }
    }

    #[test]
    fn metadata_services_in_the_private_range_are_not_allowed() {
        for address in ["fd00:ec2::254", "fd00:ec2::23", "fd20:ce::254", "fd00:a9fe:a9fe::1"] {
            assert!(!TargetPolicy.allows(address.parse().unwrap()), "{address}");
        }
        assert!(TargetPolicy.allows("fd00:ec3::254".parse().unwrap()));
    }

    /// Numbers in any base and any number of parts are resolved before they are checked.
    #[test]
    fn unusual_notations_of_forbidden_addresses_are_refused() {
        for host in [
            "169.254.169.254",
            "0xa9fea9fe",
            "2852039166",
            "025177524776",
            "0251.0376.0251.0376",
            "0xa9.254.43518",
            "[::ffff:a9fe:a9fe]",
            "[::ffff:169.254.169.254]",
            "[fe80::1]",
            "[::]",
            "0",
            "0.0.0.0",
            "134744072",
        ] {
            let error = TargetPolicy.resolve(host, 80).unwrap_err();
            assert!(matches!(error, TargetPolicyError::Forbidden { .. }), "{host}: {error}");
        }
    }

    #[test]
    fn unusual_notations_of_loopback_are_allowed() {
        for host in ["127.0.0.1", "0177.0.0.1", "0x7f000001", "2130706433", "127.1"] {
            assert_eq!(TargetPolicy.resolve(host, 80).unwrap(), ["127.0.0.1:80".parse().unwrap()], "{host}");
        }
        for host in ["localhost", "LOCALHOST", "[::1]", "[::ffff:7f00:1]"] {
            let addresses = TargetPolicy.resolve(host, 80).unwrap();
            assert!(addresses.iter().all(|address| AddressKind::of(address.ip()) == AddressKind::Loopback));
        }
    }

    #[test]
    fn invalid_hosts_are_not_looked_up() {
        for host in
            ["", "[]", "127.0.0.1/", "[127.0.0.1]", "[::1", "::1", "[[::1]]", "[fe80::1%lo]", "a b", "ä"]
        {
            let error = TargetPolicy.resolve(host, 80).unwrap_err();
            assert!(matches!(error, TargetPolicyError::NoAddress(_)), "{host}: {error}");
        }
    }

    #[test]
    fn refusals_name_the_address_and_its_kind() {
        let message = |host| TargetPolicy.resolve(host, 80).unwrap_err().to_string();
        assert_eq!(
            message("0xa9fea9fe"),
            "the target policy does not allow `169.254.169.254` (0xa9fea9fe): it is a link-local address, \
             where cloud machines keep their metadata"
        );
        assert!(message("[fd00:ec2::254]").ends_with("keep their metadata"));
        for (host, address) in [("8.8.8.8", "8.8.8.8"), ("[ff02::1]", "ff02::1")] {
            let start = format!("the target policy does not allow `{address}`: it is ");
            assert!(message(host).starts_with(&start), "{}", message(host));
        }
    }
}
