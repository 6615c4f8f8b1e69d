//! The machine: vendor, firmware, virtualization, containers, power.

use super::machine_files::{FieldValue, MachineFiles, Unavailable, joined};
use super::processor::has_flag;
use super::{FieldReader, one};

/// Placeholders that vendors leave in firmware fields.
const PLACEHOLDERS: &[&str] = &[
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

pub(super) const READERS: &[FieldReader] = &[
    one("machine.vendor", |files| id(files, "sys_vendor")),
    one("machine.model", |files| id(files, "product_name")),
    one("machine.version", |files| id(files, "product_version")),
    one("machine.family", |files| id(files, "product_family")),
    one("machine.sku", |files| id(files, "product_sku")),
    one("machine.serial", |files| id(files, "product_serial")),
    one("machine.uuid", |files| id(files, "product_uuid")),
    one("machine.board-vendor", |files| id(files, "board_vendor")),
    one("machine.board", |files| id(files, "board_name")),
    one("machine.board-version", |files| id(files, "board_version")),
    one("machine.board-serial", |files| id(files, "board_serial")),
    one("machine.chassis", |files| Ok(chassis(&id(files, "chassis_type")?))),
    one("machine.chassis-vendor", |files| id(files, "chassis_vendor")),
    one("machine.chassis-serial", |files| id(files, "chassis_serial")),
    one("machine.asset-tag", |files| id(files, "chassis_asset_tag")),
    one("machine.device-tree", |files| files.text("/proc/device-tree/model")),
    one("machine.virtualization", virtualization),
    one("machine.hypervisor", hypervisor),
    one("machine.container", container),
    one("machine.power", power),
    one("firmware.vendor", |files| id(files, "bios_vendor")),
    one("firmware.version", |files| id(files, "bios_version")),
    one("firmware.date", |files| id(files, "bios_date")),
    one("firmware.release", |files| id(files, "bios_release")),
    one("firmware.boot", boot_mode),
    one("firmware.secure-boot", secure_boot),
    one("firmware.tpm", |files| files.text("/sys/class/tpm/tpm0/tpm_version_major")),
];

fn id(files: &MachineFiles, file: &str) -> FieldValue {
    let text = files.text(format!("/sys/class/dmi/id/{file}"))?;
    if PLACEHOLDERS.contains(&text.to_lowercase().as_str()) {
        Err(Unavailable::because("not reported by the firmware"))
    } else {
        Ok(text)
    }
}

/// Names a chassis type. Source: DSP0134 3.7, table 17.
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

fn virtualization(files: &MachineFiles) -> FieldValue {
    let is_virtual =
        has_flag(&files.text("/proc/cpuinfo")?, "hypervisor") || files.has("/sys/hypervisor/type");
    Ok(if is_virtual { "virtual machine" } else { "not detected" }.to_owned())
}

/// Signs of hypervisors: a text in the firmware, or a clock source that only they have.
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

fn hypervisor(files: &MachineFiles) -> FieldValue {
    let firmware =
        ["sys_vendor", "product_name", "bios_vendor"].map(|file| id(files, file).unwrap_or_default());
    let clocks = files.text("/sys/devices/system/clocksource/clocksource0/available_clocksource");
    let kind = files.text("/sys/hypervisor/type");
    let signs =
        [kind.unwrap_or_default(), firmware.join(" "), clocks.unwrap_or_default()].join(" ").to_lowercase();
    let known = HYPERVISORS.iter().find(|(sign, _)| signs.contains(sign));
    known.map(|(_, name)| (*name).to_owned()).ok_or(Unavailable::because("no known hypervisor detected"))
}

fn container(files: &MachineFiles) -> FieldValue {
    let named = files.text("/run/systemd/container");
    Ok(match named {
        Ok(name) => name,
        Err(_) if files.has("/.dockerenv") => "Docker".to_owned(),
        Err(_) if files.has("/run/.containerenv") => "Podman".to_owned(),
        Err(_) => "not detected".to_owned(),
    })
}

fn power(files: &MachineFiles) -> FieldValue {
    let supply = |name: &String| {
        let kind = files.text(format!("/sys/class/power_supply/{name}/type")).ok()?;
        let online = files.text(format!("/sys/class/power_supply/{name}/online")).ok();
        let state = online.map_or("", |online| if online == "1" { ", in use" } else { ", not in use" });
        Some(format!("{kind}{state}"))
    };
    let supplies: Vec<String> = files.names("/sys/class/power_supply").iter().filter_map(supply).collect();
    joined(&supplies, "none known to the kernel")
}

fn boot_mode(files: &MachineFiles) -> FieldValue {
    match (files.has("/sys/firmware/efi"), files.has("/sys/class/dmi/id")) {
        (true, _) => Ok("UEFI".to_owned()),
        (false, true) => Ok("BIOS".to_owned()),
        (false, false) => Err(Unavailable::because("neither UEFI nor BIOS")),
    }
}

/// The variable has four bytes of attributes before its value. Source: UEFI 2.10, 3.3; Linux, efivarfs.rst.
fn secure_boot(files: &MachineFiles) -> FieldValue {
    let path = "/sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c";
    match files.bytes(path)?.get(4) {
        Some(1) => Ok("on".to_owned()),
        Some(0) => Ok("off".to_owned()),
        _ => Err(Unavailable::because("not reported by the firmware")),
    }
}

#[cfg(test)]
mod tests {
    use super::super::machine_files::testing;
    use super::*;

    #[test]
    fn firmware_placeholders_are_not_taken_for_names() {
        let files = [
            ("/sys/class/dmi/id/sys_vendor", "Dell Inc.\n"),
            ("/sys/class/dmi/id/product_version", "To Be Filled By O.E.M.\n"),
        ];
        testing::with(&files, |files| {
            assert_eq!(id(files, "sys_vendor").unwrap(), "Dell Inc.");
            assert_eq!(id(files, "product_version").unwrap_err().to_string(), "not reported by the firmware");
            assert_eq!(id(files, "product_serial"), Err(Unavailable::Absent));
            assert_eq!(boot_mode(files).unwrap(), "BIOS");
            assert_eq!(virtualization(files), Err(Unavailable::Absent));
        });
        assert_eq!((chassis("23"), chassis("99")), ("rack mount".into(), "type 99".into()));
    }

    #[test]
    fn hypervisors_are_recognized_by_firmware_or_clock() {
        let clocks = "/sys/devices/system/clocksource/clocksource0/available_clocksource";
        let vendor = "/sys/class/dmi/id/sys_vendor";
        for (files, name) in [
            (vec![(clocks, "tsc kvm-clock \n")], "KVM"),
            (vec![(vendor, "VMware, Inc."), (clocks, "tsc")], "VMware"),
            (vec![(vendor, "Amazon EC2"), (clocks, "kvm-clock tsc")], "Amazon Nitro (KVM)"),
            (vec![("/sys/hypervisor/type", "xen\n")], "Xen"),
        ] {
            assert_eq!(testing::with(&files, hypervisor).unwrap(), name);
        }
        assert!(testing::with(&[(clocks, "tsc hpet")], hypervisor).is_err());
        let guest = [("/proc/cpuinfo", "processor\t: 0\nflags\t\t: fpu hypervisor\n")];
        assert_eq!(testing::with(&guest, virtualization).unwrap(), "virtual machine");
    }

    #[test]
    fn boot_mode_and_power_are_read() {
        let files = [
            ("/sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c", "\u{6}\0\0\0\u{1}"),
            ("/sys/class/power_supply/AC/type", "Mains\n"),
            ("/sys/class/power_supply/AC/online", "1\n"),
            ("/sys/class/power_supply/BAT0/type", "Battery\n"),
            ("/.dockerenv", ""),
        ];
        testing::with(&files, |files| {
            assert_eq!(
                (secure_boot(files).unwrap(), boot_mode(files).unwrap()),
                ("on".into(), "UEFI".into())
            );
            assert_eq!(power(files).unwrap(), "Mains, in use, Battery");
            assert_eq!(container(files).unwrap(), "Docker");
        });
    }
}
