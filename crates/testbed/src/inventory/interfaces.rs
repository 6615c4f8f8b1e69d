//! Network interfaces.

use std::net::Ipv6Addr;

use super::controllers::named_device;
use super::tree::{Found, Tree, Unread, joined};
use super::{Reader, each};

const NET: &str = "/sys/class/net";

/// How many interfaces are described: hosts of containers have hundreds.
const INTERFACES_MAX: usize = 16;

pub(super) const READERS: &[Reader] = &[
    each("nic.driver", |tree, name| tree.link_name(&format!("{NET}/{name}/device/driver"))),
    each("nic.hardware", hardware),
    each("nic.address", |tree, name| of(tree, name, "address")),
    each("nic.addresses", |tree, name| addresses(&tree.text("/proc/net/if_inet6")?, name)),
    each("nic.state", |tree, name| of(tree, name, "operstate")),
    each("nic.speed", speed),
    each("nic.duplex", |tree, name| of(tree, name, "duplex")),
    each("nic.mtu", |tree, name| of(tree, name, "mtu")),
    each("nic.queues", queues),
    each("nic.transmit-queue", |tree, name| Ok(of(tree, name, "tx_queue_len")? + " packets")),
    each("nic.offloads", |tree, name| joined(&tree.offloads(name)?.on, "none")),
    each("nic.offloads-off", |tree, name| joined(&tree.offloads(name)?.off, "none that could be on")),
    each("nic.receive-steering", |tree, name| steering(tree, name, "rx-", "rps_cpus")),
    each("nic.transmit-steering", |tree, name| steering(tree, name, "tx-", "xps_cpus")),
    each("nic.gro-flush", |tree, name| Ok(of(tree, name, "gro_flush_timeout")? + " ns")),
    each("nic.hard-irqs", |tree, name| of(tree, name, "napi_defer_hard_irqs")),
    each("nic.threaded", |tree, name| {
        Ok(if of(tree, name, "threaded")? == "0" { "off" } else { "on" }.to_owned())
    }),
    each("nic.numa-node", numa_node),
    each("nic.bond", |tree, name| of(tree, name, "bonding/mode")),
];

/// Returns the interfaces; of those that the kernel makes only those that are up, and no ends of containers.
pub fn interfaces(tree: &Tree) -> Vec<String> {
    let is_made =
        |name: &str| tree.link(&format!("{NET}/{name}")).is_ok_and(|target| target.contains("/virtual/"));
    let is_down = |name: &str| of(tree, name, "operstate").is_ok_and(|state| state == "down");
    let mut names = tree.names(NET);
    names.retain(|name| tree.has(&format!("{NET}/{name}/mtu")) && !name.starts_with("veth"));
    names.retain(|name| !(is_made(name) && is_down(name)));
    names.truncate(INTERFACES_MAX);
    names
}

fn of(tree: &Tree, name: &str, file: &str) -> Found {
    tree.text(format!("{NET}/{name}/{file}"))
}

/// A virtio device stands below its PCI device.
fn hardware(tree: &Tree, name: &str) -> Found {
    let device = format!("{NET}/{name}/device");
    let known = named_device(tree, &device).or_else(|| named_device(tree, &format!("{device}/..")));
    known.ok_or(Unread::because("no device of a bus with numbers"))
}

/// The speed of a link that has none reads -1 or not at all.
fn speed(tree: &Tree, name: &str) -> Found {
    match of(tree, name, "speed")? {
        speed if speed.starts_with('-') => Err(Unread::because("the driver does not tell")),
        speed => Ok(format!("{speed} Mbit/s")),
    }
}

fn queues(tree: &Tree, name: &str) -> Found {
    let names = tree.names(&format!("{NET}/{name}/queues"));
    let count = |kind: &str| names.iter().filter(|name| name.starts_with(kind)).count();
    match names.is_empty() {
        true => Err(Unread::Absent),
        false => Ok(format!("{} receive, {} transmit", count("rx-"), count("tx-"))),
    }
}

/// Returns the masks of CPUs by which queues are steered, each once; `off` if no mask names a CPU.
fn steering(tree: &Tree, name: &str, kind: &str, file: &str) -> Found {
    let directory = format!("{NET}/{name}/queues");
    let queues = tree.names(&directory).into_iter().filter(|queue| queue.starts_with(kind));
    let mut masks = Vec::new();
    for queue in queues {
        masks.push(tree.text(format!("{directory}/{queue}/{file}"))?);
    }
    masks.retain(|mask| mask.chars().any(|c| c != '0' && c != ','));
    masks.dedup();
    Ok(if masks.is_empty() { "off".to_owned() } else { masks.join(" ") })
}

