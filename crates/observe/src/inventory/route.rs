//! The route to the server, and other network settings.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use super::machine_files::{FieldValue, MachineFiles, Unavailable, joined};
use super::{FieldReader, InventoryInput, one};

pub(super) const READERS: &[FieldReader] = &[
    one("network.path", path),
    one("network.path-mtu", |files| files.text(format!("/sys/class/net/{}/mtu", route(files)?.interface))),
    one("network.gateway", |files| {
        let gateway = route(files)?.gateway.ok_or(Unavailable::because("no gateway on the path"))?;
        Ok(gateway.to_string())
    }),
    one("network.addresses", |files| {
        let own = own_addresses(&files.text("/proc/net/fib_trie")?);
        joined(&own.iter().map(Ipv4Addr::to_string).collect::<Vec<_>>(), "none")
    }),
    one("network.host-name", |files| files.text("/proc/sys/kernel/hostname")),
    one("network.ipv6", |files| {
        let off = files.text("/proc/sys/net/ipv6/conf/all/disable_ipv6")?;
        Ok(if off == "0" { "on" } else { "off" }.to_owned())
    }),
    one("network.congestion", |files| files.text("/proc/sys/net/ipv4/tcp_available_congestion_control")),
    one("network.filter", filter_tables),
    one("network.tracked", |files| files.text("/proc/sys/net/netfilter/nf_conntrack_max")),
];

/// The route to a server.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Route {
    interface: String,
    gateway: Option<IpAddr>,
}

fn path(files: &MachineFiles) -> FieldValue {
    let Route { interface, gateway } = route(files)?;
    Ok(match gateway {
        _ if interface == "lo" => "loopback: server and load are on the same machine".to_owned(),
        None => format!("through {interface}, no router between"),
        Some(_) => format!("through {interface} and a router"),
    })
}

/// Returns whether the server is on this machine, as far as is known; also without a server.
pub(super) fn leads_here(files: &MachineFiles) -> bool {
    files.input.server.is_none() || route(files).is_ok_and(|way| way.interface == "lo")
}

/// Returns the interface through which this machine reaches an address; `None` if there is no route, or the
/// tables cannot be read.
pub(crate) fn interface_to(server: IpAddr) -> Option<String> {
    let input = InventoryInput { server: Some(server), ..InventoryInput::default() };
    route(&MachineFiles::of_this_machine(&input)).ok().map(|way| way.interface)
}

/// Returns the interface of the best route to an address in the text of `/proc/net/route`.
pub(crate) fn interface_in(table: &str, address: Ipv4Addr) -> Option<String> {
    route_v4(table, address).map(|way| way.interface)
}

/// Finds the route to the server: loopback for an address of this machine.
fn route(files: &MachineFiles) -> Result<Route, Unavailable> {
    let server = files.input.server.ok_or(Unavailable::because("no server was given"))?;
    let own = files.text("/proc/net/fib_trie").map(|text| own_addresses(&text)).unwrap_or_default();
    let is_own = |address: Ipv4Addr| own.contains(&address);
    let found = match server {
        address if address.is_loopback() => Some(Route { interface: "lo".to_owned(), gateway: None }),
        IpAddr::V4(address) if is_own(address) => Some(Route { interface: "lo".to_owned(), gateway: None }),
        IpAddr::V4(address) => route_v4(&files.text("/proc/net/route")?, address),
        IpAddr::V6(address) => route_v6(&files.text("/proc/net/ipv6_route")?, address),
    };
    found.ok_or(Unavailable::because("no route"))
}

/// Parses lines `Iface Destination Gateway Flags RefCnt Use Metric Mask …`, with addresses in host byte
/// order; selects the matching route with the longest mask and the smallest metric.
fn route_v4(table: &str, server: Ipv4Addr) -> Option<Route> {
    let server = u32::from_ne_bytes(server.octets());
    let route = |line: &str| {
        let words: Vec<&str> = line.split_ascii_whitespace().collect();
        let [interface, destination, gateway, _, _, _, metric, mask, ..] = words[..] else { return None };
        let hex = |text: &str| u32::from_str_radix(text, 16).ok();
        let destination = hex(destination)?;
        let gateway = hex(gateway)?;
        let mask = hex(mask)?;
        let rank = (mask.count_ones(), std::cmp::Reverse(metric.parse::<u32>().ok()?));
        let gateway = (gateway != 0).then(|| Ipv4Addr::from(gateway.to_ne_bytes()).into());
        let found = Route { interface: interface.to_owned(), gateway };
        (server & mask == destination & mask).then_some((rank, found))
    };
    table.lines().filter_map(route).max_by_key(|(rank, _)| *rank).map(|(_, route)| route)
}

/// Parses lines `destination length source length gateway metric references uses flags interface`, all in
/// hexadecimal. Rejecting routes lead nowhere; those of loopback to this machine's own addresses.
fn route_v6(table: &str, server: Ipv6Addr) -> Option<Route> {
    /// `RTF_REJECT`. Source: Linux, include/uapi/linux/route.h.
    const REFUSES: u32 = 0x200;
    let server = u128::from(server);
    let route = |line: &str| {
        let words: Vec<&str> = line.split_ascii_whitespace().collect();
        let [destination, length, _, _, gateway, metric, _, _, flags, interface] = words[..] else {
            return None;
        };
        let hex = |text: &str| u32::from_str_radix(text, 16).ok();
        let wide = |text: &str| u128::from_str_radix(text, 16).ok();
        let destination = wide(destination)?;
        let gateway = wide(gateway)?;
        let length = hex(length)?;
        let mask = u128::MAX.checked_shl(128u32.checked_sub(length)?).unwrap_or(0);
        let gateway = (gateway != 0).then(|| Ipv6Addr::from(gateway).into());
        let rank = (length, std::cmp::Reverse(hex(metric)?));
        let fits = server & mask == destination & mask && hex(flags)? & REFUSES == 0;
        fits.then(|| (rank, Route { interface: interface.to_owned(), gateway }))
    };
    table.lines().filter_map(route).max_by_key(|(rank, _)| *rank).map(|(_, route)| route)
}

