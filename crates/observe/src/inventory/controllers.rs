//! PCI controllers, by class.

use std::collections::BTreeMap;

use super::machine_files::{FieldValue, MachineFiles, Unavailable};
use super::{FieldReader, one};

const DEVICES: &str = "/sys/bus/pci/devices";

/// Places where distributions keep the PCI device names.
const NAMES: &[&str] = &["/usr/share/misc/pci.ids", "/usr/share/hwdata/pci.ids", "/usr/share/pci.ids"];

/// Vendors of common server devices, for machines without a list of names. Source: the PCI ID repository.
const VENDORS: &[(&str, &str)] = &[
    ("1000", "Broadcom / LSI"),
    ("1002", "AMD/ATI"),
    ("1022", "AMD"),
    ("1028", "Dell"),
    ("102b", "Matrox"),
    ("103c", "HP"),
    ("10de", "NVIDIA"),
    ("10df", "Emulex"),
    ("10ec", "Realtek"),
    ("1077", "QLogic"),
    ("1137", "Cisco"),
    ("1414", "Microsoft"),
    ("144d", "Samsung"),
    ("14e4", "Broadcom"),
    ("15ad", "VMware"),
    ("15b3", "Mellanox"),
    ("1590", "HPE"),
    ("19e5", "Huawei"),
    ("1a03", "ASPEED"),
    ("1ae0", "Google"),
    ("1af4", "Red Hat (virtio)"),
    ("1b36", "Red Hat (QEMU)"),
    ("1c5f", "Memblaze"),
    ("1d0f", "Amazon"),
    ("1d6a", "Aquantia"),
    ("8086", "Intel"),
    ("9005", "Adaptec"),
];

pub(super) const READERS: &[FieldReader] = &[
    one("controller.storage", |files| list(files, |class| class == 0x01)),
    one("controller.network", |files| list(files, |class| class == 0x02)),
    one("controller.display", |files| list(files, |class| [0x03, 0x0b, 0x12].contains(&class))),
    one("controller.bridges", |files| list(files, |class| class == 0x06)),
    one("controller.other", |files| {
        list(files, |class| ![0x01, 0x02, 0x03, 0x06, 0x0b, 0x12].contains(&class))
    }),
];

/// Lists the devices of some classes, grouping equal ones.
///
/// Source of the numbers: PCI Code and ID Assignment Specification 1.11, appendix D.
fn list(files: &MachineFiles, is_wanted: fn(u8) -> bool) -> FieldValue {
    let addresses = files.names(DEVICES);
    if addresses.is_empty() {
        return Err(Unavailable::because("this machine has no PCI bus"));
    }
    let mut kinds: BTreeMap<(String, String, String), usize> = BTreeMap::new();
    for directory in addresses.iter().map(|address| format!("{DEVICES}/{address}")) {
        let numbers = numbers(files, &directory).filter(|_| class(files, &directory).is_some_and(is_wanted));
        let Some((maker, device)) = numbers else { continue };
        let driver = files.link_name(&format!("{directory}/driver"));
        let driver = driver.map_or_else(|_| "no driver".to_owned(), |driver| format!("driver {driver}"));
        *kinds.entry((maker, device, driver)).or_default() += 1;
    }
    let names = names(files);
    let text = |((maker, device, driver), n): (&(String, String, String), &usize)| {
        let times = if *n == 1 { String::new() } else { format!("{n} × ") };
        format!("{times}{}, {driver}", name_of(&names, maker, device))
    };
    let texts: Vec<String> = kinds.iter().map(text).collect();
    Ok(if texts.is_empty() { "none".to_owned() } else { texts.join("; ") })
}

/// Returns the class, the first of three bytes: of `0x020000` the `02`.
fn class(files: &MachineFiles, directory: &str) -> Option<u8> {
    let text = files.text(format!("{directory}/class")).ok()?;
    u8::from_str_radix(text.strip_prefix("0x")?.get(..2)?, 16).ok()
}

/// Names the device in a directory of `/sys` by its vendor and device ids.
pub(super) fn named_device(files: &MachineFiles, directory: &str) -> Option<String> {
    let (maker, device) = numbers(files, directory)?;
    Some(name_of(&names(files), &maker, &device))
}