fn numa_node(tree: &Tree, name: &str) -> Found {
    match of(tree, name, "device/numa_node")? {
        node if node.starts_with('-') => Err(Unread::because("the machine has only one, or does not tell")),
        node => Ok(node),
    }
}

/// Reads lines `address index prefix scope flags name`, the address as 32 digits, the prefix's length as two.
fn addresses(if_inet6: &str, name: &str) -> Found {
    let address = |line: &str| {
        let words: Vec<&str> = line.split_ascii_whitespace().collect();
        let [digits, _, prefix, .., interface] = words[..] else { return None };
        let address = Ipv6Addr::from(u128::from_str_radix(digits, 16).ok()?);
        (interface == name).then_some(format!("{address}/{}", u8::from_str_radix(prefix, 16).ok()?))
    };
    joined(&if_inet6.lines().filter_map(address).collect::<Vec<_>>(), "it has none")
}

#[cfg(test)]
mod tests {
    use super::super::tree::fake;
    use super::*;

    const FILES: &[(&str, &str)] = &[
        ("/sys/devices/pci0/0000:00:03.0/vendor", "0x1af4\n"),
        ("/sys/devices/pci0/0000:00:03.0/device", "0x1041\n"),
        ("/sys/devices/pci0/0000:00:03.0/virtio2/device", "0x0001\n"),
        ("/sys/devices/pci0/0000:00:03.0/virtio2/driver", "→../../../bus/virtio/drivers/virtio_net"),
        ("/sys/devices/pci0/0000:00:03.0/virtio2/net/eth0/mtu", "1400\n"),
        ("/sys/devices/pci0/0000:00:03.0/virtio2/net/eth0/speed", "-1\n"),
        ("/sys/devices/pci0/0000:00:03.0/virtio2/net/eth0/operstate", "down\n"),
        ("/sys/devices/pci0/0000:00:03.0/virtio2/net/eth0/device", "→../../../virtio2"),
        ("/sys/devices/pci0/0000:00:03.0/virtio2/net/eth0/queues/rx-0/rps_cpus", "0,00000003\n"),
        ("/sys/devices/pci0/0000:00:03.0/virtio2/net/eth0/queues/tx-0/xps_cpus", "0\n"),
        ("/sys/devices/pci0/0000:00:03.0/virtio2/net/eth0/queues/tx-1/xps_cpus", "0\n"),
        ("/sys/class/net/eth0", "→../../devices/pci0/0000:00:03.0/virtio2/net/eth0"),
        ("/sys/devices/virtual/net/lo/mtu", "65536\n"),
        ("/sys/devices/virtual/net/lo/operstate", "unknown\n"),
        ("/sys/class/net/lo", "→../../devices/virtual/net/lo"),
        ("/sys/devices/virtual/net/ifb0/mtu", "1500\n"),
        ("/sys/devices/virtual/net/ifb0/operstate", "down\n"),
        ("/sys/class/net/ifb0", "→../../devices/virtual/net/ifb0"),
        ("/sys/class/net/veth1/mtu", "1500\n"),
        ("/sys/class/net/bonding_masters", "\n"),
    ];

    #[test]
    fn what_an_interface_does_not_tell_is_said_to_be_missing() {
        fake::with(FILES, |tree| {
            assert_eq!(interfaces(tree), ["eth0", "lo"]);
            assert_eq!(speed(tree, "eth0").unwrap_err().to_string(), "the driver does not tell");
            assert_eq!(speed(tree, "lo"), Err(Unread::Absent));
            assert_eq!(hardware(tree, "eth0").unwrap(), "Red Hat (virtio) 1af4:1041");
            assert!(hardware(tree, "lo").is_err());
            assert_eq!(tree.link_name("/sys/class/net/eth0/device/driver").unwrap(), "virtio_net");
            assert_eq!(queues(tree, "eth0").unwrap(), "1 receive, 2 transmit");
            assert_eq!(steering(tree, "eth0", "rx-", "rps_cpus").unwrap(), "0,00000003");
            assert_eq!(steering(tree, "eth0", "tx-", "xps_cpus").unwrap(), "off");
            assert!(tree.offloads("eth0").is_err(), "the kernel cannot be asked about files");
        });
    }

    #[test]
    fn addresses_are_those_of_the_interface() {
        let table = "00000000000000000000000000000001 01 80 10 80       lo\nfd000000000000000000000000000002 04 40 00 80     eth0\n";
        assert_eq!(addresses(table, "eth0").unwrap(), "fd00::2/64");
        assert_eq!(addresses(table, "lo").unwrap(), "::1/128");
        assert!(addresses(table, "eth1").is_err());
    }
}
