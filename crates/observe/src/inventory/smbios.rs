//! SMBIOS tables of processors and memory modules.
//!
//! Source: DMTF DSP0134, System Management BIOS Reference Specification 3.7, chapter 7: types 4, 16 and 17.

use std::collections::BTreeMap;

use units::Bytes;

use super::machine_files::{FieldValue, MachineFiles, Unavailable, joined};

const DMI: &str = "/sys/firmware/dmi/tables/DMI";

const PROCESSOR: u8 = 4;
const MEMORY_ARRAY: u8 = 16;
const MEMORY_DEVICE: u8 = 17;
const END: u8 = 127;

/// `Use` of a memory array that is system memory.
const SYSTEM_MEMORY: u8 = 3;

/// A structure of the tables.
#[derive(Debug)]
struct Structure<'a> {
    kind: u8,
    /// Including the header, so that offsets are those of the specification.
    bytes: &'a [u8],
    texts: Vec<String>,
}

impl Structure<'_> {
    fn byte(&self, at: usize) -> Option<u8> {
        self.bytes.get(at).copied()
    }

    fn word(&self, at: usize) -> Option<u16> {
        Some(u16::from_le_bytes(self.bytes.get(at..at + 2)?.try_into().ok()?))
    }

    fn double(&self, at: usize) -> Option<u32> {
        Some(u32::from_le_bytes(self.bytes.get(at..at + 4)?.try_into().ok()?))
    }

    fn quad(&self, at: usize) -> Option<u64> {
        Some(u64::from_le_bytes(self.bytes.get(at..at + 8)?.try_into().ok()?))
    }

    /// Returns a string by the byte that holds its number; `None` if it is a placeholder.
    fn text(&self, at: usize) -> Option<&str> {
        let number = usize::from(self.byte(at)?).checked_sub(1)?;
        let text = self.texts.get(number)?.trim();
        let says_nothing = ["", "not specified", "unknown", "none", "no dimm", "to be filled by o.e.m."];
        (!says_nothing.contains(&text.to_lowercase().as_str())).then_some(text)
    }
}

/// Splits the tables into structures, up to the first incomplete one: type, length, handle, body; then
/// strings, each ended by a zero, the last one by two.
fn structures(tables: &[u8]) -> Vec<Structure<'_>> {
    let mut found = Vec::new();
    let mut rest = tables;
    while let [kind, length, ..] = *rest {
        let length = usize::from(length);
        let (Some(bytes), Some(behind)) = (rest.get(..length), rest.get(length..)) else { break };
        let Some(end) = behind.windows(2).position(|two| two == [0, 0]) else { break };
        if length < 4 || kind == END {
            break;
        }
        let texts = behind[..end].split(|byte| *byte == 0);
        let texts = texts.map(|text| String::from_utf8_lossy(text).into_owned()).collect();
        found.push(Structure { kind, bytes, texts });
        rest = &behind[end + 2..];
    }
    found
}

/// A memory module.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Module {
    bytes: u64,
    kind: Option<&'static str>,
    form: Option<&'static str>,
    /// In millions of transfers per second.
    speed: Option<u32>,
    configured_speed: Option<u32>,
    ranks: Option<u8>,
    maker: Option<String>,
    part: Option<String>,
    serial: Option<String>,
}

fn module(device: &Structure) -> Option<Module> {
    let owned = |text: Option<&str>| text.map(str::to_owned);
    let speed = |speed: Option<u16>| speed.filter(|speed| ![0, u16::MAX].contains(speed)).map(u32::from);
    Some(Module {
        bytes: module_bytes(device)?,
        kind: device.byte(0x12).and_then(memory_kind),
        form: device.byte(0x0e).and_then(form_factor),
        speed: speed(device.word(0x15)),
        configured_speed: speed(device.word(0x20)),
        ranks: device.byte(0x1b).map(|attributes| attributes & 0xf).filter(|ranks| *ranks != 0),
        maker: owned(device.text(0x17)),
        part: owned(device.text(0x1a)),
        serial: owned(device.text(0x18)),
    })
}