/// Returns the vendor and device ids, four digits each.
fn numbers(files: &MachineFiles, directory: &str) -> Option<(String, String)> {
    let number = |file: &str| {
        let text = files.text(format!("{directory}/{file}")).ok()?;
        Some(text.strip_prefix("0x")?.to_owned())
    };
    Some((number("vendor")?, number("device")?))
}

/// Returns the list of device names of this machine; empty if it has none.
fn names(files: &MachineFiles) -> String {
    NAMES.iter().find_map(|path| files.text(path).ok()).unwrap_or_default()
}

fn name_of(names: &str, maker: &str, device: &str) -> String {
    let known = || VENDORS.iter().find(|(number, _)| *number == maker).map(|(_, name)| (*name).to_owned());
    let name = listed_name(names, maker, device).or_else(known);
    format!("{} {maker}:{device}", name.unwrap_or_else(|| "unknown vendor".to_owned()))
}

/// Looks up a device in a list of names: lines `8086  Intel Corporation`, below each `\t1572  Ethernet
/// Controller`.
fn listed_name(names: &str, vendor: &str, device: &str) -> Option<String> {
    let mut lines = names.lines().skip_while(|line| !line.starts_with(vendor));
    let maker = lines.next()?.split_once("  ")?.1;
    let devices = lines.take_while(|line| line.starts_with(['\t', '#']));
    let device = devices
        .filter_map(|line| line.strip_prefix('\t')?.split_once("  "))
        .find(|(number, _)| *number == device);
    Some(device.map_or_else(|| maker.to_owned(), |(_, name)| format!("{maker} {name}")))
}

#[cfg(test)]
mod tests {
    use super::super::machine_files::testing;
    use super::*;

    const FILES: &[(&str, &str)] = &[
        ("/sys/bus/pci/devices/0000:00:03.0/class", "0x020000\n"),
        ("/sys/bus/pci/devices/0000:00:03.0/vendor", "0x8086\n"),
        ("/sys/bus/pci/devices/0000:00:03.0/device", "0x1572\n"),
        ("/sys/bus/pci/devices/0000:00:03.0/driver", "→../../drivers/i40e"),
        ("/sys/bus/pci/devices/0000:00:04.0/class", "0x018000\n"),
        ("/sys/bus/pci/devices/0000:00:04.0/vendor", "0x1af4\n"),
        ("/sys/bus/pci/devices/0000:00:04.0/device", "0x1042\n"),
        ("/sys/bus/pci/devices/0000:00:02.0/class", "0x018000\n"),
        ("/sys/bus/pci/devices/0000:00:02.0/vendor", "0x1af4\n"),
        ("/sys/bus/pci/devices/0000:00:02.0/device", "0x1042\n"),
    ];
    const IDS: &str = "# a list\n8085  Not it\n8086  Intel Corporation\n\t1571  Not it\n# a remark\n\t1572  Ethernet X710\n\t\t8086 0001  X710-4\n8087  Next\n\t1572  Wrong\n";

    #[test]
    fn devices_are_named_by_list_or_by_vendor() {
        testing::with(FILES, |files| {
            assert_eq!(list(files, |class| class == 1).unwrap(), "2 × Red Hat (virtio) 1af4:1042, no driver");
            assert_eq!(list(files, |class| class == 2).unwrap(), "Intel 8086:1572, driver i40e");
            assert_eq!(list(files, |class| class == 3).unwrap(), "none");
        });
        let files = [FILES, &[("/usr/share/misc/pci.ids", IDS)]].concat();
        testing::with(&files, |files| {
            let name = "Intel Corporation Ethernet X710 8086:1572, driver i40e";
            assert_eq!(list(files, |class| class == 2).unwrap(), name);
        });
        assert_eq!(listed_name(IDS, "8086", "ffff").as_deref(), Some("Intel Corporation"));
        assert_eq!(listed_name(IDS, "9999", "ffff"), None);
        assert!(testing::with(&[], |files| list(files, |_| true)).is_err());
    }
}
