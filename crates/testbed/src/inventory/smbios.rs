//! The firmware's tables of processors and memory modules.
//!
//! Source: DMTF DSP0134, System Management BIOS Reference Specification 3.7, chapter 7: types 4, 16 and 17.

use std::collections::BTreeMap;

use units::Bytes;

use super::tree::{Found, Tree, Unread, joined};

const DMI: &str = "/sys/firmware/dmi/tables/DMI";

const PROCESSOR: u8 = 4;
const MEMORY_ARRAY: u8 = 16;
const MEMORY_DEVICE: u8 = 17;
const END: u8 = 127;

/// `Use` of a memory array that is the machine's memory.
const SYSTEM_MEMORY: u8 = 3;

/// One structure of the tables.
#[derive(Debug)]
struct Structure<'a> {
    kind: u8,
    /// With the header, so that offsets are those of the specification.
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

    /// Returns a text by the byte that holds its number; `None` if it says nothing.
    fn text(&self, at: usize) -> Option<&str> {
        let number = usize::from(self.byte(at)?).checked_sub(1)?;
        let text = self.texts.get(number)?.trim();
        let says_nothing = ["", "not specified", "unknown", "none", "no dimm", "to be filled by o.e.m."];
        (!says_nothing.contains(&text.to_lowercase().as_str())).then_some(text)
    }
}

/// Takes the tables apart, up to the first structure that is not whole: type, length, handle, body; then texts, each
/// ended by a zero, the last one by two.
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
    /// In transfers per second times 10⁶.
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

/// Size of a module: in MiB, or KiB with the upper bit set; 7FFF₁₆ refers to a longer number. `None` of an empty slot.
fn module_bytes(device: &Structure) -> Option<u64> {
    match device.word(0x0c)? {
        0 | u16::MAX => None,
        0x7fff => device.double(0x1c).map(|mib| u64::from(mib & 0x7fff_ffff) << 20),
        kib if kib & 0x8000 != 0 => Some(u64::from(kib & 0x7fff) << 10),
        mib => Some(u64::from(mib) << 20),
    }
}

/// Table 78 of the specification, those that servers have.
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

/// Table 76 of the specification, those that servers have.
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

/// Table 74 of the specification.
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
    /// Describes it in a line: `32.0 GiB DDR4 DIMM, 2933 MT/s at 2666, 2 ranks, Micron 36ASF4G72PZ`.
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

/// Looks at the structures of a type; `none` says that there are none of it.
fn look<T>(tree: &Tree, kind: u8, read: impl Fn(&[Structure]) -> Option<T>) -> Result<T, Unread> {
    let tables = tree.bytes(DMI)?;
    let mut found = structures(&tables);
    found.retain(|structure| structure.kind == kind);
    read(&found).ok_or(Unread::because("the firmware does not tell"))
}

fn modules(tree: &Tree) -> Result<Vec<Module>, Unread> {
    look(tree, MEMORY_DEVICE, |devices| {
        let modules: Vec<Module> = devices.iter().filter_map(module).collect();
        (!modules.is_empty()).then_some(modules)
    })
}

/// Returns the modules, those that are alike together.
pub fn memory_modules(tree: &Tree) -> Found {
    let mut alike: BTreeMap<String, usize> = BTreeMap::new();
    for module in modules(tree)? {
        *alike.entry(module.text()).or_default() += 1;
    }
    let texts: Vec<String> = alike.iter().map(|(text, n)| format!("{n} × {text}")).collect();
    Ok(texts.join("; "))
}

/// Returns the serial numbers of the modules.
pub fn memory_serials(tree: &Tree) -> Found {
    let serials: Vec<String> = modules(tree)?.into_iter().filter_map(|module| module.serial).collect();
    joined(&serials, "the firmware does not tell")
}

/// Returns the size of all modules together.
pub fn memory_installed(tree: &Tree) -> Found {
    Ok(Bytes(modules(tree)?.iter().map(|module| module.bytes).sum()).to_string())
}

/// Returns how many slots there are and how many have a module.
pub fn memory_slots(tree: &Tree) -> Found {
    look(tree, MEMORY_DEVICE, |devices| {
        let used = devices.iter().filter(|device| module_bytes(device).is_some()).count();
        (!devices.is_empty()).then(|| format!("{used} of {} used", devices.len()))
    })
}

