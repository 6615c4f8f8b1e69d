//! The machine itself: maker, firmware, and whether it is made up by a hypervisor or a container.

use super::processor::has_flag;
use super::tree::{Found, Tree, Unread, joined};
use super::{Reader, one};

/// What firmware says that was not told what it is in.
const SAYS_NOTHING: &[&str] = &[
    "to be filled by o.e.m.",
    "default string",
    "not specified",
    "none",
    "unknown",
    "system manufacturer",
    "system product name",
    "not applicable",
    "0",
    "n/a",
    "o.e.m.",
];

pub(super) const READERS: &[Reader] = &[
    one("machine.vendor", |tree| id(tree, "sys_vendor")),
    one("machine.model", |tree| id(tree, "product_name")),
    one("machine.version", |tree| id(tree, "product_version")),
    one("machine.family", |tree| id(tree, "product_family")),
    one("machine.sku", |tree| id(tree, "product_sku")),
    one("machine.serial", |tree| id(tree, "product_serial")),
    one("machine.uuid", |tree| id(tree, "product_uuid")),
    one("machine.board-vendor", |tree| id(tree, "board_vendor")),
    one("machine.board", |tree| id(tree, "board_name")),
    one("machine.board-version", |tree| id(tree, "board_version")),
    one("machine.board-serial", |tree| id(tree, "board_serial")),
    one("machine.chassis", |tree| Ok(chassis(&id(tree, "chassis_type")?))),
    one("machine.chassis-vendor", |tree| id(tree, "chassis_vendor")),
    one("machine.chassis-serial", |tree| id(tree, "chassis_serial")),
    one("machine.asset-tag", |tree| id(tree, "chassis_asset_tag")),
    one("machine.device-tree", |tree| tree.text("/proc/device-tree/model")),
    one("machine.virtualization", virtualization),
    one("machine.hypervisor", hypervisor),
    one("machine.container", container),
    one("machine.power", power),
    one("firmware.vendor", |tree| id(tree, "bios_vendor")),
    one("firmware.version", |tree| id(tree, "bios_version")),
    one("firmware.date", |tree| id(tree, "bios_date")),
    one("firmware.release", |tree| id(tree, "bios_release")),
    one("firmware.boot", boot_mode),
    one("firmware.secure-boot", secure_boot),
    one("firmware.tpm", |tree| tree.text("/sys/class/tpm/tpm0/tpm_version_major")),
];

fn id(tree: &Tree, file: &str) -> Found {
    let text = tree.text(format!("/sys/class/dmi/id/{file}"))?;
    match SAYS_NOTHING.contains(&text.to_lowercase().as_str()) {
        true => Err(Unread::because("the firmware does not tell")),
        false => Ok(text),
    }
}

/// Names a chassis. Source: DSP0134 3.7, table 17.
fn chassis(number: &str) -> String {
    let name = match number {
        "1" => "other",
        "3" | "4" | "6" | "7" => "desktop or tower",
        "8" | "9" | "10" | "14" => "portable",
        "13" => "all in one",
        "17" => "main server chassis",
        "23" => "rack mount",
        "25" => "multi-system chassis",
        "28" => "blade",
        "29" => "blade enclosure",
        "34" | "35" => "embedded or mini PC",
        _ => return format!("type {number}"),
    };
    name.to_owned()
}

fn virtualization(tree: &Tree) -> Found {
    let is_virtual = has_flag(&tree.text("/proc/cpuinfo")?, "hypervisor") || tree.has("/sys/hypervisor/type");
    Ok(if is_virtual { "virtual machine" } else { "no sign of one" }.to_owned())
}

/// What the signs of hypervisors are: a text of the firmware, or a clock that only they have.
const HYPERVISORS: &[(&str, &str)] = &[
    ("amazon ec2", "Amazon Nitro (KVM)"),
    ("google compute engine", "Google Compute Engine (KVM)"),
    ("vmware", "VMware"),
    ("virtualbox", "VirtualBox"),
    ("innotek", "VirtualBox"),
    ("parallels", "Parallels"),
    ("xen", "Xen"),
    ("microsoft corporation virtual machine", "Hyper-V"),
    ("hyperv_clocksource", "Hyper-V"),
    ("kvm", "KVM"),
    ("qemu", "QEMU"),
];

fn hypervisor(tree: &Tree) -> Found {
    let firmware =
        ["sys_vendor", "product_name", "bios_vendor"].map(|file| id(tree, file).unwrap_or_default());
    let clocks = tree.text("/sys/devices/system/clocksource/clocksource0/available_clocksource");
    let kind = tree.text("/sys/hypervisor/type");
    let signs =
        [kind.unwrap_or_default(), firmware.join(" "), clocks.unwrap_or_default()].join(" ").to_lowercase();
    let known = HYPERVISORS.iter().find(|(sign, _)| signs.contains(sign));
    known.map(|(_, name)| (*name).to_owned()).ok_or(Unread::because("no sign of one that is known"))
}

