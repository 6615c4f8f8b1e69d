//! Network interfaces.

use std::net::Ipv6Addr;

use super::controllers::named_device;
use super::machine_files::{FieldValue, MachineFiles, Unavailable, joined};
use super::{FieldReader, each};

const NET: &str = "/sys/class/net";

/// Maximum number of interfaces described: container hosts have hundreds.
const INTERFACES_MAX: usize = 16;

pub(super) const READERS: &[FieldReader] = &[
    each("nic.driver", |files, name| files.link_name(&format!("{NET}/{name}/device/driver"))),
    each("nic.hardware", hardware),
    each("nic.address", |files, name| of(files, name, "address")),
    each("nic.addresses", |files, name| addresses(&files.text("/proc/net/if_inet6")?, name)),
    each("nic.state", |files, name| of(files, name, "operstate")),
    each("nic.speed", speed),
    each("nic.duplex", |files, name| of(files, name, "duplex")),
    each("nic.mtu", |files, name| of(files, name, "mtu")),
    each("nic.queues", queues),
    each("nic.transmit-queue", |files, name| Ok(of(files, name, "tx_queue_len")? + " packets")),
    each("nic.offloads", |files, name| joined(&files.offloads(name)?.on, "none")),
    each("nic.offloads-off", |files, name| joined(&files.offloads(name)?.off, "all supported ones are on")),
    each("nic.receive-steering", |files, name| steering(files, name, "rx-", "rps_cpus")),
    each("nic.transmit-steering", |files, name| steering(files, name, "tx-", "xps_cpus")),
    each("nic.gro-flush", |files, name| Ok(of(files, name, "gro_flush_timeout")? + " ns")),
    each("nic.hard-irqs", |files, name| of(files, name, "napi_defer_hard_irqs")),
    each("nic.threaded", |files, name| {
        Ok(if of(files, name, "threaded")? == "0" { "off" } else { "on" }.to_owned())
    }),
    each("nic.numa-node", numa_node),
    each("nic.bond", |files, name| of(files, name, "bonding/mode")),
];

/// Returns the interfaces; virtual ones only if they are up, without container endpoints.
pub(super) fn interfaces(files: &MachineFiles) -> Vec<String> {
    let is_made =
        |name: &str| files.link(&format!("{NET}/{name}")).is_ok_and(|target| target.contains("/virtual/"));
    let is_down = |name: &str| of(files, name, "operstate").is_ok_and(|state| state == "down");
    let mut names = files.names(NET);
    names.retain(|name| files.has(&format!("{NET}/{name}/mtu")) && !name.starts_with("veth"));
    names.retain(|name| !(is_made(name) && is_down(name)));
    names.truncate(INTERFACES_MAX);
    names
}

fn of(files: &MachineFiles, name: &str, file: &str) -> FieldValue {
    files.text(format!("{NET}/{name}/{file}"))
}

/// A virtio device is below its PCI device.
fn hardware(files: &MachineFiles, name: &str) -> FieldValue {
    let device = format!("{NET}/{name}/device");
    let known = named_device(files, &device).or_else(|| named_device(files, &format!("{device}/..")));
    known.ok_or(Unavailable::because("no PCI device"))
}

/// The speed of a link without one reads -1 or fails.
fn speed(files: &MachineFiles, name: &str) -> FieldValue {
    match of(files, name, "speed")? {
        speed if speed.starts_with('-') => Err(Unavailable::because("not reported by the driver")),
        speed => Ok(format!("{speed} Mbit/s")),
    }
}

fn queues(files: &MachineFiles, name: &str) -> FieldValue {
    let names = files.names(&format!("{NET}/{name}/queues"));
    let count = |kind: &str| names.iter().filter(|name| name.starts_with(kind)).count();
    if names.is_empty() {
        Err(Unavailable::Absent)
    } else {
        Ok(format!("{} receive, {} transmit", count("rx-"), count("tx-")))
    }
}

/// Returns the CPU masks of queue steering, without duplicates; `off` if no mask names a CPU.
fn steering(files: &MachineFiles, name: &str, kind: &str, file: &str) -> FieldValue {
    let directory = format!("{NET}/{name}/queues");
    let queues = files.names(&directory).into_iter().filter(|queue| queue.starts_with(kind));
    let mut masks = Vec::new();
    for queue in queues {
        masks.push(files.text(format!("{directory}/{queue}/{file}"))?);
    }
    masks.retain(|mask| mask.chars().any(|c| c != '0' && c != ','));
    masks.dedup();
    Ok(if masks.is_empty() { "off".to_owned() } else { masks.join(" ") })
}

fn numa_node(files: &MachineFiles, name: &str) -> FieldValue {
    match of(files, name, "device/numa_node")? {
        node if node.starts_with('-') => Err(Unavailable::because("only one, or not reported")),
        node => Ok(node),
    }
}

/// Parses lines `address index prefix scope flags name`, with the address as 32 digits and the prefix length
/// as two.
fn addresses(if_inet6: &str, name: &str) -> FieldValue {
    let address = |line: &str| {
        let words: Vec<&str> = line.split_ascii_whitespace().collect();
        let [digits, _, prefix, .., interface] = words[..] else { return None };
        let address = Ipv6Addr::from(u128::from_str_radix(digits, 16).ok()?);
        (interface == name).then_some(format!("{address}/{}", u8::from_str_radix(prefix, 16).ok()?))
    };
    joined(&if_inet6.lines().filter_map(address).collect::<Vec<_>>(), "none")
}

#[cfg(test)]
mod tests {
    use super::super::machine_files::testing;
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
    fn fields_that_an_interface_does_not_report_are_unavailable() {
        testing::with(FILES, |files| {
            assert_eq!(interfaces(files), ["eth0", "lo"]);
            assert_eq!(speed(files, "eth0").unwrap_err().to_string(), "not reported by the driver");
            assert_eq!(speed(files, "lo"), Err(Unavailable::Absent));
            assert_eq!(hardware(files, "eth0").unwrap(), "Red Hat (virtio) 1af4:1041");
            assert!(hardware(files, "lo").is_err());
            assert_eq!(files.link_name("/sys/class/net/eth0/device/driver").unwrap(), "virtio_net");
            assert_eq!(queues(files, "eth0").unwrap(), "1 receive, 2 transmit");
            assert_eq!(steering(files, "eth0", "rx-", "rps_cpus").unwrap(), "0,00000003");
            assert_eq!(steering(files, "eth0", "tx-", "xps_cpus").unwrap(), "off");
            assert!(files.offloads("eth0").is_err(), "the kernel does not know the interfaces of the test");
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
