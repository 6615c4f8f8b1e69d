//! Network namespaces of this machine, by the processes in them.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::os::unix::fs::MetadataExt;

use crate::inventory::{interface_in, own_addresses};
use crate::kernel_file;
use crate::process::all_pids;

/// A network namespace with a process in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Namespace {
    /// Its number; `None` if this user may not see it.
    id: Option<u64>,
    /// A process in it.
    pub(crate) pid: u32,
}

impl Namespace {
    /// Returns the namespace of this process.
    pub(crate) fn own() -> Namespace {
        Namespace::of(std::process::id())
    }

    /// Returns the namespace of a process.
    pub(crate) fn of(pid: u32) -> Namespace {
        let id = std::fs::metadata(format!("/proc/{pid}/ns/net")).ok().map(|found| found.ino());
        Namespace { id, pid }
    }

    /// Returns whether it is known to be another namespace than that of this process.
    pub(crate) fn is_other(&self) -> bool {
        self.id.zip(Namespace::own().id).is_some_and(|(one, own)| one != own)
    }

    /// Returns whether it is known to be the same as another one.
    pub(crate) fn is_same(&self, other: &Namespace) -> bool {
        self.id.is_some() && self.id == other.id
    }

    /// Returns whether this user may not see which one it is.
    pub(crate) fn is_hidden(&self) -> bool {
        self.id.is_none()
    }

    /// Returns the namespaces that this user can see, that of this process first.
    pub(crate) fn all() -> Vec<Namespace> {
        let mut found = vec![Namespace::own()];
        for pid in all_pids() {
            let one = Namespace::of(pid);
            if one.id.is_some() && !found.iter().any(|known| known.is_same(&one)) {
                found.push(one);
            }
        }
        found
    }

    /// Returns whether an address belongs to an interface in it.
    pub(crate) fn has(&self, address: IpAddr) -> bool {
        let text =
            |name: &str| kernel_file::read(format!("/proc/{}/net/{name}", self.pid)).unwrap_or_default();
        match address.to_canonical() {
            address if address.is_loopback() => true,
            IpAddr::V4(address) => own_addresses(&text("fib_trie")).contains(&address),
            IpAddr::V6(address) => own_v6_addresses(&text("if_inet6")).any(|(own, _)| own == address),
        }
    }

    /// Returns the interface in it by which load arrives that was sent to an address; loopback where the load is made
    /// there, too. Load for a loopback address of this machine is passed on to another namespace, and arrives by its
    /// default route.
    pub(crate) fn interface_of(&self, address: IpAddr) -> Option<String> {
        let text = |name: &str| kernel_file::read(format!("/proc/{}/net/{name}", self.pid));
        match address.to_canonical() {
            _ if !self.is_other() => Some("lo".to_owned()),
            address if address.is_loopback() => interface_in(&text("route")?, Ipv4Addr::UNSPECIFIED),
            IpAddr::V4(address) => interface_in(&text("route")?, address),
            IpAddr::V6(address) => {
                let table = text("if_inet6")?;
                own_v6_addresses(&table).find(|(own, _)| *own == address).map(|(_, name)| name.to_owned())
            }
        }
    }
}

/// Returns whether an address belongs to this machine: to it, or to a network namespace on it that this user can see.
pub fn is_here(address: IpAddr) -> bool {
    address.to_canonical().is_loopback() || Namespace::all().iter().any(|one| one.has(address))
}

/// Parses lines `address index prefix scope flags interface` of `if_inet6`.
fn own_v6_addresses(table: &str) -> impl Iterator<Item = (Ipv6Addr, &str)> {
    table.lines().filter_map(|line| {
        let mut fields = line.split_ascii_whitespace();
        let address = u128::from_str_radix(fields.next().filter(|text| text.len() == 32)?, 16).ok()?;
        Some((Ipv6Addr::from(address), fields.nth(4)?))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_version_6_are_parsed() {
        let table = "00000000000000000000000000000001 01 80 10 80       lo\n\
                     fe80000000000000b03dd4fffe4e2f5a 02 40 20 80     eth0\nx\n";
        let found: Vec<_> = own_v6_addresses(table).map(|(one, name)| (one.to_string(), name)).collect();
        assert_eq!(found, [("::1".to_owned(), "lo"), ("fe80::b03d:d4ff:fe4e:2f5a".to_owned(), "eth0")]);
    }

    #[test]
    fn this_process_is_in_its_own_namespace() {
        let own = Namespace::own();
        assert!(!own.is_other());
        assert_eq!(Namespace::all()[0], own);
        assert_eq!(own.interface_of("127.0.0.1".parse().unwrap()).as_deref(), Some("lo"));
    }

    /// The addresses are reserved for documents.
    #[test]
    fn loopback_is_here_and_foreign_addresses_are_not() {
        for (address, expected) in [
            ("127.0.0.1", true),
            ("127.8.8.8", true),
            ("::1", true),
            ("192.0.2.7", false),
            ("2001:db8::7", false),
        ] {
            assert_eq!(is_here(address.parse().unwrap()), expected, "{address}");
        }
    }
}