/// Parses the routing tree: a line `|-- 10.0.2.15`, followed by `/32 host LOCAL` for this machine's own
/// addresses.
pub(crate) fn own_addresses(fib_trie: &str) -> Vec<Ipv4Addr> {
    let mut own: Vec<Ipv4Addr> = Vec::new();
    let mut last: Option<Ipv4Addr> = None;
    for line in fib_trie.lines().map(str::trim) {
        match line.strip_prefix("|-- ") {
            Some(address) => last = address.parse().ok(),
            None if line == "/32 host LOCAL" => own.extend(last),
            None => {}
        }
    }
    own.sort();
    own.dedup();
    own
}

fn filter_tables(files: &MachineFiles) -> FieldValue {
    let names =
        |path: &str| files.text(path).map(|text| text.split_ascii_whitespace().collect::<Vec<_>>().join(" "));
    match (names("/proc/net/ip_tables_names"), names("/proc/net/ip6_tables_names")) {
        (Err(Unavailable::Empty), Err(Unavailable::Empty)) => Ok("none".to_owned()),
        (Err(why), Err(_)) => Err(why),
        (four, six) => {
            let text = |tables: FieldValue| tables.unwrap_or_else(|_| "none".to_owned());
            Ok(format!("IPv4: {}, IPv6: {}", text(four), text(six)))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::machine_files::testing;
    use super::*;

    /// Recorded on a virtual machine with the address 192.0.2.2/24 and the router 192.0.2.1.
    const ROUTES: &str = "Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT\n\
        eth0\t00000000\t010200C0\t0003\t0\t0\t0\t00000000\t0\t0\t0\n\
        eth0\t000200C0\t00000000\t0001\t0\t0\t0\t00FFFFFF\t0\t0\t0\n";
    const ROUTES_V6: &str = "\
        fd000000000000000000000000000000 40 00000000000000000000000000000000 00 00000000000000000000000000000000 00000100 00000001 00000000 00000001     eth0\n\
        00000000000000000000000000000000 00 00000000000000000000000000000000 00 fd000000000000000000000000000001 00000400 00000003 00000000 00000003     eth0\n\
        00000000000000000000000000000000 00 00000000000000000000000000000000 00 00000000000000000000000000000000 ffffffff 00000001 00000000 00200200       lo\n";
    const OWN: &str = "Main:\n  +-- 0.0.0.0/0 3 0 5\n     |-- 0.0.0.0\n        /0 universe UNICAST\n     +-- 192.0.2.0/24 2 0 2\n        |-- 192.0.2.2\n           /32 host LOCAL\n        |-- 127.0.0.0\n           /8 host LOCAL\n        |-- 127.0.0.1\n           /32 host LOCAL\n        |-- 192.0.2.255\n           /32 link BROADCAST\n";

    fn route_to(server: &str) -> Result<Route, Unavailable> {
        let files =
            [("/proc/net/route", ROUTES), ("/proc/net/ipv6_route", ROUTES_V6), ("/proc/net/fib_trie", OWN)];
        let input = InventoryInput { server: Some(server.parse().unwrap()), ..InventoryInput::default() };
        testing::with_asked(&files, &input, route)
    }

    #[cfg(target_endian = "little")]
    #[test]
    fn the_longest_matching_route_is_selected() {
        let eth0 = |gateway: Option<&str>| {
            let gateway = gateway.map(|address| address.parse().unwrap());
            Ok(Route { interface: "eth0".into(), gateway })
        };
        let lo = Ok(Route { interface: "lo".into(), gateway: None });
        assert_eq!(route_to("192.0.2.77"), eth0(None));
        assert_eq!(route_to("10.1.1.1"), eth0(Some("192.0.2.1")));
        assert_eq!(route_to("192.0.2.2"), lo, "a local address");
        assert_eq!((route_to("127.0.0.9"), route_to("::1")), (lo.clone(), lo));
        assert_eq!(route_to("fd00::7"), eth0(None));
        assert_eq!(route_to("2001:db8::1"), eth0(Some("fd00::1")));
    }

    #[test]
    fn own_addresses_and_tables_are_read() {
        assert_eq!(own_addresses(OWN), [Ipv4Addr::new(127, 0, 0, 1), Ipv4Addr::new(192, 0, 2, 2)]);
        assert_eq!(testing::with(&[], route).unwrap_err().to_string(), "no server was given");
        let tables = [("/proc/net/ip_tables_names", "nat\nfilter\n"), ("/proc/net/ip6_tables_names", "\n")];
        assert_eq!(testing::with(&tables, filter_tables).unwrap(), "IPv4: nat filter, IPv6: none");
        assert_eq!(testing::with(&[], filter_tables), Err(Unavailable::Absent));
    }
}