/// Size of a module: in MiB, or KiB with the upper bit set; 7FFF₁₆ refers to an extended field. `None` for an
/// empty slot.
fn module_bytes(device: &Structure) -> Option<u64> {
    match device.word(0x0c)? {
        0 | u16::MAX => None,
        0x7fff => device.double(0x1c).map(|mib| u64::from(mib & 0x7fff_ffff) << 20),
        kib if kib & 0x8000 != 0 => Some(u64::from(kib & 0x7fff) << 10),
        mib => Some(u64::from(mib) << 20),
    }
}

/// Memory types of table 78 of the specification that servers have.
fn memory_kind(number: u8) -> Option<&'static str> {
    Some(match number {
        0x07 => "RAM",
        0x0f => "SDRAM",
        0x12 => "DDR",
        0x13 => "DDR2",
        0x14 => "DDR2 FB-DIMM",
        0x18 => "DDR3",
        0x1a => "DDR4",
        0x1b => "LPDDR",
        0x1c => "LPDDR2",
        0x1d => "LPDDR3",
        0x1e => "LPDDR4",
        0x1f => "non-volatile",
        0x20 => "HBM",
        0x21 => "HBM2",
        0x22 => "DDR5",
        0x23 => "LPDDR5",
        0x24 => "HBM3",
        _ => return None,
    })
}

/// Form factors of table 76 of the specification that servers have.
fn form_factor(number: u8) -> Option<&'static str> {
    Some(match number {
        0x03 => "SIMM",
        0x09 => "DIMM",
        0x0c => "RIMM",
        0x0d => "SODIMM",
        0x0f => "FB-DIMM",
        0x10 => "die",
        _ => return None,
    })
}

/// Error correction types of table 74 of the specification.
fn error_correction(number: u8) -> Option<&'static str> {
    Some(match number {
        0x03 => "none",
        0x04 => "parity",
        0x05 => "single-bit ECC",
        0x06 => "multi-bit ECC",
        0x07 => "CRC",
        _ => return None,
    })
}

impl Module {
    /// Describes a module: `32.0 GiB DDR4 DIMM, 2933 MT/s at 2666, 2 ranks, Micron 36ASF4G72PZ`.
    fn text(&self) -> String {
        let mut text = Bytes(self.bytes).to_string();
        for word in [self.kind, self.form].into_iter().flatten() {
            text += &format!(" {word}");
        }
        match (self.speed, self.configured_speed) {
            (Some(rated), Some(set)) if rated != set => text += &format!(", {rated} MT/s at {set}"),
            (Some(rated), _) => text += &format!(", {rated} MT/s"),
            (None, Some(set)) => text += &format!(", at {set} MT/s"),
            (None, None) => {}
        }
        text += &self.ranks.map_or(String::new(), |ranks| format!(", {ranks} ranks"));
        let names: Vec<&str> = [&self.maker, &self.part].into_iter().flatten().map(String::as_str).collect();
        if names.is_empty() { text } else { format!("{text}, {}", names.join(" ")) }
    }
}

/// Reads the structures of a type.
fn look<T>(
    files: &MachineFiles,
    kind: u8,
    read: impl Fn(&[Structure]) -> Option<T>,
) -> Result<T, Unavailable> {
    let tables = files.bytes(DMI)?;
    let mut found = structures(&tables);
    found.retain(|structure| structure.kind == kind);
    read(&found).ok_or(Unavailable::because("not reported by the firmware"))
}

fn modules(files: &MachineFiles) -> Result<Vec<Module>, Unavailable> {
    look(files, MEMORY_DEVICE, |devices| {
        let modules: Vec<Module> = devices.iter().filter_map(module).collect();
        (!modules.is_empty()).then_some(modules)
    })
}