fn container(tree: &Tree) -> Found {
    let named = tree.text("/run/systemd/container");
    Ok(match named {
        Ok(name) => name,
        Err(_) if tree.has("/.dockerenv") => "Docker".to_owned(),
        Err(_) if tree.has("/run/.containerenv") => "Podman".to_owned(),
        Err(_) => "no sign of one".to_owned(),
    })
}

fn power(tree: &Tree) -> Found {
    let supply = |name: &String| {
        let kind = tree.text(format!("/sys/class/power_supply/{name}/type")).ok()?;
        let online = tree.text(format!("/sys/class/power_supply/{name}/online")).ok();
        let state = online.map_or("", |online| if online == "1" { ", in use" } else { ", not in use" });
        Some(format!("{kind}{state}"))
    };
    let supplies: Vec<String> = tree.names("/sys/class/power_supply").iter().filter_map(supply).collect();
    joined(&supplies, "the kernel knows of none")
}

fn boot_mode(tree: &Tree) -> Found {
    match (tree.has("/sys/firmware/efi"), tree.has("/sys/class/dmi/id")) {
        (true, _) => Ok("UEFI".to_owned()),
        (false, true) => Ok("BIOS".to_owned()),
        (false, false) => Err(Unread::because("neither UEFI nor BIOS")),
    }
}

/// The variable has four bytes of attributes before its one byte. Source: UEFI 2.10, 3.3; Linux, efivarfs.rst.
fn secure_boot(tree: &Tree) -> Found {
    let path = "/sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c";
    match tree.bytes(path)?.get(4) {
        Some(1) => Ok("on".to_owned()),
        Some(0) => Ok("off".to_owned()),
        _ => Err(Unread::because("the firmware does not tell")),
    }
}

#[cfg(test)]
mod tests {
    use super::super::tree::fake;
    use super::*;

    #[test]
    fn what_firmware_was_not_told_is_not_taken_for_a_name() {
        let files = [
            ("/sys/class/dmi/id/sys_vendor", "Dell Inc.\n"),
            ("/sys/class/dmi/id/product_version", "To Be Filled By O.E.M.\n"),
        ];
        fake::with(&files, |tree| {
            assert_eq!(id(tree, "sys_vendor").unwrap(), "Dell Inc.");
            assert_eq!(id(tree, "product_version").unwrap_err().to_string(), "the firmware does not tell");
            assert_eq!(id(tree, "product_serial"), Err(Unread::Absent));
            assert_eq!(boot_mode(tree).unwrap(), "BIOS");
            assert_eq!(virtualization(tree), Err(Unread::Absent));
        });
        assert_eq!((chassis("23"), chassis("99")), ("rack mount".into(), "type 99".into()));
    }

    #[test]
    fn hypervisors_are_known_by_firmware_or_clock() {
        let clocks = "/sys/devices/system/clocksource/clocksource0/available_clocksource";
        let vendor = "/sys/class/dmi/id/sys_vendor";
        for (files, name) in [
            (vec![(clocks, "tsc kvm-clock \n")], "KVM"),
            (vec![(vendor, "VMware, Inc."), (clocks, "tsc")], "VMware"),
            (vec![(vendor, "Amazon EC2"), (clocks, "kvm-clock tsc")], "Amazon Nitro (KVM)"),
            (vec![("/sys/hypervisor/type", "xen\n")], "Xen"),
        ] {
            assert_eq!(fake::with(&files, hypervisor).unwrap(), name);
        }
        assert!(fake::with(&[(clocks, "tsc hpet")], hypervisor).is_err());
        let guest = [("/proc/cpuinfo", "processor\t: 0\nflags\t\t: fpu hypervisor\n")];
        assert_eq!(fake::with(&guest, virtualization).unwrap(), "virtual machine");
    }

    #[test]
    fn signs_of_firmware_and_power_are_read() {
        let files = [
            ("/sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c", "\u{6}\0\0\0\u{1}"),
            ("/sys/class/power_supply/AC/type", "Mains\n"),
            ("/sys/class/power_supply/AC/online", "1\n"),
            ("/sys/class/power_supply/BAT0/type", "Battery\n"),
            ("/.dockerenv", ""),
        ];
        fake::with(&files, |tree| {
            assert_eq!((secure_boot(tree).unwrap(), boot_mode(tree).unwrap()), ("on".into(), "UEFI".into()));
            assert_eq!(power(tree).unwrap(), "Mains, in use, Battery");
            assert_eq!(container(tree).unwrap(), "Docker");
        });
    }
}