/// Returns the most memory that the machine can have.
pub fn memory_maximum(tree: &Tree) -> Found {
    look(tree, MEMORY_ARRAY, |arrays| {
        let sizes = system_arrays(arrays).filter_map(|array| match array.double(0x07)? {
            0x8000_0000 => array.quad(0x0f),
            kib => Some(u64::from(kib) << 10),
        });
        let total: u64 = sizes.sum();
        (0 < total).then(|| Bytes(total).to_string())
    })
}

/// Returns how errors of the memory are corrected.
pub fn memory_error_correction(tree: &Tree) -> Found {
    look(tree, MEMORY_ARRAY, |arrays| {
        let mut kinds = system_arrays(arrays).filter_map(|array| error_correction(array.byte(0x06)?));
        kinds.next().map(str::to_owned)
    })
}

fn system_arrays<'a>(arrays: &'a [Structure<'a>]) -> impl Iterator<Item = &'a Structure<'a>> {
    arrays.iter().filter(|array| array.byte(0x05) == Some(SYSTEM_MEMORY))
}

/// Returns the names of the processor sockets that are used.
pub fn processor_sockets(tree: &Tree) -> Found {
    look(tree, PROCESSOR, |processors| {
        // Bit 6 of the status says that the socket has a processor.
        let used = processors.iter().filter(|one| one.byte(0x18).is_some_and(|status| status & 0x40 != 0));
        let names: Vec<&str> = used.filter_map(|one| one.text(0x04)).collect();
        (!names.is_empty()).then(|| names.join(", "))
    })
}

/// Returns the highest speed that the firmware gives for a processor.
pub fn processor_speed(tree: &Tree) -> Found {
    look(tree, PROCESSOR, |processors| {
        let speeds = processors.iter().filter_map(|one| one.word(0x14));
        speeds.max().filter(|speed| *speed != 0).map(|speed| format!("{speed} MHz"))
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::InventoryInput;
    use super::*;

    /// Makes a structure: numbers at their offsets, then texts.
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

    /// A module of 32 GiB (32,768 MiB does not fit, so the longer number holds it), DDR4 at 2933 set to 2666.
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

    fn with_tables<T>(tables: &[u8], look: impl FnOnce(&Tree) -> T) -> T {
        let root = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(root.path().join("sys/firmware/dmi/tables")).unwrap();
        std::fs::write(root.path().join("sys/firmware/dmi/tables/DMI"), tables).unwrap();
        look(&Tree::at(root.path(), &InventoryInput::default()))
    }

    #[test]
    fn modules_slots_and_sockets_are_told() {
        with_tables(&tables(), |tree| {
            let modules =
                "2 × 32.0 GiB DDR4 DIMM, 2933 MT/s at 2666, 2 ranks, Micron 36ASF4G72PZ; 1 × 512.0 KiB";
            assert_eq!(memory_modules(tree).unwrap(), modules);
            assert_eq!(memory_installed(tree).unwrap(), "64.0 GiB");
            assert_eq!(memory_serials(tree).unwrap(), "A1, A2");
            assert_eq!(memory_slots(tree).unwrap(), "3 of 4 used");
            assert_eq!(memory_maximum(tree).unwrap(), "1.0 TiB");
            assert_eq!(memory_error_correction(tree).unwrap(), "multi-bit ECC");
            assert_eq!(processor_sockets(tree).unwrap(), "CPU1");
            assert_eq!(processor_speed(tree).unwrap(), "4000 MHz");
        });
    }

    #[test]
    fn firmware_that_tells_nothing_is_said_to_tell_nothing() {
        with_tables(&structure(0, 24, &[], &["Vendor"]), |tree| {
            for read in [memory_modules, memory_slots, memory_maximum, processor_sockets] {
                assert_eq!(read(tree), Err(Unread::because("the firmware does not tell")));
            }
        });
        let none = super::super::tree::fake::with(&[], memory_modules);
        assert_eq!(none, Err(Unread::Absent));
    }

    proptest! {
        #[test]
        fn any_tables_are_survived(mut bytes in prop::collection::vec(any::<u8>(), 0..400), at in 0usize..300) {
            bytes.splice(0..0, tables().into_iter().take(at));
            with_tables(&bytes, |tree| {
                for read in [memory_modules, memory_serials, memory_installed, memory_slots, memory_maximum] {
                    drop(read(tree));
                }
                drop((memory_error_correction(tree), processor_sockets(tree), processor_speed(tree)));
            });
        }
    }
}