/// Lists the modules, grouping equal ones.
pub(super) fn memory_modules(files: &MachineFiles) -> FieldValue {
    let mut alike: BTreeMap<String, usize> = BTreeMap::new();
    for module in modules(files)? {
        *alike.entry(module.text()).or_default() += 1;
    }
    let texts: Vec<String> = alike.iter().map(|(text, n)| format!("{n} × {text}")).collect();
    Ok(texts.join("; "))
}

/// Returns the serial numbers of the modules.
pub(super) fn memory_serials(files: &MachineFiles) -> FieldValue {
    let serials: Vec<String> = modules(files)?.into_iter().filter_map(|module| module.serial).collect();
    joined(&serials, "not reported by the firmware")
}

/// Returns the total size of the modules.
pub(super) fn memory_installed(files: &MachineFiles) -> FieldValue {
    Ok(Bytes(modules(files)?.iter().map(|module| module.bytes).sum()).to_string())
}

/// Returns the number of slots and of modules.
pub(super) fn memory_slots(files: &MachineFiles) -> FieldValue {
    look(files, MEMORY_DEVICE, |devices| {
        let used = devices.iter().filter(|device| module_bytes(device).is_some()).count();
        (!devices.is_empty()).then(|| format!("{used} of {} used", devices.len()))
    })
}

/// Returns the maximum memory of the machine.
pub(super) fn memory_maximum(files: &MachineFiles) -> FieldValue {
    look(files, MEMORY_ARRAY, |arrays| {
        let sizes = system_arrays(arrays).filter_map(|array| match array.double(0x07)? {
            0x8000_0000 => array.quad(0x0f),
            kib => Some(u64::from(kib) << 10),
        });
        let total: u64 = sizes.sum();
        (0 < total).then(|| Bytes(total).to_string())
    })
}

/// Returns the kind of memory error correction.
pub(super) fn memory_error_correction(files: &MachineFiles) -> FieldValue {
    look(files, MEMORY_ARRAY, |arrays| {
        let mut kinds = system_arrays(arrays).filter_map(|array| error_correction(array.byte(0x06)?));
        kinds.next().map(str::to_owned)
    })
}

fn system_arrays<'a>(arrays: &'a [Structure<'a>]) -> impl Iterator<Item = &'a Structure<'a>> {
    arrays.iter().filter(|array| array.byte(0x05) == Some(SYSTEM_MEMORY))
}

/// Returns the names of the populated processor sockets.
pub(super) fn processor_sockets(files: &MachineFiles) -> FieldValue {
    look(files, PROCESSOR, |processors| {
        // Bit 6 of the status marks a populated socket.
        let used = processors.iter().filter(|one| one.byte(0x18).is_some_and(|status| status & 0x40 != 0));
        let names: Vec<&str> = used.filter_map(|one| one.text(0x04)).collect();
        (!names.is_empty()).then(|| names.join(", "))
    })
}

/// Returns the highest processor speed reported by the firmware.
pub(super) fn processor_speed(files: &MachineFiles) -> FieldValue {
    look(files, PROCESSOR, |processors| {
        let speeds = processors.iter().filter_map(|one| one.word(0x14));
        speeds.max().filter(|speed| *speed != 0).map(|speed| format!("{speed} MHz"))
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::InventoryInput;
    use super::*;

    /// Builds a structure: numbers at their offsets, then strings.
    fn structure(kind: u8, length: usize, numbers: &[(usize, &[u8])], texts: &[&str]) -> Vec<u8> {
        let mut bytes = vec![0; length];
        bytes[0] = kind;
        bytes[1] = length as u8;
        for (at, number) in numbers {
            bytes[*at..at + number.len()].copy_from_slice(number);
        }
        for text in texts {
            bytes.extend(text.as_bytes());
            bytes.push(0);
        }
        bytes.extend(if texts.is_empty() { &[0, 0][..] } else { &[0] });
        bytes
    }

    /// A module of 32 GiB (32,768 MiB does not fit, so the extended field is used), DDR4 at 2933 set to 2666.
    fn dimm(serial: &str) -> Vec<u8> {
        let numbers: &[(usize, &[u8])] = &[
            (0x0c, &0x7fffu16.to_le_bytes()),
            (0x0e, &[9]),
            (0x10, &[1]),
            (0x12, &[0x1a]),
            (0x15, &2933u16.to_le_bytes()),
            (0x17, &[2]),
            (0x18, &[3]),
            (0x1a, &[4]),
            (0x1b, &[2]),
            (0x1c, &32_768u32.to_le_bytes()),
            (0x20, &2666u16.to_le_bytes()),
        ];
        structure(17, 0x28, numbers, &["DIMM_A1", "Micron", serial, "36ASF4G72PZ "])
    }

    fn tables() -> Vec<u8> {
        let processor: &[(usize, &[u8])] = &[(0x04, &[1]), (0x14, &4000u16.to_le_bytes()), (0x18, &[0x41])];
        let empty_socket: &[(usize, &[u8])] = &[(0x04, &[1])];
        let array: &[(usize, &[u8])] = &[
            (0x05, &[3]),
            (0x06, &[6]),
            (0x07, &0x8000_0000u32.to_le_bytes()),
            (0x0f, &(1u64 << 40).to_le_bytes()),
        ];
        [
            structure(0, 24, &[], &["Vendor"]),
            structure(4, 0x30, processor, &["CPU1"]),
            structure(4, 0x30, empty_socket, &["CPU2"]),
            structure(16, 0x17, array, &[]),
            dimm("A1"),
            dimm("A2"),
            structure(17, 0x28, &[], &["DIMM_B1"]),
            structure(17, 0x28, &[(0x0c, &(0x8000u16 | 512).to_le_bytes())], &["flash"]),
            structure(127, 4, &[], &[]),
            dimm("behind the end"),
        ]
        .concat()
    }

    fn with_tables<T>(tables: &[u8], look: impl FnOnce(&MachineFiles) -> T) -> T {
        let root = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(root.path().join("sys/firmware/dmi/tables")).unwrap();
        std::fs::write(root.path().join("sys/firmware/dmi/tables/DMI"), tables).unwrap();
        look(&MachineFiles::at(root.path(), &InventoryInput::default()))
    }

    #[test]
    fn modules_slots_and_sockets_are_read() {
        with_tables(&tables(), |files| {
            let modules =
                "2 × 32.0 GiB DDR4 DIMM, 2933 MT/s at 2666, 2 ranks, Micron 36ASF4G72PZ; 1 × 512.0 KiB";
            assert_eq!(memory_modules(files).unwrap(), modules);
            assert_eq!(memory_installed(files).unwrap(), "64.0 GiB");
            assert_eq!(memory_serials(files).unwrap(), "A1, A2");
            assert_eq!(memory_slots(files).unwrap(), "3 of 4 used");
            assert_eq!(memory_maximum(files).unwrap(), "1.0 TiB");
            assert_eq!(memory_error_correction(files).unwrap(), "multi-bit ECC");
            assert_eq!(processor_sockets(files).unwrap(), "CPU1");
            assert_eq!(processor_speed(files).unwrap(), "4000 MHz");
        });
    }

    #[test]
    fn missing_structures_are_unavailable() {
        with_tables(&structure(0, 24, &[], &["Vendor"]), |files| {
            for read in [memory_modules, memory_slots, memory_maximum, processor_sockets] {
                assert_eq!(read(files), Err(Unavailable::because("not reported by the firmware")));
            }
        });
        let none = super::super::machine_files::testing::with(&[], memory_modules);
        assert_eq!(none, Err(Unavailable::Absent));
    }

    proptest! {
        #[test]
        fn any_tables_are_parsed_without_panic(mut bytes in prop::collection::vec(any::<u8>(), 0..400), at in 0usize..300) {
            bytes.splice(0..0, tables().into_iter().take(at));
            with_tables(&bytes, |files| {
                for read in [memory_modules, memory_serials, memory_installed, memory_slots, memory_maximum] {
                    drop(read(files));
                }
                drop((memory_error_correction(files), processor_sockets(files), processor_speed(files)));
            });
        }
    }
}
